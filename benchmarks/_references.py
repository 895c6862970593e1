"""What the scheduler is compared with: simulators of one pool, first come, first served, without any quota."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Generator, Iterable
from typing import Any

import simpy

from benchmarks._philly import TraceJob


def heap_fifo(jobs: Iterable[TraceJob], capacity: int) -> int:
    """Run jobs with nothing but one heap of all arrivals and ends; return how many started.

    A heap of the ends alone, next to the arrivals in their order, takes less than half the time, as our own driver
    does it; this is the loop that one writes first.
    """
    workload = [(job.submitted, job.duration, sum(job.request.values())) for job in jobs]
    coming = [(submitted, 1, index) for index, (submitted, _, _) in enumerate(workload)]
    heapq.heapify(coming)
    waiting: deque[int] = deque()
    free = capacity
    started = 0
    while coming:
        now, arrives, index = heapq.heappop(coming)
        if arrives:
            waiting.append(index)
        else:
            free += workload[index][2]
        while waiting and workload[waiting[0]][2] <= free:
            index = waiting.popleft()
            free -= workload[index][2]
            started += 1
            heapq.heappush(coming, (now + workload[index][1], 0, index))
    return started


def simpy_fifo(jobs: Iterable[TraceJob], capacity: int) -> int:
    """Run jobs as processes of simpy that take from and give back to a container; return how many ended."""
    environment = simpy.Environment()
    pool = simpy.Container(environment, capacity=capacity, init=capacity)
    ended = 0

    def job_process(duration: int, instances: int) -> Generator[Any, None, None]:
        nonlocal ended
        yield pool.get(instances)
        yield environment.timeout(duration)
        yield pool.put(instances)
        ended += 1

    def arrivals() -> Generator[Any, None, None]:
        for job in jobs:
            if job.submitted > environment.now:
                yield environment.timeout(job.submitted - environment.now)
            environment.process(job_process(job.duration, sum(job.request.values())))

    environment.process(arrivals())
    environment.run()
    return ended
