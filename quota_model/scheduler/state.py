"""All that a scheduler keeps, and the transitions of a job that do not depend on a decision."""

from __future__ import annotations

from quota_model.design import QuotaQueue, ServiceEnvironment
from quota_model.scheduler import reasons
from quota_model.scheduler.books import Pool
from quota_model.scheduler.decisions import Decision, Fail, Requeue, RequeueCause
from quota_model.scheduler.heads import Heads
from quota_model.scheduler.job import DISPATCHED, ENDED, NOMINATED, WAITING, Job
from quota_model.scheduler.machines import Nomination, end_nomination, stop_is_over
from quota_model.scheduler.options import SchedulerOptions
from quota_model.scheduler.share import Share

__all__ = ["State", "end", "fail", "requeue", "stop_completed", "wait_again", "withdraw_nominations"]


class State:
    """The queue, its books, its jobs, and the decisions not handed out yet."""

    __slots__ = (
        "decisions",
        "environment",
        "environment_enabled",
        "freed",
        "heads",
        "jobs",
        "leaving",
        "next_sequence",
        "nominations",
        "now",
        "options",
        "pools",
        "queue",
        "queue_enabled",
        "shares",
    )

    def __init__(self, queue: QuotaQueue, options: SchedulerOptions) -> None:
        self.queue = queue
        """The design as it was given first; shares and environment are kept up to date elsewhere."""
        self.options = options
        self.now = 0
        self.next_sequence = 0
        self.environment: ServiceEnvironment = queue.service_environment
        self.environment_enabled = True
        self.queue_enabled = True
        self.pools: dict[str, Pool] = {}
        self.shares: dict[str, Share] = {}
        self.leaving: list[Share] = []
        """Deleted shares with jobs that still have to stop."""
        self.jobs: dict[str, Job] = {}
        """All jobs that have not ended."""
        self.heads = Heads(options.visit_order)
        self.nominations: dict[Job, Nomination] = {}
        """Nominated jobs in the order of their decisions."""
        self.freed = False
        """Whether quota or machines were given back since the last pass."""
        self.decisions: list[Decision] = []


def _give_back(state: State, job: Job) -> None:
    """Give back all that a job holds, whatever its phase."""
    phase = job.phase
    if phase is DISPATCHED:
        for account, instances in job.parts:
            account.remove(job, instances)
            account.pool.machines -= instances
    elif phase is WAITING:
        job.share.remove_waiting(job)
        return
    elif phase is NOMINATED:
        for account, instances in job.parts:
            account.remove(job, instances)
        end_nomination(state, job)
    else:  # a stopping victim, whose quota is out of the books already
        for account, instances in job.parts:
            account.pool.machines -= instances
        stop_is_over(job)
    state.freed = True


def end(state: State, job: Job) -> None:
    """Forget a job that has ended."""
    _give_back(state, job)
    job.phase = ENDED
    del state.jobs[job.id]
    share = job.share
    share.live -= 1
    if share.heads:
        state.heads.touched[share] = None
    if not share.live and share in state.leaving:
        state.leaving.remove(share)
        for account in share.accounts.values():
            account.pool.accounts.remove(account)


def fail(state: State, job: Job, status_reason: str) -> None:
    """End a job as FAILED."""
    end(state, job)
    state.decisions.append(Fail(state.now, job.id, job.share.name, status_reason))


def requeue(state: State, job: Job, cause: RequeueCause, by: Job | None = None) -> None:
    """Let a job wait again that gives back all it holds."""
    _give_back(state, job)
    wait_again(state, job, cause, by)


def wait_again(state: State, job: Job, cause: RequeueCause, by: Job | None) -> None:
    """Put a job that holds nothing any more back into its share's queue."""
    job.phase = WAITING
    job.running = False
    if not state.options.returned_jobs_keep_their_place and cause in (RequeueCause.PREEMPTED, RequeueCause.RETRIED):
        job.sequence = state.next_sequence
        state.next_sequence += 1
    job.share.add_waiting(job)
    state.heads.touched[job.share] = None
    state.decisions.append(Requeue(state.now, job.id, job.share.name, cause, by.id if by is not None else None))


def stop_completed(state: State, job: Job) -> None:
    """Note that a job has stopped: it is FAILED if it was terminated or preempted too often, or waits again."""
    if job.terminating:
        fail(state, job, reasons.TERMINATED)
    elif job.preemption_retries is not None and job.preemptions > job.preemption_retries:
        fail(state, job, reasons.RETRIES_EXHAUSTED)
    else:
        requeue(state, job, RequeueCause.PREEMPTED, job.stopping_for)


def withdraw_nominations(state: State) -> None:
    """Let every nominated job wait again, since the configuration it was decided under has changed; or, if the
    options say so, those alone that can never run now.
    """
    for job in tuple(state.nominations):
        if state.options.changes_withdraw_nominations or reasons.never_fits(job, state.options) is not None:
            requeue(state, job, RequeueCause.NOMINATION_WITHDRAWN)
