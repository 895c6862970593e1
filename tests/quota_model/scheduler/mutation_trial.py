"""Breaks the scheduler rule by rule and notes which tests fail: ``python -m tests.quota_model.scheduler.mutation_trial``.

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

_FAILED = r"^(?:FAILED|ERROR) \S+?(\w+)\.py(?:::(\S+))?"
ROOT = Path(__file__).parents[3]
SCHEDULER = Path("quota_model", "scheduler")


class Mutation(NamedTuple):
    """A rule, and the smallest change that breaks it."""

    rule: str
    module: str
    old: str
    new: str


MUTATIONS = (
    Mutation("the ledger, not free machines", "books.py", "short = pool.borrowed - pool.lendable + change - pool.debt", "short = 0"),
    Mutation(
        "both sides of the ledger with the job placed",
        "books.py",
        "if not self.lends:\n            before = ",
        "if True:\n            before = ",
    ),
    Mutation("the environment binds each placement", "books.py", "over = pool.used + instances - pool.capacity", "over = 0"),
    Mutation("an old debt is not a head's shortage", "books.py", "+ change - pool.debt", "+ change"),
    Mutation("a debt only shrinks", "books.py", "if left < self.debt:", "if False:"),
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
    Mutation("strict head of line", "options.py", "HeadOfLine = HeadOfLine.STRICT", "HeadOfLine = HeadOfLine.BEST_EFFORT"),
    Mutation("per unit: first in each lane", "share.py", "return all(lane.first", "return any(lane.first"),
    Mutation("best effort: not before a higher rank", "share.py", "latest = max(latest, sequence)", "latest = sequence"),
    Mutation("heads are visited by sequence", "share.py", "return [(sequence, 0, sequence, job)]\n        return []", "return [(-sequence, 0, sequence, job)]\n        return []"),
    Mutation(
        "entitled heads before borrowers",
        "passes.py",
        "(heads.entitled and _place_entitled(state))\n            or (heads.borrowing and _place_borrower(state))",
        "(heads.borrowing and _place_borrower(state))\n            or (heads.entitled and _place_entitled(state))",
    ),
    Mutation("entitled heads reclaim", "passes.py", "if victims is not None:\n            _place", "if False:\n            _place"),
    Mutation("entitled is within the own limit", "heads.py", "if after > account.limit:", "if after > account.ceiling:"),
    Mutation(
        "borrowers need the ledger to hold",
        "passes.py",
        "if account.short_with(instances):\n                break\n        else:\n            _place(state, head, Placement.BORROWING)",
        "if False:\n                break\n        else:\n            _place(state, head, Placement.BORROWING)",
    ),
    Mutation(
        "a borrower that does not fit does not stop the next",
        "passes.py",
        "            _place(state, head, Placement.BORROWING)\n            return True\n    return False",
        "            _place(state, head, Placement.BORROWING)\n            return True\n        return False\n    return False",
    ),
    Mutation("in-share preemption is opt-in", "heads.py", "if job.share.in_share_preemption and", "if"),
    Mutation("in-share victims have strictly lower priority", "victims.py", "if -entry[0] >= head.priority:", "if -entry[0] > head.priority:"),
    Mutation("in-share preemption ends within the limit", "victims.py", "> account.ceiling:\n            return False", "> account.ceiling:\n            continue"),
    Mutation("in-share preemption may reclaim across shares", "victims.py", "head.is_entitled and _reclaimable(head, short)", "False"),
    Mutation("who still borrows never reclaims", "victims.py", "head.is_entitled and _reclaimable(head, short)", "_reclaimable(head, short)"),
    Mutation("own capacity to higher priority", "books.py", "entry = (-job.priority, job.decided_at,", "entry = (0, job.decided_at,"),
    Mutation("own capacity to the earlier decision", "books.py", "held, job in reversed(self.placed)", "held, job in self.placed"),
    Mutation("only borrowers are cross-share victims", "victims.py", "if account.used > account.limit and account.share is not head.share:\n                parts.update(account.borrowers())", "if account.share is not head.share:\n                parts.update((entry[4], 0) for entry in account.placed)"),
    Mutation("jobs that terminate anyway go first", "victims.py", "not job.terminating,\n            job.nom", "job.nom"),
    Mutation("nominated jobs go before dispatched ones", "victims.py", "job.nomination is None,\n", "False,\n"),
    Mutation("SCHEDULED jobs go before RUNNING ones", "victims.py", "job.running,\n", "False,\n"),
    Mutation("lower priority goes first", "victims.py", "job.priority,\n            -job.decided_at", "-job.decided_at"),
    Mutation("most recently decided goes first", "victims.py", "-job.decided_at,\n            -job.sequence", "-job.sequence"),
    Mutation("higher sequence goes first", "victims.py", "-job.sequence,\n            job,", "job.sequence,\n            job,"),
    Mutation("newest", "victims.py", "case VictimOrder.NEWEST:\n            return -job", "case VictimOrder.NEWEST:\n            return job"),
    Mutation("oldest", "victims.py", "case VictimOrder.OLDEST:\n            return job", "case VictimOrder.OLDEST:\n            return -job"),
    Mutation("largest_borrower", "victims.py", "return -sum(borrowed", "return sum(borrowed"),
    Mutation("cheapest", "victims.py", "* (ranking.now - job.decided_at)", ""),
    Mutation("least_overreclaim ranks again after each pick", "victims.py", "short = still_short()\n", "short = needs\n"),
    Mutation("least_overreclaim: then covers most", "victims.py", ", -sum(min(has, missing)", ", sum(min(has, missing)"),
    Mutation("victim sets are minimal", "victims.py", "for job in tuple(reversed(taken)):", "for job in ():"),
    Mutation("spared from the last to the first", "victims.py", "for job in tuple(reversed(taken)):", "for job in tuple(taken):"),
    Mutation("all or nothing", "victims.py", "for job in taken:\n            _come_back(job)\n        return None", "return taken or None"),
    Mutation("above a lowered limit is its own kind", "victims.py", "if account.used > account.ceiling}", "if False}"),
    Mutation("a nominated job waits for all its victims", "machines.py", "if not nomination.stops and all(", "if all("),
    Mutation("nobody slips into the gap", "passes.py", "pool.capacity - pool.machines - pool.claimed < instances", "pool.capacity - pool.machines < instances"),
    Mutation("earlier nominations keep their machines", "machines.py", "- claimed.get(account.pool, 0) >=", ">="),
    Mutation("a claim is what the own victims do not cover", "machines.py", "instances - sum(victim.instances_of(pool) for victim in self.stops)", "instances"),
    Mutation("the stops of a nominated victim pass on", "passes.py", "stops |= end_nomination(state, job)", "end_nomination(state, job)"),
    Mutation("a terminating victim is not counted", "passes.py", "job.preemptions += not job.terminating", "job.preemptions += 1"),
    Mutation("the N+1st preemption fails the job", "state.py", "job.preemptions > job.preemption_retries", "job.preemptions >= job.preemption_retries"),
    Mutation("a terminated job fails when it has stopped", "state.py", "if job.terminating:", "if False:"),
    Mutation("returned jobs keep their place", "state.py", "if not state.options.returned_jobs_keep_their_place and", "if"),
    Mutation("a changed configuration withdraws nominations", "state.py", "for job in tuple(state.nominations):", "for job in ():"),
    Mutation("a disabled environment has nothing placed in it", "passes.py", "if state.environment_enabled:", "if True:"),
    Mutation("a disabled share takes no new jobs", "changes.py", "if not (share.enabled and state.queue_enabled):", "if not state.queue_enabled:"),
    Mutation("a disabled queue takes no new jobs", "changes.py", "if not (share.enabled and state.queue_enabled):", "if not share.enabled:"),
    Mutation("a raised priority re-sorts at once", "changes.py", "share.remove_waiting(job)\n        job.priority = event.priority\n        share.add_waiting(job)", "job.priority = job.priority"),
    Mutation("a running job's priority counts", "changes.py", "account.strike(job)\n        job.priority = event.priority", "account.strike(job)"),
    Mutation("a deleted share's jobs end", "changes.py", "_terminate(state, job, reasons.SHARE_REMOVED)", "pass"),
    Mutation("the environment's reason comes first", "reasons.py", "if any(instances > account.pool.capacity for", "if False and any(instances > account.pool.capacity for"),
    Mutation("borrowable capacity is what others lend", "configuration.py", "others = lent_at_most - (account.limit if account.lends else 0)", "others = lent_at_most"),
    Mutation("what can never run is not placed", "heads.py", "target = None\n                self.to_block[job] = None\n                break", "self.to_block[job] = None"),
    Mutation("the order of events at one instant", "changes.py", "return (1, 0) if kind in _CONFIGURATION else (0, sequence)", "return (4, 0) if kind in _CONFIGURATION else (3, sequence)"),
    Mutation("front of the queue: entitled first", "fronts.py", "return not entitled, job.sequence", "return False, job.sequence"),
    Mutation("front of the queue: what is ahead counts as placed", "fronts.py", "+ held.get(account, 0) + n", "+ n"),
)  # fmt: skip


TESTS = Path("tests", "quota_model", "scheduler")
NAMED = ("worked_example", "small_cases", "documented", "choices_of_*", "events", "explain")
DRAWN = ("worlds", "metamorphic")


def fails(mutation: Mutation, root: Path) -> list[str]:
    """Return the named tests that fail with a mutation; if none does, those that draw their cases."""
    path = root / SCHEDULER / mutation.module
    source = path.read_text(encoding="utf-8")
    path.write_text(source.replace(mutation.old, mutation.new), encoding="utf-8")
    found = _failing(NAMED, root) or _failing(DRAWN, root)
    path.write_text(source, encoding="utf-8")
    return found


def _failing(names: tuple[str, ...], root: Path) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "--maxfail=2"]
    files = [str(path) for name in names for path in sorted(root.glob(f"{TESTS}/test_{name}.py"))]
    try:
        run = subprocess.run([*command, *files], cwd=root, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return ["a pass that does not end"]
    return [test or module for module, test in re.findall(_FAILED, run.stdout, re.MULTILINE)]


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
                told = fails(mutation, root)
                survivors += not told
                shown = [f"`{re.sub('.*::', '', test)}`" for test in told]
                print(f"| {mutation.rule} | {', '.join(shown) or '**none**'} |", flush=True)  # noqa: T201
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
