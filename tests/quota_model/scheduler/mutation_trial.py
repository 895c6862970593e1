"""Breaks the scheduler rule by rule and notes what fails: ``python -m tests.quota_model.scheduler.mutation_trial``.

It works on a copy and prints the table of ``docs/scheduling-model.md``. By hand: it takes some minutes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

_FAILED = r"^(?:FAILED|ERROR) \S+?(\w+)\.py(?:::(\w+))?"
ROOT = Path(__file__).parents[3]
SCHEDULER = Path("quota_model", "scheduler")


class Mutation(NamedTuple):
    """A rule, and the smallest change that breaks it."""

    rule: str
    module: str
    old: str
    new: str


MUTATIONS = (
    Mutation("the ledger, not free machines", "books.py", "return pool.borrowed - pool.lendable + change - pool.debt", "return 0"),
    Mutation(
        "both sides of the ledger with the job placed",
        "books.py",
        "if not self.lends:\n            before = ",
        "if True:\n            before = ",
    ),
    Mutation("the environment binds each placement", "books.py", "lacking = pool.used + instances - pool.capacity", "lacking = 0"),
    Mutation("an old debt is not a head's shortage", "books.py", "+ change - pool.debt", "+ change"),
    Mutation("a debt only shrinks", "books.py", "if left < self.debt:", "if False:"),
    Mutation("heads_pay_off_debts: the whole debt", "configuration.py", "pool.debt = 0 if state.options.heads_pay_off_debts else ", "pool.debt = "),
    Mutation("RESERVE does not lend", "configuration.py", "self.lends = sharing.lends and", "self.lends ="),
    Mutation(
        "unowned capacity is not borrowable", "configuration.py", "if state.options.borrow_unowned_capacity:", "if True:"
    ),
    Mutation(
        "a type without a limit is not borrowed",
        "configuration.py",
        "UNBOUNDED if limit or options.borrow_without_limit else limit",
        "UNBOUNDED",
    ),
    Mutation("the borrow limit", "configuration.py", "hundredths = limit * share.borrow_limit", "hundredths = 10**9"),
    Mutation("the borrow limit is rounded down", "configuration.py", "is Rounding.UP", "is Rounding.DOWN"),
    Mutation("disabled shares lend", "configuration.py", "(self.enabled or options.disabled_shares_lend)", "self.enabled"),
    Mutation("LEND does not borrow", "configuration.py", "if not share.borrows:\n        return limit", "if False:\n        return limit"),
    Mutation("higher priority first", "share.py", "entry = (-job.priority, job.sequence, job)", "entry = (0, job.sequence, job)"),
    Mutation("strict head of line", "options.py", "default=HeadOfLine.STRICT", "default=HeadOfLine.BEST_EFFORT"),
    Mutation("per unit: first in each lane", "share.py", "return all(lane.first", "return any(lane.first"),
    Mutation("best effort: not before a higher rank", "heads.py", "latest = when = max(latest, when)", "latest = when"),
    Mutation("heads are visited by sequence", "heads.py", "when = job.sequence if by_sequence", "when = -job.sequence if by_sequence"),
    Mutation("at_head: by the time at the head", "heads.py", "return job.since or 0", "return job.sequence"),
    Mutation("at_head: anew for a job that was overtaken", "heads.py", "job.since = None\n        if job.blocked", "if job.blocked"),
    Mutation("at_head: anew for a job that returns", "heads.py", "job.since = None\n        for lane", "for lane"),
    Mutation("round_robin: shares take turns", "heads.py", "return self.turns.get(job.share, 0)", "return 0"),
    Mutation("round_robin: anew with each pass", "passes.py", "if heads.turns:", "if False:"),
    Mutation("heads that are alike go by rank", "heads.py", "rank += 1", "rank += 0"),
    Mutation(
        "entitled heads before borrowers",
        "passes.py",
        "(heads.entitled and _place_entitled(state))\n            or (heads.borrowing and _place_borrower(state))",
        "(heads.borrowing and _place_borrower(state))\n            or (heads.entitled and _place_entitled(state))",
    ),
    Mutation("entitled heads reclaim", "passes.py", "if victims is not None:\n            _place", "if False:\n            _place"),
    Mutation("entitled heads reclaim for the environment", "victims.py", "return options.reclaim_for_environment or all(", "return all("),
    Mutation("without reclaim_for_environment: not more than for the ledger", "victims.py", "account.short_with(instances) == max(", "account.short_with(instances) <= 1 + max("),
    Mutation("without reclaim_for_environment: for the ledger", "victims.py", "== max(0, account.ledger_short_with(instances))", "== 0"),
    Mutation("without reclaim_for_environment: cross-share", "victims.py", "if not _may_reclaim(head, state.options):", "if False:"),
    Mutation("without reclaim_for_environment: in-share too", "victims.py", "if not _may_reclaim(head, options):", "if False:"),
    Mutation("entitled is within the own limit", "heads.py", "if after > account.limit:", "if after > account.ceiling:"),
    Mutation(
        "borrowers need the ledger to hold",
        "passes.py",
        "if account.short_with(instances):\n                break\n        else:\n            _place(state, head, _BORROWING)",
        "if False:\n                break\n        else:\n            _place(state, head, _BORROWING)",
    ),
    Mutation(
        "a borrower that does not fit does not stop the next",
        "passes.py",
        "            _place(state, head, _BORROWING)\n            return True\n    return False",
        "            _place(state, head, _BORROWING)\n            return True\n        return False\n    return False",
    ),
    Mutation("in-share preemption is opt-in", "heads.py", "if job.share.in_share_preemption and", "if"),
    Mutation("in-share victims have strictly lower priority", "books.py", "bisect_left(placed, (1 - priority,))", "bisect_left(placed, (-priority,))"),
    Mutation("in-share victims, if the decision orders the own capacity", "books.py", "entry[4].priority < priority]", "entry[4].priority <= priority]"),
    Mutation("in-share preemption ends within the limit", "victims.py", "> account.in_share_ceiling:\n            return False", "> account.in_share_ceiling:\n            continue"),
    Mutation("in-share preemption may leave the share borrowing", "configuration.py", "account.in_share_ceiling = account.ceiling if options.in_share_preemption_borrows else limit", "account.in_share_ceiling = limit"),
    Mutation("without in_share_preemption_borrows: within the own limit", "configuration.py", "account.ceiling if options.in_share_preemption_borrows else limit", "account.ceiling"),
    Mutation("without in_share_preemption_borrows: needs what exceeds it", "victims.py", "above = account.used + instances - account.in_share_ceiling", "above = account.used + instances - account.ceiling"),
    Mutation("in-share preemption may reclaim across shares", "victims.py", "options.in_share_preemption_reclaims and head.is_entitled and _reclaimable", "False and _reclaimable"),
    Mutation("without in_share_preemption_reclaims: alone", "victims.py", "options.in_share_preemption_reclaims and head", "head"),
    Mutation("who still borrows never reclaims", "victims.py", "head.is_entitled and _reclaimable(head, short, options)", "_reclaimable(head, short, options)"),
    Mutation("own capacity to higher priority", "configuration.py", "by_priority = state.options.own_capacity_order is OwnCapacityOrder.PRIORITY", "by_priority = False"),
    Mutation("own capacity to the earlier decision", "books.py", "held, job in reversed(self.placed)", "held, job in self.placed"),
    Mutation("own capacity by decision: whatever the priority", "configuration.py", "state.options.own_capacity_order is OwnCapacityOrder.PRIORITY", "True"),
    Mutation("only borrowers are cross-share victims", "victims.py", "if account.used > account.limit and account.share is not head.share:\n                parts |= account.borrowers()", "if account.share is not head.share:\n                parts.update((entry[4], 0) for entry in account.placed)"),
    Mutation("jobs that terminate anyway go first", "job.py", "not self.terminating,\n", "False,\n"),
    Mutation("nominated jobs go before dispatched ones", "job.py", "self.nomination is None,\n", "False,\n"),
    Mutation("SCHEDULED jobs go before RUNNING ones", "job.py", "self.running,\n", "False,\n"),
    Mutation("lower priority goes first", "job.py", "self.priority,\n            -self.decided_at", "-self.decided_at"),
    Mutation("most recently decided goes first", "job.py", "-self.decided_at,\n            -self.sequence", "-self.sequence"),
    Mutation("higher sequence goes first", "job.py", "-self.sequence,\n", "self.sequence,\n"),
    Mutation("newest", "victim_ranking.py", "case VictimOrder.NEWEST:\n            return -job", "case VictimOrder.NEWEST:\n            return job"),
    Mutation("oldest", "victim_ranking.py", "case VictimOrder.OLDEST:\n            return job", "case VictimOrder.OLDEST:\n            return -job"),
    Mutation("largest_borrower", "victim_ranking.py", "return -sum(borrowed", "return sum(borrowed"),
    Mutation("cheapest", "victim_ranking.py", "* (now - job.decided_at)", ""),
    Mutation("least_overreclaim ranks again after each pick", "victim_ranking.py", "short = still_short()\n", "short = needs\n"),
    Mutation("least_overreclaim: then covers most", "victim_ranking.py", ", -sum(min(has, missing)", ", sum(min(has, missing)"),
    Mutation("victim sets are minimal", "victims.py", "for job in tuple(reversed(taken)):", "for job in ():"),
    Mutation("without spare_victims: all that were taken", "victims.py", "if len(taken) == 1 or not state.options.spare_victims:", "if len(taken) == 1:"),
    Mutation("spared from the last to the first", "victims.py", "for job in tuple(reversed(taken)):", "for job in tuple(taken):"),
    Mutation("all or nothing", "victims.py", "for job in taken:\n            _come_back(job)\n        return None", "return taken or None"),
    Mutation("above a lowered limit is its own kind", "victims.py", "if account.used > account.ceiling}", "if False}"),
    Mutation("a nominated job waits for all its victims", "machines.py", "if not (waits_for_stops and nomination.stops) and all(", "if all("),
    Mutation("start_on_free_machines: at the decision", "passes.py", "enough = not victims or state.options.start_on_free_machines", "enough = not victims"),
    Mutation("start_on_free_machines: while some still stop", "machines.py", "waits_for_stops = not state.options.start_on_free_machines", "waits_for_stops = True"),
    Mutation("nobody slips into the gap", "passes.py", "pool.capacity - pool.machines - pool.claimed < instances", "pool.capacity - pool.machines < instances"),
    Mutation("earlier nominations keep their machines", "machines.py", "- claimed.get(account.pool, 0) >=", ">="),
    Mutation("a claim is what the own victims do not cover", "machines.py", "instances - sum(victim.instances_of(pool) for victim in self.stops)", "instances"),
    Mutation("the stops of a nominated victim pass on", "passes.py", "stops |= end_nomination(state, job)", "end_nomination(state, job)"),
    Mutation("without nominated_jobs_can_be_victims: cross-share", "victims.py", "if not options.nominated_jobs_can_be_victims:", "if False:"),
    Mutation("without nominated_jobs_can_be_victims: in-share", "victims.py", "in account.below(head.priority) if _may_go(job, options))", "in account.below(head.priority))"),
    Mutation("a terminating victim is not counted", "passes.py", "job.preemptions += not job.terminating", "job.preemptions += 1"),
    Mutation("the N+1st preemption fails the job", "state.py", "job.preemptions > job.preemption_retries", "job.preemptions >= job.preemption_retries"),
    Mutation("a terminated job fails when it has stopped", "state.py", "if job.terminating:", "if False:"),
    Mutation("returned jobs keep their place", "state.py", "if not state.options.returned_jobs_keep_their_place and", "if"),
    Mutation("a changed configuration withdraws nominations", "state.py", "for job in tuple(state.nominations):", "for job in ():"),
    Mutation("without changes_withdraw_nominations: they stay", "state.py", "if state.options.changes_withdraw_nominations or reasons.never_fits(job, state.options) is not None:", "if True:"),
    Mutation("without changes_withdraw_nominations: not what can never run", "state.py", "if state.options.changes_withdraw_nominations or reasons.never_fits(job, state.options) is not None:", "if state.options.changes_withdraw_nominations:"),
    Mutation("a disabled environment has nothing placed in it", "passes.py", "if state.environment_enabled:", "if True:"),
    Mutation("a disabled share takes no new jobs", "changes.py", "if not (share.enabled and state.queue_enabled):", "if not state.queue_enabled:"),
    Mutation("without disabled_shares_dispatch: nothing is placed", "configuration.py", "share.held_back = not (self.enabled or state.options.disabled_shares_dispatch)", "share.held_back = False"),
    Mutation("without disabled_shares_dispatch: nor in-share", "heads.py", "target = in_share = None", "target = None"),
    Mutation("without disabled_shares_dispatch: jobs say why they wait", "explain.py", "if job.share.held_back:", "if False:"),
    Mutation("a disabled queue takes no new jobs", "changes.py", "if not (share.enabled and state.queue_enabled):", "if not share.enabled:"),
    Mutation("a raised priority re-sorts at once", "changes.py", "share.remove_waiting(job)\n        job.priority = event.priority\n        share.add_waiting(job)", "job.priority = job.priority"),
    Mutation("a running job's priority counts", "changes.py", "account.strike(job)\n        job.priority = event.priority", "account.strike(job)"),
    Mutation("a deleted share's jobs end", "changes.py", "_terminate(state, job, reasons.SHARE_REMOVED)", "pass"),
    Mutation("the environment's reason comes first", "reasons.py", "if above_environment and options.environment_reason_first:", "if False:"),
    Mutation("without environment_reason_first: the share's reasons", "reasons.py", "if above_environment and options.environment_reason_first:", "if above_environment:"),
    Mutation("without environment_reason_first: the environment's still", "reasons.py", "return ENVIRONMENT_MAX if above_environment else None", "return None"),
    Mutation("borrowable capacity is what others lend", "configuration.py", "others = lent_at_most - (account.limit if account.lends else 0)", "others = lent_at_most"),
    Mutation("what can never run is not placed", "heads.py", "target = None\n                self.to_block[job] = None\n                break", "self.to_block[job] = None"),
    Mutation("the order of events at one instant", "changes.py", "return (1, 0) if kind in _CONFIGURATION else (0, sequence)", "return (4, 0) if kind in _CONFIGURATION else (3, sequence)"),
    Mutation("front of the queue: entitled first", "fronts.py", "return not entitled, job.sequence", "return False, job.sequence"),
    Mutation("front of the queue: what is ahead counts as placed", "fronts.py", "+ held.get(account, 0) + n", "+ n"),
    Mutation("front of the queue: submitted", "fronts.py", "if order is FrontOrder.SUBMITTED:", "if False:"),
    Mutation("front of the queue: priority", "fronts.py", "return -job.priority, job.sequence", "return 0, job.sequence"),
)  # fmt: skip


TESTS = Path("tests", "quota_model", "scheduler")
NAMED = (
    "worked_example",
    "small_cases",
    "documented",
    "choices_of_lending",
    "choices_of_order",
    "choices_of_heads",
    "choices_of_victims",
    "choices_of_in_share_preemption",
    "choices_of_nominations",
    "choices_of_changes",
    "choices_of_what_is_shown",
    "events",
    "explain",
)
DRAWN = ("worlds", "metamorphic")


def fails(mutation: Mutation, root: Path) -> str | None:
    """Return the first named test that fails with a mutation; if none does, of those that draw their cases."""
    path = root / SCHEDULER / mutation.module
    source = path.read_text(encoding="utf-8")
    path.write_text(source.replace(mutation.old, mutation.new), encoding="utf-8")
    found = _first_failing(NAMED, root) or _first_failing(DRAWN, root)
    path.write_text(source, encoding="utf-8")
    return found


def _first_failing(names: tuple[str, ...], root: Path) -> str | None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
    files = [str(TESTS / f"test_{name}.py") for name in names]
    try:
        run = subprocess.run([*command, *files], cwd=root, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "a pass that does not end"
    failed = re.search(_FAILED, run.stdout, re.MULTILINE)
    return (failed[2] or failed[1]) if failed else None


def main() -> int:
    """Try all mutations, or those whose rule contains a text; 1 if one survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    survivors = 0
    with TemporaryDirectory() as directory:
        root = Path(directory)
        for part in ("quota_model", "tests/quota_model/scheduler", "benchmarks"):
            shutil.copytree(ROOT / part, root / part)
        shutil.copy(ROOT / "pyproject.toml", root)
        for mutation in MUTATIONS:
            if only in mutation.rule:
                test = fails(mutation, root)
                survivors += test is None
                print(f"| {mutation.rule} | {f'`{test}`' if test else '**none**'} |", flush=True)  # noqa: T201
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
