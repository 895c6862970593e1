"""What a quota design is: a SageMaker Training job queue, its service environment and its quota shares.

The objects here are frozen values in AWS Batch's own terms. They can hold designs that AWS would refuse:
judging them is the business of :mod:`quota_model.rules`. What they cannot hold is input of the wrong shape
(a list where an object belongs, a strategy that AWS does not have): reading that raises :class:`DesignError`.

The JSON form uses the field names of AWS Batch's API and is stable: the same design always gives the same
JSON, and reading it back gives an equal design.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from quota_model._json import (
    DesignError,
    JsonObject,
    choice_from_json,
    json_value,
    list_from_json,
    number_from_json,
    object_from_json,
    text_from_json,
)
from quota_model.unknown import UNKNOWN, Unknown

__all__ = [
    "UNKNOWN",
    "UNLIMITED",
    "CapacityLimit",
    "CapacityLimits",
    "DesignError",
    "JobStateTimeLimitAction",
    "QuotaQueue",
    "QuotaShare",
    "ResourceSharing",
    "SchedulingPolicy",
    "SchedulingPolicyKind",
    "ServiceEnvironment",
    "SharingStrategy",
    "State",
    "Unknown",
]

UNLIMITED: Final = -1
"""The borrow limit that is none: also what AWS assumes when a LEND_AND_BORROW share names no limit."""


class State(StrEnum):
    """Whether a service environment, job queue or quota share takes new jobs."""

    ENABLED = "ENABLED"
    DISABLED = "DISABLED"


class SharingStrategy(StrEnum):
    """What happens to a quota share's idle capacity."""

    RESERVE = "RESERVE"
    """Idle capacity is kept; the share neither lends nor borrows."""
    LEND = "LEND"
    """Idle capacity is lent to shares that borrow; the share itself never borrows."""
    LEND_AND_BORROW = "LEND_AND_BORROW"
    """Idle capacity is lent, and the share borrows what others lend, up to its borrow limit."""


class SchedulingPolicyKind(StrEnum):
    """Which scheduling policy a job queue has; it can never change its kind (AWS::Batch::SchedulingPolicy)."""

    QUOTA_SHARE = "QUOTA_SHARE"
    FAIR_SHARE = "FAIR_SHARE"
    NONE = "NONE"
    """The policy has neither kind, or the queue has no policy (FIFO)."""


@dataclass(frozen=True, slots=True)
class CapacityLimit:
    """How many instances of one type: ``max_capacity`` of ``capacity_unit`` (an ``ml.`` instance type)."""

    capacity_unit: str | Unknown
    max_capacity: float | Unknown


@dataclass(frozen=True, slots=True)
class CapacityLimits:
    """The capacity limits of a service environment or quota share, in the order they were given.

    It keeps duplicates, since a template may hold some; :meth:`as_instances` is the view for arithmetic.
    """

    limits: tuple[CapacityLimit, ...] = ()

    @classmethod
    def of(cls, limits: Mapping[str, float]) -> Self:
        """Return the limits of a mapping from instance type to number of instances."""
        return cls(tuple(CapacityLimit(unit, capacity) for unit, capacity in limits.items()))

    @property
    def units(self) -> tuple[str, ...]:
        """The known instance types, each once, in order."""
        return tuple(dict.fromkeys(limit.capacity_unit for limit in self if isinstance(limit.capacity_unit, str)))

    @property
    def are_known(self) -> bool:
        """Whether every instance type and every number is known before deployment."""
        return not any(UNKNOWN in (limit.capacity_unit, limit.max_capacity) for limit in self)

    def of_unit(self, unit: str) -> float | Unknown | None:
        """Return the limit for one instance type; ``None`` if there is none, ``UNKNOWN`` if it may yet come."""
        for limit in self:
            if limit.capacity_unit == unit:
                return limit.max_capacity
        return UNKNOWN if any(limit.capacity_unit is UNKNOWN for limit in self) else None

    def as_instances(self) -> dict[str, int]:
        """Return whole instances by instance type, for arithmetic.

        Raises :class:`DesignError` if a limit is unknown, not a whole number, or given twice.
        """
        instances: dict[str, int] = {}
        for limit in self:
            unit, capacity = limit.capacity_unit, limit.max_capacity
            if isinstance(unit, Unknown) or isinstance(capacity, Unknown):
                raise DesignError("a capacity limit is known only at deployment; give a number and an instance type")
            if not isinstance(capacity, int):
                raise DesignError(f"capacity limit {capacity} of {unit} is not a whole number; give whole instances")
            if unit in instances:
                raise DesignError(f"{unit} has two capacity limits; keep one")
            instances[unit] = int(capacity)
        return instances

    def __iter__(self) -> Iterator[CapacityLimit]:
        return iter(self.limits)

    def __len__(self) -> int:
        return len(self.limits)

    @classmethod
    def from_json(cls, value: object, place: str = "capacityLimits") -> Self:
        """Read AWS's list of ``{capacityUnit, maxCapacity}``, or the short form ``{instance type: number}``."""
        if isinstance(value, dict):
            pairs = [(f"{place}.{unit}", unit, capacity) for unit, capacity in value.items()]
            return cls(tuple(CapacityLimit(unit, number_from_json(capacity, at)) for at, unit, capacity in pairs))
        return cls(tuple(cls._limit_from_json(item, at) for at, item in list_from_json(value, place)))

    @staticmethod
    def _limit_from_json(value: object, place: str) -> CapacityLimit:
        fields = object_from_json(value, place, ("capacityUnit", "maxCapacity"))
        for required in ("capacityUnit", "maxCapacity"):
            if required not in fields:
                raise DesignError(f"{place}: {required} is missing; add it")
        return CapacityLimit(
            text_from_json(fields["capacityUnit"], f"{place}.capacityUnit"),
            number_from_json(fields["maxCapacity"], f"{place}.maxCapacity"),
        )

    def to_json(self) -> list[JsonObject]:
        """Return AWS's list form."""
        return [
            {"capacityUnit": json_value(limit.capacity_unit), "maxCapacity": json_value(limit.max_capacity)}
            for limit in self
        ]


@dataclass(frozen=True, slots=True)
class ResourceSharing:
    """A quota share's strategy for idle capacity; make one with :meth:`reserve`, :meth:`lend` or
    :meth:`lend_and_borrow`.

    ``borrow_limit`` is a percentage of the share's own limit of each instance type, on top of that limit: 100
    lets a share with a limit of 2 use 4. ``None`` leaves it out, which AWS reads as unlimited (-1).
    Source: AWS Batch API, QuotaShareResourceSharingConfiguration.
    """

    strategy: SharingStrategy | Unknown
    borrow_limit: float | Unknown | None = None

    @classmethod
    def reserve(cls) -> Self:
        """Keep idle capacity for this share alone: jobs start at once, and what is idle stays idle."""
        return cls(SharingStrategy.RESERVE)

    @classmethod
    def lend(cls) -> Self:
        """Lend idle capacity to shares that borrow, and take it back by preemption when this share needs it."""
        return cls(SharingStrategy.LEND)

    @classmethod
    def lend_and_borrow(cls, *, borrow_limit: float | None = None) -> Self:
        """Lend idle capacity, and borrow what others lend.

        :param borrow_limit: percent of the share's own limit that it may borrow on top, per instance type;
            -1 or leaving it out sets no limit.
        """
        return cls(SharingStrategy.LEND_AND_BORROW, borrow_limit)

    @property
    def lends(self) -> bool:
        """Whether idle capacity of the share is lent; an unknown strategy counts as not lending."""
        return self.strategy in (SharingStrategy.LEND, SharingStrategy.LEND_AND_BORROW)

    @property
    def borrows(self) -> bool:
        """Whether the share may borrow; an unknown strategy counts as not borrowing."""
        return self.strategy == SharingStrategy.LEND_AND_BORROW

    @classmethod
    def from_json(cls, value: object, place: str = "resourceSharingConfiguration") -> Self:
        """Read ``{strategy, borrowLimit}``."""
        fields = object_from_json(value, place, ("strategy", "borrowLimit"))
        if "strategy" not in fields:
            raise DesignError(f"{place}: strategy is missing; add {', '.join(SharingStrategy)}")
        borrow_limit: float | Unknown | None = None
        if "borrowLimit" in fields:
            borrow_limit = number_from_json(fields["borrowLimit"], f"{place}.borrowLimit")
        return cls(choice_from_json(fields["strategy"], f"{place}.strategy", SharingStrategy), borrow_limit)

    def to_json(self) -> JsonObject:
        """Return ``{strategy, borrowLimit}``, the latter only if it was given."""
        sharing: JsonObject = {"strategy": json_value(self.strategy)}
        if self.borrow_limit is not None:
            sharing["borrowLimit"] = json_value(self.borrow_limit)
        return sharing


@dataclass(frozen=True, slots=True)
class QuotaShare:
    """One team's, project's or kind of work's part of the capacity (AWS::Batch::QuotaShare)."""

    name: str | Unknown
    capacity_limits: CapacityLimits
    resource_sharing: ResourceSharing
    in_share_preemption: bool | Unknown = False
    state: State | Unknown = State.ENABLED

    @classmethod
    def from_json(cls, value: object, place: str = "quotaShare") -> Self:
        """Read a quota share in the form of CreateQuotaShare."""
        required = ("quotaShareName", "capacityLimits", "resourceSharingConfiguration")
        fields = object_from_json(value, place, (*required, "preemptionConfiguration", "state"))
        for key in required:
            if key not in fields:
                raise DesignError(f"{place}: {key} is missing; add it")
        name, limits, sharing = (fields[key] for key in required)
        return cls(
            text_from_json(name, f"{place}.quotaShareName"),
            CapacityLimits.from_json(limits, f"{place}.capacityLimits"),
            ResourceSharing.from_json(sharing, f"{place}.resourceSharingConfiguration"),
            _in_share_preemption_from_json(fields.get("preemptionConfiguration", {}), place),
            _state_from_json(fields, place),
        )

    def to_json(self) -> JsonObject:
        """Return the form of CreateQuotaShare."""
        preemption = self.in_share_preemption
        if not isinstance(preemption, Unknown):
            preemption_state: State | Unknown = State.ENABLED if preemption else State.DISABLED
        else:
            preemption_state = UNKNOWN
        return {
            "quotaShareName": json_value(self.name),
            "capacityLimits": self.capacity_limits.to_json(),
            "resourceSharingConfiguration": self.resource_sharing.to_json(),
            "preemptionConfiguration": {"inSharePreemption": json_value(preemption_state)},
            "state": json_value(self.state),
        }


def _in_share_preemption_from_json(value: object, share_place: str) -> bool | Unknown:
    place = f"{share_place}.preemptionConfiguration"
    fields = object_from_json(value, place, ("inSharePreemption",))
    state = choice_from_json(fields.get("inSharePreemption", State.DISABLED), f"{place}.inSharePreemption", State)
    return UNKNOWN if isinstance(state, Unknown) else state is State.ENABLED


@dataclass(frozen=True, slots=True)
class ServiceEnvironment:
    """The capacity that a queue's shares divide (AWS::Batch::ServiceEnvironment).

    ``name`` is ``None`` when CloudFormation generates one.
    """

    capacity_limits: CapacityLimits
    name: str | Unknown | None = None
    state: State | Unknown = State.ENABLED

    @classmethod
    def from_json(cls, value: object, place: str = "serviceEnvironment") -> Self:
        """Read ``{serviceEnvironmentName, capacityLimits, state}``."""
        fields = object_from_json(value, place, ("serviceEnvironmentName", "capacityLimits", "state"))
        if "capacityLimits" not in fields:
            raise DesignError(f"{place}: capacityLimits is missing; add it")
        return cls(
            CapacityLimits.from_json(fields["capacityLimits"], f"{place}.capacityLimits"),
            _name_from_json(fields, "serviceEnvironmentName", place),
            _state_from_json(fields, place),
        )

    def to_json(self) -> JsonObject:
        """Return ``{serviceEnvironmentName, capacityLimits, state}``, the name only if it has one."""
        limits, state = self.capacity_limits.to_json(), json_value(self.state)
        return {**_named("serviceEnvironmentName", self.name), "capacityLimits": limits, "state": state}


@dataclass(frozen=True, slots=True)
class SchedulingPolicy:
    """The scheduling policy of a queue: its kind, and its name unless CloudFormation generates one."""

    kind: SchedulingPolicyKind | Unknown = SchedulingPolicyKind.QUOTA_SHARE
    name: str | Unknown | None = None

    @classmethod
    def from_json(cls, value: object, place: str = "schedulingPolicy") -> Self:
        """Read ``{name, kind}``."""
        fields = object_from_json(value, place, ("name", "kind"))
        kind = choice_from_json(
            fields.get("kind", SchedulingPolicyKind.QUOTA_SHARE), f"{place}.kind", SchedulingPolicyKind
        )
        return cls(kind, _name_from_json(fields, "name", place))

    def to_json(self) -> JsonObject:
        """Return ``{name, kind}``, the name only if it has one."""
        return {**_named("name", self.name), "kind": json_value(self.kind)}


@dataclass(frozen=True, slots=True)
class JobStateTimeLimitAction:
    """What a queue does with a job that stays at the head for a reason for ``max_time_seconds``."""

    reason: str | Unknown
    max_time_seconds: float | Unknown
    action: str | Unknown = "TERMINATE"
    state: str | Unknown = "RUNNABLE"

    @classmethod
    def from_json(cls, value: object, place: str = "jobStateTimeLimitAction") -> Self:
        """Read ``{reason, maxTimeSeconds, action, state}``; the last two default to the only values there are."""
        fields = object_from_json(value, place, ("reason", "maxTimeSeconds", "action", "state"))
        for required in ("reason", "maxTimeSeconds"):
            if required not in fields:
                raise DesignError(f"{place}: {required} is missing; add it")
        return cls(
            text_from_json(fields["reason"], f"{place}.reason"),
            number_from_json(fields["maxTimeSeconds"], f"{place}.maxTimeSeconds"),
            text_from_json(fields.get("action", "TERMINATE"), f"{place}.action"),
            text_from_json(fields.get("state", "RUNNABLE"), f"{place}.state"),
        )

    def to_json(self) -> JsonObject:
        """Return all four fields."""
        return {
            "reason": json_value(self.reason),
            "maxTimeSeconds": json_value(self.max_time_seconds),
            "action": json_value(self.action),
            "state": json_value(self.state),
        }


_QUEUE_FIELDS: Final = (
    "jobQueueName",
    "state",
    "priority",
    "schedulingPolicy",
    "serviceEnvironment",
    "quotaShares",
    "jobStateTimeLimitActions",
)


@dataclass(frozen=True, slots=True)
class QuotaQueue:
    """A whole design: a quota-managed job queue with its policy, its service environment and its shares.

    ``name`` is ``None`` when CloudFormation generates one. ``priority`` is required by AWS and has no effect
    here, since a quota-managed environment serves one queue alone.
    """

    service_environment: ServiceEnvironment
    quota_shares: tuple[QuotaShare, ...] = ()
    name: str | Unknown | None = None
    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    priority: float | Unknown = 1
    state: State | Unknown = State.ENABLED
    job_state_time_limit_actions: tuple[JobStateTimeLimitAction, ...] = ()

    def share(self, name: str) -> QuotaShare:
        """Return the share of this name; raises :class:`DesignError` if there is none."""
        for share in self.quota_shares:
            if share.name == name:
                return share
        names = ", ".join(str(share.name) for share in self.quota_shares)
        raise DesignError(f"the queue has no quota share {name!r}; it has {names or 'none'}")

    @classmethod
    def from_json(cls, value: object, place: str = "design") -> Self:
        """Read the form that :meth:`to_json` writes; what is left out takes AWS's default."""
        fields = object_from_json(value, place, _QUEUE_FIELDS)
        if "serviceEnvironment" not in fields:
            raise DesignError(f"{place}: serviceEnvironment is missing; add it")
        return cls(
            ServiceEnvironment.from_json(fields["serviceEnvironment"], f"{place}.serviceEnvironment"),
            tuple(
                QuotaShare.from_json(item, at)
                for at, item in list_from_json(fields.get("quotaShares", []), f"{place}.quotaShares")
            ),
            _name_from_json(fields, "jobQueueName", place),
            SchedulingPolicy.from_json(fields.get("schedulingPolicy", {}), f"{place}.schedulingPolicy"),
            number_from_json(fields.get("priority", 1), f"{place}.priority"),
            _state_from_json(fields, place),
            tuple(
                JobStateTimeLimitAction.from_json(item, at)
                for at, item in list_from_json(
                    fields.get("jobStateTimeLimitActions", []), f"{place}.jobStateTimeLimitActions"
                )
            ),
        )

    def to_json(self) -> JsonObject:
        """Return the whole design as plain JSON values; null stands for what is known only at deployment."""
        return {
            **_named("jobQueueName", self.name),
            "state": json_value(self.state),
            "priority": json_value(self.priority),
            "schedulingPolicy": self.scheduling_policy.to_json(),
            "serviceEnvironment": self.service_environment.to_json(),
            "quotaShares": [share.to_json() for share in self.quota_shares],
            "jobStateTimeLimitActions": [action.to_json() for action in self.job_state_time_limit_actions],
        }


def _state_from_json(fields: JsonObject, place: str) -> State | Unknown:
    return choice_from_json(fields.get("state", State.ENABLED), f"{place}.state", State, any_case=False)


def _name_from_json(fields: JsonObject, key: str, place: str) -> str | Unknown | None:
    return text_from_json(fields[key], f"{place}.{key}") if key in fields else None


def _named(key: str, name: str | Unknown | None) -> dict[str, Any]:
    return {} if name is None else {key: json_value(name)}
