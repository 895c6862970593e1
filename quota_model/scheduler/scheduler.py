"""The scheduler of a quota-managed queue: events in, decisions out."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Self, cast

from quota_model.design import QuotaQueue
from quota_model.scheduler import changes, configuration, fronts, passes
from quota_model.scheduler.changes import SchedulerError
from quota_model.scheduler.decisions import Decision, Dispatch, Fail, Nominate, Preempt, Stop
from quota_model.scheduler.events import Event
from quota_model.scheduler.explain import explain
from quota_model.scheduler.job import DISPATCHED, NOMINATED, STOPPING, Job
from quota_model.scheduler.options import SchedulerOptions
from quota_model.scheduler.usage import usage
from quota_model.scheduler.views import Explanation, FrontJob, JobStatus, JobView, Preview, UnitUsage

__all__ = ["Scheduler", "SchedulerError"]


class Scheduler:
    """What AWS Batch does with a queue's quota shares and jobs: state in, decisions out.

    The caller tells what happens (:meth:`apply`) and asks for decisions (:meth:`run_pass`); or hands over all
    events of one instant at once (:meth:`advance`). It carries the decisions out: it starts what is dispatched,
    stops what is preempted, and tells the scheduler when jobs start, end and have stopped. Same events, same
    decisions: nothing depends on a clock or on hash order.

    The rules and how certain each is: ``docs/scheduling-model.md``.

    :raises DesignError: if the design holds values that are not known, or no whole instances.
    """

    def __init__(self, queue: QuotaQueue, options: SchedulerOptions | None = None) -> None:
        self._state = configuration.new_state(queue, options or SchedulerOptions())

    def apply(self, event: Event) -> None:
        """Take note of one event; what it and later ones lead to is returned by the next :meth:`run_pass`.

        :raises SchedulerError: if the event makes no sense now, such as the end of a job that is not dispatched, a
            submission to a disabled share, or a time before an earlier event's.
        """
        changes.apply(self._state, event)

    def run_pass(self, now: int) -> tuple[Decision, ...]:
        """Decide, and return every decision made since the last pass, in order."""
        return passes.decide(self._state, now)

    def advance(self, now: int, events: Iterable[Event]) -> tuple[Decision, ...]:
        """Apply all events of one instant in the model's order, then run one pass.

        The order is: ends and completed stops, configuration, priorities, submissions; within each by the job's
        sequence, or as given. If an event raises, those before it are applied and no pass has run.
        """
        for event in sorted(events, key=lambda event: changes.rank(self._state, event)):
            if event.time != now:
                raise SchedulerError(f"{event!r} does not happen at {now}; give the events of one instant")
            self.apply(event)
        return self.run_pass(now)

    def copy(self) -> Self:
        """Return a scheduler in the same state that goes its own way from here."""
        collecting = gc.isenabled()
        gc.disable()  # a copy is many objects and no garbage: looking for some again and again takes most of the time
        try:
            return cast(Self, pickle.loads(pickle.dumps(self, pickle.HIGHEST_PROTOCOL)))  # noqa: S301 - our own state
        finally:
            if collecting:
                gc.enable()

    def preview(self, now: int, events: Iterable[Event]) -> Preview:
        """Return what :meth:`advance` would decide, without doing it."""
        decisions = self.copy().advance(now, events)
        return Preview(
            starts=tuple(decision.job_id for decision in decisions if isinstance(decision, Dispatch | Nominate)),
            stops=tuple(
                decision.job_id
                for decision in decisions
                if isinstance(decision, Stop) or (isinstance(decision, Preempt) and decision.counted)
            ),
            ends=tuple(decision.job_id for decision in decisions if isinstance(decision, Fail)),
            decisions=decisions,
        )

    def explain(self, job_id: str) -> Explanation:
        """Say why a job waits, in terms of the design; ask after a pass."""
        return explain(self._state, self._job(job_id))

    @property
    def design(self) -> QuotaQueue:
        """The queue as it is configured now."""
        return configuration.design(self._state)

    @property
    def options(self) -> SchedulerOptions:
        """The options in force."""
        return self._state.options

    def job(self, job_id: str) -> JobView:
        """Return a job that has not ended; raises :class:`SchedulerError` if there is none."""
        return _view(self._job(job_id))

    def jobs(self) -> Iterator[JobView]:
        """Yield all jobs that have not ended, in order of submission."""
        return map(_view, self._state.jobs.values())

    def usage(self) -> tuple[UnitUsage, ...]:
        """Return what each share holds, by share and unit, in the order of the design."""
        return usage(self._state)

    def front_of_quota_shares(self) -> dict[str, tuple[FrontJob, ...]]:
        """Return the heads of every share; an idle share has none (GetJobQueueSnapshot, frontOfQuotaShares)."""
        return fronts.front_of_quota_shares(self._state)

    def front_of_queue(self, limit: int = 100) -> tuple[FrontJob, ...]:
        """Return the first waiting jobs of the queue in dispatch order (GetJobQueueSnapshot, frontOfQueue).

        The shares' orders are merged as option ``front_of_queue_order`` says: by default shares whose next job is
        entitled first, counting the jobs put before it as placed, then by that job's sequence.
        """
        return fronts.front_of_queue(self._state, limit)

    def blocked_reason(self, job_id: str) -> str | None:
        """Return AWS's reason why a head can never run as the queue is configured, or ``None``."""
        return self._job(job_id).blocked

    def _job(self, job_id: str) -> Job:
        return changes.job_of(self._state, job_id)


def _view(job: Job) -> JobView:
    dispatched = job.phase in (DISPATCHED, STOPPING)
    return JobView(
        job.id,
        job.share.name,
        MappingProxyType(dict(job.shape.request)),
        job.priority,
        job.sequence,
        (JobStatus.RUNNING if job.running else JobStatus.SCHEDULED) if dispatched else JobStatus.RUNNABLE,
        job.phase is NOMINATED,
        job.phase is STOPPING,
        job.stopping_for.id if job.stopping_for is not None else None,
        job.terminating,
        job.decided_at if job.phase in (DISPATCHED, NOMINATED) else None,
        job.attempts,
        job.preemptions,
    )
