"""A quota share inside the scheduler: its accounts, and the queue of its waiting jobs.

Jobs wait in lanes, and only the first of a lane can be a head. How many lanes there are, and which jobs wait in
which, is what the option ``head_of_line`` decides.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

from quota_model.design import QuotaShare
from quota_model.scheduler.books import Account
from quota_model.scheduler.job import Job, Shape
from quota_model.scheduler.options import HeadOfLine
from quota_model.scheduler.sorted_queue import SortedQueue

__all__ = ["Lane", "Share", "new_share"]

Lane = SortedQueue[tuple[int, int, Job]]
"""Waiting jobs in the share's order: higher priority (negated), then sequence number."""


class Share:
    """One quota share's state, with one head at most: one lane for all jobs (``strict``)."""

    __slots__ = (
        "accounts",
        "borrow_limit",
        "borrows",
        "design",
        "enabled",
        "heads",
        "held_back",
        "in_share_preemption",
        "lanes",
        "live",
        "name",
        "shapes",
    )
    ranks_heads = False
    """Whether its heads are visited in its own order, whatever the order among shares."""

    def __init__(self, name: str, design: QuotaShare) -> None:
        self.name = name
        self.design = design
        self.enabled = True
        self.borrows = False
        self.borrow_limit = 0
        """Percent of its own limits that it may borrow on top, or -1 for any number."""
        self.in_share_preemption = False
        self.accounts: dict[str, Account] = {}
        self.lanes: dict[object, Lane] = {}
        self.held_back = False
        """Whether its waiting jobs are not placed (it is disabled, and option ``disabled_shares_dispatch`` is off)."""
        self.heads: list[Job] = []
        """Its heads as they were when last judged, in its order."""
        self.live = 0
        """How many of its jobs have not ended."""
        self.shapes: dict[tuple[tuple[str, int], ...], Shape] = {}

    def lanes_of(self, request: Mapping[str, int]) -> tuple[Lane, ...]:  # noqa: ARG002 - for subclasses
        """Return the lanes in which a job with this request waits."""
        return (self._lane(None),)

    def add_waiting(self, job: Job) -> bool:
        """Put a job into the queue, at its place; return whether that is the first of a lane."""
        entry = (-job.priority, job.sequence, job)
        is_first = False
        for lane in job.shape.lanes:
            if lane.add(entry):
                is_first = True
        return is_first

    def remove_waiting(self, job: Job) -> None:
        """Take a job out of the queue."""
        for lane in job.shape.lanes:
            if lane.first[2] is job:  # type: ignore[index]
                lane.pop_first()
            else:
                lane.remove((-job.priority, job.sequence, job))

    def current_heads(self) -> list[Job]:
        """Return the heads in the share's order."""
        heads = self.heads
        for lane in self.lanes.values():
            first = lane.first
            if first is not None:
                job = first[2]
                return heads if heads and heads[0] is job else [job]
        return []

    def waiting(self) -> Iterator[Job]:
        """Yield the waiting jobs in the share's order."""
        last = None
        for _, _, job in heapq.merge(*self.lanes.values()):
            if job is not last:
                yield job
            last = job

    def _lane(self, key: object) -> Lane:
        if key not in self.lanes:
            self.lanes[key] = SortedQueue()
        return self.lanes[key]


class _PerUnitShare(Share):
    """One head per instance type: a job waits in the lane of each type it asks for, and has to be the first in all."""

    __slots__ = ()

    def lanes_of(self, request: Mapping[str, int]) -> tuple[Lane, ...]:
        return tuple(self._lane(unit) for unit in request)

    def current_heads(self) -> list[Job]:
        firsts = {first[1]: first for lane in self.lanes.values() if (first := lane.first) is not None}
        return [job for _, _, job in sorted(firsts.values()) if self._is_head(job)]

    @staticmethod
    def _is_head(job: Job) -> bool:
        return all(lane.first is not None and lane.first[2] is job for lane in job.shape.lanes)


class _BestEffortShare(Share):
    """What does not fit is skipped. Jobs with the same request fit alike, so each request has a lane, and looking at
    the first job of each is enough. No job is visited before one that its share ranks higher.
    """

    __slots__ = ()
    ranks_heads = True

    def lanes_of(self, request: Mapping[str, int]) -> tuple[Lane, ...]:
        return (self._lane(tuple(request.items())),)

    def current_heads(self) -> list[Job]:
        firsts = [first for lane in self.lanes.values() if (first := lane.first) is not None]
        return [job for _, _, job in sorted(firsts)]


_KINDS = {HeadOfLine.STRICT: Share, HeadOfLine.PER_UNIT: _PerUnitShare, HeadOfLine.BEST_EFFORT: _BestEffortShare}


def new_share(name: str, design: QuotaShare, head_of_line: HeadOfLine) -> Share:
    """Return a share without limits and jobs."""
    return _KINDS[head_of_line](name, design)
