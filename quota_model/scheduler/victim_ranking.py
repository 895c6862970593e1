"""In which order jobs have to go: what costs nothing first, then the key of the order, then what all orders share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from quota_model.scheduler.options import VictimOrder

if TYPE_CHECKING:
    from quota_model.scheduler.books import Pool
    from quota_model.scheduler.job import Job
    from quota_model.scheduler.state import State

__all__ = ["Borrowed", "Needs", "in_order"]

Needs = dict["Pool", int]
"""How many instances are short, by pool; only pools that are short."""
Borrowed = dict["Pool", dict["Job", int]]
"""The borrowed parts of jobs, by pool."""

# Read once: on Python 3.11, looking a member up in its enum takes as long as a function call.
_KUEUE: Final = VictimOrder.KUEUE
_LEAST_OVERRECLAIM: Final = VictimOrder.LEAST_OVERRECLAIM
_by_rank: Final = attrgetter("victim_rank")
_COSTS: Final = 3
"""Figures at the start of a rank that come before the key of an order: what costs nothing goes first."""


def in_order(
    state: State,
    candidates: Collection[Job],
    borrowed: Borrowed,
    needs: Needs,
    still_short: Callable[[], Needs],
) -> Iterator[Job]:
    """Yield the candidates in the order in which they have to go."""
    order = state.options.victim_order
    if order is _LEAST_OVERRECLAIM:
        left = dict.fromkeys(candidates)
        while left:
            short = still_short()
            job = min(left, key=lambda job: _with_key(job, _overshoot(job, short)))
            del left[job]
            yield job
        return
    rank: Callable[[Job], tuple[int, ...]] = _by_rank
    if order is not _KUEUE:
        rank = lambda job: _with_key(job, (_own_key(job, borrowed, needs, order, state.now),))  # noqa: E731
    if candidates:
        yield min(candidates, key=rank)  # mostly one is enough, and the rest need not be sorted
        yield from sorted(candidates, key=rank)[1:]


def _with_key(job: Job, key: tuple[int, ...]) -> tuple[int, ...]:
    rank = job.victim_rank
    return rank[:_COSTS] + key + rank[_COSTS:]


def _own_key(job: Job, borrowed: Borrowed, needs: Needs, order: VictimOrder, now: int) -> int:
    match order:
        case VictimOrder.NEWEST:
            return -job.decided_at
        case VictimOrder.OLDEST:
            return job.decided_at
        case VictimOrder.LARGEST_BORROWER:
            return -sum(borrowed[pool].get(job, 0) for pool in needs)
        case VictimOrder.CHEAPEST:
            return sum(job.instances_of(pool) for pool in needs) * (now - job.decided_at)
        case _:
            raise AssertionError(f"{order} has no key of its own")


def _overshoot(job: Job, short: Needs) -> tuple[int, int]:
    """Return by how much a job overshoots what is still short, then how much of it it covers (more first)."""
    held = [(job.instances_of(pool), missing) for pool, missing in short.items()]
    return sum(max(0, has - missing) for has, missing in held), -sum(min(has, missing) for has, missing in held)
