from __future__ import annotations

import pytest
from aws_cdk import Stack, Tags
from aws_cdk import aws_batch as batch

from quota_constructs import QuotaShareSchedulingPolicy, RefusedDesignError
from tests.synthesis import properties_of


def test_renders_the_strategy_that_the_api_requires(stack: Stack) -> None:
    QuotaShareSchedulingPolicy(stack, "Policy")

    assert properties_of(stack, "SchedulingPolicy") == {
        "QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"},
    }


def test_renders_name_and_tags(stack: Stack) -> None:
    QuotaShareSchedulingPolicy(stack, "Policy", scheduling_policy_name="quotas", tags={"team": "platform"})

    assert properties_of(stack, "SchedulingPolicy") == {
        "Name": "quotas",
        "QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"},
        "Tags": {"team": "platform"},
    }


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ü", "a" * 129])
def test_fails_on_a_name_that_aws_refuses(stack: Stack, name: str) -> None:
    with pytest.raises(RefusedDesignError, match="quota-constructs:name-invalid: scheduling policy "):
        QuotaShareSchedulingPolicy(stack, "Policy", scheduling_policy_name=name)

    assert not stack.node.children


def test_its_default_child_is_the_l1(stack: Stack) -> None:
    assert isinstance(QuotaShareSchedulingPolicy(stack, "Policy").node.default_child, batch.CfnSchedulingPolicy)


def test_tags_of_reaches_it(stack: Stack) -> None:
    QuotaShareSchedulingPolicy(stack, "Policy")
    Tags.of(stack).add("project", "one")

    assert properties_of(stack, "SchedulingPolicy")["Tags"] == {"project": "one"}


def test_name_resolves_to_the_name_rather_than_the_arn(stack: Stack) -> None:
    policy = QuotaShareSchedulingPolicy(stack, "Policy")

    arn = stack.resolve(policy.scheduling_policy_arn)
    assert arn["Fn::GetAtt"][1] == "Arn"
    assert stack.resolve(policy.scheduling_policy_name) == {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}
