"""Drives a scheduler through a workload."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

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
    """Run jobs to their end on a queue; return how many ended. A preempted job begins again from the start."""
    scheduler = Scheduler(queue, options)
    apply, run_pass = scheduler.apply, scheduler.run_pass
    workload = {job.job_id: job for job in jobs}
    # What happens, by time: submissions in order (from 1 up), and ends of attempts and stops (from -1 down).
    coming = [(job.submitted, order, job.job_id) for order, job in enumerate(workload.values(), start=1)]
    heapq.heapify(coming)
    order = 0
    ends: dict[str, int] = {}
    """Which end is a running job's: that of an attempt before its preemption never happens."""
    stops: set[int] = set()
    ended = 0
    while coming:
        now, number, job_id = heapq.heappop(coming)
        if number > 0:
            job = workload[job_id]
            apply(JobSubmitted(now, job_id, job.share, job.request, job.priority))
        elif ends.get(job_id) == number:
            del ends[job_id]
            apply(JobEnded(now, job_id))
            ended += 1
        elif number in stops:
            stops.remove(number)
            apply(StopCompleted(now, job_id))
        else:
            continue
        for decision in run_pass(now):
            if tell is not None:
                tell(decision)
            kind = type(decision)
            if kind is Dispatch:
                order -= 1
                ends[decision.job_id] = order
                heapq.heappush(coming, (now + workload[decision.job_id].duration, order, decision.job_id))
            elif kind is Preempt:
                order -= 1
                del ends[decision.job_id]
                stops.add(order)
                heapq.heappush(coming, (now + STOP, order, decision.job_id))
    return ended
