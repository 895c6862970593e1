from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack, Tags
from aws_cdk import aws_batch as batch

from quota_constructs import QuotaConstructsError, RefusedDesignError, ServiceEnvironment, State
from tests.synthesis import LIMITS, properties_of


def test_renders_what_it_is_given(stack: Stack) -> None:
    ServiceEnvironment(
        stack,
        "Environment",
        capacity_limits={"ml.p5.48xlarge": 8, "ml.g5.xlarge": 3},
        service_environment_name="gpus",
        state=State.DISABLED,
        tags={"team": "platform"},
    )

    assert properties_of(stack, "ServiceEnvironment") == {
        "ServiceEnvironmentName": "gpus",
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
        "CapacityLimits": [
            {"CapacityUnit": "ml.p5.48xlarge", "MaxCapacity": 8},
            {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 3},
        ],
        "State": "DISABLED",
        "Tags": {"team": "platform"},
    }


def test_leaves_out_what_aws_has_a_default_for(stack: Stack) -> None:
    ServiceEnvironment(stack, "Environment", capacity_limits=LIMITS)

    assert properties_of(stack, "ServiceEnvironment") == {
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
        "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1}],
    }


@pytest.mark.parametrize(
    ("props", "rule"),
    [
        ({"service_environment_name": ""}, "name-invalid"),
        ({"service_environment_name": "a.b"}, "name-invalid"),
        ({"capacity_limits": {}}, "capacity-limits-count"),
        ({"capacity_limits": {f"ml.g5.{size}xlarge": 1 for size in (2, 4, 8, 12, 16, 24)}}, "capacity-limits-count"),
        ({"capacity_limits": {"ml.g5.xlarge": 0}}, "capacity-limit-whole-number"),
        # What environments of other queues count in.
        ({"capacity_limits": {"NUM_INSTANCES": 3}}, "capacity-unit-not-an-instance-type"),
        ({"capacity_limits": {"ml.g5.xlarge": 1, "NUM_INSTANCES": 3}}, "capacity-unit-not-an-instance-type"),
    ],
)
def test_fails_on_what_a_rule_refuses(stack: Stack, props: dict[str, Any], rule: str) -> None:
    with pytest.raises(RefusedDesignError) as refused:
        ServiceEnvironment(stack, "Environment", **({"capacity_limits": LIMITS} | props))

    assert refused.value.rule_ids == (rule,)
    assert not stack.node.children


def test_fails_on_a_state_that_aws_does_not_have(stack: Stack) -> None:
    with pytest.raises(QuotaConstructsError, match="state 'enabled' is not one of ENABLED, DISABLED"):
        ServiceEnvironment(stack, "Environment", capacity_limits=LIMITS, state="enabled")


def test_its_default_child_is_the_l1(stack: Stack) -> None:
    environment = ServiceEnvironment(stack, "Environment", capacity_limits=LIMITS)

    assert isinstance(environment.node.default_child, batch.CfnServiceEnvironment)


def test_tags_of_reaches_it(stack: Stack) -> None:
    ServiceEnvironment(stack, "Environment", capacity_limits=LIMITS)
    Tags.of(stack).add("project", "one")

    assert properties_of(stack, "ServiceEnvironment")["Tags"] == {"project": "one"}


def test_name_resolves_to_the_name_rather_than_the_arn(stack: Stack) -> None:
    environment = ServiceEnvironment(stack, "Environment", capacity_limits=LIMITS)

    arn = stack.resolve(environment.service_environment_arn)
    assert arn["Fn::GetAtt"][1] == "ServiceEnvironmentArn"
    assert stack.resolve(environment.service_environment_name) == {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}
