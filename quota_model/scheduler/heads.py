"""The heads of all shares, kept in the lists that the rules of a pass visit.

Whether a head is entitled, may borrow, or has to wait is judged by its own share's accounts alone, so it is judged
again only when its share was touched. What depends on other shares is left to the pass.
"""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from quota_model.scheduler.decisions import Block, Unblock
from quota_model.scheduler.job import WAITING, HeadEntry, Job
from quota_model.scheduler.options import VisitOrder
from quota_model.scheduler.reasons import never_fits

if TYPE_CHECKING:
    from quota_model.scheduler.share import Share
    from quota_model.scheduler.state import State

__all__ = ["Heads"]


class Heads:
    """The heads that a pass may place, in the order in which each rule visits them."""

    __slots__ = ("borrowing", "by_sequence", "entitled", "in_share", "in_turns", "to_block", "touched", "turns")

    def __init__(self, order: VisitOrder) -> None:
        self.by_sequence = order is VisitOrder.SUBMITTED
        self.in_turns = order is VisitOrder.ROUND_ROBIN
        self.entitled: list[HeadEntry] = []
        """Heads that stay within their share's own limits (rule 1)."""
        self.borrowing: list[HeadEntry] = []
        """Heads that go above them, within their share's borrow limit (rule 2)."""
        self.in_share: list[HeadEntry] = []
        """Heads for which enough jobs of lower priority could make room within their share's limit (rule 3)."""
        self.touched: dict[Share, None] = {}
        """Shares whose heads have to be judged again before the next rule is applied."""
        self.turns: dict[Share, int] = {}
        """How many jobs were placed in this pass, by share, if shares take turns."""
        self.to_block: dict[Job, None] = {}
        """Heads that can never run, to be reported."""

    def refresh(self, state: State) -> None:
        """Judge the heads of all touched shares again."""
        by_sequence = self.by_sequence
        for share in self.touched:
            heads = share.current_heads()
            if heads is not share.heads:
                self._change_heads(state, share, heads)
            rank = latest = 0
            for job in heads:
                when = job.sequence if by_sequence else self._when(job)
                if share.ranks_heads:
                    latest = when = max(latest, when)
                    rank += 1
                self._judge(state, job, (when, rank, job.sequence, job))
        self.touched.clear()

    def begin_turns(self) -> None:
        """Let all shares have had no turn yet."""
        self.touched |= dict.fromkeys(self.turns)
        self.turns.clear()

    def remove_placed(self, job: Job) -> None:
        """Take a head out that was placed; its share is touched if others wait behind it."""
        share = job.share
        share.heads.remove(job)
        if self.in_turns:
            self.turns[share] = self.turns.get(share, 0) + 1
        self._unlist(job)
        if job.in_share_entry is not None:
            self._unlist_in_share(job)
        job.since = None
        for lane in share.lanes.values():
            if lane.first is not None:
                self.touched[share] = None
                break

    def report_blocked(self, state: State) -> None:
        """Decide :class:`Block` for the heads found to be blocked since the last time, if they still are."""
        for job in self.to_block:
            if (
                job.since is not None
                and (reason := never_fits(job, state.options)) is not None
                and reason != job.blocked
            ):
                job.blocked = reason
                state.decisions.append(Block(state.now, job.id, job.share.name, reason))
        self.to_block.clear()

    def _change_heads(self, state: State, share: Share, heads: list[Job]) -> None:
        for job in share.heads:
            if job not in heads:
                self._leave(state, job)
        for job in heads:
            if job.since is None:
                job.since = state.now
        share.heads = heads

    def _when(self, job: Job) -> int:
        """Return what the order of visits compares first, where that is not the sequence number."""
        if self.in_turns:
            return self.turns.get(job.share, 0)
        return job.since or 0

    def _judge(self, state: State, job: Job, entry: HeadEntry) -> None:
        target: list[HeadEntry] | None = self.entitled
        in_share = None
        for account, instances in job.parts:
            after = account.used + instances
            if instances > account.largest:
                target = None
                self.to_block[job] = None
                break
            if after > account.limit:
                if after > account.ceiling:
                    target = None
                elif target is not None:
                    target = self.borrowing
        else:
            if job.blocked is not None:
                job.blocked = None
                state.decisions.append(Unblock(state.now, job.id, job.share.name))
            if job.share.in_share_preemption and _could_make_room(job):
                in_share = entry
        if job.share.held_back:
            target = in_share = None
        if target is not job.head_list or entry != job.head_entry:
            self._unlist(job)
            job.head_list, job.head_entry = target, entry
            if target is not None:
                insort(target, entry)
        if in_share is not job.in_share_entry:
            self._unlist_in_share(job)
            job.in_share_entry = in_share
            if in_share is not None:
                insort(self.in_share, in_share)

    def _leave(self, state: State, job: Job) -> None:
        """Note that a job is no head any more."""
        if job.head_list is not None:
            self._unlist(job)
        if job.in_share_entry is not None:
            self._unlist_in_share(job)
        job.since = None
        if job.blocked is not None and job.phase is WAITING:
            state.decisions.append(Unblock(state.now, job.id, job.share.name))
        job.blocked = None

    def _unlist(self, job: Job) -> None:
        listed = job.head_list
        if listed is not None:
            listed.remove(job.head_entry)  # type: ignore[arg-type]
        job.head_list = job.head_entry = None

    def _unlist_in_share(self, job: Job) -> None:
        if job.in_share_entry is not None:
            self.in_share.remove(job.in_share_entry)
        job.in_share_entry = None


def _could_make_room(job: Job) -> bool:
    """Return whether the share would be within its limit without its jobs of lower priority, which there are."""
    found = False
    for account, instances in job.parts:
        excess = account.used + instances - account.in_share_ceiling
        for entry in account.below(job.priority):
            found = True
            excess -= entry[3]
            if excess <= 0:
                break
        if excess > 0:
            return False
    return found
