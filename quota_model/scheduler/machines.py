"""Machines: who may start on them, and nominated jobs that wait for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from quota_model.scheduler.decisions import Dispatch, LedgerLine, Placement
from quota_model.scheduler.job import DISPATCHED, NOMINATED, Job

if TYPE_CHECKING:
    from quota_model.scheduler.books import Pool
    from quota_model.scheduler.state import State

__all__ = ["Nomination", "dispatch", "end_nomination", "nominate", "start_nominated", "stop_is_over"]


# Every start makes one: without the call of a Python function that the class itself costs.
_dispatch: Final[Callable[[tuple[object, ...]], Dispatch]] = partial(tuple.__new__, Dispatch)


class Nomination:
    """A job that has its quota and waits for machines: those of its victims, and what it needs beyond them."""

    __slots__ = ("claims", "job", "lines", "placement", "stops")

    def __init__(self, job: Job, placement: Placement, lines: tuple[LedgerLine, ...], stops: dict[Job, None]) -> None:
        self.job = job
        self.placement = placement
        self.lines = lines
        self.stops = stops
        """The victims that have not stopped yet."""
        self.claims = [0] * len(job.parts)

    def update_claims(self) -> None:
        """Claim of each pool what the job needs beyond the machines of its stopping victims."""
        for index, (account, instances) in enumerate(self.job.parts):
            pool = account.pool
            claim = max(0, instances - sum(victim.instances_of(pool) for victim in self.stops))
            pool.claimed += claim - self.claims[index]
            self.claims[index] = claim

    def drop_claims(self) -> None:
        """Claim nothing any more."""
        for index, (account, _) in enumerate(self.job.parts):
            account.pool.claimed -= self.claims[index]
            self.claims[index] = 0


def nominate(state: State, nomination: Nomination) -> None:
    """Let a job wait for machines; later decisions leave it what it claims."""
    job = nomination.job
    job.phase = NOMINATED
    job.nomination = nomination
    state.nominations[job] = nomination
    for victim in nomination.stops:
        victim.stopping_for = job
    nomination.update_claims()
    job.rank_as_victim()


def end_nomination(state: State, job: Job) -> dict[Job, None]:
    """End a job's nomination and return the stops that it still waited for; these go on."""
    nomination = state.nominations.pop(job)
    job.nomination = None
    nomination.drop_claims()
    state.freed = True
    for victim in nomination.stops:
        victim.stopping_for = None
    return nomination.stops


def stop_is_over(job: Job) -> None:
    """Note that a victim has given its machines back: the job that waits for it claims them."""
    preemptor = job.stopping_for
    if preemptor is not None and preemptor.nomination is not None:
        del preemptor.nomination.stops[job]
        preemptor.nomination.update_claims()
    job.stopping_for = None


def dispatch(state: State, job: Job, placement: Placement, lines: tuple[LedgerLine, ...]) -> None:
    """Start a job on machines."""
    job.phase = DISPATCHED
    job.attempts += 1
    job.rank_as_victim()
    for account, instances in job.parts:
        account.pool.machines += instances
    state.decisions.append(_dispatch((state.now, job.id, job.share.name, placement, lines)))


def start_nominated(state: State) -> None:
    """Dispatch, in the order of their decisions, nominated jobs whose victims have stopped (unless the options do
    not ask for that) and whose machines are free, without taking what earlier ones need beyond their own victims.
    """
    waits_for_stops = not state.options.start_on_free_machines
    state.freed = False
    if not state.nominations:
        return
    claimed: dict[Pool, int] = {}
    for nomination in tuple(state.nominations.values()):
        job = nomination.job
        if not (waits_for_stops and nomination.stops) and all(
            account.pool.capacity - account.pool.machines - claimed.get(account.pool, 0) >= instances
            for account, instances in job.parts
        ):
            end_nomination(state, job)
            state.freed = False
            dispatch(state, job, nomination.placement, nomination.lines)
        else:
            for (account, _), claim in zip(job.parts, nomination.claims, strict=True):
                claimed[account.pool] = claimed.get(account.pool, 0) + claim
