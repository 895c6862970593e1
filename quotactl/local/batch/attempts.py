"""The attempts of service jobs: each is a training job that Batch starts, stops and reads the end of."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple

from quotactl.local.batch.job import Attempt, ServiceJob
from quotactl.local.batch.payload import training_job_name
from quotactl.local.errors import AwsError

if TYPE_CHECKING:
    from quotactl.local.batch.batch import Batch
    from quotactl.local.training.jobs import TrainingJob

__all__ = ["INSUFFICIENT_CAPACITY", "Attempts", "End", "Ending"]

INSUFFICIENT_CAPACITY: Final = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Unable to provision requested compute resources"
)
_FROM_SAGEMAKER: Final = "Received status from SageMaker: "
_TIMED_OUT: Final = "Job attempt duration exceeded timeout"
"""Not AWS's words: AWS documents no text for a service job that reached its timeout."""


class End(Enum):
    """How an attempt ended."""

    STOP_COMPLETE = auto()
    """It was stopped for the scheduler, which waits to hear of it."""
    SUCCEEDED = auto()
    NO_CAPACITY = auto()
    """SageMaker had no instances."""
    FAILED = auto()
    """The retry strategy says what follows."""
    STOPPED = auto()
    """By its timeout, or by someone outside Batch: nothing follows."""


class Ending(NamedTuple):
    """How an attempt ended, and what it says of it."""

    end: End
    status_reason: str = ""


class Attempts:
    """Starts and stops the training jobs of one queue's service jobs, and has every change of theirs reported."""

    def __init__(self, batch: Batch, changed: Callable[[ServiceJob, TrainingJob], None]) -> None:
        self._batch = batch
        self._changed = changed

    def prepare(self, job: ServiceJob) -> None:
        """Begin a new attempt of a job that was dispatched; its training job gets a name of its own."""
        self._forget_one_without_capacity(job)
        name = training_job_name(job.training_request, job.name, uuid.uuid4().hex)
        job.scheduled_at, job.started_at, job.stopped_at = self._batch.clock.now(), None, None
        job.stop_asked = job.timed_out = False
        job.preempted_because = job.status_reason = None
        job.latest_attempt = Attempt(self._batch.arns.of(f"training-job/{name}", "sagemaker"))

    def start(self, job: ServiceJob) -> Ending | None:
        """Create the attempt's training job; one that SageMaker refuses has ended."""
        attempt = job.current_attempt
        request = {**job.training_request, "TrainingJobName": attempt.training_job_name}
        behaviour = job.behaviour.attempt(job.capacity_shortages, len(job.attempts))
        try:
            job.training_job = self._batch.training_jobs.create(
                request, behaviour, lambda training_job: self._changed(job, training_job)
            )
        except AwsError as error:
            attempt.stopped_at = self._batch.clock.now()
            return Ending(End.FAILED, f"{_FROM_SAGEMAKER}{error.code}: {error.message}")
        return None

    def stop(self, job: ServiceJob) -> None:
        """Stop the attempt for the scheduler."""
        job.stop_asked = True
        if job.training_job is not None and job.training_job.status == "InProgress":
            self._batch.training_jobs.stop(job.training_job)

    def limit_duration(self, job: ServiceJob) -> None:
        """Have an attempt that begins to run now stopped when it has run for its time."""
        if job.timeout_seconds is not None:
            due = self._batch.clock.now() + job.timeout_seconds * 1000
            job.timer = self._batch.clock.call_at(due, lambda: self._time_out(job))

    def finish(self, job: ServiceJob, training_job: TrainingJob) -> Ending:
        """Note the end of the attempt's training job, and return how it ended."""
        attempt = job.current_attempt
        attempt.started_at, attempt.stopped_at = training_job.started_at, self._batch.clock.now()
        job.training_job = None
        if job.timer is not None:
            job.timer.cancel()
        ending = self._ending(job, training_job)
        if ending.status_reason:
            attempt.status_reason = ending.status_reason
        return ending

    def _ending(self, job: ServiceJob, training_job: TrainingJob) -> Ending:
        if job.stop_asked:
            return Ending(End.STOP_COMPLETE, job.terminated_because or "")
        if training_job.status == "Completed":
            return Ending(End.SUCCEEDED, f"{_FROM_SAGEMAKER}Training job completed")
        if training_job.status == "Stopped":
            return Ending(End.STOPPED, _TIMED_OUT if job.timed_out else f"{_FROM_SAGEMAKER}Training job stopped")
        if training_job.behaviour.capacity_shortage:
            return Ending(End.NO_CAPACITY, INSUFFICIENT_CAPACITY)
        return Ending(End.FAILED, f"{_FROM_SAGEMAKER}{training_job.failure_reason or 'Training job failed'}")

    def _time_out(self, job: ServiceJob) -> None:
        if job.training_job is not None and job.training_job.status == "InProgress":
            job.timed_out = True
            self._batch.training_jobs.stop(job.training_job)

    def _forget_one_without_capacity(self, job: ServiceJob) -> None:
        """Delete the training job of an attempt that found no instances: AWS keeps the latest of them alone."""
        attempt = job.latest_attempt
        if attempt is not None and attempt.status_reason == INSUFFICIENT_CAPACITY:
            self._batch.training_jobs.jobs.pop(attempt.training_job_name, None)
