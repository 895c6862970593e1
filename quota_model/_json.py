"""Reading JSON into a design: each helper takes one value and where it stands, and says what is wrong there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import Enum, StrEnum
from typing import Any, TypeVar

from quota_model.unknown import UNKNOWN, Unknown

JsonObject = dict[str, Any]
_Choice = TypeVar("_Choice", bound=StrEnum)


class DesignError(ValueError):
    """Input that does not have the shape of a design; the message names the place and what belongs there."""


def object_from_json(value: object, place: str, fields: Collection[str]) -> JsonObject:
    """Return ``value`` as an object that has no other fields than ``fields``."""
    if not isinstance(value, dict):
        raise DesignError(f"{place}: {_shown(value)} is not an object; write one with {_listed(fields)}")
    for key in value:
        if key not in fields:
            raise DesignError(f"{place}: unknown field {_shown(key)}; the fields are {_listed(fields)}")
    return value


def list_from_json(value: object, place: str) -> Iterator[tuple[str, Any]]:
    """Yield each item of a list with the place it stands at."""
    if not isinstance(value, list):
        raise DesignError(f"{place}: {_shown(value)} is not a list; write one")
    for index, item in enumerate(value):
        yield f"{place}[{index}]", item


def text_from_json(value: object, place: str) -> str | Unknown:
    """Return a text, or ``UNKNOWN`` for null."""
    if value is None:
        return UNKNOWN
    if not isinstance(value, str):
        raise DesignError(f"{place}: {_shown(value)} is not a text; put it in quotes")
    return value


def number_from_json(value: object, place: str) -> float | Unknown:
    """Return a number as it stands (the rules judge it), or ``UNKNOWN`` for null."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DesignError(f"{place}: {_shown(value)} is not a number; write a whole number without quotes")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def choice_from_json(value: object, place: str, choices: type[_Choice], *, any_case: bool = True) -> _Choice | Unknown:
    """Return the member of ``choices`` with this value; null is ``UNKNOWN``.

    :param any_case: whether the case of letters does not matter; to CloudFormation it does for a state alone.
    """
    if value is None:
        return UNKNOWN
    try:
        return choices(str(value).upper() if any_case else str(value))
    except ValueError:
        raise DesignError(f"{place}: {_shown(value)} is not one of {_listed(choices)}; use one of them") from None


def json_value(value: object) -> Any:
    """Return the JSON form of one field."""
    if value is UNKNOWN:
        return None
    return value.value if isinstance(value, Enum) else value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _listed(values: Collection[str] | type[StrEnum]) -> str:
    return ", ".join(str(value) for value in values)
