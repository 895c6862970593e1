"""The four resources of a quota-managed queue as the local Batch keeps them.

What a resource is made of is a value of :mod:`quota_model.design`; what surrounds it (its ARN, tags, status)
is kept beside it. A resource becomes VALID at once: on AWS it is CREATING or UPDATING for a moment first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from quota_model.design import (
    JobStateTimeLimitAction,
    QuotaQueue,
    QuotaShare,
    SchedulingPolicy,
    SchedulingPolicyKind,
    ServiceEnvironment,
    State,
)

__all__ = ["EnvironmentRecord", "JobQueueRecord", "PolicyRecord", "ShareRecord", "Tags"]

Tags = dict[str, str]


@dataclass(slots=True)
class PolicyRecord:
    """A scheduling policy; ``policy`` is ``quotaSharePolicy`` or ``fairsharePolicy`` as it was given."""

    arn: str
    name: str
    kind: SchedulingPolicyKind
    policy: dict[str, Any]
    tags: Tags = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """Return the form of DescribeSchedulingPolicies."""
        described: dict[str, Any] = {"arn": self.arn, "name": self.name, "tags": dict(self.tags)}
        if self.kind is SchedulingPolicyKind.QUOTA_SHARE:
            described["quotaSharePolicy"] = self.policy
        elif self.kind is SchedulingPolicyKind.FAIR_SHARE:
            described["fairsharePolicy"] = self.policy
        return described


@dataclass(slots=True)
class EnvironmentRecord:
    """A service environment."""

    arn: str
    name: str
    design: ServiceEnvironment
    tags: Tags = field(default_factory=dict)
    status: str = "VALID"

    def describe(self) -> dict[str, Any]:
        """Return the form of DescribeServiceEnvironments."""
        return {
            "serviceEnvironmentArn": self.arn,
            "serviceEnvironmentName": self.name,
            "serviceEnvironmentType": "SAGEMAKER_TRAINING",
            "state": str(self.design.state),
            "status": self.status,
            "capacityLimits": self.design.capacity_limits.to_json(),
            "tags": dict(self.tags),
        }


@dataclass(slots=True)
class ShareRecord:
    """A quota share of one queue."""

    arn: str
    queue_arn: str
    design: QuotaShare
    tags: Tags = field(default_factory=dict)
    status: str = "VALID"

    @property
    def name(self) -> str:
        """The share's name, unique within its queue."""
        return str(self.design.name)

    def describe(self, *, with_tags: bool = True) -> dict[str, Any]:
        """Return the form of DescribeQuotaShare, or without tags that of ListQuotaShares."""
        described = {
            **self.design.to_json(),
            "quotaShareArn": self.arn,
            "jobQueueArn": self.queue_arn,
            "status": self.status,
        }
        return {**described, "tags": dict(self.tags)} if with_tags else described


@dataclass(slots=True)
class JobQueueRecord:
    """A SageMaker Training job queue with its shares."""

    arn: str
    name: str
    priority: int
    policy: PolicyRecord
    environment: EnvironmentRecord
    environment_order: int = 1
    state: State = State.ENABLED
    time_limits: tuple[JobStateTimeLimitAction, ...] = ()
    shares: dict[str, ShareRecord] = field(default_factory=dict)
    tags: Tags = field(default_factory=dict)
    status: str = "VALID"
    status_reason: str = "JobQueue Healthy"

    def design(self) -> QuotaQueue:
        """Return the queue with its environment and shares as one design."""
        return QuotaQueue(
            self.environment.design,
            tuple(share.design for share in self.shares.values()),
            self.name,
            SchedulingPolicy(self.policy.kind, self.policy.name),
            self.priority,
            self.state,
            self.time_limits,
        )

    def describe(self) -> dict[str, Any]:
        """Return the form of DescribeJobQueues."""
        return {
            "jobQueueArn": self.arn,
            "jobQueueName": self.name,
            "jobQueueType": "SAGEMAKER_TRAINING",
            "state": str(self.state),
            "status": self.status,
            "statusReason": self.status_reason,
            "priority": self.priority,
            "schedulingPolicyArn": self.policy.arn,
            "computeEnvironmentOrder": [],
            "serviceEnvironmentOrder": [{"order": self.environment_order, "serviceEnvironment": self.environment.arn}],
            "jobStateTimeLimitActions": [action.to_json() for action in self.time_limits],
            "tags": dict(self.tags),
        }
