"""Why a job waits, in terms of the design."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from quota_model.scheduler.books import Account, Pool
from quota_model.scheduler.job import DISPATCHED, NOMINATED, STOPPING, Job
from quota_model.scheduler.reasons import never_fits
from quota_model.scheduler.views import Explanation, Wait

if TYPE_CHECKING:
    from quota_model.scheduler.state import State

__all__ = ["explain"]

_MOST = 10


def explain(state: State, job: Job) -> Explanation:
    """Say why a job waits now, in terms of the design."""
    if job.phase is DISPATCHED:
        doing = "its user is terminating it" if job.terminating else "it holds its instances"
        return Explanation(job.id, Wait.PLACED, f"{job.id} was dispatched; {doing}")
    if job.phase is STOPPING:
        by = (job.stopping_for.id,) if job.stopping_for is not None else ()
        for_whom = f" to make room for {by[0]}" if by else ""
        return Explanation(job.id, Wait.STOPPING, f"{job.id} is being stopped{for_whom}", jobs=by)
    if job.phase is NOMINATED:
        return _nominated(job)
    heads = job.share.current_heads()
    if job not in heads:
        return _behind(state, job, heads)
    if (reason := never_fits(job, state.options)) is not None:
        return _never_fits(job, reason)
    if not state.environment_enabled:
        sentence = "the service environment is DISABLED and has nothing new placed in it"
        return Explanation(job.id, Wait.ENVIRONMENT_DISABLED, sentence, "enable the environment")
    if job.share.held_back:
        sentence = f"{job.share.name} is DISABLED, and jobs that wait in it are not placed"
        return Explanation(job.id, Wait.SHARE_DISABLED, sentence, "enable the share")
    for account, instances in job.parts:
        if account.used + instances > account.ceiling:
            return _own_limit(job, account, instances)
    for account, instances in job.parts:
        if account.short_with(instances):
            return _short(job, account, instances)
    return Explanation(job.id, Wait.FITS, f"{job.id} fits; the next pass places it")


def _nominated(job: Job) -> Explanation:
    stops = tuple(victim.id for victim in job.nomination.stops) if job.nomination is not None else ()
    what = f"for {_listed(stops)} to stop" if stops else "for machines that stopping jobs still hold"
    return Explanation(job.id, Wait.NOMINATED, f"{job.id} has its quota and waits {what}", jobs=stops)


def _behind(state: State, job: Job, heads: list[Job]) -> Explanation:
    ahead = []
    for other in job.share.waiting():
        if other is job:
            break
        ahead.append(other)
    head = heads[0]
    first = explain(state, head)
    return Explanation(
        job.id,
        Wait.BEHIND,
        f"{job.id} is number {len(ahead) + 1} in {job.share.name}, whose head is {head.id}: {first.sentence}",
        first.help,
        tuple(other.id for other in islice(ahead, _MOST)),
    )


def _never_fits(job: Job, reason: str) -> Explanation:
    share = job.share
    lines = []
    for account, instances in job.parts:
        if instances > account.largest:
            pool = account.pool
            limits = f"the environment has {pool.capacity}, {share.name} owns {account.limit}"
            if share.borrows:
                limits += f" and can use {account.largest} with all it may borrow"
            lines.append(f"{job.id} asks for {instances} x {pool.unit}, and {limits}")
    sentence = f"{'; '.join(lines)} ({reason})"
    return Explanation(job.id, Wait.NEVER_FITS, sentence, "ask for fewer instances, or raise what is too low")


def _own_limit(job: Job, account: Account, instances: int) -> Explanation:
    share, unit = job.share, account.pool.unit
    holds = f"{share.name} holds {account.used} of its {account.limit} x {unit}, and {job.id} asks for {instances}"
    jobs = _holders(account)
    if share.borrows:
        sentence = f"{holds}: more than its limit and borrow limit allow together, {account.ceiling}"
        return Explanation(job.id, Wait.BORROW_LIMIT, sentence, "wait for its jobs, or raise its borrow limit", jobs)
    strategy = share.design.resource_sharing.strategy
    sentence = f"{holds}; {strategy} does not borrow"
    return Explanation(job.id, Wait.OWN_LIMIT, sentence, "wait for its jobs, or raise its limit", jobs)


def _short(job: Job, account: Account, instances: int) -> Explanation:
    pool = account.pool
    above = max(0, account.used + instances - account.limit)
    if above and pool.used + instances <= pool.capacity:
        borrowed = max(0, account.used - account.limit)
        sentence = f"{job.id} needs to borrow {above - borrowed} x {pool.unit}, and {_lending(pool)}"
        return Explanation(job.id, Wait.NOTHING_LENDABLE, sentence, "wait until a lender or borrower frees some")
    what = "is not entitled to take it back" if above else "nothing that it could take back covers it"
    sentence = f"{pool.used} of the environment's {pool.capacity} x {pool.unit} are used; {job.id} asks for {instances}"
    help_ = "wait for jobs to end, or raise the environment's limit"
    return Explanation(job.id, Wait.ENVIRONMENT_FULL, f"{sentence} and {what}", help_)


def _lending(pool: Pool) -> str:
    idle = pool.lendable - pool.borrowed
    texts = [f"{max(0, idle)} are left to lend"]
    users = [f"{a.share.name} {a.used - a.limit}" for a in pool.accounts if a.used > a.limit]
    if users:
        texts.append(f"borrowed by {', '.join(users)}")
    kept = [f"{a.share.name} {a.limit - a.used}" for a in pool.accounts if not a.lends and a.used < a.limit]
    if kept:
        texts.append(f"kept idle by {', '.join(kept)}")
    return "; ".join(texts)


def _holders(account: Account) -> tuple[str, ...]:
    return tuple(entry[4].id for entry in islice(account.placed, _MOST))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
