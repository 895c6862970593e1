"""The plain reference's books: the jobs, the shares, and what they hold, borrow and lack, added up anew each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil, floor, inf
from typing import Any

from quota_model.design import QuotaQueue, QuotaShare, SharingStrategy, State
from quota_model.scheduler import OwnCapacityOrder, Rounding, SchedulerOptions

Said = tuple[Any, ...]
"""A decision in short: its kind, the job, and what matters besides."""


@dataclass(eq=False)
class RefJob:
    id: str
    share: RefShare
    request: dict[str, int]
    priority: int
    sequence: int
    retries: int | None
    phase: str = "waiting"
    since: int | None = None
    """Since when it is a head of its share."""
    decided: int = 0
    running: bool = False
    terminating: bool = False
    preemptions: int = 0
    attempts: int = 0
    stops: list[RefJob] = field(default_factory=list)
    """Whose stop a nominated job waits for."""

    @property
    def placed(self) -> bool:
        return self.phase in ("dispatched", "nominated")

    @property
    def on_machines(self) -> bool:
        return self.phase in ("dispatched", "stopping")


@dataclass(eq=False)
class RefShare:
    name: str
    design: QuotaShare
    removed: bool = False

    def __post_init__(self) -> None:
        self.limits = self.design.capacity_limits.as_instances()

    @property
    def enabled(self) -> bool:
        return self.design.state is State.ENABLED

    @property
    def borrows(self) -> bool:
        return not self.removed and self.design.resource_sharing.strategy is SharingStrategy.LEND_AND_BORROW


class Books:
    def __init__(self, queue: QuotaQueue, options: SchedulerOptions) -> None:
        self.options = options
        self.environment = queue.service_environment
        self.capacities = self.environment.capacity_limits.as_instances()
        self.queue_enabled = queue.state is State.ENABLED
        self.shares = [RefShare(str(share.name), share) for share in queue.quota_shares]
        self.jobs: dict[str, RefJob] = {}
        self.nominated: list[RefJob] = []
        self.sequence = 0
        self.now = 0
        self.said: list[Said] = []

    def share(self, name: str) -> RefShare:
        return next(share for share in self.shares if share.name == name and not share.removed)

    def live(self) -> Iterator[RefJob]:
        return iter(self.jobs.values())

    # Limits

    def capacity(self, unit: str) -> int:
        return self.capacities.get(unit, 0)

    def limit(self, share: RefShare, unit: str) -> int:
        return 0 if share.removed else share.limits.get(unit, 0)

    def ceiling(self, share: RefShare, unit: str) -> float:
        """What a share may hold, borrowed or not."""
        limit = self.limit(share, unit)
        if not share.borrows:
            return limit
        percent: Any = share.design.resource_sharing.borrow_limit
        if percent in (None, -1):
            return inf if limit or self.options.borrow_without_limit else 0
        extra: float = limit * percent / 100
        return limit + (ceil(extra) if self.options.borrow_limit_rounding is Rounding.UP else floor(extra))

    def lends(self, share: RefShare) -> bool:
        if share.removed or share.design.resource_sharing.strategy is SharingStrategy.RESERVE:
            return False
        return share.enabled or self.options.disabled_shares_lend

    def unowned(self, unit: str) -> int:
        """What nobody owns and may be borrowed."""
        if not self.options.borrow_unowned_capacity:
            return 0
        return max(0, self.capacity(unit) - sum(self.limit(share, unit) for share in self.shares))

    # What is held

    def placed(self) -> list[RefJob]:
        return [job for job in self.jobs.values() if job.placed]

    @staticmethod
    def held(jobs: Iterable[RefJob], unit: str) -> int:
        return sum(job.request.get(unit, 0) for job in jobs)

    def used(self, share: RefShare, unit: str, placed: Iterable[RefJob]) -> int:
        return self.held((job for job in placed if job.share is share), unit)

    def borrowed(self, unit: str, placed: list[RefJob]) -> int:
        return sum(max(0, self.used(share, unit, placed) - self.limit(share, unit)) for share in self.shares)

    def lendable(self, unit: str, placed: list[RefJob]) -> int:
        idle = [max(0, self.limit(share, unit) - self.used(share, unit, placed)) for share in self.shares]
        lent = sum(count for share, count in zip(self.shares, idle, strict=True) if self.lends(share))
        return lent + self.unowned(unit)

    def debt(self, unit: str, placed: list[RefJob]) -> int:
        return max(0, self.borrowed(unit, placed) - self.lendable(unit, placed))

    def borrowed_parts(self, unit: str, placed: list[RefJob]) -> dict[RefJob, int]:
        """Which jobs borrow how much, once each share's own limit is handed to its jobs."""
        parts = {}
        for share in self.shares:
            own = self.limit(share, unit)
            for job in sorted((job for job in placed if job.share is share), key=self.own_capacity_key):
                count = job.request.get(unit, 0)
                part = min(own, count)
                own -= part
                if count > part:
                    parts[job] = count - part
        return parts

    def own_capacity_key(self, job: RefJob) -> tuple[int, ...]:
        match self.options.own_capacity_order:
            case OwnCapacityOrder.PRIORITY:
                return -job.priority, job.decided, job.sequence
            case OwnCapacityOrder.DECISION:
                return job.decided, job.sequence

    # What a head lacks, if it is placed and some jobs are gone

    def with_placed(self, head: RefJob, gone: Iterable[RefJob]) -> list[RefJob]:
        leaving = list(gone)
        return [job for job in self.placed() if job not in leaving] + [head]

    def ledger_lacks(self, head: RefJob, unit: str, gone: Iterable[RefJob] = ()) -> int:
        debt = self.debt(unit, self.with_placed(head, gone))
        return debt if self.options.heads_pay_off_debts else debt - self.debt(unit, self.placed())

    def environment_lacks(self, head: RefJob, unit: str, gone: Iterable[RefJob] = ()) -> int:
        return self.held(self.with_placed(head, gone), unit) - self.capacity(unit)

    def short(self, head: RefJob, gone: Iterable[RefJob] = ()) -> dict[str, int]:
        leaving = list(gone)
        missing = {
            unit: max(self.ledger_lacks(head, unit, leaving), self.environment_lacks(head, unit, leaving))
            for unit in sorted(head.request)
        }
        return {unit: count for unit, count in missing.items() if count > 0}

    def above(self, head: RefJob, unit: str, borrowing: bool, gone: Iterable[RefJob] = ()) -> float:
        """By how much the head's share exceeds its limit, or with borrowing its ceiling; may be negative."""
        bound = self.ceiling(head.share, unit) if borrowing else self.limit(head.share, unit)
        return self.used(head.share, unit, self.with_placed(head, gone)) - bound

    def within(self, head: RefJob, borrowing: bool, gone: Iterable[RefJob] = ()) -> bool:
        leaving = list(gone)
        return all(self.above(head, unit, borrowing, leaving) <= 0 for unit in head.request)
