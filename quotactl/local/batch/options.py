"""What the local Batch does where AWS's documents leave the behaviour open."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LocalBatchOptions"]


@dataclass(frozen=True, slots=True)
class LocalBatchOptions:
    """The choices of the local Batch's API; each default is the cautious reading of AWS's documents.

    The choices of the scheduler are :class:`quota_model.scheduler.SchedulerOptions`.
    """

    accept_units_missing_from_environment: bool = True
    """Whether a quota share may have a limit for an instance type that its environment lacks. AWS documents only
    that such a job waits (CapacityLimit), so it is accepted."""
    default_scheduling_priority: int = 0
    """The priority of a job submitted without one; AWS names no default."""
    remembered_preempted_attempts: int = 10
    """How many preempted attempts a job's ``recentPreemptedAttempts`` keeps, newest first; AWS names no number."""
