"""A quota share inside the scheduler: its accounts, and the queue of its waiting jobs."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

from quota_model.design import QuotaShare
from quota_model.scheduler.books import Account
from quota_model.scheduler.job import Job, Shape
from quota_model.scheduler.options import HeadOfLine
from quota_model.scheduler.sorted_queue import SortedQueue

__all__ = ["Lane", "Share"]

Lane = SortedQueue[tuple[int, int, Job]]
"""Waiting jobs in the share's order: higher priority (negated), then sequence number."""


class Share:
    """One quota share's state. Jobs wait in lanes, and only the first of a lane can be a head: one lane for all
    jobs (strict), one per instance type (per unit), or one per request (best effort: jobs of the same request fit
    alike, so that looking at the first of them is enough).
    """

    __slots__ = (
        "accounts",
        "borrow_limit",
        "borrows",
        "design",
        "enabled",
        "head_of_line",
        "heads",
        "in_share_preemption",
        "lanes",
        "live",
        "name",
        "shapes",
    )

    def __init__(self, name: str, design: QuotaShare, head_of_line: HeadOfLine) -> None:
        self.name = name
        self.design = design
        self.head_of_line = head_of_line
        self.enabled = True
        self.borrows = False
        self.borrow_limit = 0
        """Percent of its own limits that it may borrow on top, or -1 for any number."""
        self.in_share_preemption = False
        self.accounts: dict[str, Account] = {}
        self.lanes: dict[object, Lane] = {}
        self.heads: list[Job] = []
        self.live = 0
        """How many of its jobs have not ended."""
        self.shapes: dict[tuple[tuple[str, int], ...], Shape] = {}

    def lane(self, key: object) -> Lane:
        """Return the lane of a key, a new one if there is none."""
        if key not in self.lanes:
            self.lanes[key] = SortedQueue()
        return self.lanes[key]

    def lanes_of(self, request: Mapping[str, int]) -> tuple[Lane, ...]:
        """Return the lanes in which a job with this request waits."""
        if self.head_of_line is HeadOfLine.STRICT:
            return (self.lane(None),)
        if self.head_of_line is HeadOfLine.PER_UNIT:
            return tuple(self.lane(unit) for unit in request)
        return (self.lane(tuple(request.items())),)

    def add_waiting(self, job: Job) -> None:
        """Put a job into the queue, at its place."""
        entry = (-job.priority, job.sequence, job)
        for lane in job.shape.lanes:
            lane.add(entry)

    def remove_waiting(self, job: Job) -> None:
        """Take a job out of the queue."""
        entry = (-job.priority, job.sequence, job)
        for lane in job.shape.lanes:
            lane.remove(entry)

    def first_jobs(self) -> list[Job]:
        """Return the heads: the jobs that are first in each of their lanes, in the share's order."""
        firsts = [entry for lane in self.lanes.values() if (entry := lane.first) is not None]
        if len(firsts) > 1:
            firsts = sorted({entry[1]: entry for entry in firsts}.values())
            return [job for _, _, job in firsts if all(lane.first[2] is job for lane in job.shape.lanes if lane.first)]
        return [entry[2] for entry in firsts]

    def waiting(self) -> Iterator[Job]:
        """Yield the waiting jobs in the share's order."""
        last = None
        for _, _, job in heapq.merge(*self.lanes.values()):
            if job is not last:
                yield job
            last = job
