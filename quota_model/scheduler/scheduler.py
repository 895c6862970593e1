"""The scheduler of a quota-managed queue: events in, decisions out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quota_model.design import QuotaQueue
from quota_model.scheduler.decisions import Decision
from quota_model.scheduler.events import Event
from quota_model.scheduler.options import SchedulerOptions
from quota_model.scheduler.views import Explanation, FrontJob, JobView, Preview, UnitUsage

__all__ = ["Scheduler", "SchedulerError"]


class SchedulerError(ValueError):
    """An event that makes no sense in the present state; the state is unchanged and the message says why."""


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
        raise NotImplementedError

    def apply(self, event: Event) -> None:
        """Take note of one event; what it and later ones lead to is returned by the next :meth:`run_pass`.

        :raises SchedulerError: if the event makes no sense now, such as the end of a job that is not dispatched, a
            submission to a disabled share, or a time before an earlier event's.
        """
        raise NotImplementedError

    def run_pass(self, now: int) -> tuple[Decision, ...]:
        """Decide, and return every decision made since the last pass, in order."""
        raise NotImplementedError

    def advance(self, now: int, events: Iterable[Event]) -> tuple[Decision, ...]:
        """Apply all events of one instant in the model's order, then run one pass."""
        raise NotImplementedError

    def preview(self, now: int, events: Iterable[Event]) -> Preview:
        """Return what :meth:`advance` would decide, without doing it."""
        raise NotImplementedError

    def explain(self, job_id: str, now: int) -> Explanation:
        """Say why a job waits, in terms of the design."""
        raise NotImplementedError

    @property
    def design(self) -> QuotaQueue:
        """The queue as it is configured now."""
        raise NotImplementedError

    @property
    def options(self) -> SchedulerOptions:
        """The options in force."""
        raise NotImplementedError

    def job(self, job_id: str) -> JobView:
        """Return a job that has not ended; raises :class:`SchedulerError` if there is none."""
        raise NotImplementedError

    def jobs(self) -> Iterator[JobView]:
        """Yield all jobs that have not ended, in order of submission."""
        raise NotImplementedError

    def usage(self) -> tuple[UnitUsage, ...]:
        """Return what each share holds, by share and unit, in the order of the design."""
        raise NotImplementedError

    def front_of_quota_shares(self) -> dict[str, tuple[FrontJob, ...]]:
        """Return the heads of every share; an idle share has none (GetJobQueueSnapshot, frontOfQuotaShares)."""
        raise NotImplementedError

    def front_of_queue(self, limit: int = 100) -> tuple[FrontJob, ...]:
        """Return the first waiting jobs of the queue (GetJobQueueSnapshot, frontOfQueue).

        The shares' orders merged: shares whose head is entitled first, then by the head's submission.
        """
        raise NotImplementedError

    def blocked_reason(self, job_id: str) -> str | None:
        """Return AWS's reason why a head can never run, or ``None``."""
        raise NotImplementedError
