"""What a scheduler shows of itself: jobs, usage, fronts, and why a job waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from quota_model.scheduler.decisions import Decision

__all__ = ["Explanation", "FrontJob", "JobStatus", "JobView", "Preview", "UnitUsage", "Wait"]


class JobStatus(StrEnum):
    """A job's status as far as scheduling goes, in AWS's words."""

    RUNNABLE = "RUNNABLE"
    """Waiting, nominated or not."""
    SCHEDULED = "SCHEDULED"
    """Dispatched; stands for STARTING too."""
    RUNNING = "RUNNING"


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as the scheduler knows it now. Jobs that ended are forgotten."""

    job_id: str
    share: str
    request: Mapping[str, int]
    priority: int
    sequence: int
    status: JobStatus
    nominated: bool
    """Decided and still RUNNABLE: it holds quota and waits for machines."""
    stopping: bool
    """Preempted and not stopped yet: it holds machines and no quota, and keeps its status meanwhile."""
    stopping_for: str | None
    """The job that waits for this one's machines, if that still waits."""
    terminating: bool
    """Its user, or the deletion of its share, ends it; it will be FAILED."""
    decided_at: int | None
    """When it was last dispatched or nominated, while that holds."""
    attempts: int
    """How often it was dispatched."""
    preemptions: int


@dataclass(frozen=True, slots=True)
class UnitUsage:
    """What one share holds of one instance type, in instances. AWS shows ``used`` alone.

    ``lent`` is the part of the share's idle capacity that borrowers use. Which lender a borrowed instance belongs
    to is not AWS's to say: here lenders give in the order of their creation.
    """

    share: str
    unit: str
    limit: int
    used: int
    borrowed: int
    lent: int
    idle: int


@dataclass(frozen=True, slots=True)
class FrontJob:
    """A waiting job at the front, and since when it is the head of its share (``None``: it is no head)."""

    job_id: str
    share: str
    since: int | None


class Wait(StrEnum):
    """The kind of reason for which a job waits, or does not."""

    PLACED = "placed"
    """It does not wait: it was dispatched."""
    STOPPING = "stopping"
    """It is being stopped."""
    NOMINATED = "nominated"
    """It has its quota and waits for machines."""
    NEVER_FITS = "never_fits"
    """It can never run as the queue is configured."""
    BEHIND = "behind"
    """Other jobs of its share are looked at first."""
    ENVIRONMENT_DISABLED = "environment_disabled"
    SHARE_DISABLED = "share_disabled"
    """Its share is disabled, and option ``disabled_shares_dispatch`` is off."""
    OWN_LIMIT = "own_limit"
    """Its share, which does not borrow, has used up its limit."""
    BORROW_LIMIT = "borrow_limit"
    """Its share has used up its limit and its borrow limit."""
    NOTHING_LENDABLE = "nothing_lendable"
    """Other shares have nothing left to lend."""
    ENVIRONMENT_FULL = "environment_full"
    """The environment is full, and too little of it is borrowed to be reclaimed."""
    FITS = "fits"
    """Nothing holds it back: the next pass places it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a job waits, in terms of the design: the kind of reason, and a sentence with the figures."""

    job_id: str
    wait: Wait
    sentence: str
    help: str = ""
    """What would let it run, if anything can be said."""
    jobs: tuple[str, ...] = ()
    """The jobs the sentence is about: those ahead, those stopping, those in the way."""

    def __str__(self) -> str:
        return f"{self.sentence}; {self.help}" if self.help else self.sentence


@dataclass(frozen=True, slots=True)
class Preview:
    """What some events and the pass after them would do; nothing of it has happened."""

    starts: tuple[str, ...]
    """Jobs that would be dispatched, or nominated and dispatched once stops are complete."""
    stops: tuple[str, ...]
    """Dispatched jobs that would be stopped."""
    ends: tuple[str, ...]
    """Jobs that would be FAILED."""
    decisions: tuple[Decision, ...]
