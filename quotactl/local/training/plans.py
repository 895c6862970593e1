"""Training plans: reserved capacity that a training job can name, bought from an offering of the local AWS.

Nothing costs anything here. SearchTrainingPlanOfferings always finds what it is asked for, at once available.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from quotactl.local.arns import Arns
from quotactl.local.clock import Clock
from quotactl.local.errors import ValidationException

__all__ = ["TrainingPlan", "TrainingPlans"]

_HOUR: Final = 3_600_000
_DEFAULT_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """A plan of one reserved capacity; times in epoch milliseconds."""

    name: str
    arn: str
    instance_type: str
    instance_count: int
    start: int
    end: int
    target_resources: tuple[str, ...]

    def status(self, now: int) -> str:
        """Return Scheduled before the capacity is there, Active while it is, Expired after."""
        if now < self.start:
            return "Scheduled"
        return "Active" if now < self.end else "Expired"

    def describe(self, now: int, in_use: int) -> dict[str, Any]:
        """Return the form of DescribeTrainingPlan."""
        status, hours = self.status(now), (self.end - self.start) // _HOUR
        window = {"DurationHours": hours, "StartTime": self.start / 1000, "EndTime": self.end / 1000}
        capacity = {
            "ReservedCapacityArn": self.arn.replace(":training-plan/", ":reserved-capacity/"),
            "InstanceType": self.instance_type,
            "TotalInstanceCount": self.instance_count,
            "Status": status,
            **window,
        }
        return {
            "TrainingPlanArn": self.arn,
            "TrainingPlanName": self.name,
            "Status": status,
            "TotalInstanceCount": self.instance_count,
            "InUseInstanceCount": in_use,
            "AvailableInstanceCount": max(0, self.instance_count - in_use) if status == "Active" else 0,
            "UpfrontFee": "0",
            "CurrencyCode": "USD",
            "TargetResources": list(self.target_resources),
            "ReservedCapacitySummaries": [capacity],
            **window,
        }


class _Terms(NamedTuple):
    """What was offered; ``start`` in epoch seconds, ``None`` for at once."""

    instance_type: str
    instance_count: int
    hours: int
    start: float | None
    target_resources: tuple[str, ...]


class TrainingPlans:
    """The training plans of one account and Region."""

    def __init__(self, arns: Arns, clock: Clock) -> None:
        self.arns = arns
        self.clock = clock
        self.plans: dict[str, TrainingPlan] = {}
        self._offered: dict[str, _Terms] = {}

    def offering(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the one offering that SearchTrainingPlanOfferings finds, and remember it."""
        if "InstanceType" not in request:
            raise ValidationException("InstanceType is missing; the local AWS offers plans of instances.")
        terms = _Terms(
            request["InstanceType"],
            request.get("InstanceCount", 1),
            request.get("DurationHours", _DEFAULT_HOURS),
            request.get("StartTimeAfter"),
            tuple(request["TargetResources"]),
        )
        identifier = f"tpo-{uuid.uuid4()}"
        self._offered[identifier] = terms
        return {
            "TrainingPlanOfferingId": identifier,
            "TargetResources": list(terms.target_resources),
            "DurationHours": terms.hours,
            "UpfrontFee": "0",
            "CurrencyCode": "USD",
            "ReservedCapacityOfferings": [
                {
                    "InstanceType": terms.instance_type,
                    "InstanceCount": terms.instance_count,
                    "DurationHours": terms.hours,
                    **({} if terms.start is None else {"StartTime": terms.start}),
                }
            ],
        }

    def create(self, name: str, offering_id: str) -> TrainingPlan:
        """Buy an offering."""
        terms = self._offered.get(offering_id)
        if terms is None:
            raise ValidationException("TrainingPlanOfferingId is not one that SearchTrainingPlanOfferings returned.")
        start = self.clock.now() if terms.start is None else round(terms.start * 1000)
        arn = self.arns.of(f"training-plan/{name}-{uuid.uuid4().hex[:8]}", "sagemaker")
        plan = TrainingPlan(
            name,
            arn,
            terms.instance_type,
            terms.instance_count,
            start,
            start + terms.hours * _HOUR,
            terms.target_resources,
        )
        self.plans[plan.name] = plan
        return plan

    def by_arn(self, arn: str) -> TrainingPlan | None:
        """Return the plan of this ARN, if there is one."""
        return next((plan for plan in self.plans.values() if plan.arn == arn), None)

    def available_at(self, arn: str) -> int:
        """Return when a job that names this plan can have instances: a job waits Pending until then."""
        plan = self.by_arn(arn)
        if plan is None:
            raise ValidationException(f"Training plan {arn} does not exist.")
        if plan.status(self.clock.now()) == "Expired":
            raise ValidationException(f"Training plan {arn} is Expired; it must be Scheduled or Active.")
        if "training-job" not in plan.target_resources:
            raise ValidationException(f"Training plan {arn} is not for training jobs.")
        return plan.start
