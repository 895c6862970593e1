"""A service job as the local Batch keeps it, and the forms in which AWS shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from quotactl.local.clock import Timer
from quotactl.local.training.behaviour import JobBehaviour
from quotactl.local.training.jobs import TrainingJob

__all__ = ["DISPATCHED", "Attempt", "ServiceJob"]

DISPATCHED: Final = frozenset({"SCHEDULED", "STARTING", "RUNNING"})
"""The statuses in which a job holds capacity."""
_FINISHED: Final = frozenset({"SUCCEEDED", "FAILED"})


@dataclass(slots=True)
class Attempt:
    """One training job of a service job; times in epoch milliseconds."""

    training_job_arn: str
    started_at: int | None = None
    stopped_at: int | None = None
    status_reason: str | None = None

    @property
    def training_job_name(self) -> str:
        """The name within the training job's ARN."""
        return self.training_job_arn.rpartition("/")[2]

    def resource(self) -> dict[str, Any]:
        """Return the form of ``latestAttempt``."""
        return {"serviceResourceId": {"name": "TrainingJobArn", "value": self.training_job_arn}}

    def describe(self) -> dict[str, Any]:
        """Return the form of an entry of ``attempts`` and ``recentPreemptedAttempts``."""
        times = {"startedAt": self.started_at, "stoppedAt": self.stopped_at, "statusReason": self.status_reason}
        return {**self.resource(), **{key: value for key, value in times.items() if value is not None}}


@dataclass(slots=True)
class ServiceJob:
    """One service job; times in epoch milliseconds."""

    id: str
    arn: str
    name: str
    queue_arn: str
    share: str
    sequence: int
    """Its place in the order of submission."""
    payload: str
    training_request: dict[str, Any]
    instances: dict[str, int]
    behaviour: JobBehaviour
    priority: int
    created_at: int
    retry_strategy: dict[str, Any] | None = None
    timeout_seconds: int | None = None
    preemption_retries: int | None = None
    tags: dict[str, str] = field(default_factory=dict)

    status: str = "SUBMITTED"
    status_reason: str | None = None
    waiting_since: int = 0
    """When it last became RUNNABLE."""
    scheduled_at: int | None = None
    started_at: int | None = None
    stopped_at: int | None = None
    terminated_because: str | None = None
    """The reason that its terminating user gave."""

    training_job: TrainingJob | None = None
    latest_attempt: Attempt | None = None
    attempts: list[Attempt] = field(default_factory=list)
    preempted_attempts: list[Attempt] = field(default_factory=list)
    """Newest first."""
    preemptions: int = 0
    capacity_shortages: int = 0
    scheduled_without_capacity: int = 0
    """How long it has been SCHEDULED in attempts that found no instances."""
    preempted_because: str | None = None
    """While it is being preempted, the reason that its attempt will carry."""
    stop_asked: bool = False
    """Whether the scheduler expects to hear that the job's stop is complete."""
    timed_out: bool = False
    timer: Timer | None = None
    """Ends the attempt when it has run for its time."""

    @property
    def has_finished(self) -> bool:
        """Whether the job is SUCCEEDED or FAILED."""
        return self.status in _FINISHED

    @property
    def current_attempt(self) -> Attempt:
        """The attempt of a job that was dispatched."""
        if self.latest_attempt is None:
            raise ValueError(f"service job {self.id} has had no attempt")
        return self.latest_attempt

    def summary(self) -> dict[str, Any]:
        """Return the form of ListServiceJobs."""
        return _without_nones(
            {
                "jobArn": self.arn,
                "jobId": self.id,
                "jobName": self.name,
                "serviceJobType": "SAGEMAKER_TRAINING",
                "quotaShareName": self.share,
                "capacityUsage": [{"capacityUnit": unit, "quantity": float(n)} for unit, n in self.instances.items()],
                "createdAt": self.created_at,
                "scheduledAt": self.scheduled_at,
                "startedAt": self.started_at,
                "stoppedAt": self.stopped_at,
                "status": self.status,
                "statusReason": self.status_reason,
                "latestAttempt": self.latest_attempt.resource() if self.latest_attempt else None,
                "isTerminated": True if self.terminated_because is not None else None,
            }
        )

    def event_detail(self) -> dict[str, Any]:
        """Return what a state change event tells: DescribeServiceJob without tags and payload."""
        return {
            **self.summary(),
            **_without_nones(
                {
                    "jobQueue": self.queue_arn,
                    "attempts": [attempt.describe() for attempt in self.attempts],
                    "isTerminated": self.terminated_because is not None,
                    "retryStrategy": self.retry_strategy,
                    "schedulingPriority": self.priority,
                    "startedAt": self.started_at or 0,
                    "timeoutConfig": {"attemptDurationSeconds": self.timeout_seconds} if self.timeout_seconds else None,
                    "preemptionConfiguration": None
                    if self.preemption_retries is None
                    else {"preemptionRetriesBeforeTermination": self.preemption_retries},
                    "preemptionSummary": self.preemption_summary() if self.preemptions else None,
                }
            ),
        }

    def describe(self) -> dict[str, Any]:
        """Return the form of DescribeServiceJob; ``startedAt`` is required there, so it is 0 before the start."""
        return {**self.event_detail(), "serviceRequestPayload": self.payload, "tags": dict(self.tags)}

    def preemption_summary(self) -> dict[str, Any]:
        """Return the preempted attempts, newest first."""
        return {
            "preemptedAttemptCount": self.preemptions,
            "recentPreemptedAttempts": [attempt.describe() for attempt in self.preempted_attempts],
        }


def _without_nones(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
