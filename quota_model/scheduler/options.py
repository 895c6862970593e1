"""The choices that AWS leaves open, each a named option with a default."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final, NamedTuple

__all__ = ["HeadOfLine", "OptionLine", "Rounding", "SchedulerOptions", "Tag", "VictimOrder"]


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


class OptionLine(NamedTuple):
    """One option as a report shows it."""

    name: str
    value: str
    is_default: bool
    tag: Tag
    summary: str


_TAGS_AND_SUMMARIES: Final = {
    "head_of_line": (Tag.INFERRED, "which waiting jobs of a share are looked at"),
    "victim_order": (Tag.CHOSEN, "which of several possible victims is stopped first"),
    "borrow_unowned_capacity": (Tag.INFERRED, "whether environment capacity that no share owns can be borrowed"),
    "borrow_without_limit": (Tag.CHOSEN, "whether a share borrows instance types it has no capacity limit for"),
    "borrow_limit_rounding": (Tag.CHOSEN, "how a borrow limit that is no whole number of instances is rounded"),
    "disabled_shares_lend": (Tag.CHOSEN, "whether the idle capacity of a disabled share is lent"),
    "returned_jobs_keep_their_place": (Tag.CHOSEN, "whether preempted and retried jobs keep their submission order"),
}


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """What the model assumes where AWS Batch documents no behaviour.

    The defaults are those of ``docs/scheduling-model.md``; each field says how certain its default is.
    """

    head_of_line: HeadOfLine = HeadOfLine.STRICT
    """Inferred: AWS documents that jobs at the front block those behind."""
    victim_order: VictimOrder = VictimOrder.KUEUE
    """Chosen: AWS names the inputs of its choice (borrowed instances, relative priority, duration), no formula."""
    borrow_unowned_capacity: bool = False
    """Inferred: AWS's example counts the limits of other shares as borrowable, and nothing else."""
    borrow_without_limit: bool = False
    """Chosen: a share with borrow limit -1 does not borrow an instance type that it has no limit for."""
    borrow_limit_rounding: Rounding = Rounding.DOWN
    """Chosen: a limit of 1 with a borrow limit of 50 percent lends nothing to the share."""
    disabled_shares_lend: bool = True
    """Chosen: a disabled share goes on lending what its remaining jobs do not use."""
    returned_jobs_keep_their_place: bool = True
    """Chosen: a preempted or retried job waits at the place that its submission gave it, not at the end."""

    def lines(self) -> tuple[OptionLine, ...]:
        """Return every option with its value, for the foot of a report."""
        default = SchedulerOptions()
        return tuple(
            OptionLine(
                field.name,
                _shown(getattr(self, field.name)),
                getattr(self, field.name) == getattr(default, field.name),
                *_TAGS_AND_SUMMARIES[field.name],
            )
            for field in fields(self)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        return "\n".join(
            f"{line.name} = {line.value} ({line.tag}{'' if line.is_default else ', not the default'}): {line.summary}"
            for line in self.lines()
        )


def _shown(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
