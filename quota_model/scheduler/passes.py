"""One pass: the three rules, repeated until nothing changes.

Heads are visited by sequence in each rule (or as option ``visit_order`` says), and after every placement the pass
starts again at rule 1.
"""

from __future__ import annotations

from typing import Final

from quota_model.scheduler import reasons
from quota_model.scheduler.books import Pool
from quota_model.scheduler.changes import SchedulerError
from quota_model.scheduler.decisions import Decision, Nominate, Placement, Preempt, PreemptionKind, RequeueCause
from quota_model.scheduler.job import STOPPING, Job
from quota_model.scheduler.machines import Nomination, dispatch, end_nomination, nominate, start_nominated
from quota_model.scheduler.state import State, wait_again
from quota_model.scheduler.victim_ranking import Needs
from quota_model.scheduler.victims import (
    Victim,
    cross_share_victims,
    in_share_needs,
    in_share_victims,
    is_hopeless,
    shortage,
)

__all__ = ["decide"]

_STATUS_REASONS = {
    PreemptionKind.CROSS_SHARE: reasons.CROSS_SHARE_PREEMPTED,
    PreemptionKind.IN_SHARE: reasons.IN_SHARE_PREEMPTED,
    PreemptionKind.LOWERED_LIMIT: reasons.LOWERED_LIMIT_PREEMPTED,
}

# Read once: on Python 3.11, looking a member up in its enum takes as long as a function call.
_ENTITLED: Final = Placement.ENTITLED
_BORROWING: Final = Placement.BORROWING
_IN_SHARE: Final = Placement.IN_SHARE


def decide(state: State, now: int) -> tuple[Decision, ...]:
    """Run a pass, and hand out every decision made since the last one."""
    if now < state.now:
        raise SchedulerError(f"a pass at {now} is earlier than {state.now}, the time of the last event")
    state.now = now
    if state.freed or state.heads.touched:  # else nothing has happened that a decision depends on
        _run(state)
    decisions = state.decisions
    if not decisions:
        return ()
    state.decisions = []
    return tuple(decisions)


def _run(state: State) -> None:
    """Place all heads that can be placed now."""
    heads = state.heads
    if heads.turns:
        heads.begin_turns()
    if state.freed:
        start_nominated(state)
    if heads.touched:
        heads.refresh(state)
    if state.environment_enabled:
        while (
            (heads.entitled and _place_entitled(state))
            or (heads.borrowing and _place_borrower(state))
            or (heads.in_share and _preempt_in_share(state))
        ):
            if heads.touched:
                heads.refresh(state)
        if state.freed:
            start_nominated(state)
    if heads.to_block:
        heads.report_blocked(state)


def _place_entitled(state: State) -> bool:
    """Rule 1: place the first head that stays within its share's own limits, reclaiming what is short from
    borrowers; it needs no higher priority for that.
    """
    for entry in state.heads.entitled:
        head = entry[3]
        for account, instances in head.parts:
            if account.short_with(instances):
                break
        else:
            _place(state, head, _ENTITLED)
            return True
        short = shortage(head)
        victims = cross_share_victims(state, head, short)
        if victims is not None:
            _place(state, head, _ENTITLED, _stop_all(state, head, victims, short))
            return True
    return False


def _place_borrower(state: State) -> bool:
    """Rule 2: place the first head that goes above its share's limits, within its borrow limit, if nothing is
    short; one that does not fit does not stop the next share's head.
    """
    for pool in state.pools.values():
        if pool.lendable > pool.borrowed and pool.capacity > pool.used:
            break
    else:
        return False  # nothing is left to borrow
    for entry in state.heads.borrowing:
        head = entry[3]
        for account, instances in head.parts:
            if account.short_with(instances):
                break
        else:
            _place(state, head, _BORROWING)
            return True
    return False


def _preempt_in_share(state: State) -> bool:
    """Rule 3: place the first head for which jobs of its share with lower priority can make room, reclaiming from
    borrowers what is then still short of the share's own limits.
    """
    for entry in state.heads.in_share:
        head = entry[3]
        if is_hopeless(head):
            continue
        needs = in_share_needs(head)
        victims = in_share_victims(state, head, needs)
        if victims is None:
            continue
        short = shortage(head)
        reclaimed = cross_share_victims(state, head, short) if short else []
        if reclaimed is None:
            raise AssertionError(f"{head.id}: what could be reclaimed a moment ago cannot be reclaimed now")
        stops = _stop_all(state, head, victims, needs) | _stop_all(state, head, reclaimed, short)
        _place(state, head, _IN_SHARE, stops)
        return True
    return False


def _place(state: State, head: Job, placement: Placement, victims: dict[Job, None] | None = None) -> None:
    """Give a head its quota, and its machines if they are free; else it is nominated and waits for them."""
    share = head.share
    share.remove_waiting(head)
    state.heads.remove_placed(head)
    head.decided_at = state.now
    enough = not victims or state.options.start_on_free_machines
    lines = []
    for account, instances in head.parts:
        lines.append(account.place(head, instances))
        pool = account.pool
        if pool.capacity - pool.machines - pool.claimed < instances:
            enough = False
    if victims:
        for pool in state.pools.values():
            pool.settle()
    if enough:
        dispatch(state, head, placement, tuple(lines))
        return
    nomination = Nomination(head, placement, tuple(lines), victims or {})
    nominate(state, nomination)
    waits_for = tuple(victim.id for victim in nomination.stops)
    state.decisions.append(Nominate(state.now, head.id, share.name, placement, nomination.lines, waits_for))


def _stop_all(state: State, head: Job, victims: list[Victim], short: Needs) -> dict[Job, None]:
    """Have the victims, whose quota is already out of the books, make room; return the jobs whose stop to wait for."""
    stops: dict[Job, None] = {}
    for victim in victims:
        job = victim.job
        for account, _ in job.parts:
            account.strike(job)
        state.heads.touched[job.share] = None
        if job.nomination is not None:
            stops |= end_nomination(state, job)
            wait_again(state, job, RequeueCause.NOMINATION_TAKEN, head)
            continue
        job.phase = STOPPING
        job.preemptions += not job.terminating
        stops[job] = None
        state.decisions.append(_preempt(state, head, victim, short))
    return stops


def _preempt(state: State, head: Job, victim: Victim, short: Needs) -> Preempt:
    job = victim.job
    return Preempt(
        state.now,
        job.id,
        job.share.name,
        victim.kind,
        head.id,
        head.share.name,
        job.shape.request,
        _by_unit(victim.borrowed),
        _by_unit(short),
        state.options.victim_order,
        not job.terminating,
        _STATUS_REASONS[victim.kind],
    )


def _by_unit(instances: dict[Pool, int]) -> tuple[tuple[str, int], ...]:
    return tuple((pool.unit, count) for pool, count in instances.items())
