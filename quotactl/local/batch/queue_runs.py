"""Running a queue: what happens becomes events of the scheduler, and its decisions become the lives of jobs.

The scheduler is :mod:`quota_model.scheduler`; nothing here decides which job runs.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import TYPE_CHECKING

from quota_model.design import QuotaShare
from quota_model.scheduler import (
    Block,
    Decision,
    Dispatch,
    EnvironmentReplaced,
    Event,
    Fail,
    JobEnded,
    JobRetried,
    JobStarted,
    JobSubmitted,
    JobTerminated,
    Nominate,
    Preempt,
    PriorityChanged,
    QueueStateChanged,
    Requeue,
    RequeueCause,
    Scheduler,
    ShareAdded,
    ShareRemoved,
    ShareReplaced,
    Stop,
    StopCompleted,
    TimeLimitExpired,
    Unblock,
)
from quotactl.local.batch import retries
from quotactl.local.batch.fronts import Fronts
from quotactl.local.batch.job import DISPATCHED, Attempt, ServiceJob
from quotactl.local.batch.payload import training_job_name
from quotactl.local.batch.resources import JobQueueRecord
from quotactl.local.batch.time_limits import TimeLimits
from quotactl.local.errors import AwsError

if TYPE_CHECKING:
    from quotactl.local.batch.batch import Batch
    from quotactl.local.training.jobs import TrainingJob

__all__ = ["QueueRun"]

INSUFFICIENT_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Unable to provision requested compute resources"
_PREEMPTION_IN_PROGRESS = "PREEMPTION_IN_PROGRESS: "
_FROM_SAGEMAKER = "Received status from SageMaker: "


@dataclass(slots=True)
class QueueRun:
    """One queue's scheduler and the jobs it has not seen the end of. Every call is within a turn of the clock."""

    batch: Batch
    queue: JobQueueRecord
    scheduler: Scheduler = field(init=False)
    fronts: Fronts = field(init=False)
    time_limits: TimeLimits = field(init=False)
    _waiting_events: list[Event] = field(default_factory=list)
    _settling: bool = False

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(self.queue.design(), self.batch.scheduler_options)
        self.fronts = Fronts()
        self.time_limits = TimeLimits(self.batch.clock, self._time_limit_expired)
        self.time_limits.configure(self.queue.time_limits)

    @property
    def _now(self) -> int:
        return self.batch.clock.now()

    # What users do

    def submit(self, job: ServiceJob) -> None:
        """Take a job in, and schedule."""
        event = JobSubmitted(self._now, job.id, job.share, job.instances, job.priority, job.preemption_retries)
        self.scheduler.apply(event)
        self.batch.jobs.add(job)
        self._enter(job, "RUNNABLE")
        self._settle()

    def set_priority(self, job: ServiceJob, priority: int) -> None:
        """Change the priority of a job that has not finished, and schedule."""
        job.priority = priority
        self.fronts.left(self._now)
        self.tell(PriorityChanged(self._now, job.id, priority))

    def terminate(self, job: ServiceJob, reason: str) -> None:
        """End a job: at once if it waits, else as soon as its training job has stopped."""
        if job.has_finished or job.terminated_because is not None:
            return
        job.terminated_because = reason
        dispatched = job.status in DISPATCHED
        self._waiting_events.append(JobTerminated(self._now, job.id))
        if dispatched:
            self._stop(job)
        self._settle()

    def design_changed(self) -> None:
        """Tell the scheduler how the queue's design differs from what it knows, and schedule."""
        known, now = self.scheduler.design, self._now
        wanted = self.queue.design()
        shares = {share.name: share for share in self._live_shares()}
        known_shares = {share.name: share for share in known.quota_shares}
        if known.service_environment != wanted.service_environment:
            self._waiting_events.append(EnvironmentReplaced(now, wanted.service_environment))
        if known.state != wanted.state:
            self._waiting_events.append(QueueStateChanged(now, self.queue.state))
        for name, share in shares.items():
            if name not in known_shares:
                self._waiting_events.append(ShareAdded(now, share))
            elif known_shares[name] != share:
                self._waiting_events.append(ShareReplaced(now, share))
        for name in known_shares.keys() - shares.keys():
            self._waiting_events.append(ShareRemoved(now, str(name)))
        self.time_limits.configure(self.queue.time_limits)
        self._settle()

    def dispatched(self) -> Iterator[ServiceJob]:
        """Yield the jobs that are SCHEDULED, STARTING or RUNNING, those that are being stopped among them."""
        for status in DISPATCHED:
            yield from self.batch.jobs.newest_first(self.queue.arn, status)

    def front(self) -> tuple[tuple[str, int], ...]:
        """Return the first 100 waiting jobs with the times at which they came to their positions."""
        return self.fronts.look(self.scheduler, lambda job_id: self._job(job_id).waiting_since)

    def stop_now(self, share: str) -> None:
        """Let the stops of a share's jobs be complete at this instant, as one who waited for them would find them."""
        for view in list(self.scheduler.jobs()):
            job = self._job(view.job_id)
            if job.share == share and job.training_job is not None and job.training_job.status == "Stopping":
                self.batch.training_jobs.stop_now(job.training_job)

    def _live_shares(self) -> list[QuotaShare]:
        return [record.design for record in self.queue.shares.values() if record.status != "DELETING"]

    # What SageMaker tells

    def training_job_changed(self, job: ServiceJob, training_job: TrainingJob) -> None:
        """Follow an attempt's training job."""
        if training_job is not job.training_job:
            return
        if training_job.has_ended:
            self._attempt_ended(job, training_job)
        elif training_job.secondary == "Downloading":
            self._enter(job, "STARTING")
        elif training_job.secondary == "Training":
            job.started_at = self._now
            self._limit_duration(job)
            self._enter(job, "RUNNING")
            self.tell(JobStarted(self._now, job.id))

    def _attempt_ended(self, job: ServiceJob, training_job: TrainingJob) -> None:
        attempt = job.current_attempt
        attempt.started_at, attempt.stopped_at = training_job.started_at, self._now
        job.training_job = None
        if job.timer is not None:
            job.timer.cancel()
        if job.stop_asked:
            if job.terminated_because is not None:
                attempt.status_reason = job.terminated_because
            self.tell(StopCompleted(self._now, job.id))
        elif training_job.status == "Completed":
            self._ended(job, attempt, "Training job completed", succeeded=True)
        elif training_job.behaviour.capacity_shortage and training_job.status == "Failed":
            self._found_no_capacity(job, attempt)
        elif training_job.status == "Failed":
            self._ended(job, attempt, training_job.failure_reason or "Training job failed")
        else:
            reason = (
                "Job attempt duration exceeded timeout" if job.timed_out else f"{_FROM_SAGEMAKER}Training job stopped"
            )
            self._ended(job, attempt, reason, may_retry=False)

    def _ended(
        self, job: ServiceJob, attempt: Attempt, reason: str, *, succeeded: bool = False, may_retry: bool = True
    ) -> None:
        attempt.status_reason = reason if not may_retry else f"{_FROM_SAGEMAKER}{reason}"
        job.attempts.append(attempt)
        job.status_reason = attempt.status_reason
        if (
            not succeeded
            and may_retry
            and retries.is_retried(job.retry_strategy, len(job.attempts), attempt.status_reason)
        ):
            self.tell(JobRetried(self._now, job.id))
            return
        self._enter_final(job, "SUCCEEDED" if succeeded else "FAILED", attempt.status_reason)
        self.tell(JobEnded(self._now, job.id, succeeded))

    def _found_no_capacity(self, job: ServiceJob, attempt: Attempt) -> None:
        """Retry the job: shortages use up none of its attempts, and only the time it was SCHEDULED is limited."""
        attempt.status_reason = INSUFFICIENT_CAPACITY
        job.capacity_shortages += 1
        job.scheduled_without_capacity += self._now - (job.scheduled_at or self._now)
        job.status_reason = INSUFFICIENT_CAPACITY
        self._waiting_events.append(JobRetried(self._now, job.id))
        self._blocked_event(job)
        limit = self.time_limits.reached(INSUFFICIENT_CAPACITY, job.scheduled_without_capacity)
        if limit is not None:
            self._waiting_events.append(TimeLimitExpired(self._now, job.id, limit))
        self._settle()

    def _limit_duration(self, job: ServiceJob) -> None:
        if job.timeout_seconds is None:
            return

        def time_out() -> None:
            if job.training_job is not None and job.training_job.status == "InProgress":
                job.timed_out = True
                self.batch.training_jobs.stop(job.training_job)

        job.timer = self.batch.clock.call_at(self._now + job.timeout_seconds * 1000, time_out)

    # What the scheduler decides

    def tell(self, event: Event) -> None:
        """Tell the scheduler one event, and carry out what it decides."""
        self._waiting_events.append(event)
        self._settle()

    def _settle(self) -> None:
        """Apply what has happened and carry out decisions until nothing more follows."""
        if self._settling:
            return
        self._settling = True
        try:
            decisions: list[Decision] = [*self._apply_waiting_events(), *self.scheduler.run_pass(self._now)]
            while decisions:
                for decision in decisions:
                    self._carry_out(decision)
                self.fronts.left(self._now)
                decisions = [*self._apply_waiting_events()]
                decisions += self.scheduler.run_pass(self._now)
        finally:
            self._settling = False
        self._remove_deleted_shares()

    def _apply_waiting_events(self) -> list[Decision]:
        while self._waiting_events:
            self.scheduler.apply(self._waiting_events.pop(0))
        return []

    @singledispatchmethod
    def _carry_out(self, decision: Decision) -> None:
        raise TypeError(f"unknown decision {decision!r}")

    @_carry_out.register
    def _(self, decision: Dispatch) -> None:
        job = self._job(decision.job_id)
        attempt_id = uuid.uuid4().hex
        request = {
            **job.training_request,
            "TrainingJobName": training_job_name(job.training_request, job.name, attempt_id),
        }
        job.scheduled_at, job.started_at, job.stopped_at = self._now, None, None
        job.stop_asked = job.timed_out = False
        job.preempted_because = None
        self._forget_failed_attempt(job)
        job.latest_attempt = Attempt(self.batch.arns.of(f"training-job/{request['TrainingJobName']}", "sagemaker"))
        job.status_reason = None
        self._enter(job, "SCHEDULED")
        behaviour = job.behaviour.attempt(job.capacity_shortages, len(job.attempts))
        try:
            job.training_job = self.batch.training_jobs.create(request, behaviour, self._follower(job))
        except AwsError as error:
            job.latest_attempt.stopped_at = self._now
            self._ended(job, job.latest_attempt, f"{error.code}: {error.message}")

    @_carry_out.register
    def _(self, decision: Nominate) -> None:
        """Do nothing: it waits for machines, still RUNNABLE, and nobody can see the difference."""

    @_carry_out.register
    def _(self, decision: Preempt) -> None:
        job = self._job(decision.job_id)
        if decision.counted:
            job.preempted_because = decision.status_reason.removeprefix(_PREEMPTION_IN_PROGRESS)
            job.status_reason = f"{_PREEMPTION_IN_PROGRESS}{job.preempted_because}"
            detail = {"statusReason": job.status_reason, "preemptedJobArn": job.arn, "status": job.status}
            self.batch.send_event("Batch Service Job Preemption Started", job.arn, detail)
        self._stop(job)

    @_carry_out.register
    def _(self, decision: Stop) -> None:
        job = self._job(decision.job_id)
        if job.terminated_because is None:
            job.terminated_because = decision.status_reason
        self._stop(job)

    @_carry_out.register
    def _(self, decision: Requeue) -> None:
        job = self._job(decision.job_id)
        if decision.cause is RequeueCause.PREEMPTED:
            self._note_preempted_attempt(job)
            job.status_reason = None
            self._enter(job, "RUNNABLE")
            self._preemption_completed(job)
        elif decision.cause is RequeueCause.RETRIED:
            self._enter(job, "RUNNABLE")

    @_carry_out.register
    def _(self, decision: Fail) -> None:
        job = self._job(decision.job_id)
        was_preempted = job.preempted_because is not None
        if was_preempted:
            self._note_preempted_attempt(job)
        elif job.stop_asked and job.latest_attempt is not None:
            job.attempts.append(job.latest_attempt)
        self._enter_final(job, "FAILED", job.terminated_because or decision.status_reason)
        if was_preempted:
            self._preemption_completed(job)

    @_carry_out.register
    def _(self, decision: Block) -> None:
        job = self._job(decision.job_id)
        job.status_reason = decision.status_reason
        self._blocked_event(job)
        self.time_limits.watch(job.id, decision.status_reason)

    @_carry_out.register
    def _(self, decision: Unblock) -> None:
        job = self._job(decision.job_id)
        self.time_limits.forget(job.id)
        if not job.has_finished and job.status == "RUNNABLE":
            job.status_reason = None

    # What follows from it

    def _job(self, job_id: str) -> ServiceJob:
        return self.batch.jobs[job_id]

    def _follower(self, job: ServiceJob) -> Callable[[TrainingJob], None]:
        return lambda training_job: self.training_job_changed(job, training_job)

    def _stop(self, job: ServiceJob) -> None:
        job.stop_asked = True
        if job.training_job is not None and job.training_job.status == "InProgress":
            self.batch.training_jobs.stop(job.training_job)

    def _note_preempted_attempt(self, job: ServiceJob) -> None:
        attempt = job.current_attempt
        attempt.status_reason, job.preempted_because = job.preempted_because, None
        job.preemptions += 1
        kept = self.batch.options.remembered_preempted_attempts
        job.preempted_attempts = [attempt, *job.preempted_attempts][:kept]

    def _preemption_completed(self, job: ServiceJob) -> None:
        detail = {"preemptedJobArn": job.arn, "preemptionSummary": job.preemption_summary(), "status": job.status}
        self.batch.send_event("Batch Service Job Preemption Completed", job.arn, detail)

    def _blocked_event(self, job: ServiceJob) -> None:
        detail = {**job.event_detail(), "status": "RUNNABLE"}
        self.batch.send_event("Batch Service Job Queue Blocked", job.arn, detail)

    def _time_limit_expired(self, job_id: str, reason: str) -> None:
        self.tell(TimeLimitExpired(self._now, job_id, reason))

    def _forget_failed_attempt(self, job: ServiceJob) -> None:
        """Delete the training job of an attempt that found no instances: AWS keeps the latest alone."""
        if job.latest_attempt is not None and job.latest_attempt.status_reason == INSUFFICIENT_CAPACITY:
            name = job.latest_attempt.training_job_arn.rpartition("/")[2]
            self.batch.training_jobs.jobs.pop(name, None)

    def _enter(self, job: ServiceJob, status: str) -> None:
        if status == "RUNNABLE":
            job.waiting_since = self._now
        self.batch.jobs.set_status(job, status)
        self.batch.send_event("Batch Service Job State Change", job.arn, job.event_detail())

    def _enter_final(self, job: ServiceJob, status: str, reason: str | None) -> None:
        job.status_reason = reason
        job.stopped_at = self._now
        self.time_limits.forget(job.id)
        self._enter(job, status)

    def _remove_deleted_shares(self) -> None:
        deleting = [name for name, share in self.queue.shares.items() if share.status == "DELETING"]
        if deleting:
            alive = {view.share for view in self.scheduler.jobs()}
            for name in deleting:
                if name not in alive:
                    del self.queue.shares[name]
