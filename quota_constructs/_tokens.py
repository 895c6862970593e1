"""What the rules may know of a value that can be a CDK token.

Asking CDK costs a trip to its process for every value, so the two forms that tokens have in Python are told
apart here: a text that contains the marker, and a number far below any that a design has.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from quota_constructs.errors import QuotaConstructsError
from quota_model.design import UNKNOWN, ResourceSharing, Unknown

_TEXT_MARKER = "${Token["
_NUMBERS_END = -1e280  # CDK encodes number tokens as floats around -1.888e289.
_Text = TypeVar("_Text", bound=str)
_Choice = TypeVar("_Choice", bound=StrEnum)


def is_token(value: object) -> bool:
    """Return whether a text or number is, or contains, a CDK token."""
    if isinstance(value, str):
        return _TEXT_MARKER in value
    return isinstance(value, int | float) and value < _NUMBERS_END


def known_text(value: _Text) -> _Text | Unknown:
    """Return a text, or ``UNKNOWN`` if it is a token."""
    return UNKNOWN if is_token(value) else value


def known_number(value: float) -> float | Unknown:
    """Return a number, or ``UNKNOWN`` if it is a token."""
    return UNKNOWN if is_token(value) else value


def known_name(value: str | None) -> str | Unknown | None:
    """Return a name, ``UNKNOWN`` if it is a token, ``None`` if CloudFormation generates it."""
    return None if value is None else known_text(value)


def known_choice(value: str | None, default: _Choice, prop: str) -> _Choice | Unknown:
    """Return the member that a property names, ``UNKNOWN`` if it is a token, ``default`` if it is left out."""
    if value is None:
        return default
    if is_token(value):
        return UNKNOWN
    choices = type(default)
    try:
        return choices(value)
    except ValueError:
        raise QuotaConstructsError(f"{prop} {value!r} is not one of {', '.join(choices)}; use one of them") from None


def known_sharing(sharing: ResourceSharing) -> ResourceSharing:
    """Return the resource sharing of a property as the rules see it."""
    if UNKNOWN in (sharing.strategy, sharing.borrow_limit):
        raise QuotaConstructsError(
            "resource_sharing has a part that is UNKNOWN, which no template can hold; give a value or a CDK token"
        )
    strategy, borrow_limit = sharing.strategy, sharing.borrow_limit
    if not is_token(strategy) and not is_token(borrow_limit):
        return sharing
    return ResourceSharing(
        UNKNOWN if is_token(strategy) else strategy, UNKNOWN if is_token(borrow_limit) else borrow_limit
    )
