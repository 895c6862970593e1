"""The scheduling model once more, as plainly as it can be written: everything is added up anew each time.

It shares the events, the options and the design with the scheduler, and no code. Tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil, floor, inf
from typing import Any

from quota_model.design import QuotaQueue, QuotaShare, SharingStrategy, State
from quota_model.scheduler import (
    EnvironmentReplaced,
    Event,
    HeadOfLine,
    JobEnded,
    JobRetried,
    JobStarted,
    JobSubmitted,
    JobTerminated,
    PriorityChanged,
    QueueStateChanged,
    Rounding,
    SchedulerOptions,
    ShareAdded,
    ShareRemoved,
    ShareReplaced,
    StopCompleted,
    TimeLimitExpired,
    VictimOrder,
)

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
    def borrows(self) -> bool:
        return not self.removed and self.design.resource_sharing.strategy is SharingStrategy.LEND_AND_BORROW


class Reference:
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

    # The books

    def capacity(self, unit: str) -> int:
        return self.capacities.get(unit, 0)

    def limit(self, share: RefShare, unit: str) -> int:
        return 0 if share.removed else share.limits.get(unit, 0)

    def ceiling(self, share: RefShare, unit: str) -> float:
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
        return share.design.state is State.ENABLED or self.options.disabled_shares_lend

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

    def unowned(self, unit: str) -> int:
        if not self.options.borrow_unowned_capacity:
            return 0
        return max(0, self.capacity(unit) - sum(self.limit(share, unit) for share in self.shares))

    def debt(self, unit: str, placed: list[RefJob]) -> int:
        return max(0, self.borrowed(unit, placed) - self.lendable(unit, placed))

    def short(self, head: RefJob, without: Iterable[RefJob] = ()) -> dict[str, int]:
        before = self.placed()
        after = [job for job in before if job not in list(without)] + [head]
        short = {}
        for unit in sorted(head.request):
            missing = max(
                self.debt(unit, after) - self.debt(unit, before), self.held(after, unit) - self.capacity(unit)
            )
            if missing > 0:
                short[unit] = missing
        return short

    def within(self, head: RefJob, ceiling: bool, without: Iterable[RefJob] = ()) -> bool:
        rest = [job for job in self.placed() if job not in list(without)]
        bound = self.ceiling if ceiling else self.limit
        return all(
            self.used(head.share, unit, rest) + count <= bound(head.share, unit) for unit, count in head.request.items()
        )

    def borrowed_parts(self, unit: str, placed: list[RefJob]) -> dict[RefJob, int]:
        parts = {}
        for share in self.shares:
            own = self.limit(share, unit)
            jobs = [job for job in placed if job.share is share and unit in job.request]
            for job in sorted(jobs, key=lambda job: (-job.priority, job.decided, job.sequence)):
                part = min(own, job.request[unit])
                own -= part
                if job.request[unit] > part:
                    parts[job] = job.request[unit] - part
        return parts

    # Heads

    def in_order(self, share: RefShare) -> list[RefJob]:
        waiting = [job for job in self.jobs.values() if job.share is share and job.phase == "waiting"]
        return sorted(waiting, key=lambda job: (-job.priority, job.sequence))

    def heads_of(self, share: RefShare) -> list[RefJob]:
        waiting = self.in_order(share)
        match self.options.head_of_line:
            case HeadOfLine.STRICT:
                return waiting[:1]
            case HeadOfLine.PER_UNIT:
                return [
                    job
                    for index, job in enumerate(waiting)
                    if not any(set(job.request) & set(earlier.request) for earlier in waiting[:index])
                ]
            case HeadOfLine.BEST_EFFORT:
                return [
                    job
                    for index, job in enumerate(waiting)
                    if not any(job.request == earlier.request for earlier in waiting[:index])
                ]

    def heads(self) -> list[RefJob]:
        keys = {}
        for share in self.shares:
            latest = 0
            for rank, job in enumerate(self.heads_of(share)):
                if self.options.head_of_line is HeadOfLine.BEST_EFFORT:
                    latest = max(latest, job.sequence)
                    keys[job] = (latest, rank)
                else:
                    keys[job] = (job.sequence, 0)
        return sorted(keys, key=lambda job: keys[job])

    def never_fits(self, job: RefJob) -> str | None:
        share = job.share
        others = [other for other in self.shares if other is not share and self.lends(other)]
        if any(count > self.capacity(unit) for unit, count in job.request.items()):
            return "SERVICE_ENVIRONMENT_MAX_RESOURCE"
        if any(count > self.ceiling(share, unit) for unit, count in job.request.items()):
            return "and borrow limits." if share.borrows else "capacity limits."
        if share.borrows and any(
            count > self.limit(share, unit) + sum(self.limit(other, unit) for other in others) + self.unowned(unit)
            for unit, count in job.request.items()
        ):
            return "borrowable capacity."
        return None

    # A pass

    def run_pass(self, now: int) -> list[Said]:
        self.now = now
        self.start_nominated()
        while self.environment.state is State.ENABLED and (self.rule_1() or self.rule_2() or self.rule_3()):
            pass
        self.start_nominated()
        said, self.said = self.said, []
        return said

    def rule_1(self) -> bool:
        for head in self.heads():
            if self.within(head, ceiling=False):
                victims = self.cross_share(head, [])
                if victims is not None:
                    self.place(head, "entitled", victims, [])
                    return True
        return False

    def rule_2(self) -> bool:
        for head in self.heads():
            if not self.within(head, ceiling=False) and self.within(head, ceiling=True) and not self.short(head):
                self.place(head, "borrowing", [], [])
                return True
        return False

    def rule_3(self) -> bool:
        for head in self.heads():
            if not head.share.design.in_share_preemption:
                continue
            victims = self.in_share(head)
            if victims:
                cross = self.cross_share(head, victims) if self.short(head, victims) else []
                assert cross is not None
                self.place(head, "in_share", cross, victims)
                return True
        return False

    def cross_candidates(self, head: RefJob, gone: list[RefJob]) -> list[RefJob]:
        placed = [job for job in self.placed() if job not in gone]
        found: dict[RefJob, None] = {}
        for unit in self.short(head, gone):
            found |= dict.fromkeys(job for job in self.borrowed_parts(unit, placed) if job.share is not head.share)
        return list(found)

    def cross_share(self, head: RefJob, gone: list[RefJob]) -> list[RefJob] | None:
        return self.pick(
            self.cross_candidates(head, gone),
            list(self.short(head, gone)),
            gone,
            lambda chosen: not self.short(head, gone + chosen),
            lambda chosen: self.short(head, gone + chosen),
        )

    def fits_without(self, head: RefJob, gone: list[RefJob]) -> bool:
        if not self.within(head, True, gone):
            return False
        if not self.short(head, gone):
            return True
        return self.within(head, False, gone) and not self.short(head, gone + self.cross_candidates(head, gone))

    def in_share_candidates(self, head: RefJob) -> list[RefJob]:
        return [
            job
            for job in self.placed()
            if job.share is head.share and job.priority < head.priority and set(job.request) & set(head.request)
        ]

    def in_share_needs(self, head: RefJob, gone: list[RefJob]) -> dict[str, int]:
        needs = self.short(head, gone)
        rest = [job for job in self.placed() if job not in gone]
        for unit, count in head.request.items():
            above = self.used(head.share, unit, rest) + count - self.ceiling(head.share, unit)
            if above > needs.get(unit, 0):
                needs[unit] = int(above)
        return needs

    def in_share(self, head: RefJob) -> list[RefJob] | None:
        candidates = self.in_share_candidates(head)
        if not candidates or self.fits_without(head, []) or self.never_fits(head):
            return None
        return self.pick(
            candidates,
            list(self.in_share_needs(head, [])),
            [],
            lambda chosen: self.fits_without(head, chosen),
            lambda chosen: self.in_share_needs(head, chosen),
        )

    def pick(
        self,
        candidates: list[RefJob],
        units: list[str],
        gone: list[RefJob],
        enough: Callable[[list[RefJob]], bool],
        left: Callable[[list[RefJob]], dict[str, int]],
    ) -> list[RefJob] | None:
        placed = [job for job in self.placed() if job not in gone]
        parts = {unit: self.borrowed_parts(unit, placed) for unit in units}

        def rank(job: RefJob) -> tuple[Any, ...]:
            key: tuple[Any, ...] = ()
            match self.options.victim_order:
                case VictimOrder.NEWEST:
                    key = (-job.decided,)
                case VictimOrder.OLDEST:
                    key = (job.decided,)
                case VictimOrder.LARGEST_BORROWER:
                    key = (-sum(parts[unit].get(job, 0) for unit in units),)
                case VictimOrder.CHEAPEST:
                    key = (sum(job.request.get(unit, 0) for unit in units) * (self.now - job.decided),)
                case VictimOrder.LEAST_OVERRECLAIM:
                    short = left(chosen)
                    key = (
                        sum(max(0, job.request.get(unit, 0) - short[unit]) for unit in short),
                        -sum(min(job.request.get(unit, 0), short[unit]) for unit in short),
                    )
            started = job.running
            return (
                not job.terminating,
                job.phase != "nominated",
                started,
                *key,
                job.priority,
                -job.decided,
                -job.sequence,
            )

        chosen: list[RefJob] = []
        while not enough(chosen):
            rest = [job for job in candidates if job not in chosen]
            if not rest:
                return None
            chosen.append(min(rest, key=rank))
        for job in chosen[::-1]:
            if enough([other for other in chosen if other is not job]):
                chosen.remove(job)
        return chosen

    # Transitions

    def place(self, head: RefJob, rule: str, cross: list[RefJob], in_share: list[RefJob]) -> None:
        placed = [job for job in self.placed() if job not in in_share]
        lowered = {
            (share, unit)
            for share in self.shares
            for unit in self.short(head, in_share)
            if self.used(share, unit, placed) > self.ceiling(share, unit)
        }
        stops: list[RefJob] = []
        for victim in in_share + cross:
            if victim.phase == "nominated":
                stops += victim.stops
                victim.stops = []
                self.nominated.remove(victim)
                victim.phase = "waiting"
                self.said.append(("requeue", victim.id, "nomination_taken"))
            else:
                kind = "cross_share"
                if any((victim.share, unit) in lowered for unit in victim.request):
                    kind = "lowered_limit"
                kind = "in_share" if victim in in_share else kind
                victim.phase = "stopping"
                victim.preemptions += not victim.terminating
                stops.append(victim)
                self.said.append(("preempt", victim.id, head.id, kind, not victim.terminating))
        head.decided = self.now
        free = all(count <= self.free(unit, self.nominated) for unit, count in head.request.items())
        if free and not stops:
            self.dispatch(head)
        else:
            head.phase = "nominated"
            head.stops = stops
            self.nominated.append(head)
            self.said.append(("nominate", head.id, rule, tuple(job.id for job in stops)))

    def free(self, unit: str, earlier: Iterable[RefJob]) -> int:
        busy = self.held((job for job in self.jobs.values() if job.on_machines), unit)
        claimed = sum(max(0, job.request.get(unit, 0) - self.held(job.stops, unit)) for job in earlier)
        return self.capacity(unit) - busy - claimed

    def dispatch(self, job: RefJob) -> None:
        job.phase = "dispatched"
        job.attempts += 1
        self.said.append(("dispatch", job.id))

    def start_nominated(self) -> None:
        for job in list(self.nominated):
            earlier = self.nominated[: self.nominated.index(job)]
            if not job.stops and all(count <= self.free(unit, earlier) for unit, count in job.request.items()):
                self.nominated.remove(job)
                self.dispatch(job)

    def leave(self, job: RefJob) -> None:
        """Let a job hold nothing."""
        if job in self.nominated:
            self.nominated.remove(job)
        job.stops = []
        for other in self.nominated:
            if job in other.stops:
                other.stops.remove(job)

    def fail(self, job: RefJob) -> None:
        self.leave(job)
        del self.jobs[job.id]
        self.said.append(("fail", job.id))

    def requeue(self, job: RefJob, cause: str) -> None:
        self.leave(job)
        job.phase = "waiting"
        job.running = False
        if not self.options.returned_jobs_keep_their_place and cause != "nomination_withdrawn":
            job.sequence = self.sequence
            self.sequence += 1
        self.said.append(("requeue", job.id, cause))

    def withdraw(self) -> None:
        for job in list(self.nominated):
            self.requeue(job, "nomination_withdrawn")

    def terminate(self, job: RefJob) -> None:
        if job.on_machines:
            job.terminating = True
        else:
            self.fail(job)

    def apply(self, event: Event) -> None:
        self.now = event.time
        match event:
            case JobSubmitted(_, job_id, name, request, priority, retries):
                job = RefJob(job_id, self.share(name), dict(request), priority, self.sequence, retries)
                self.jobs[job_id] = job
                self.sequence += 1
            case JobStarted(_, job_id):
                self.jobs[job_id].running = True
            case JobEnded(_, job_id):
                self.leave(self.jobs.pop(job_id))
            case JobRetried(_, job_id):
                self.requeue(self.jobs[job_id], "retried")
            case StopCompleted(_, job_id):
                job = self.jobs[job_id]
                if job.terminating or (job.retries is not None and job.preemptions > job.retries):
                    self.fail(job)
                else:
                    self.requeue(job, "preempted")
            case JobTerminated(_, job_id):
                self.terminate(self.jobs[job_id])
            case TimeLimitExpired(_, job_id):
                self.fail(self.jobs[job_id])
            case PriorityChanged(_, job_id, priority):
                self.jobs[job_id].priority = priority
            case ShareAdded(_, design):
                self.start_nominated()
                self.shares.append(RefShare(str(design.name), design))
                self.withdraw()
            case ShareReplaced(_, design):
                self.start_nominated()
                share = self.share(str(design.name))
                old, share.design = share.design, design
                share.limits = design.capacity_limits.as_instances()
                if (old.capacity_limits, old.resource_sharing) != (design.capacity_limits, design.resource_sharing):
                    self.withdraw()
            case ShareRemoved(_, name):
                self.start_nominated()
                share = self.share(name)
                share.removed = True
                for job in [job for job in self.jobs.values() if job.share is share]:
                    if job.phase == "dispatched" and not job.terminating:
                        self.said.append(("stop", job.id))
                    self.terminate(job)
                self.withdraw()
            case EnvironmentReplaced(_, environment):
                self.start_nominated()
                self.environment = environment
                self.capacities = environment.capacity_limits.as_instances()
                self.withdraw()
            case QueueStateChanged(_, state):
                self.queue_enabled = state is State.ENABLED

    def share(self, name: str) -> RefShare:
        return next(share for share in self.shares if share.name == name and not share.removed)

    def live(self) -> Iterator[RefJob]:
        return iter(self.jobs.values())
