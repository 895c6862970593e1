"""The books of capacity: per instance type over all shares (:class:`Pool`), and per share (:class:`Account`).

Quantities are whole instances. *Quota* is what placed jobs hold of their share's account; *machines* are what
dispatched and stopping jobs occupy. A nominated job holds quota and no machines, a stopping victim the reverse.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from quota_model.scheduler.decisions import LedgerLine

if TYPE_CHECKING:
    from quota_model.scheduler.job import Job
    from quota_model.scheduler.share import Share

__all__ = ["UNBOUNDED", "Account", "PlacedEntry", "Pool"]

UNBOUNDED: Final = 1 << 62
"""The ceiling of a share whose borrowing is not limited."""

# Every placement makes one: without the call of a Python function that the class itself costs.
_ledger_line: Final[Callable[[tuple[str | int, ...]], LedgerLine]] = partial(tuple.__new__, LedgerLine)

PlacedEntry = tuple[int, int, int, int, "Job"]
"""A placed job in the order in which jobs are given their share's own capacity: higher priority (negated, or 0 for
all if priority does not count), earlier decision, sequence number; then the instances it holds, and the job."""


class Pool:
    """One instance type over all shares."""

    __slots__ = ("accounts", "borrowed", "capacity", "claimed", "debt", "lendable", "machines", "unit", "used")

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.capacity = 0
        """The environment's limit, ``E``."""
        self.used = 0
        """The sum of all accounts' ``used``."""
        self.borrowed = 0
        """The sum of what accounts hold above their limits."""
        self.lendable = 0
        """The sum of what lending accounts leave idle."""
        self.debt = 0
        """What is borrowed above the lendable since a limit was lowered; no decision may increase it."""
        self.machines = 0
        """What dispatched and stopping jobs occupy."""
        self.claimed = 0
        """What nominated jobs need beyond the machines of their own victims."""
        self.accounts: list[Account] = []

    def settle(self) -> None:
        """Lower the debt to what is left of it."""
        left = self.borrowed - self.lendable
        if left < self.debt:
            self.debt = left if left > 0 else 0


class Account:
    """One share's part of one instance type."""

    __slots__ = (
        "by_priority",
        "ceiling",
        "in_share_ceiling",
        "largest",
        "lends",
        "limit",
        "own_and_lendable",
        "placed",
        "pool",
        "share",
        "used",
    )

    def __init__(self, share: Share, pool: Pool, by_priority: bool) -> None:
        self.share = share
        self.pool = pool
        self.limit = 0
        """The share's capacity limit, ``C``: what it may use without borrowing."""
        self.ceiling = 0
        """What it may use with borrowing: the limit itself for a share that does not borrow."""
        self.in_share_ceiling = 0
        """What it may use after an in-share preemption."""
        self.own_and_lendable = 0
        """The limit and, for a share that borrows, all that the others could ever lend."""
        self.largest = 0
        """The largest request that can ever be met as the queue is configured."""
        self.lends = False
        self.used = 0
        """What the share's placed jobs hold, ``U``."""
        self.by_priority = by_priority
        """Whether the limit is handed out by priority first (option ``own_capacity_order``)."""
        self.placed: list[PlacedEntry] = []
        pool.accounts.append(self)

    def place(self, job: Job, instances: int) -> LedgerLine:
        """Enter a placed job into the books and return what they say then, for its decision."""
        self.take(instances)
        self.enter(job, instances)
        pool = self.pool
        if pool.debt:
            pool.settle()
        return _ledger_line(
            (
                pool.unit,
                instances,
                self.used,
                self.limit,
                pool.borrowed,
                pool.lendable,
                pool.used,
                pool.capacity,
            )
        )

    def remove(self, job: Job, instances: int) -> None:
        """Take a placed job out of the books."""
        self.strike(job)
        self.give_back(instances)
        pool = self.pool
        if pool.debt:
            pool.settle()

    def take(self, instances: int) -> None:
        """Let the share hold more instances."""
        pool, limit, before = self.pool, self.limit, self.used
        after = self.used = before + instances
        pool.used += instances
        if after <= limit:
            if self.lends:
                pool.lendable -= instances
        elif before >= limit:
            pool.borrowed += instances
        else:  # from below its limit to above
            pool.borrowed += after - limit
            if self.lends:
                pool.lendable -= limit - before

    def give_back(self, instances: int) -> None:
        """Let the share hold fewer instances."""
        pool, limit, before = self.pool, self.limit, self.used
        after = self.used = before - instances
        pool.used -= instances
        if after >= limit:
            pool.borrowed -= instances
        elif before <= limit:
            if self.lends:
                pool.lendable += instances
        else:  # from above its limit to below
            pool.borrowed -= before - limit
            if self.lends:
                pool.lendable += limit - after

    def short_with(self, instances: int) -> int:
        """Return how many instances are short if the share held that many more: what the ledger is short of, or what
        the environment lacks, whichever is more; 0 if the instances could be placed.
        """
        short = self.ledger_short_with(instances)
        pool = self.pool
        lacking = pool.used + instances - pool.capacity
        if lacking > short:
            short = lacking
        return short if short > 0 else 0

    def ledger_short_with(self, instances: int) -> int:
        """Return by how much the share would break the ledger rule if it held that many more; below 0 if it would
        not.

        Both sides of the ledger are taken with the instances held, since a borrower first uses up its own limit,
        which lowers what it lends.
        """
        pool = self.pool
        # What the instances add to what is borrowed, or take from what is lendable. A lending share does one or the
        # other with each of them; a share that does not lend may use up its own limit at nobody's expense.
        change = instances
        if not self.lends:
            before = self.used - self.limit
            if before < 0:
                change = before + instances if before + instances > 0 else 0
        return pool.borrowed - pool.lendable + change - pool.debt

    def enter(self, job: Job, instances: int) -> None:
        """Enter a placed job into the order of attribution."""
        placed = self.placed
        priority = -job.priority if self.by_priority else 0
        entry = (priority, job.decided_at, job.sequence, instances, job)
        if placed and entry < placed[-1]:
            insort(placed, entry)
        else:
            placed.append(entry)

    def strike(self, job: Job) -> None:
        """Take a job out of the order of attribution."""
        placed = self.placed
        priority = -job.priority if self.by_priority else 0
        del placed[bisect_left(placed, (priority, job.decided_at, job.sequence))]

    def below(self, priority: int) -> list[PlacedEntry]:
        """Return the share's placed jobs of a lower priority."""
        placed = self.placed
        if self.by_priority:
            return placed[bisect_left(placed, (1 - priority,)) :]
        return [entry for entry in placed if entry[4].priority < priority]

    def held_below(self, priority: int) -> int:
        """Return how many instances the share's jobs of a lower priority hold."""
        return sum([entry[3] for entry in self.below(priority)])

    def borrowers(self) -> dict[Job, int]:
        """Return the jobs with a borrowed part, and that part: the last ones, once the limit is handed out in order."""
        found: dict[Job, int] = {}
        beyond = self.used - self.limit
        for _, _, _, held, job in reversed(self.placed):
            if beyond <= held:
                if beyond > 0:
                    found[job] = beyond
                break
            found[job] = held
            beyond -= held
        return found
