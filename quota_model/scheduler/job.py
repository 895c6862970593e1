"""A job inside the scheduler, and the shape of its request."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from quota_model.scheduler.books import Account, Pool
    from quota_model.scheduler.machines import Nomination
    from quota_model.scheduler.share import Lane, Share

__all__ = ["DISPATCHED", "ENDED", "NOMINATED", "STOPPING", "WAITING", "HeadEntry", "Job", "Phase", "Shape"]


class Phase(Enum):
    """Where a job is between submission and end."""

    WAITING = "waiting"
    """RUNNABLE, in its share's queue; holds nothing."""
    NOMINATED = "nominated"
    """RUNNABLE, decided; holds quota, waits for machines."""
    DISPATCHED = "dispatched"
    """SCHEDULED, STARTING or RUNNING; holds quota and machines."""
    STOPPING = "stopping"
    """A victim on its way out; holds machines, no quota."""
    ENDED = "ended"
    """SUCCEEDED or FAILED; forgotten."""


WAITING: Final = Phase.WAITING
NOMINATED: Final = Phase.NOMINATED
DISPATCHED: Final = Phase.DISPATCHED
STOPPING: Final = Phase.STOPPING
ENDED: Final = Phase.ENDED

HeadEntry = tuple[int, int, int, "Job"]
"""A head in the order in which heads are visited: when, its rank in its share, its sequence number, and the job."""


class Shape:
    """What a job of a share asks for; jobs with the same request share one."""

    __slots__ = ("lanes", "parts", "request")

    def __init__(self, parts: tuple[tuple[Account, int], ...], lanes: tuple[Lane, ...]) -> None:
        self.parts = parts
        """The accounts it draws on, each with the number of instances."""
        self.lanes = lanes
        """The lanes in which such jobs wait."""
        self.request = tuple((account.pool.unit, instances) for account, instances in parts)


class Job:
    """A job that has not ended. Two jobs are equal only if they are the same."""

    __slots__ = (
        "attempts",
        "blocked",
        "decided_at",
        "head_entry",
        "head_list",
        "id",
        "in_share_entry",
        "nomination",
        "parts",
        "phase",
        "preemption_retries",
        "preemptions",
        "priority",
        "running",
        "sequence",
        "shape",
        "share",
        "since",
        "stopping_for",
        "terminating",
        "victim_rank",
    )

    def __init__(
        self, job_id: str, share: Share, shape: Shape, priority: int, sequence: int, preemption_retries: int | None
    ) -> None:
        self.id = job_id
        self.share = share
        self.shape = shape
        self.parts = shape.parts
        self.priority = priority
        self.sequence = sequence
        self.preemption_retries = preemption_retries
        self.phase = WAITING
        self.running = False
        """Whether a dispatched job was reported to be RUNNING."""
        self.terminating = False
        """Whether it is to be FAILED once its stop is complete."""
        self.decided_at = 0
        self.attempts = 0
        self.preemptions = 0
        self.nomination: Nomination | None = None
        self.stopping_for: Job | None = None
        """The job for which a victim makes room, while that job waits for it."""
        self.since: int | None = None
        """Since when it is a head, if it is one."""
        self.blocked: str | None = None
        """The reported reason why it can never run."""
        self.head_list: list[HeadEntry] | None = None
        """The list of heads that it is in, if any."""
        self.head_entry: HeadEntry | None = None
        self.in_share_entry: HeadEntry | None = None
        self.victim_rank: tuple[int, ...] = ()
        """Its place among victims, while it is placed; the smallest goes first."""

    def rank_as_victim(self) -> None:
        """Find its place among victims anew: what loses nothing or little goes first, then lower priority, later
        decision, higher sequence number, which makes the place unique.
        """
        self.victim_rank = (
            not self.terminating,
            self.nomination is None,
            self.running,
            self.priority,
            -self.decided_at,
            -self.sequence,
        )

    def instances_of(self, pool: Pool) -> int:
        """Return how many instances of one type it asks for."""
        for account, instances in self.parts:
            if account.pool is pool:
                return instances
        return 0

    @property
    def is_entitled(self) -> bool:
        """Whether its share would stay within its own limits with it placed."""
        return all(account.used + instances <= account.limit for account, instances in self.parts)
