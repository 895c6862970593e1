"""Running a queue: what happens becomes events of the scheduler, and its decisions become the lives of jobs.

The scheduler is :mod:`quota_model.scheduler`; nothing here decides which job runs.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from quota_model.scheduler.reasons import PREEMPTION_IN_PROGRESS
from quotactl.local.batch import notices, retries
from quotactl.local.batch.attempts import INSUFFICIENT_CAPACITY, Attempts, End, Ending
from quotactl.local.batch.fronts import Fronts
from quotactl.local.batch.job import DISPATCHED, ServiceJob
from quotactl.local.batch.resources import JobQueueRecord
from quotactl.local.batch.time_limits import TimeLimits

if TYPE_CHECKING:
    from quotactl.local.batch.batch import Batch
    from quotactl.local.training.jobs import TrainingJob

__all__ = ["QueueRun"]


@dataclass(slots=True)
class QueueRun:
    """One queue's scheduler and the jobs it has not seen the end of. Every call is within a turn of the clock."""

    batch: Batch
    queue: JobQueueRecord
    scheduler: Scheduler = field(init=False)
    attempts: Attempts = field(init=False)
    fronts: Fronts = field(init=False)
    time_limits: TimeLimits = field(init=False)
    _waiting_events: list[Event] = field(default_factory=list)
    _settling: bool = False

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(self.queue.design(), self.batch.scheduler_options)
        self.attempts = Attempts(self.batch, self.training_job_changed)
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
            self.attempts.stop(job)
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
            self._attempt_ended(job, self.attempts.finish(job, training_job))
        elif training_job.secondary == "Downloading":
            self._enter(job, "STARTING")
        elif training_job.secondary == "Training":
            job.started_at = self._now
            self.attempts.limit_duration(job)
            self._enter(job, "RUNNING")
            self.tell(JobStarted(self._now, job.id))

    def _attempt_ended(self, job: ServiceJob, ending: Ending) -> None:
        end, reason = ending
        if end is End.STOP_COMPLETE:
            self.tell(StopCompleted(self._now, job.id))
            return
        job.status_reason = job.current_attempt.status_reason = reason
        if end is End.NO_CAPACITY:
            self._retry_for_capacity(job)
            return
        job.attempts.append(job.current_attempt)
        if end is End.FAILED and retries.is_retried(job.retry_strategy, len(job.attempts), reason):
            self.tell(JobRetried(self._now, job.id))
            return
        succeeded = end is End.SUCCEEDED
        self._enter_final(job, "SUCCEEDED" if succeeded else "FAILED", reason)
        self.tell(JobEnded(self._now, job.id, succeeded))

    def _retry_for_capacity(self, job: ServiceJob) -> None:
        """Retry the job: shortages use up none of its attempts, and only the time it was SCHEDULED is limited."""
        job.capacity_shortages += 1
        job.scheduled_without_capacity += self._now - (job.scheduled_at or self._now)
        self._waiting_events.append(JobRetried(self._now, job.id))
        notices.queue_blocked(self.batch, job)
        limit = self.time_limits.reached(INSUFFICIENT_CAPACITY, job.scheduled_without_capacity)
        if limit is not None:
            self._waiting_events.append(TimeLimitExpired(self._now, job.id, limit))
        self._settle()

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
            while decisions := self._decide():
                for decision in decisions:
                    self._carry_out(decision)
                self.fronts.left(self._now)
        finally:
            self._settling = False
        self._remove_deleted_shares()

    def _decide(self) -> tuple[Decision, ...]:
        while self._waiting_events:
            self.scheduler.apply(self._waiting_events.pop(0))
        return self.scheduler.run_pass(self._now)

    @singledispatchmethod
    def _carry_out(self, decision: Decision) -> None:
        raise TypeError(f"unknown decision {decision!r}")

    @_carry_out.register
    def _(self, decision: Dispatch) -> None:
        job = self._job(decision.job_id)
        self.attempts.prepare(job)
        self._enter(job, "SCHEDULED")
        ending = self.attempts.start(job)
        if ending is not None:
            self._attempt_ended(job, ending)

    @_carry_out.register
    def _(self, decision: Nominate) -> None:
        """Do nothing: it waits for machines, still RUNNABLE, and nobody can see the difference."""

    @_carry_out.register
    def _(self, decision: Preempt) -> None:
        job = self._job(decision.job_id)
        if decision.counted:
            job.preempted_because = decision.status_reason
            job.status_reason = f"{PREEMPTION_IN_PROGRESS}{decision.status_reason}"
            notices.preemption_started(self.batch, job)
        self.attempts.stop(job)

    @_carry_out.register
    def _(self, decision: Stop) -> None:
        job = self._job(decision.job_id)
        if job.terminated_because is None:
            job.terminated_because = decision.status_reason
        self.attempts.stop(job)

    @_carry_out.register
    def _(self, decision: Requeue) -> None:
        job = self._job(decision.job_id)
        if decision.cause is RequeueCause.PREEMPTED:
            self._note_preempted_attempt(job)
            job.status_reason = None
            self._enter(job, "RUNNABLE")
            notices.preemption_completed(self.batch, job)
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
            notices.preemption_completed(self.batch, job)

    @_carry_out.register
    def _(self, decision: Block) -> None:
        job = self._job(decision.job_id)
        job.status_reason = decision.status_reason
        notices.queue_blocked(self.batch, job)
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

    def _note_preempted_attempt(self, job: ServiceJob) -> None:
        attempt = job.current_attempt
        attempt.status_reason, job.preempted_because = job.preempted_because, None
        job.preemptions += 1
        kept = self.batch.options.remembered_preempted_attempts
        job.preempted_attempts = [attempt, *job.preempted_attempts][:kept]

    def _time_limit_expired(self, job_id: str, reason: str) -> None:
        self.tell(TimeLimitExpired(self._now, job_id, reason))

    def _enter(self, job: ServiceJob, status: str) -> None:
        if status == "RUNNABLE":
            job.waiting_since = self._now
        self.batch.jobs.set_status(job, status)
        notices.state_changed(self.batch, job)

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
