"""The plain reference's heads: who is at the front of a share and of the queue, in which order, and who never fits."""

from __future__ import annotations

from collections import Counter

from quota_model.scheduler import FrontOrder, HeadOfLine, VisitOrder
from tests.quota_model.scheduler.reference_books import Books, RefJob, RefShare


class Heads(Books):
    turns: Counter[RefShare]
    """How many jobs of each share were placed in this pass."""

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

    def all_heads(self) -> list[RefJob]:
        return [job for share in self.shares for job in self.heads_of(share)]

    def note_heads(self) -> None:
        """Heads that are new are heads from now on."""
        heads = self.all_heads()
        for job in self.jobs.values():
            if job not in heads:
                job.since = None
            elif job.since is None:
                job.since = self.now

    def dispatches(self, share: RefShare) -> bool:
        return share.enabled or self.options.disabled_shares_dispatch

    def visited(self) -> list[RefJob]:
        """The heads that a rule looks at, in order."""
        keys = {}
        for share in self.shares:
            if not self.dispatches(share):
                continue
            latest = 0
            for rank, job in enumerate(self.heads_of(share)):
                if self.options.head_of_line is HeadOfLine.BEST_EFFORT:
                    latest = max(latest, self.when(job))
                    keys[job] = (latest, rank, job.sequence)
                else:
                    keys[job] = (self.when(job), 0, job.sequence)
        return sorted(keys, key=lambda job: keys[job])

    def when(self, head: RefJob) -> int:
        match self.options.visit_order:
            case VisitOrder.SUBMITTED:
                return head.sequence
            case VisitOrder.AT_HEAD:
                assert head.since is not None
                return head.since
            case VisitOrder.ROUND_ROBIN:
                return self.turns[head.share]

    def front_of_queue(self) -> list[RefJob]:
        """All waiting jobs: again and again the first of the shares' next ones."""
        front: list[RefJob] = []
        while True:
            rests = [[job for job in self.in_order(share) if job not in front] for share in self.shares]
            nexts = [rest[0] for rest in rests if rest]
            if not nexts:
                return front
            front.append(min(nexts, key=lambda job: self.front_key(job, front)))

    def front_key(self, job: RefJob, front: list[RefJob]) -> tuple[int, ...]:
        match self.options.front_of_queue_order:
            case FrontOrder.ENTITLED:
                placed = [*self.placed(), *front, job]
                entitled = all(
                    self.used(job.share, unit, placed) <= self.limit(job.share, unit) for unit in job.request
                )
                return not entitled, job.sequence
            case FrontOrder.SUBMITTED:
                return (job.sequence,)
            case FrontOrder.PRIORITY:
                return -job.priority, job.sequence

    def never_fits(self, job: RefJob) -> str | None:
        environment, share = self.environment_never_holds(job), self.share_never_holds(job)
        return environment or share if self.options.environment_reason_first else share or environment

    def environment_never_holds(self, job: RefJob) -> str | None:
        if any(count > self.capacity(unit) for unit, count in job.request.items()):
            return "SERVICE_ENVIRONMENT_MAX_RESOURCE"
        return None

    def share_never_holds(self, job: RefJob) -> str | None:
        share = job.share
        others = [other for other in self.shares if other is not share and self.lends(other)]
        if any(count > self.ceiling(share, unit) for unit, count in job.request.items()):
            return "and borrow limits." if share.borrows else "capacity limits."
        if share.borrows and any(
            count > self.limit(share, unit) + sum(self.limit(other, unit) for other in others) + self.unowned(unit)
            for unit, count in job.request.items()
        ):
            return "borrowable capacity."
        return None
