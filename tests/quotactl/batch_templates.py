"""Templates of quota-managed queues, written by hand so that they say what CloudFormation means, not what we render."""

from __future__ import annotations

from typing import Any

Resource = dict[str, Any]


def policy(**properties: Any) -> Resource:
    """A quota-share policy, unless the properties say otherwise."""
    given = properties or {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}}
    return {"Type": "AWS::Batch::SchedulingPolicy", "Properties": given}


def environment(limits: Any = None, **properties: Any) -> Resource:
    """A service environment of three ml.g5.xlarge."""
    capacity = capacity_limits({"ml.g5.xlarge": 3}) if limits is None else limits
    given = {"ServiceEnvironmentType": "SAGEMAKER_TRAINING", "CapacityLimits": capacity, **properties}
    return {"Type": "AWS::Batch::ServiceEnvironment", "Properties": given}


def queue(**properties: Any) -> Resource:
    """A queue on ``Policy`` and ``Environment``."""
    given = {
        "JobQueueType": "SAGEMAKER_TRAINING",
        "Priority": 1,
        "SchedulingPolicyArn": {"Fn::GetAtt": ["Policy", "Arn"]},
        "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
        **properties,
    }
    kept = {key: value for key, value in given.items() if value is not None}
    return {"Type": "AWS::Batch::JobQueue", "Properties": kept}


def share(name: Any = "vision", **properties: Any) -> Resource:
    """A share of one ml.g5.xlarge that lends, on ``Queue``."""
    given = {
        "QuotaShareName": name,
        "JobQueue": {"Ref": "Queue"},
        "CapacityLimits": capacity_limits({"ml.g5.xlarge": 1}),
        "ResourceSharingConfiguration": {"Strategy": "LEND"},
        "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
        **properties,
    }
    return {"Type": "AWS::Batch::QuotaShare", "Properties": given}


def capacity_limits(limits: dict[str, Any]) -> list[dict[str, Any]]:
    """Limits in CloudFormation's form."""
    return [{"CapacityUnit": unit, "MaxCapacity": capacity} for unit, capacity in limits.items()]


def template(**resources: Resource) -> dict[str, Any]:
    """A template of a policy, an environment and a queue, with these resources more or instead."""
    base = {"Policy": policy(), "Environment": environment(), "Queue": queue()}
    return {"Resources": {**base, **resources}}
