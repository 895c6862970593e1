"""What the scheduler decides: data that explains itself and that the caller carries out."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from quota_model.scheduler.options import VictimOrder

__all__ = [
    "Block",
    "Decision",
    "Dispatch",
    "Fail",
    "LedgerLine",
    "Nominate",
    "Placement",
    "Preempt",
    "PreemptionKind",
    "Requeue",
    "RequeueCause",
    "Stop",
    "Unblock",
]


class Placement(StrEnum):
    """The rule by which a job was placed."""

    ENTITLED = "entitled"
    """Within its share's own limits; it may have reclaimed capacity from borrowers."""
    BORROWING = "borrowing"
    """Above its share's own limit, on capacity that other shares lend."""
    IN_SHARE = "in_share"
    """In place of jobs of its share with lower priority."""


class PreemptionKind(StrEnum):
    """Why a job has to go."""

    CROSS_SHARE = "cross_share"
    """It borrows what an entitled job of another share needs."""
    IN_SHARE = "in_share"
    """A job of its share with a higher priority takes its place."""
    LOWERED_LIMIT = "lowered_limit"
    """Its share holds more than its lowered limits allow, and an entitled job of another share needs it."""


class RequeueCause(StrEnum):
    """Why a job waits again."""

    PREEMPTED = "preempted"
    """It was stopped for another job, and its stop is complete."""
    RETRIED = "retried"
    """Its attempt ended and the caller had it retried."""
    NOMINATION_TAKEN = "nomination_taken"
    """It was nominated, and another job took its place before it started; not a preemption."""
    NOMINATION_WITHDRAWN = "nomination_withdrawn"
    """It was nominated, and the configuration changed before it started."""


class LedgerLine(NamedTuple):
    """What one instance type's books say with the job placed, its victims gone. Units: instances.

    The job could be placed because ``borrowed`` is at most ``lendable`` (or no worse than before, when a lowered
    limit left more borrowed than lendable and option ``heads_pay_off_debts`` is off) and ``used`` is at most
    ``capacity``.
    """

    unit: str
    instances: int
    """What the job holds."""
    share_used: int
    """What all placed jobs of its share hold."""
    share_limit: int
    """The share's own capacity limit."""
    borrowed: int
    """What all shares hold above their limits."""
    lendable: int
    """What all lending shares leave idle."""
    used: int
    """What all placed jobs hold."""
    capacity: int
    """The environment's limit."""


class Dispatch(NamedTuple):
    """Hand the job to SageMaker now: it becomes SCHEDULED."""

    time: int
    job_id: str
    share: str
    placement: Placement
    lines: tuple[LedgerLine, ...]


class Nominate(NamedTuple):
    """The job has its quota and waits, still RUNNABLE, for machines; a :class:`Dispatch` follows.

    ``waits_for`` are the jobs whose stop it waits for; if empty, it waits for machines that others still hold.
    """

    time: int
    job_id: str
    share: str
    placement: Placement
    lines: tuple[LedgerLine, ...]
    waits_for: tuple[str, ...]


class Preempt(NamedTuple):
    """Stop the dispatched job ``job_id`` to make room for ``preemptor``; tell :class:`StopCompleted` when it has.

    ``counted`` is false if its user was terminating it anyway: nothing is lost, and it will be FAILED.
    """

    time: int
    job_id: str
    share: str
    kind: PreemptionKind
    preemptor: str
    preemptor_share: str
    holds: tuple[tuple[str, int], ...]
    """Instances by unit that it gives up; it is stopped whole."""
    borrowed: tuple[tuple[str, int], ...]
    """The part of them that was borrowed, by unit."""
    short: tuple[tuple[str, int], ...]
    """What the preemptor lacked before anyone was chosen, by unit."""
    victim_order: VictimOrder
    counted: bool
    status_reason: str


class Requeue(NamedTuple):
    """The job waits again (RUNNABLE), without an attempt of it running."""

    time: int
    job_id: str
    share: str
    cause: RequeueCause
    by: str | None
    """The job it was stopped for or that took its nomination, if any."""


class Fail(NamedTuple):
    """The job is FAILED and gone from the queue."""

    time: int
    job_id: str
    share: str
    status_reason: str


class Stop(NamedTuple):
    """Stop the dispatched job since its share is deleted; tell :class:`StopCompleted` when it has."""

    time: int
    job_id: str
    share: str
    status_reason: str


class Block(NamedTuple):
    """The job reached the head of its share and can never run as the queue is configured (AWS's reason)."""

    time: int
    job_id: str
    share: str
    status_reason: str


class Unblock(NamedTuple):
    """A blocked job is no longer at the head, or the configuration has come to allow it."""

    time: int
    job_id: str
    share: str


Decision = Dispatch | Nominate | Preempt | Requeue | Fail | Stop | Block | Unblock
