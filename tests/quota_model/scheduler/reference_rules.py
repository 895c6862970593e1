"""The plain reference's pass: the three rules, the victims, and the machines that placed jobs wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from quota_model.design import State
from quota_model.scheduler import VictimOrder
from tests.quota_model.scheduler.reference_books import RefJob, Said
from tests.quota_model.scheduler.reference_heads import Heads


class Rules(Heads):
    def run_pass(self, now: int) -> list[Said]:
        self.now = now
        self.turns = Counter()
        self.note_heads()
        self.start_nominated()
        while self.environment.state is State.ENABLED and (self.rule_1() or self.rule_2() or self.rule_3()):
            self.note_heads()
        self.start_nominated()
        said, self.said = self.said, []
        return said

    def rule_1(self) -> bool:
        for head in self.visited():
            if self.within(head, borrowing=False):
                victims = self.cross_share(head, [])
                if victims is not None:
                    self.place(head, "entitled", victims, [])
                    return True
        return False

    def rule_2(self) -> bool:
        for head in self.visited():
            if not self.within(head, borrowing=False) and self.within(head, borrowing=True) and not self.short(head):
                self.place(head, "borrowing", [], [])
                return True
        return False

    def rule_3(self) -> bool:
        for head in self.visited():
            if not head.share.design.in_share_preemption:
                continue
            victims = self.in_share(head)
            if victims:
                cross = self.cross_share(head, victims)
                assert cross is not None
                self.place(head, "in_share", cross, victims)
                return True
        return False

    # Victims

    def can_be_victim(self, job: RefJob) -> bool:
        return job.phase == "dispatched" or self.options.nominated_jobs_can_be_victims

    def may_reclaim(self, head: RefJob, gone: list[RefJob]) -> bool:
        return self.options.reclaim_for_environment or all(
            self.environment_lacks(head, unit, gone) <= max(0, self.ledger_lacks(head, unit, gone))
            for unit in head.request
        )

    def cross_candidates(self, head: RefJob, gone: list[RefJob]) -> list[RefJob]:
        placed = [job for job in self.placed() if job not in gone]
        found: dict[RefJob, None] = {}
        for unit in self.short(head, gone):
            found |= dict.fromkeys(job for job in self.borrowed_parts(unit, placed) if job.share is not head.share)
        return [job for job in found if self.can_be_victim(job)]

    def cross_share(self, head: RefJob, gone: list[RefJob]) -> list[RefJob] | None:
        if not self.may_reclaim(head, gone):
            return None if self.short(head, gone) else []
        return self.pick(
            self.cross_candidates(head, gone),
            list(self.short(head, gone)),
            gone,
            lambda chosen: not self.short(head, gone + chosen),
            lambda chosen: self.short(head, gone + chosen),
        )

    def fits_without(self, head: RefJob, gone: list[RefJob]) -> bool:
        if not self.within(head, self.options.in_share_preemption_borrows, gone):
            return False
        if not self.short(head, gone):
            return True
        if not self.options.in_share_preemption_reclaims or not self.within(head, False, gone):
            return False
        return self.may_reclaim(head, gone) and not self.short(head, gone + self.cross_candidates(head, gone))

    def in_share_candidates(self, head: RefJob) -> list[RefJob]:
        return [
            job
            for job in self.placed()
            if job.share is head.share and job.priority < head.priority and set(job.request) & set(head.request)
            if self.can_be_victim(job)
        ]

    def in_share_needs(self, head: RefJob, gone: list[RefJob]) -> dict[str, int]:
        needs = self.short(head, gone)
        for unit in head.request:
            above = self.above(head, unit, self.options.in_share_preemption_borrows, gone)
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
        if self.options.spare_victims:
            for job in chosen[::-1]:
                if enough([other for other in chosen if other is not job]):
                    chosen.remove(job)
        return chosen

    # Placing

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
        head.stops = stops
        self.turns[head.share] += 1
        if self.can_start(head, self.nominated):
            self.dispatch(head)
        else:
            head.phase = "nominated"
            self.nominated.append(head)
            self.said.append(("nominate", head.id, rule, tuple(job.id for job in stops)))

    # Machines

    def free(self, unit: str, earlier: Iterable[RefJob]) -> int:
        busy = self.held((job for job in self.jobs.values() if job.on_machines), unit)
        claimed = sum(max(0, job.request.get(unit, 0) - self.held(job.stops, unit)) for job in earlier)
        return self.capacity(unit) - busy - claimed

    def can_start(self, job: RefJob, earlier: Iterable[RefJob]) -> bool:
        if job.stops and not self.options.start_on_free_machines:
            return False
        return all(count <= self.free(unit, earlier) for unit, count in job.request.items())

    def start_nominated(self) -> None:
        for job in list(self.nominated):
            if self.can_start(job, self.nominated[: self.nominated.index(job)]):
                self.nominated.remove(job)
                self.dispatch(job)

    def dispatch(self, job: RefJob) -> None:
        """Hand a job to its machines; if victims of it still stop, they stop for nobody."""
        job.phase = "dispatched"
        job.stops = []
        job.attempts += 1
        self.said.append(("dispatch", job.id))
