"""The queue as it looks from outside: what boto3 shows of shares and jobs, and how it came to be so.

AWS shows how much a share uses and nothing else. What is borrowed and lent follows from the limits: what a share
uses above its own limit it borrows, and what lenders leave idle is where it comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["Job", "Share", "Span", "Watch"]

_DISPATCHED: Final = ("SCHEDULED", "STARTING", "RUNNING")
_STOPPING: Final = "PREEMPTION_IN_PROGRESS"


@dataclass(slots=True)
class Span:
    """What a job did for a time; ``doing`` is waiting, starting, own, borrowed, stopping or done."""

    doing: str
    start: int
    end: int


@dataclass(slots=True)
class Job:
    """A service job as it was last seen."""

    id: str
    name: str
    share: str
    priority: int = 0
    status: str = "SUBMITTED"
    scheduled_at: int = 0
    is_stopping: bool = False
    borrows: bool = False
    preemptions: int = 0
    spans: list[Span] = field(default_factory=list)

    @property
    def holds_quota(self) -> bool:
        """Whether it is dispatched and not on its way out."""
        return self.status in _DISPATCHED and not self.is_stopping

    @property
    def doing(self) -> str:
        """What it does now, as a span names it."""
        if self.status in ("SUCCEEDED", "FAILED"):
            return "done"
        if self.is_stopping:
            return "stopping"
        if self.status == "RUNNING":
            return "borrowed" if self.borrows else "own"
        return "starting" if self.status in _DISPATCHED else "waiting"


@dataclass(slots=True)
class Share:
    """A quota share, and where its instances are."""

    name: str
    strategy: str
    limit: int
    holders: list[Job] = field(default_factory=list)
    waiting: list[Job] = field(default_factory=list)
    lent_to: list[Job] = field(default_factory=list)

    @property
    def used(self) -> int:
        """Instances that its jobs hold."""
        return len(self.holders)

    @property
    def borrowed(self) -> int:
        """Instances that its jobs hold above its limit."""
        return max(0, self.used - self.limit)

    @property
    def lent(self) -> int:
        """Instances of its own that other shares' jobs hold."""
        return len(self.lent_to)

    @property
    def idle(self) -> int:
        """Instances of its own that nobody holds."""
        return max(0, self.limit - self.used - self.lent)


class Watch:
    """Looks at one queue, whose jobs are of one instance each, again and again."""

    def __init__(self, batch: Any, queue: str, now: Callable[[], int]) -> None:
        self._batch = batch
        self._queue = queue
        self._now = now
        self.jobs: dict[str, Job] = {}
        self.shares: list[Share] = []
        self.start = self.time = now()

    def add(self, job_id: str, name: str, share: str) -> Job:
        """Follow a job that was just submitted."""
        self.jobs[name] = Job(job_id, name, share)
        return self.jobs[name]

    def look(self) -> None:
        """See how everything stands now."""
        self.time = self._now()
        for job in self.jobs.values():
            if job.doing != "done":
                self._look_at(job)
        listed = self._batch.list_quota_shares(jobQueue=self._queue)["quotaShares"]
        self.shares = [self._share(described) for described in listed]
        self._find_lenders()
        for job in self.jobs.values():
            self._note(job)

    def why(self, job: Job) -> str:
        """Say why a job waits."""
        share = next(share for share in self.shares if share.name == job.share)
        if share.waiting[0] is not job:
            return f"behind {share.waiting[0].name}"
        stopping = [other.name for other in self.jobs.values() if other.is_stopping]
        if stopping:
            return f"for {' and '.join(stopping)} to stop"
        others = [other for other in self.shares if other is not share and share.strategy == "LEND_AND_BORROW"]
        full = f"its share is full ({', '.join(holder.name for holder in share.holders)})"
        return "; ".join((full, *map(_why_nothing_from, others)))

    def _look_at(self, job: Job) -> None:
        seen = self._batch.describe_service_job(jobId=job.id)
        job.status, job.priority = seen["status"], seen.get("schedulingPriority", 0)
        job.is_stopping = seen.get("statusReason", "").startswith(_STOPPING)
        job.scheduled_at = seen.get("scheduledAt", 0)
        job.preemptions = seen.get("preemptionSummary", {}).get("preemptedAttemptCount", 0)

    def _share(self, described: dict[str, Any]) -> Share:
        name, limit = described["quotaShareName"], described["capacityLimits"][0]["maxCapacity"]
        share = Share(name, described["resourceSharingConfiguration"]["strategy"], limit)
        mine = [job for job in self.jobs.values() if job.share == name]
        share.holders = sorted(
            (job for job in mine if job.holds_quota), key=lambda job: (-job.priority, job.scheduled_at)
        )
        share.waiting = [job for job in mine if job.doing == "waiting"]
        share.waiting.sort(key=lambda job: -job.priority)
        return share

    def _find_lenders(self) -> None:
        for share in self.shares:
            for place, job in enumerate(share.holders):
                job.borrows = place >= share.limit
        borrowers = [job for share in self.shares for job in share.holders if job.borrows]
        for share in self.shares:
            if share.strategy != "RESERVE":
                spare = share.idle
                share.lent_to, borrowers = borrowers[:spare], borrowers[spare:]

    def _note(self, job: Job) -> None:
        if job.spans and job.spans[-1].doing == job.doing:
            job.spans[-1].end = self.time
        else:
            if job.spans:
                job.spans[-1].end = self.time
            job.spans.append(Span(job.doing, self.time, self.time))


def _why_nothing_from(other: Share) -> str:
    if other.strategy == "RESERVE":
        return f"{other.name} keeps its own"
    if other.lent:
        return f"{other.name} lends to {' and '.join(job.name for job in other.lent_to)}"
    return f"{other.name} uses its own"
