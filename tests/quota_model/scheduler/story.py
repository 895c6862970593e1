"""Tells short stories about a queue: what is submitted, ends and changes, each with a pass after it."""

from __future__ import annotations

from collections.abc import Mapping

from quota_model.design import CapacityLimits, QuotaQueue, QuotaShare, ResourceSharing, ServiceEnvironment, State
from quota_model.scheduler import (
    Block,
    Decision,
    EnvironmentReplaced,
    Event,
    Fail,
    JobEnded,
    JobRetried,
    JobStarted,
    JobSubmitted,
    JobTerminated,
    Preempt,
    PriorityChanged,
    Scheduler,
    SchedulerOptions,
    ShareRemoved,
    ShareReplaced,
    StopCompleted,
    TimeLimitExpired,
)

G = "ml.g5.xlarge"
P = "ml.p5.48xlarge"

Instances = int | Mapping[str, int]


def limits(instances: Instances) -> CapacityLimits:
    return CapacityLimits.of({G: instances} if isinstance(instances, int) else instances)


def environment(instances: Instances, state: State = State.ENABLED) -> ServiceEnvironment:
    return ServiceEnvironment(limits(instances), state=state)


def reserve(name: str, instances: Instances, *, in_share: bool = False, state: State = State.ENABLED) -> QuotaShare:
    return QuotaShare(name, limits(instances), ResourceSharing.reserve(), in_share, state)


def lend(name: str, instances: Instances, *, in_share: bool = False, state: State = State.ENABLED) -> QuotaShare:
    return QuotaShare(name, limits(instances), ResourceSharing.lend(), in_share, state)


def borrow(
    name: str,
    instances: Instances,
    borrow_limit: int | None = None,
    *,
    in_share: bool = False,
    state: State = State.ENABLED,
) -> QuotaShare:
    return QuotaShare(
        name, limits(instances), ResourceSharing.lend_and_borrow(borrow_limit=borrow_limit), in_share, state
    )


class Story:
    """A scheduler, a clock that goes a second further with each event, and all decisions."""

    def __init__(self, env: Instances, *shares: QuotaShare, options: SchedulerOptions | None = None) -> None:
        self.scheduler = Scheduler(QuotaQueue(environment(env), shares), options)
        self.now = 0
        self.decisions: list[Decision] = []

    def happen(self, *events: Event) -> tuple[Decision, ...]:
        decisions = self.scheduler.advance(self.now, events)
        self.decisions += decisions
        self.now += 1000
        return decisions

    def submit(
        self, job: str, share: str, request: Instances = 1, priority: int = 1, retries: int | None = None
    ) -> tuple[Decision, ...]:
        wanted = {G: request} if isinstance(request, int) else request
        return self.happen(JobSubmitted(self.now, job, share, wanted, priority, retries))

    def submit_running(self, job: str, share: str, request: Instances = 1, priority: int = 1) -> None:
        self.submit(job, share, request, priority)
        self.start(job)

    def start(self, *jobs: str) -> None:
        self.happen(*(JobStarted(self.now, job) for job in jobs))

    def end(self, *jobs: str) -> tuple[Decision, ...]:
        return self.happen(*(JobEnded(self.now, job) for job in jobs))

    def retry(self, job: str) -> tuple[Decision, ...]:
        return self.happen(JobRetried(self.now, job))

    def stopped(self, *jobs: str) -> tuple[Decision, ...]:
        return self.happen(*(StopCompleted(self.now, job) for job in jobs))

    def terminate(self, job: str) -> tuple[Decision, ...]:
        return self.happen(JobTerminated(self.now, job))

    def priority(self, job: str, priority: int) -> tuple[Decision, ...]:
        return self.happen(PriorityChanged(self.now, job, priority))

    def expire(self, job: str, reason: str) -> tuple[Decision, ...]:
        return self.happen(TimeLimitExpired(self.now, job, reason))

    def replace(self, share: QuotaShare) -> tuple[Decision, ...]:
        return self.happen(ShareReplaced(self.now, share))

    def remove(self, share: str) -> tuple[Decision, ...]:
        return self.happen(ShareRemoved(self.now, share))

    def set_environment(self, instances: Instances, state: State = State.ENABLED) -> tuple[Decision, ...]:
        return self.happen(EnvironmentReplaced(self.now, environment(instances, state)))

    @property
    def dispatched(self) -> list[str]:
        """Jobs on machines that are not being stopped for another."""
        return [job.job_id for job in self.scheduler.jobs() if job.decided_at is not None and not job.nominated]

    @property
    def nominated(self) -> list[str]:
        return [job.job_id for job in self.scheduler.jobs() if job.nominated]

    @property
    def stopping(self) -> list[str]:
        return [job.job_id for job in self.scheduler.jobs() if job.stopping]

    @property
    def waiting(self) -> list[str]:
        return [job.job_id for job in self.scheduler.jobs() if job.decided_at is None and not job.stopping]

    @property
    def preempted(self) -> list[tuple[str, str, str]]:
        """Who was preempted, for whom and why."""
        return [(it.job_id, it.preemptor, str(it.kind)) for it in self.decisions if isinstance(it, Preempt)]

    @property
    def failed(self) -> dict[str, str]:
        return {it.job_id: it.status_reason for it in self.decisions if isinstance(it, Fail)}

    @property
    def blocked(self) -> dict[str, str]:
        return {it.job_id: it.status_reason for it in self.decisions if isinstance(it, Block)}

    def used(self, share: str, unit: str = G) -> int:
        return sum(line.used for line in self.scheduler.usage() if (line.share, line.unit) == (share, unit))

    def borrowed(self, share: str, unit: str = G) -> int:
        return sum(line.borrowed for line in self.scheduler.usage() if (line.share, line.unit) == (share, unit))

    def lent(self, share: str, unit: str = G) -> int:
        return sum(line.lent for line in self.scheduler.usage() if (line.share, line.unit) == (share, unit))
