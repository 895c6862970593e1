"""A small simulator: runs a workload on a queue, instant by instant."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import count
from typing import NamedTuple

from quota_model.design import QuotaQueue
from quota_model.scheduler import (
    Decision,
    Dispatch,
    Event,
    JobEnded,
    JobStarted,
    JobSubmitted,
    Preempt,
    Scheduler,
    SchedulerOptions,
    StopCompleted,
)


class Work(NamedTuple):
    """A job to be: when it comes, how long it runs, and what it asks for."""

    time: int
    duration: int
    job: str
    share: str
    request: dict[str, int]
    priority: int


def simulate(
    queue: QuotaQueue,
    workload: Iterable[Work],
    options: SchedulerOptions | None = None,
    stop: int = 120,
    look: Callable[[int, Scheduler], object] | None = None,
) -> list[Decision]:
    """Return all decisions. A preempted job begins again from the start. ``look`` sees the state after each instant."""
    scheduler = Scheduler(queue, options)
    works = {work.job: work for work in workload}
    number = count()
    coming: list[tuple[int, int, Event]] = [
        (work.time, next(number), JobSubmitted(work.time, work.job, work.share, work.request, work.priority))
        for work in works.values()
    ]
    heapq.heapify(coming)
    void: set[int] = set()
    end_of: dict[str, int] = {}
    decisions: list[Decision] = []
    while coming:
        now = coming[0][0]
        events = []
        while coming and coming[0][0] == now:
            _, order, event = heapq.heappop(coming)
            if order not in void:
                events.append(event)
        made = scheduler.advance(now, events)
        decisions += made
        for decision in made:
            order = next(number)
            if isinstance(decision, Dispatch):
                scheduler.apply(JobStarted(now, decision.job_id))
                end_of[decision.job_id] = order
                end = now + works[decision.job_id].duration
                heapq.heappush(coming, (end, order, JobEnded(end, decision.job_id)))
            elif isinstance(decision, Preempt):
                void.add(end_of[decision.job_id])
                heapq.heappush(coming, (now + stop, order, StopCompleted(now + stop, decision.job_id)))
        if look is not None:
            look(now, scheduler)
    return decisions
