from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack, Tags
from aws_cdk import aws_batch as batch

from quota_constructs import (
    QuotaConstructsError,
    QuotaShare,
    RefusedDesignError,
    ResourceSharing,
    State,
    TrainingJobQueue,
)
from quota_model.design import UNKNOWN, SharingStrategy
from tests.synthesis import LIMITS, QUEUE_ARN, properties_of


def share(stack: Stack, id: str = "Vision", **props: Any) -> QuotaShare:
    queue = TrainingJobQueue.from_job_queue_arn(stack, f"{id}Queue", QUEUE_ARN)
    defaults = {"job_queue": queue, "capacity_limits": LIMITS, "resource_sharing": ResourceSharing.lend()}
    return QuotaShare(stack, id, **(defaults | props))


def test_renders_what_it_is_given(stack: Stack) -> None:
    share(
        stack,
        quota_share_name="vision",
        capacity_limits={"ml.p5.48xlarge": 4, "ml.g5.xlarge": 2},
        resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
        in_share_preemption=True,
        state=State.DISABLED,
        tags={"team": "vision"},
    )

    assert properties_of(stack, "QuotaShare") == {
        "QuotaShareName": "vision",
        "JobQueue": QUEUE_ARN,
        "CapacityLimits": [
            {"CapacityUnit": "ml.p5.48xlarge", "MaxCapacity": 4},
            {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 2},
        ],
        "ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 200},
        "PreemptionConfiguration": {"InSharePreemption": "ENABLED"},
        "State": "DISABLED",
        "Tags": {"team": "vision"},
    }


def test_leaves_out_what_aws_has_a_default_for(stack: Stack) -> None:
    share(stack)

    # CloudFormation requires all of these.
    assert properties_of(stack, "QuotaShare") == {
        "QuotaShareName": "Vision",
        "JobQueue": QUEUE_ARN,
        "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1}],
        "ResourceSharingConfiguration": {"Strategy": "LEND"},
        "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
    }


def test_is_named_after_its_construct_id_since_cloudformation_generates_no_name(stack: Stack) -> None:
    share(stack, "Speech-2")

    assert properties_of(stack, "QuotaShare")["QuotaShareName"] == "Speech-2"


@pytest.mark.parametrize(
    ("sharing", "rendered"),
    [
        (ResourceSharing.reserve(), {"Strategy": "RESERVE"}),
        (ResourceSharing.lend(), {"Strategy": "LEND"}),
        (ResourceSharing.lend_and_borrow(), {"Strategy": "LEND_AND_BORROW"}),
        (ResourceSharing.lend_and_borrow(borrow_limit=-1), {"Strategy": "LEND_AND_BORROW", "BorrowLimit": -1}),
        # AWS's own sample drops a limit of 0, which makes it unlimited.
        (ResourceSharing.lend_and_borrow(borrow_limit=0), {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 0}),
    ],
)
def test_renders_each_way_of_sharing(stack: Stack, sharing: ResourceSharing, rendered: dict[str, Any]) -> None:
    share(stack, resource_sharing=sharing)

    assert properties_of(stack, "QuotaShare")["ResourceSharingConfiguration"] == rendered


@pytest.mark.parametrize(
    ("props", "rule"),
    [
        ({"quota_share_name": ""}, "name-invalid"),
        ({"quota_share_name": "two words"}, "name-invalid"),
        ({"quota_share_name": "a" * 129}, "name-invalid"),
        ({"capacity_limits": {}}, "capacity-limits-count"),
        ({"capacity_limits": {f"ml.g5.{size}xlarge": 1 for size in (2, 4, 8, 12, 16, 24)}}, "capacity-limits-count"),
        ({"capacity_limits": {"ml.g5.xlarge": 0}}, "capacity-limit-whole-number"),
        ({"capacity_limits": {"ml.g5.xlarge": -1}}, "capacity-limit-whole-number"),
        # CDK's L1 lets this one through.
        ({"capacity_limits": {"ml.g5.xlarge": 2.5}}, "capacity-limit-whole-number"),
        ({"capacity_limits": {"ml.g5.xlarge": True}}, "capacity-limit-whole-number"),
        ({"capacity_limits": {"NUM_INSTANCES": 1}}, "capacity-unit-not-an-instance-type"),
        ({"resource_sharing": ResourceSharing.lend_and_borrow(borrow_limit=-2)}, "borrow-limit-whole-number"),
        ({"resource_sharing": ResourceSharing.lend_and_borrow(borrow_limit=0.5)}, "borrow-limit-whole-number"),
        (
            {"resource_sharing": ResourceSharing(SharingStrategy.LEND, borrow_limit=0)},
            "borrow-limit-needs-lend-and-borrow",
        ),
    ],
)
def test_fails_on_what_a_rule_refuses(stack: Stack, props: dict[str, Any], rule: str) -> None:
    with pytest.raises(RefusedDesignError, match=f"^quota-constructs:{rule}: quota share ") as refused:
        share(stack, **props)

    assert refused.value.rule_ids == (rule,)


@pytest.mark.parametrize(
    "props",
    [
        {"quota_share_name": "a"},
        {"quota_share_name": "Z_9-" * 32},
        {"capacity_limits": {f"ml.g5.{size}xlarge": 1 for size in (2, 4, 8, 12, 16)}},
        {"capacity_limits": {"ml.g5.xlarge": 1_000_000}},  # AWS documents no maximum.
        {"resource_sharing": ResourceSharing.lend_and_borrow(borrow_limit=100_000)},
    ],
)
def test_accepts_what_is_just_within_the_limits(stack: Stack, props: dict[str, Any]) -> None:
    share(stack, **props)


def test_fails_with_every_mistake_at_once(stack: Stack) -> None:
    with pytest.raises(RefusedDesignError) as refused:
        share(stack, quota_share_name="two words", capacity_limits={})

    assert refused.value.rule_ids == ("name-invalid", "capacity-limits-count")
    assert len(str(refused.value).splitlines()) == 2


def test_fails_with_the_value_and_what_to_change(stack: Stack) -> None:
    sharing = ResourceSharing(SharingStrategy.LEND, borrow_limit=200)
    with pytest.raises(ValueError, match="borrow limit 200 has no effect with LEND; use LEND_AND_BORROW"):
        share(stack, resource_sharing=sharing)


def test_fails_without_leaving_anything_in_the_tree(stack: Stack) -> None:
    with pytest.raises(RefusedDesignError):
        share(stack, capacity_limits={})

    assert stack.node.try_find_child("Vision") is None


def test_fails_on_a_state_that_aws_does_not_have(stack: Stack) -> None:
    with pytest.raises(QuotaConstructsError, match="state 'PAUSED' is not one of ENABLED, DISABLED"):
        share(stack, state="PAUSED")


def test_fails_on_sharing_that_was_read_without_knowing_it(stack: Stack) -> None:
    with pytest.raises(QuotaConstructsError, match="resource_sharing has a part that is UNKNOWN"):
        share(stack, resource_sharing=ResourceSharing(UNKNOWN))


def test_its_default_child_is_the_l1(stack: Stack) -> None:
    resource = share(stack).node.default_child

    assert isinstance(resource, batch.CfnQuotaShare)
    resource.add_property_override("State", "DISABLED")
    assert properties_of(stack, "QuotaShare")["State"] == "DISABLED"


def test_tags_of_reaches_it(stack: Stack) -> None:
    share(stack, tags={"team": "vision"})
    Tags.of(stack).add("project", "one")

    assert properties_of(stack, "QuotaShare")["Tags"] == {"project": "one", "team": "vision"}


def test_name_resolves_to_the_name_rather_than_the_arn(stack: Stack) -> None:
    vision = share(stack)

    arn = {"Fn::GetAtt": [logical_id(stack, vision), "QuotaShareArn"]}
    assert stack.resolve(vision.quota_share_arn) == arn
    assert stack.resolve(vision.quota_share_name) == {"Fn::Select": [3, {"Fn::Split": ["/", arn]}]}


def test_knows_its_queue(stack: Stack) -> None:
    assert share(stack).job_queue_arn == QUEUE_ARN


def logical_id(stack: Stack, share: QuotaShare) -> str:
    resource = share.node.default_child
    assert isinstance(resource, batch.CfnQuotaShare)
    return str(stack.resolve(resource.logical_id))
