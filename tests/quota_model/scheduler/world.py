"""A scheduler and the plain reference side by side: everything that happens happens to both, and after every pass
they must agree and all that must always hold is checked."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import inf

from quota_model.design import (
    QuotaQueue,
    State,
)
from quota_model.scheduler import (
    Block,
    Decision,
    Dispatch,
    EnvironmentReplaced,
    Event,
    Fail,
    FrontJob,
    HeadOfLine,
    JobEnded,
    JobRetried,
    Nominate,
    Preempt,
    PriorityChanged,
    Requeue,
    Scheduler,
    SchedulerOptions,
    ShareAdded,
    ShareRemoved,
    ShareReplaced,
    Stop,
    StopCompleted,
    Unblock,
)
from tests.quota_model.scheduler.reference import Reference
from tests.quota_model.scheduler.reference_books import RefJob, Said

UNITS = ("ml.g5.xlarge", "ml.p5.48xlarge")


class CheckedReference(Reference):
    """The reference, which proves each set of victims by trying all smaller ones."""

    def run_pass(self, now: int) -> list[Said]:
        self.left = 10 * len(self.jobs) + 10
        return super().run_pass(now)

    def place(self, head: RefJob, rule: str, cross: list[RefJob], in_share: list[RefJob]) -> None:
        self.left -= 1
        assert self.left >= 0, "a pass ends"
        options = self.options
        assert head.share.enabled or options.disabled_shares_dispatch, "a disabled share's jobs wait if told so"
        gone = [*in_share, *cross]
        assert options.nominated_jobs_can_be_victims or all(victim.on_machines for victim in gone)
        short = self.short(head, in_share)
        rest = [job for job in self.placed() if job not in in_share]
        borrowing = {job for unit in short for job in self.borrowed_parts(unit, rest)}
        assert borrowing >= set(cross), "I8: only a job with a borrowed part is a cross-share victim"
        for victim in in_share:
            assert victim.share is head.share, "I9: an in-share victim is of the same share"
            assert victim.priority < head.priority, "I9: an in-share victim has strictly lower priority"
            assert head.share.design.in_share_preemption, "I9: in-share preemption is on"
        assert self.lets_in(head, rule, in_share, cross), "I10: the victims are sufficient"
        if options.spare_victims and len(gone) <= 6:
            for size in range(len(gone)):
                for fewer in combinations(gone, size):
                    kept = [[job for job in jobs if job in fewer] for jobs in (in_share, cross)]
                    assert not self.lets_in(head, rule, *kept), "I10: the victims are minimal"
        super().place(head, rule, cross, in_share)
        if options.heads_pay_off_debts:
            assert not any(self.debt(unit, self.placed()) for unit in head.request), "whoever is placed pays off"

    def lets_in(self, head: RefJob, rule: str, in_share: list[RefJob], cross: list[RefJob]) -> bool:
        """Whether a rule may place the head if these jobs go."""
        may_borrow = {
            "entitled": False,
            "borrowing": True,
            "in_share": self.options.in_share_preemption_borrows and not cross,
        }
        if self.short(head, [*in_share, *cross]) or not self.within(head, may_borrow[rule], in_share):
            return False
        reclaims = {"entitled": True, "borrowing": False, "in_share": self.options.in_share_preemption_reclaims}
        return not cross or (reclaims[rule] and self.may_reclaim(head, in_share))


class World:
    """Both schedulers, and what happened to them."""

    def __init__(self, queue: QuotaQueue, options: SchedulerOptions) -> None:
        self.scheduler = Scheduler(queue, options)
        self.reference = CheckedReference(queue, options)
        self.now = 0
        self.submitted = 0
        self.dispatches: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        """Attempts that are over, by job."""
        self.preempted_at: dict[str, int] = {}
        self.changed_priorities: set[str] = set()
        self.decided: set[str] = set()
        """Jobs that were dispatched or nominated before."""
        self.nominated: set[str] = set()
        self.excess: dict[str, float] = {}
        self.reconfigured = False

    def happen(self, event: Event) -> None:
        """Let an event happen to both."""
        match event:
            case ShareAdded() | ShareReplaced() | ShareRemoved() | EnvironmentReplaced():
                self.excess.clear()
                self.reconfigured = True
            case PriorityChanged():
                self.changed_priorities.add(event.job_id)
            case JobEnded() | JobRetried() | StopCompleted():
                self.lost[event.job_id] += 1
                self.preempted_at.pop(event.job_id, None)
        self.scheduler.apply(event)
        self.reference.apply(event)
        self.now = event.time

    def decide(self) -> tuple[Decision, ...]:
        """Run a pass of both, and check everything."""
        expected = self.reference.run_pass(self.now)
        decisions = self.scheduler.run_pass(self.now)
        said = [short for decision in decisions if (short := _in_short(decision)) is not None]
        assert said == expected, "the scheduler decides what the reference decides"
        for decision in decisions:
            self._check_decision(decision)
        assert self.scheduler.run_pass(self.now) == (), "I12: a second pass changes nothing"
        self._check_state()
        return decisions

    def _check_decision(self, decision: Decision) -> None:
        starts = decision.job_id in self.nominated and isinstance(decision, Dispatch)
        self.nominated.discard(decision.job_id)
        match decision:
            case Dispatch():
                self.dispatches[decision.job_id] += 1
            case Nominate():
                self.nominated.add(decision.job_id)
            case Preempt():
                assert self.preempted_at.get(decision.job_id) != self.now, (
                    "I11: nobody is preempted twice at one instant"
                )
                self.preempted_at[decision.job_id] = self.now
        if isinstance(decision, Dispatch | Nominate):
            for line in decision.lines:
                kept = starts and not self.scheduler.options.changes_withdraw_nominations
                assert kept or line.used <= line.capacity, "I1: no placement exceeds the environment"
            self._check_order(decision.job_id)

    def _check_order(self, job_id: str) -> None:
        """Check a job's first decision against the others of its share."""
        job = self.reference.jobs.get(job_id)
        options = self.scheduler.options
        in_order = options.head_of_line is HeadOfLine.STRICT and options.returned_jobs_keep_their_place
        if in_order and job is not None and job_id not in self.decided | self.changed_priorities:
            for other in self.reference.in_order(job.share):
                if other.priority == job.priority and other.id not in self.decided | self.changed_priorities:
                    assert other.sequence >= job.sequence, "I15: equal priorities are first decided in order"
        self.decided.add(job_id)

    def _check_state(self) -> None:
        reference = self.reference
        placed = reference.placed()
        units = sorted({unit for share in self.scheduler.usage() for unit in (share.unit,)} | set(UNITS))
        for unit in units:
            machines = reference.held((job for job in reference.jobs.values() if job.on_machines), unit)
            capacity = reference.capacity(unit)
            self._only_shrinks(f"quota {unit}", reference.held(placed, unit) - capacity, "I1: quota held")
            self._only_shrinks(f"machines {unit}", machines - capacity, "I1: machines in use")
            self._only_shrinks(f"debt {unit}", reference.debt(unit, placed), "I3: the ledger rule")
            for share in reference.shares:
                above = reference.used(share, unit, placed) - reference.ceiling(share, unit)
                self._only_shrinks(f"{id(share)} {unit}", above, "I4, I5: the share's limit and borrow limit")
        self.reconfigured = False
        self._check_usage(placed)
        self._check_heads()
        self._check_jobs()

    def _only_shrinks(self, what: str, excess: float, message: str) -> None:
        """An excess is there only after a change of the configuration, and only gets smaller."""
        assert excess <= self.excess.get(what, inf if self.reconfigured else 0), message
        self.excess[what] = max(0, excess)

    def _check_usage(self, placed: list[RefJob]) -> None:
        reference = self.reference
        by_name: Counter[tuple[str, str]] = Counter()
        borrowed: Counter[str] = Counter()
        lent: Counter[str] = Counter()
        for line in self.scheduler.usage():
            by_name[line.share, line.unit] += line.used
            borrowed[line.unit] += line.borrowed
            lent[line.unit] += line.lent
            assert min(line.limit, line.used, line.borrowed, line.lent, line.idle) >= 0
        for share in {share.name for share in reference.shares}:
            for unit in UNITS:
                held = sum(reference.used(other, unit, placed) for other in reference.shares if other.name == share)
                assert by_name[share, unit] == held, "I2: usage is the sum of its jobs"
        for unit in UNITS:
            assert borrowed[unit] == reference.borrowed(unit, placed), "I2: borrowed is the sum of the excesses"
            if not reference.options.borrow_unowned_capacity:
                lendable = reference.lendable(unit, placed)
                assert lent[unit] == min(borrowed[unit], lendable), "what is borrowed is lent, unless there is debt"

    def _check_heads(self) -> None:
        reference = self.reference
        shown = self.scheduler.front_of_quota_shares()
        for share in reference.shares:
            if share.removed:
                continue
            heads = reference.heads_of(share)
            assert shown[share.name] == tuple(map(_front, heads)), "the fronts of the shares, and since when"
            for head in heads:
                reason = self.scheduler.blocked_reason(head.id)
                expected = reference.never_fits(head)
                assert (reason is None) == (expected is None), "a head that never fits has a reason"
                assert expected is None or (reason is not None and expected in reason), "F3.8's reason"
                if reference.environment.state is State.ENABLED and reference.dispatches(share):
                    self._check_head(head)
        assert self.scheduler.front_of_queue() == tuple(map(_front, reference.front_of_queue()))

    def _check_head(self, head: RefJob) -> None:
        reference = self.reference
        assert not reference.within(head, True) or reference.short(head), "I7: no head waits that fits"
        if reference.within(head, False) and reference.may_reclaim(head, []):
            everyone = reference.cross_candidates(head, [])
            assert reference.short(head, everyone), "I6: no entitled head waits while enough is borrowed"
        if head.share.design.in_share_preemption and reference.never_fits(head) is None:
            lower = reference.in_share_candidates(head)
            assert not lower or not reference.fits_without(head, lower), "rule 3: no head waits for lower priorities"

    def _check_jobs(self) -> None:
        reference = self.reference
        views = {view.job_id: view for view in self.scheduler.jobs()}
        assert list(views) == list(reference.jobs), "I13: a job is in the queue until it ends, once"
        for job in reference.live():
            view = views[job.id]
            assert view.nominated == (job.phase == "nominated")
            assert view.stopping == (job.phase == "stopping")
            assert view.stopping_for == next((other.id for other in reference.nominated if job in other.stops), None)
            assert view.decided_at == (job.decided if job.placed else None)
            assert (view.priority, view.sequence, view.preemptions) == (job.priority, job.sequence, job.preemptions)
            over = self.lost[job.id] + job.on_machines
            assert view.attempts == self.dispatches[job.id] == over, "I13: attempts add up"
        for index, job in enumerate(reference.nominated):
            assert not reference.can_start(job, reference.nominated[:index]), "nobody waits for machines that are free"


def _front(job: RefJob) -> FrontJob:
    return FrontJob(job.id, job.share.name, job.since)


def _in_short(decision: Decision) -> Said | None:
    match decision:
        case Dispatch():
            return "dispatch", decision.job_id
        case Nominate():
            return "nominate", decision.job_id, str(decision.placement), decision.waits_for
        case Preempt():
            return "preempt", decision.job_id, decision.preemptor, str(decision.kind), decision.counted
        case Requeue():
            return "requeue", decision.job_id, str(decision.cause)
        case Fail():
            return "fail", decision.job_id
        case Stop():
            return "stop", decision.job_id
        case Block() | Unblock():
            return None
