"""Drives a scheduler through a workload."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import count

from benchmarks._philly import STOP, TraceJob
from quota_model.design import QuotaQueue
from quota_model.scheduler import (
    Decision,
    Dispatch,
    JobEnded,
    JobSubmitted,
    Preempt,
    Scheduler,
    SchedulerOptions,
    StopCompleted,
)


def replay(
    jobs: Iterable[TraceJob],
    queue: QuotaQueue,
    options: SchedulerOptions | None = None,
    tell: Callable[[Decision], object] | None = None,
) -> int:
    """Run jobs, which are in order of submission, to their end on a queue; return how many ended.

    A preempted job begins again from the start.
    """
    scheduler = Scheduler(queue, options)
    apply, run_pass = scheduler.apply, scheduler.run_pass
    arrivals = iter(jobs)
    arriving = next(arrivals, None)
    coming: list[tuple[int, int, str, bool]] = []
    """Ends of attempts and of stops, by time; numbered, since the end of a preempted attempt never happens."""
    numbers = count()
    running: dict[str, int] = {}
    """The number of the end of each running attempt."""
    durations: dict[str, int] = {}
    """Of jobs that have not ended."""
    ended = 0
    while arriving is not None or coming:
        if arriving is not None and (not coming or arriving.submitted < coming[0][0]):
            now, duration, job_id, share, request, priority = arriving
            durations[job_id] = duration
            apply(JobSubmitted(now, job_id, share, request, priority))
            arriving = next(arrivals, None)
        else:
            now, number, job_id, stopped = heapq.heappop(coming)
            if stopped:
                apply(StopCompleted(now, job_id))
            elif running.get(job_id) == number:
                del running[job_id], durations[job_id]
                apply(JobEnded(now, job_id))
                ended += 1
            else:
                continue
        for decision in run_pass(now):
            if tell is not None:
                tell(decision)
            kind = type(decision)
            if kind is Dispatch:
                job_id = decision.job_id
                running[job_id] = number = next(numbers)
                heapq.heappush(coming, (now + durations[job_id], number, job_id, False))
            elif kind is Preempt:
                del running[decision.job_id]
                heapq.heappush(coming, (now + STOP, next(numbers), decision.job_id, True))
    return ended
