"""SchedulingPolicy: what the API reference says of CreateSchedulingPolicy and its siblings."""

from __future__ import annotations

import pytest

from tests.conformance.target import Target

pytestmark = pytest.mark.slow

QUOTA = {"quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"}}
FAIR = {"fairsharePolicy": {"shareDecaySeconds": 600}}


def test_a_policy_exists_as_soon_as_it_is_created(target: Target) -> None:
    arn = target.policy(**QUOTA)
    (policy,) = target.batch.describe_scheduling_policies(arns=[arn])["schedulingPolicies"]
    assert policy["arn"] == arn
    assert policy["quotaSharePolicy"] == {"idleResourceAssignmentStrategy": "FIFO"}
    assert "fairsharePolicy" not in policy


def test_its_arn_is_made_of_its_name(target: Target) -> None:
    arn = target.policy()
    name = target.batch.describe_scheduling_policies(arns=[arn])["schedulingPolicies"][0]["name"]
    assert arn.endswith(f":scheduling-policy/{name}")


def test_policies_are_listed_page_by_page(target: Target) -> None:
    arns = {target.policy() for _ in range(3)}
    pages = list(target.batch.get_paginator("list_scheduling_policies").paginate(PaginationConfig={"PageSize": 1}))
    assert arns <= {policy["arn"] for page in pages for policy in page["schedulingPolicies"]}
    assert all(len(page["schedulingPolicies"]) <= 1 for page in pages)


def test_fails_with_a_name_that_is_taken(target: Target) -> None:
    name = target.policy().rpartition("/")[2]
    with pytest.raises(target.refused) as refusal:
        target.batch.create_scheduling_policy(name=name, **QUOTA)
    assert refusal.value.response["Error"]["Message"] == "Object already exists"  # type: ignore[attr-defined]


def test_fails_with_both_kinds_of_policy(target: Target) -> None:
    with pytest.raises(target.refused):
        target.policy(**QUOTA, **FAIR)


@pytest.mark.parametrize(("first", "second"), [(QUOTA, FAIR), (FAIR, QUOTA)])
def test_fails_to_become_the_other_kind(
    target: Target, first: dict[str, dict[str, object]], second: dict[str, dict[str, object]]
) -> None:
    arn = target.policy(**first)
    with pytest.raises(target.refused):
        target.batch.update_scheduling_policy(arn=arn, **second)


def test_fails_to_be_deleted_while_a_queue_uses_it(target: Target) -> None:
    arn = target.policy()
    target.queue(schedulingPolicyArn=arn)
    with pytest.raises(target.refused):
        target.batch.delete_scheduling_policy(arn=arn)


@pytest.mark.parametrize("name", ["", "with space", "dot.dot", "ü", "x" * 129])
def test_fails_with_a_name_of_other_characters(target: Target, name: str) -> None:
    with pytest.raises(target.refused):
        target.batch.create_scheduling_policy(name=name, **QUOTA)


def test_fails_with_an_idle_strategy_other_than_fifo(target: Target) -> None:
    with pytest.raises(target.refused):
        target.policy(quotaSharePolicy={"idleResourceAssignmentStrategy": "LIFO"})
