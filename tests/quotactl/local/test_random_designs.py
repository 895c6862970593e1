"""What the rules let pass, the local CloudFormation and Batch accept; what they refuse, AWS's API refuses here too."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quota_model.design import QuotaQueue, SchedulingPolicyKind
from quotactl.local.aws import LocalAws
from quotactl.local.clock import Clock
from quotactl.local.cloudformation import TYPES, ResourceHandlerError
from tests.properties.designs import BREAKERS, sound_designs

EXAMPLES = int(os.environ.get("QUOTACTL_DESIGNS", "100"))
"""How many random designs; 10,000 by hand."""
_POLICIES: dict[SchedulingPolicyKind, dict[str, Any]] = {
    SchedulingPolicyKind.QUOTA_SHARE: {"quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"}},
    SchedulingPolicyKind.FAIR_SHARE: {"fairsharePolicy": {"shareDecaySeconds": 600}},
    SchedulingPolicyKind.NONE: {},
}
_ACCEPTED_BY_AWS = {"share-unit-not-in-environment"}
"""Errors that AWS does not document as refusals of a request: such a share is made, and never runs anything."""


def properties(value: Any) -> Any:
    """Return the form of a CloudFormation template."""
    if isinstance(value, dict):
        return {key[0].upper() + key[1:]: properties(item) for key, item in value.items()}
    return [properties(item) for item in value] if isinstance(value, list) else value


def deploy(queue: QuotaQueue) -> list[str]:
    """Create the queue's resources as CloudFormation would, and return the shares' ARNs."""
    batch = LocalAws(Clock(0, start=0)).batch("123456789012", "us-east-1")

    def create(kind: str, **given: Any) -> str:
        resource_type = TYPES[f"AWS::Batch::{kind}"]
        return resource_type.created(batch, "Logical", properties(given), "stack")[0]

    design = queue.to_json()
    policy = design["schedulingPolicy"]
    named = {"name": policy["name"]} if "name" in policy else {}
    policy_arn = create("SchedulingPolicy", **named, **_POLICIES[SchedulingPolicyKind(policy["kind"])])
    environment = design["serviceEnvironment"]
    environment_arn = create("ServiceEnvironment", serviceEnvironmentType="SAGEMAKER_TRAINING", **environment)
    own = {key: value for key, value in design.items() if key in ("jobQueueName", "state", "priority")}
    arn = create(
        "JobQueue",
        **own,
        jobQueueType="SAGEMAKER_TRAINING",
        schedulingPolicyArn=policy_arn,
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": environment_arn}],
        jobStateTimeLimitActions=design["jobStateTimeLimitActions"],
    )
    shares = [create("QuotaShare", jobQueue=arn, **share) for share in design["quotaShares"]]
    assert batch.runs[batch.queue(arn).name].scheduler.design == batch.queue(arn).design()
    return shares


@settings(max_examples=EXAMPLES)
@given(sound_designs())
def test_a_design_without_errors_is_deployed(queue: QuotaQueue) -> None:
    assert len(set(deploy(queue))) == len(queue.quota_shares)


@pytest.mark.parametrize("rule", sorted(BREAKERS.keys() - _ACCEPTED_BY_AWS))
@settings(max_examples=max(5, EXAMPLES // 20))
@given(data=st.data())
def test_fails_with_a_design_that_breaks_a_rule(rule: str, data: st.DataObject) -> None:
    broken = data.draw(st.sampled_from(BREAKERS[rule]))(data.draw(sound_designs()))
    with pytest.raises(ResourceHandlerError):
        deploy(broken)


@settings(max_examples=5)
@given(sound_designs())
def test_a_share_that_can_never_run_anything_is_made_all_the_same(queue: QuotaQueue) -> None:
    for rule in _ACCEPTED_BY_AWS:
        for broken in (breaker(queue) for breaker in BREAKERS[rule]):
            assert len(deploy(broken)) == len(broken.quota_shares)
