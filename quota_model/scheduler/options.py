"""The choices that AWS leaves open, each a named option with a default."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, NamedTuple

__all__ = [
    "FrontOrder",
    "HeadOfLine",
    "OptionLine",
    "OwnCapacityOrder",
    "Rounding",
    "SchedulerOptions",
    "Tag",
    "VictimOrder",
    "VisitOrder",
]


class Tag(StrEnum):
    """How certain a rule is."""

    DOCUMENTED = "documented"
    """AWS says so."""
    INFERRED = "inferred"
    """Read out of AWS's text, samples or notebook."""
    CHOSEN = "chosen"
    """AWS is silent and the model chose."""


class HeadOfLine(StrEnum):
    """Which waiting jobs of a share are looked at: its heads."""

    STRICT = "strict"
    """One head per share: the first job in the share's order. What does not fit blocks all behind it."""
    PER_UNIT = "per_unit"
    """One head per instance type; a job of several types is a head when it is the first of each of them."""
    BEST_EFFORT = "best_effort"
    """What does not fit is skipped: a job is looked at after those before it did not fit."""


class VisitOrder(StrEnum):
    """In which order the heads of all shares are looked at, in each rule.

    Heads that are alike in it are looked at by their rank among the heads of their share, then by sequence number.
    With ``best_effort``, no head is looked at before one that its share ranks higher.
    """

    SUBMITTED = "submitted"
    """By sequence number: first submitted to the queue, first looked at."""
    AT_HEAD = "at_head"
    """By the time since which they are heads: who has waited longest at the front of a share goes first."""
    ROUND_ROBIN = "round_robin"
    """Shares take turns: heads of shares for which fewer jobs were placed in this pass go first."""


class OwnCapacityOrder(StrEnum):
    """To which of a share's placed jobs its own capacity is attributed first; what is left of them borrows."""

    PRIORITY = "priority"
    """Higher priority, then earlier decision, then sequence number."""
    DECISION = "decision"
    """Earlier decision, then sequence number, whatever the priority."""


class VictimOrder(StrEnum):
    """Which of several possible victims is stopped first.

    All orders begin with jobs that lose nothing or little: those their user is already terminating, nominated
    ones, then SCHEDULED or STARTING ones. The orders but ``kueue`` compare their own key next. Then all go on with
    lower priority, most recently decided, and higher sequence number. Instances are summed over the units that
    are short.
    """

    KUEUE = "kueue"
    """No further key: lower priority, then most recently decided, as Kubernetes' Kueue does."""
    NEWEST = "newest"
    """Most recently decided, before priority."""
    OLDEST = "oldest"
    """Least recently decided, before priority."""
    LARGEST_BORROWER = "largest_borrower"
    """Most borrowed instances, before priority."""
    CHEAPEST = "cheapest"
    """Smallest number of instances times the time since the decision, before priority."""
    LEAST_OVERRECLAIM = "least_overreclaim"
    """Smallest overshoot of what is still short, then covers most of it; ranked again after each pick."""


class Rounding(StrEnum):
    """How a borrow limit that is not a whole number of instances is rounded."""

    DOWN = "down"
    UP = "up"


class FrontOrder(StrEnum):
    """How the shares' queues are merged into the front of the job queue; each keeps its own order."""

    ENTITLED = "entitled"
    """Shares whose next job stays within their own limits, counting what is put before it as placed; then by that
    job's sequence number."""
    SUBMITTED = "submitted"
    """By the next job's sequence number."""
    PRIORITY = "priority"
    """By the next job's priority, higher first; then by its sequence number."""


class OptionLine(NamedTuple):
    """One option as a report shows it."""

    name: str
    value: str
    is_default: bool
    tag: Tag
    summary: str


def _about(tag: Tag, summary: str) -> dict[str, Any]:
    return {"tag": tag, "summary": summary}


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """What the model assumes where AWS Batch documents no behaviour.

    The defaults are those of ``docs/scheduling-model.md``, which also says what is not an option and why; each field
    says how certain its default is. A choice may be given by its value, such as ``victim_order="newest"``.

    :raises ValueError: if an option does not take the value.
    """

    head_of_line: HeadOfLine = field(
        default=HeadOfLine.STRICT, metadata=_about(Tag.INFERRED, "which waiting jobs of a share are looked at")
    )
    """Inferred: AWS documents that jobs at the front block those behind."""
    visit_order: VisitOrder = field(
        default=VisitOrder.SUBMITTED,
        metadata=_about(Tag.CHOSEN, "in which order the heads of all shares are looked at"),
    )
    """Chosen: AWS documents that idle capacity goes out first in, first out, and not over what."""
    returned_jobs_keep_their_place: bool = field(
        default=True, metadata=_about(Tag.CHOSEN, "whether preempted and retried jobs keep their submission order")
    )
    """Chosen: a preempted or retried job waits at the place that its submission gave it, not at the end."""
    disabled_shares_dispatch: bool = field(
        default=True, metadata=_about(Tag.INFERRED, "whether jobs that wait in a disabled share are still placed")
    )
    """Inferred: AWS documents that jobs submitted before can finish; here that includes those that still wait. If
    not, they wait until the share is enabled; nominated ones go on."""

    borrow_unowned_capacity: bool = field(
        default=False, metadata=_about(Tag.INFERRED, "whether environment capacity that no share owns can be borrowed")
    )
    """Inferred: AWS's example counts the limits of other shares as borrowable, and nothing else."""
    borrow_without_limit: bool = field(
        default=False,
        metadata=_about(Tag.CHOSEN, "whether a share borrows instance types it has no capacity limit for"),
    )
    """Chosen: a share with borrow limit -1 does not borrow an instance type that it has no limit for."""
    borrow_limit_rounding: Rounding = field(
        default=Rounding.DOWN,
        metadata=_about(Tag.CHOSEN, "how a borrow limit that is no whole number of instances is rounded"),
    )
    """Chosen: a limit of 1 with a borrow limit of 50 percent lends nothing to the share."""
    disabled_shares_lend: bool = field(
        default=True, metadata=_about(Tag.CHOSEN, "whether the idle capacity of a disabled share is lent")
    )
    """Chosen: a disabled share goes on lending what its remaining jobs do not use."""
    own_capacity_order: OwnCapacityOrder = field(
        default=OwnCapacityOrder.PRIORITY,
        metadata=_about(Tag.CHOSEN, "which of a share's jobs hold its own capacity, and which borrow"),
    )
    """Chosen: AWS does not say which of a share's jobs is the one that borrows."""

    victim_order: VictimOrder = field(
        default=VictimOrder.KUEUE, metadata=_about(Tag.CHOSEN, "which of several possible victims is stopped first")
    )
    """Chosen: AWS names the inputs of its choice (borrowed instances, relative priority, duration), no formula."""
    spare_victims: bool = field(
        default=True, metadata=_about(Tag.CHOSEN, "whether victims that later ones made needless are let go")
    )
    """Chosen: victims are taken in order until there are enough; then, from the last to the first, each one that can
    be spared is let go. If not, all that were taken are stopped."""
    nominated_jobs_can_be_victims: bool = field(
        default=True,
        metadata=_about(Tag.CHOSEN, "whether a job that has its quota and waits for machines can lose it to another"),
    )
    """Chosen: it loses no work, so it goes before jobs that run."""
    reclaim_for_environment: bool = field(
        default=True, metadata=_about(Tag.CHOSEN, "whether an entitled job also reclaims what the environment lacks")
    )
    """Chosen: it does, where limits add up to more than the environment. If not, it reclaims for the ledger alone,
    and waits while the environment lacks more of some instance type than that."""
    in_share_preemption_borrows: bool = field(
        default=True, metadata=_about(Tag.CHOSEN, "whether in-share preemption may leave the share borrowing")
    )
    """Chosen: a share may end above its own limits, within its borrow limit. If not, within its own limits."""
    in_share_preemption_reclaims: bool = field(
        default=True,
        metadata=_about(Tag.CHOSEN, "whether in-share preemption may be completed by cross-share preemption"),
    )
    """Chosen: what is still short once the share ends within its own limits is reclaimed from borrowers."""
    start_on_free_machines: bool = field(
        default=False,
        metadata=_about(
            Tag.CHOSEN, "whether a preemptor starts on machines that are free while its victims still stop"
        ),
    )
    """Chosen: it waits for all its victims."""

    heads_pay_off_debts: bool = field(
        default=False,
        metadata=_about(
            Tag.CHOSEN, "whether a placed job makes up for all that a lowered limit left borrowed above the lendable"
        ),
    )
    """Chosen: a job makes up for what it lacks itself. If it has to pay off, the ledger must hold in full once it is
    placed: an entitled job reclaims the whole debt of its instance types, and others wait."""
    changes_withdraw_nominations: bool = field(
        default=True, metadata=_about(Tag.CHOSEN, "whether a changed configuration lets nominated jobs wait again")
    )
    """Chosen: they are decided anew under the new configuration. If not, only those that can never run any more wait
    again; the others keep their quota."""

    front_of_queue_order: FrontOrder = field(
        default=FrontOrder.ENTITLED,
        metadata=_about(Tag.CHOSEN, "how the shares' queues are merged into the front of the job queue"),
    )
    """Chosen: AWS documents "job priority and share usage", and no more. It changes what a snapshot shows alone."""
    environment_reason_first: bool = field(
        default=True,
        metadata=_about(Tag.CHOSEN, "whether a job too large for environment and share is told of the environment"),
    )
    """Chosen: AWS documents a reason for each, not which one wins. Time-limit actions match the reason."""

    def __post_init__(self) -> None:
        for option in fields(self):
            kind: Any = type(option.default)
            value = getattr(self, option.name)
            if kind is bool:
                if type(value) is not bool:
                    raise ValueError(f"{option.name} is {value!r}; give True or False")
            elif value not in list(kind):
                raise ValueError(f"{option.name} is {value!r}; give one of {', '.join(kind)}")
            else:
                object.__setattr__(self, option.name, kind(value))

    def lines(self) -> tuple[OptionLine, ...]:
        """Return every option with its value, for the foot of a report."""
        return tuple(
            OptionLine(
                option.name,
                _shown(getattr(self, option.name)),
                getattr(self, option.name) == option.default,
                option.metadata["tag"],
                option.metadata["summary"],
            )
            for option in fields(self)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""
        return {option.name: getattr(self, option.name) for option in fields(self)}

    def __str__(self) -> str:
        return "\n".join(
            f"{line.name} = {line.value} ({line.tag}{'' if line.is_default else ', not the default'}): {line.summary}"
            for line in self.lines()
        )


def _shown(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
