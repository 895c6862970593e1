"""Capacity limits: from a property to the rules, and to the template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quota_constructs._construction import expect
from quota_constructs._tokens import known_number, known_text
from quota_model.design import UNKNOWN, CapacityLimit, CapacityLimits


def known_limits(capacity_limits: Mapping[str, float]) -> CapacityLimits:
    """Return the limits of a property as the rules see them."""
    expect_numbers_by_instance_type("capacity_limits", capacity_limits)
    return CapacityLimits(
        tuple(CapacityLimit(known_text(unit), known_number(limit)) for unit, limit in capacity_limits.items())
    )


def expect_numbers_by_instance_type(prop: str, numbers: Mapping[str, float]) -> None:
    """Raise :class:`QuotaConstructsError` unless a property is a mapping from texts; the rules judge the numbers."""
    remedy = 'write it as in {"ml.g5.xlarge": 1}'
    expect(isinstance(numbers, Mapping), prop, numbers, "a mapping from instance type to number", remedy)
    for unit in numbers:
        expect(isinstance(unit, str), f"instance type in {prop}", unit, "a text", remedy)


def rendered_limits(capacity_limits: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the limits of a property as an L1 takes them; plain dictionaries cross to jsii faster than structs."""
    return [{"capacityUnit": unit, "maxCapacity": limit} for unit, limit in capacity_limits.items()]


def limits_of_resource(capacity_limits: object) -> CapacityLimits:
    """Return the limits of an L1's property as the rules see them; what cannot be read is unknown."""
    if not isinstance(capacity_limits, list):
        return CapacityLimits((CapacityLimit(UNKNOWN, UNKNOWN),))
    return CapacityLimits(tuple(_limit_of_resource(limit) for limit in capacity_limits))


def _limit_of_resource(limit: object) -> CapacityLimit:
    unit, capacity = getattr(limit, "capacity_unit", None), getattr(limit, "max_capacity", None)
    return CapacityLimit(
        known_text(unit) if isinstance(unit, str) else UNKNOWN,
        known_number(capacity) if isinstance(capacity, int | float) else UNKNOWN,
    )
