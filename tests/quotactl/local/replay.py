"""The scheduler driven by a plain event queue: what the local Batch must do too, with everything else around it."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

from quota_model.design import QuotaQueue
from quota_model.scheduler import (
    Decision,
    Dispatch,
    Event,
    Fail,
    JobEnded,
    JobStarted,
    JobSubmitted,
    JobTerminated,
    Preempt,
    Requeue,
    RequeueCause,
    Scheduler,
    SchedulerOptions,
    Stop,
    StopCompleted,
)
from quotactl.local.training.behaviour import AttemptBehaviour

__all__ = ["Transition", "replay"]

Transition = tuple[int, str, str]
"""Time, job, status."""


@dataclass
class _Replay:
    scheduler: Scheduler
    behaviour: AttemptBehaviour
    transitions: list[Transition] = field(default_factory=list)
    due: list[tuple[int, int, Event, int]] = field(default_factory=list)
    order: itertools.count[int] = field(default_factory=itertools.count)
    attempt: dict[str, int] = field(default_factory=dict)
    dispatched: set[str] = field(default_factory=set)
    stopping: set[str] = field(default_factory=set)

    def later(self, event: Event, attempt: int = -1) -> None:
        heapq.heappush(self.due, (event.time, next(self.order), event, attempt))

    def happen(self, event: Event) -> None:
        self.scheduler.apply(event)
        if isinstance(event, JobSubmitted):
            self.note(event.time, event.job_id, "RUNNABLE")
        elif isinstance(event, JobStarted):
            self.note(event.time, event.job_id, "RUNNING")
        elif isinstance(event, JobEnded):
            self.dispatched.discard(event.job_id)
            self.note(event.time, event.job_id, "SUCCEEDED")
        elif isinstance(event, JobTerminated) and event.job_id in self.dispatched:
            self.stop(event.time, event.job_id)
        elif isinstance(event, StopCompleted):
            self.dispatched.discard(event.job_id)
            self.stopping.discard(event.job_id)
        for decision in self.scheduler.run_pass(event.time):
            self.carry_out(decision)

    def carry_out(self, decision: Decision) -> None:
        now, job = decision.time, decision.job_id
        if isinstance(decision, Dispatch):
            self.note(now, job, "SCHEDULED")
            self.dispatched.add(job)
            self.attempt[job] = attempt = self.attempt.get(job, 0) + 1
            starts = now + self.behaviour.pending + self.behaviour.downloading
            self.later(JobStarted(starts, job), attempt)
            self.later(JobEnded(starts + self.behaviour.training + self.behaviour.uploading, job), attempt)
        elif isinstance(decision, Preempt | Stop):
            self.stop(now, job)
        elif isinstance(decision, Requeue) and decision.cause is RequeueCause.PREEMPTED:
            self.note(now, job, "RUNNABLE")
        elif isinstance(decision, Fail):
            self.note(now, job, "FAILED")

    def stop(self, now: int, job: str) -> None:
        if job not in self.stopping:
            self.stopping.add(job)
            self.attempt[job] += 1  # what the attempt would still have done does not happen
            self.later(StopCompleted(now + self.behaviour.stopping, job))

    def note(self, time: int, job: str, status: str) -> None:
        self.transitions.append((time, job, status))


def replay(
    queue: QuotaQueue, events: Iterable[Event], behaviour: AttemptBehaviour, options: SchedulerOptions
) -> list[Transition] | None:
    """Return every change of a job's status, or ``None`` if two things happen at the same instant.

    An event about a job that has ended by then is skipped, as the local Batch refuses it.
    """
    run = _Replay(Scheduler(queue, options), behaviour)
    for event in events:
        run.later(event)
    times = set()
    while run.due:
        _, _, event, attempt = heapq.heappop(run.due)
        job = getattr(event, "job_id", None)
        if attempt >= 0 and run.attempt.get(str(job)) != attempt:
            continue
        if event.time in times:
            return None
        times.add(event.time)
        ended = {name for _, name, status in run.transitions if status in ("SUCCEEDED", "FAILED")}
        if job not in ended:
            run.happen(event)
    return run.transitions
