"""Training jobs: their life on the local clock, from Pending to Completed, Failed or Stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from quotactl.local.arns import Arns
from quotactl.local.clock import Clock, Timer
from quotactl.local.errors import ResourceInUse, ResourceNotFound, ValidationException
from quotactl.local.requests import problem_with
from quotactl.local.training.behaviour import AttemptBehaviour, BehaviourError, Behaviours
from quotactl.local.training.plans import TrainingPlans

__all__ = ["TrainingJob", "TrainingJobs"]

_MILLISECONDS: Final = 1000
CAPACITY_ERROR: Final = "CapacityError: Unable to provision requested ML compute capacity."
"""The failure reason of a job for which there are no instances; it begins as SageMaker's do."""


@dataclass(slots=True)
class TrainingJob:
    """One training job; times in epoch milliseconds."""

    name: str
    arn: str
    request: dict[str, Any]
    behaviour: AttemptBehaviour
    created_at: int
    on_change: Callable[[TrainingJob], None]
    status: str = "InProgress"
    secondary: str = "Starting"
    failure_reason: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    changed_at: int = 0
    transitions: list[tuple[str, int]] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)

    @property
    def has_ended(self) -> bool:
        """Whether the job is Completed, Failed or Stopped."""
        return self.status in ("Completed", "Failed", "Stopped")

    def describe(self) -> dict[str, Any]:
        """Return the form of DescribeTrainingJob, times in epoch seconds as its protocol has them."""
        passed_on = {key: value for key, value in self.request.items() if key not in ("Tags", "SessionChainingConfig")}
        output = self.request.get("OutputDataConfig", {}).get("S3OutputPath", "").rstrip("/")
        described = {
            "StoppingCondition": {},
            **passed_on,
            "TrainingJobName": self.name,
            "TrainingJobArn": self.arn,
            "TrainingJobStatus": self.status,
            "SecondaryStatus": self.secondary,
            "CreationTime": _seconds(self.created_at),
            "LastModifiedTime": _seconds(self.changed_at),
            "ModelArtifacts": {"S3ModelArtifacts": f"{output}/{self.name}/output/model.tar.gz" if output else ""},
            "SecondaryStatusTransitions": list(self._described_transitions()),
        }
        if self.failure_reason is not None:
            described["FailureReason"] = self.failure_reason
        if self.started_at is not None:
            described["TrainingStartTime"] = _seconds(self.started_at)
        if self.ended_at is not None:
            described["TrainingEndTime"] = _seconds(self.ended_at)
            seconds = (self.ended_at - (self.started_at or self.ended_at)) // _MILLISECONDS
            described |= {"TrainingTimeInSeconds": seconds, "BillableTimeInSeconds": seconds}
        return described

    def summary(self) -> dict[str, Any]:
        """Return the form of ListTrainingJobs."""
        fields = ("TrainingJobName", "TrainingJobArn", "CreationTime", "TrainingEndTime", "LastModifiedTime")
        described = self.describe()
        wanted = (*fields, "TrainingJobStatus", "SecondaryStatus")
        summary = {key: described[key] for key in wanted if key in described}
        plan = self.request.get("ResourceConfig", {}).get("TrainingPlanArn")
        return {**summary, "TrainingPlanArn": plan} if plan else summary

    def _described_transitions(self) -> Iterable[dict[str, Any]]:
        ends = [start for _, start in self.transitions[1:]] + [self.ended_at]
        for (status, start), end in zip(self.transitions, ends, strict=True):
            described = {"Status": status, "StartTime": _seconds(start)}
            yield described if end is None else {**described, "EndTime": _seconds(end)}


def _seconds(milliseconds: int) -> float:
    return milliseconds / _MILLISECONDS


def _ignore(_: TrainingJob) -> None:
    pass


class TrainingJobs:
    """The training jobs of one account and Region."""

    def __init__(self, arns: Arns, clock: Clock, behaviours: Behaviours, plans: TrainingPlans) -> None:
        self.arns = arns
        self.clock = clock
        self.behaviours = behaviours
        self.plans = plans
        self.jobs: dict[str, TrainingJob] = {}

    def create(
        self,
        request: dict[str, Any],
        behaviour: AttemptBehaviour | None = None,
        on_change: Callable[[TrainingJob], None] = _ignore,
    ) -> TrainingJob:
        """Start a job as CreateTrainingJob does, and have ``on_change`` called at each change of its status."""
        problem = problem_with("sagemaker", "CreateTrainingJob", request)
        if problem is not None:
            raise ValidationException(problem)
        name = request["TrainingJobName"]
        if name in self.jobs:
            raise ResourceInUse("Training job names must be unique within an AWS account and region")
        resources = request.get("ResourceConfig", {})
        plan_arn = resources.get("TrainingPlanArn")
        available_at = self.plans.available_at(plan_arn) if plan_arn else 0
        now = self.clock.now()
        try:
            behaviour = behaviour or self.behaviours.of_job(name, request).attempt()
        except BehaviourError as error:
            raise ValidationException(str(error)) from error
        job = TrainingJob(
            name, self.arns.of(f"training-job/{name.lower()}", "sagemaker"), request, behaviour, now, on_change
        )
        self.jobs[name] = job
        self._schedule(job, max(0, available_at - now))
        self._enter(job, "InProgress", "Pending")
        return job

    def get(self, name: str) -> TrainingJob:
        """Return the job of this name."""
        if name not in self.jobs:
            raise ResourceNotFound("Requested resource not found.")
        return self.jobs[name]

    def stop(self, job: TrainingJob) -> None:
        """Ask a job to stop: it is Stopping for as long as its behaviour says, then Stopped."""
        if job.status != "InProgress":
            raise ValidationException(f"The request was rejected because the training job is in status {job.status}.")
        self._cancel(job)
        self._after(job, job.behaviour.stopping, lambda: self._end(job, "Stopped", "Stopped"))
        self._enter(job, "Stopping", "Stopping")

    def stop_now(self, job: TrainingJob) -> None:
        """Stop a job at this instant."""
        if not job.has_ended:
            self._end(job, "Stopped", "Stopped")

    def forget(self, job: TrainingJob) -> None:
        """Delete a job that has ended."""
        self.jobs.pop(job.name, None)

    def _schedule(self, job: TrainingJob, wait: int) -> None:
        """Set the timers of the whole life that the job's behaviour describes."""
        behaviour = job.behaviour
        at = wait + behaviour.pending
        if behaviour.capacity_shortage:
            at = max(at, _MILLISECONDS)  # or endless shortages would all be at the same instant
            self._after(job, at, lambda: self._end(job, "Failed", "Failed", CAPACITY_ERROR))
            return
        self._after(job, at, lambda: self._enter(job, "InProgress", "Downloading"))
        at += behaviour.downloading
        self._after(job, at, lambda: self._train(job))
        limit = job.request.get("StoppingCondition", {}).get("MaxRuntimeInSeconds")
        if limit is not None and limit * _MILLISECONDS < behaviour.training:
            at += limit * _MILLISECONDS
            self._after(job, at, lambda: self._end(job, "Stopped", "MaxRuntimeExceeded"))
            return
        at += behaviour.training
        if behaviour.failure is not None:
            self._after(job, at, lambda: self._end(job, "Failed", "Failed", behaviour.failure))
            return
        self._after(job, at, lambda: self._enter(job, "InProgress", "Uploading"))
        self._after(job, at + behaviour.uploading, lambda: self._end(job, "Completed", "Completed"))

    def _after(self, job: TrainingJob, milliseconds: int, action: Callable[[], None]) -> None:
        job.timers.append(self.clock.call_at(self.clock.now() + milliseconds, action))

    @staticmethod
    def _cancel(job: TrainingJob) -> None:
        for timer in job.timers:
            timer.cancel()
        job.timers.clear()

    def _train(self, job: TrainingJob) -> None:
        job.started_at = self.clock.now()
        self._enter(job, "InProgress", "Training")

    def _end(self, job: TrainingJob, status: str, secondary: str, reason: str | None = None) -> None:
        self._cancel(job)
        job.failure_reason = reason
        job.ended_at = self.clock.now()
        self._enter(job, status, secondary)

    def _enter(self, job: TrainingJob, status: str, secondary: str) -> None:
        now = self.clock.now()
        job.status, job.secondary, job.changed_at = status, secondary, now
        job.transitions.append((secondary, now))
        job.on_change(job)
