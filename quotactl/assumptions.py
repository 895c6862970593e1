"""Options where AWS is silent, as users give them: ``NAME=VALUE``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from enum import Enum
from typing import Any

__all__ = ["AssumptionError", "pairs", "with_assumptions"]

_MOST_DIGITS = 9
_YES_AND_NO = {"yes": True, "true": True, "no": False, "false": False}


class AssumptionError(ValueError):
    """An option that does not exist, or a value that it does not take."""


def pairs(texts: Iterable[str]) -> dict[str, str]:
    """Return the options of texts such as ``victim_order=newest``.

    :raises AssumptionError: if one has no ``=``.
    """
    found = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise AssumptionError(f"{text!r} is no assumption; give NAME=VALUE, such as victim_order=newest")
        found[name.strip().replace("-", "_")] = value.strip()
    return found


def with_assumptions(values: Mapping[str, object], *options: Any) -> tuple[Any, ...]:
    """Return the options, which are dataclasses, with these values in place of theirs where they have the name.

    :raises AssumptionError: if no option has the name, or the option does not take the value.
    """
    known = {field.name for option in options for field in fields(option)}
    for name in values:
        if name not in known:
            raise AssumptionError(f"there is no assumption {name!r}; there are {', '.join(sorted(known))}")
    return tuple(_changed(option, values) for option in options)


def _changed(options: Any, values: Mapping[str, object]) -> Any:
    given = {field.name: getattr(options, field.name) for field in fields(options) if field.name in values}
    chosen = {name: _like(default, name, values[name]) for name, default in given.items()}
    try:
        return replace(options, **chosen)
    except ValueError as error:
        raise AssumptionError(str(error)) from error


def _like(default: object, name: str, value: object) -> object:
    text = str(value).lower()
    if isinstance(default, bool):
        if text in _YES_AND_NO:
            return _YES_AND_NO[text]
        raise AssumptionError(f"{name} is {value!r}; give yes or no")
    if isinstance(default, Enum):
        choices = [str(choice.value) for choice in type(default)]
        if text in choices:
            return type(default)(text)
        raise AssumptionError(f"{name} is {value!r}; give one of {', '.join(choices)}")
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise AssumptionError(f"{name} is {str(value)[:50]!r}; give a whole number of at least 0")
    return int(text)
