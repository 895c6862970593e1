"""Who has to go: sufficient and minimal sets of victims, tried on the real books.

A trial takes candidates out of the books one by one until what is short is no longer short. If that works, the
victims stay out; if it does not, everybody is put back and nobody is stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from quota_model.scheduler.decisions import PreemptionKind
from quota_model.scheduler.job import Job
from quota_model.scheduler.options import SchedulerOptions
from quota_model.scheduler.victim_ranking import Borrowed, Needs, in_order

if TYPE_CHECKING:
    from quota_model.scheduler.books import Pool
    from quota_model.scheduler.state import State

__all__ = [
    "Victim",
    "cross_share_victims",
    "in_share_needs",
    "in_share_victims",
    "is_hopeless",
    "shortage",
]


class Victim(NamedTuple):
    """A job that has to go, why, and the part of it that is borrowed, by pool."""

    job: Job
    kind: PreemptionKind
    borrowed: dict[Pool, int]


def shortage(head: Job) -> Needs:
    """Return ``short``: by how much the placement of a head would break the ledger rule or exceed the environment."""
    short: Needs = {}
    for account, instances in head.parts:
        missing = account.short_with(instances)
        if missing:
            short[account.pool] = missing
    return short


def cross_share_victims(state: State, head: Job, short: Needs) -> list[Victim] | None:
    """Take victims from other shares out of the books until the entitled head is no longer short.

    Candidates are the jobs with a borrowed part of an instance type that is short. Returns ``None``, with the
    books unchanged, if all of them together are not enough.
    """
    if not _may_reclaim(head, state.options):
        return None
    borrowed = _borrowed(short, head, state.options)
    candidates = _jobs(borrowed)
    lowered = {account for pool in short for account in pool.accounts if account.used > account.ceiling}
    taken = _take_until(state, candidates, borrowed, short, lambda: not shortage(head), lambda: shortage(head))
    if taken is None:
        return None
    return [
        Victim(
            job,
            PreemptionKind.LOWERED_LIMIT
            if any(account in lowered for account, _ in job.parts)
            else PreemptionKind.CROSS_SHARE,
            _part_of(job, borrowed),
        )
        for job in taken
    ]


def in_share_victims(state: State, head: Job, needs: Needs) -> list[Victim] | None:
    """Take jobs of the head's share with strictly lower priority out of the books until the head can be placed.

    It can be placed when its share ends within its limit and nothing is short, or when its share ends within its
    own capacity limits and cross-share reclaim can cover what is short; the caller then has to reclaim that.
    """
    options = state.options
    candidates: dict[Job, None] = {}
    borrowed: Borrowed = {}
    for account, _ in head.parts:
        candidates |= dict.fromkeys(job for _, _, _, _, job in account.below(head.priority) if _may_go(job, options))
        borrowed[account.pool] = account.borrowers()
    taken = _take_until(state, candidates, borrowed, needs, lambda: _fits(head, options), lambda: in_share_needs(head))
    return None if taken is None else [Victim(job, PreemptionKind.IN_SHARE, _part_of(job, borrowed)) for job in taken]


def is_hopeless(head: Job) -> bool:
    """Return whether a head would be short and above its share's own limits even without all jobs of its share with
    lower priority: a cheap look before the search.
    """
    for account, instances in head.parts:
        change = instances - account.held_below(head.priority)
        if account.used + change > account.limit and account.short_with(change):
            return True
    return False


def in_share_needs(head: Job) -> Needs:
    """Return what is short, or above the share's limit, whichever is more."""
    needs = shortage(head)
    for account, instances in head.parts:
        above = account.used + instances - account.in_share_ceiling
        if above > needs.get(account.pool, 0):
            needs[account.pool] = above
    return needs


def _fits(head: Job, options: SchedulerOptions) -> bool:
    for account, instances in head.parts:
        if account.used + instances > account.in_share_ceiling:
            return False
    short = shortage(head)
    return not short or (
        options.in_share_preemption_reclaims and head.is_entitled and _reclaimable(head, short, options)
    )


def _reclaimable(head: Job, short: Needs, options: SchedulerOptions) -> bool:
    """Return whether all cross-share candidates together would cover what is short."""
    if not _may_reclaim(head, options):
        return False
    candidates = _jobs(_borrowed(short, head, options))
    for job in candidates:
        _leave(job)
    covered = not shortage(head)
    for job in candidates:
        _come_back(job)
    return covered


def _may_reclaim(head: Job, options: SchedulerOptions) -> bool:
    """Return whether a head may reclaim what it is short of: unless that includes what the environment lacks, the
    ledger has to be short of as much.
    """
    return options.reclaim_for_environment or all(
        account.short_with(instances) == max(0, account.ledger_short_with(instances))
        for account, instances in head.parts
    )


def _may_go(job: Job, options: SchedulerOptions) -> bool:
    return job.nomination is None or options.nominated_jobs_can_be_victims


def _borrowed(short: Needs, head: Job, options: SchedulerOptions) -> Borrowed:
    """Return what jobs of other shares that can be victims borrow of the instance types that are short."""
    found: Borrowed = {}
    for pool in short:
        parts: dict[Job, int] = {}
        found[pool] = parts
        if not pool.borrowed:
            continue
        for account in pool.accounts:
            if account.used > account.limit and account.share is not head.share:
                parts |= account.borrowers()
        if not options.nominated_jobs_can_be_victims:
            found[pool] = {job: part for job, part in parts.items() if _may_go(job, options)}
    return found


def _jobs(borrowed: Borrowed) -> Collection[Job]:
    if len(borrowed) == 1:
        return next(iter(borrowed.values()))
    return dict.fromkeys(chain.from_iterable(borrowed.values()))


def _part_of(job: Job, borrowed: Borrowed) -> dict[Pool, int]:
    return {pool: parts[job] for pool, parts in borrowed.items() if job in parts}


def _take_until(
    state: State,
    candidates: Collection[Job],
    borrowed: Borrowed,
    needs: Needs,
    enough: Callable[[], bool],
    still_short: Callable[[], Needs],
) -> list[Job] | None:
    taken: list[Job] = []
    for job in in_order(state, candidates, borrowed, needs, still_short):
        _leave(job)
        taken.append(job)
        if enough():
            break
    else:
        for job in taken:
            _come_back(job)
        return None
    if len(taken) == 1 or not state.options.spare_victims:
        return taken  # a single one cannot be spared: it was not enough without any
    for job in tuple(reversed(taken)):
        _come_back(job)
        if enough():
            taken.remove(job)
        else:
            _leave(job)
    return taken


def _leave(job: Job) -> None:
    for account, instances in job.parts:
        account.give_back(instances)


def _come_back(job: Job) -> None:
    for account, instances in job.parts:
        account.take(instances)
