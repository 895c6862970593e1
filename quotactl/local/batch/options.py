"""What the local Batch does where AWS's documents leave the behaviour open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["HIGHEST_PRIORITY", "LocalBatchOptions"]

HIGHEST_PRIORITY: Final = 9999
"""Of a service job (SubmitServiceJob)."""


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

    def __post_init__(self) -> None:
        if not 0 <= self.default_scheduling_priority <= HIGHEST_PRIORITY:
            raise ValueError(
                f"default_scheduling_priority is {self.default_scheduling_priority}; give 0 to {HIGHEST_PRIORITY}"
            )
