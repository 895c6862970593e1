"""The fronts of a queue, as GetJobQueueSnapshot shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quota_model.scheduler.options import FrontOrder
from quota_model.scheduler.views import FrontJob

if TYPE_CHECKING:
    from quota_model.scheduler.books import Account
    from quota_model.scheduler.job import Job
    from quota_model.scheduler.state import State

__all__ = ["front_of_queue", "front_of_quota_shares"]


def front_of_quota_shares(state: State) -> dict[str, tuple[FrontJob, ...]]:
    """Return the heads of every share, in the share's order."""
    return {share.name: tuple(map(_front, share.current_heads())) for share in state.shares.values()}


def front_of_queue(state: State, limit: int) -> tuple[FrontJob, ...]:
    """Merge the shares' queues, by the option ``front_of_queue_order``. What is put before a job counts as placed when
    its entitlement is judged.
    """
    order = state.options.front_of_queue_order
    queues = [share.waiting() for share in state.shares.values()]
    nexts = [(job, queue) for queue in queues if (job := next(queue, None)) is not None]
    held: dict[Account, int] = {}
    front: list[FrontJob] = []

    def place(job: Job) -> tuple[int, int]:
        if order is FrontOrder.SUBMITTED:
            return 0, job.sequence
        if order is FrontOrder.PRIORITY:
            return -job.priority, job.sequence
        entitled = all(account.used + held.get(account, 0) + n <= account.limit for account, n in job.parts)
        return not entitled, job.sequence

    while nexts and len(front) < limit:
        index = min(range(len(nexts)), key=lambda index: place(nexts[index][0]))
        job, queue = nexts[index]
        front.append(_front(job))
        for account, instances in job.parts:
            held[account] = held.get(account, 0) + instances
        follower = next(queue, None)
        if follower is None:
            del nexts[index]
        else:
            nexts[index] = follower, queue
    return tuple(front)


def _front(job: Job) -> FrontJob:
    return FrontJob(job.id, job.share.name, job.since)
