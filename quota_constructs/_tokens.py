"""What the rules may know of a value that can be a CDK token.

Asking CDK costs a trip to its process for every value, so the two forms that tokens have in Python are told
apart here: a text that contains the marker, and a number far below any that a design has.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from quota_constructs._construction import expect
from quota_constructs.errors import QuotaConstructsError
from quota_model.design import UNKNOWN, ResourceSharing, SharingStrategy, Unknown

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
    """Return a number, or ``UNKNOWN`` if it is a token; 4.0, which Python makes of 8 / 2, is 4."""
    number: object = value  # True, too, is a number to Python.
    if isinstance(number, float) and number.is_integer() and not is_token(number):
        return int(number)
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
    expect(
        isinstance(sharing, ResourceSharing),
        "resource_sharing",
        sharing,
        "a ResourceSharing",
        "give ResourceSharing.reserve(), ResourceSharing.lend() or ResourceSharing.lend_and_borrow(borrow_limit=...)",
    )
    if UNKNOWN in (sharing.strategy, sharing.borrow_limit):
        raise QuotaConstructsError(
            "resource_sharing has a part that is UNKNOWN, which no template can hold; give a value or a CDK token"
        )
    strategy = known_choice(str(sharing.strategy), SharingStrategy.RESERVE, "resource_sharing's strategy")
    borrow_limit = sharing.borrow_limit
    if borrow_limit is not None and not isinstance(borrow_limit, Unknown):
        borrow_limit = known_number(borrow_limit)
    return ResourceSharing(strategy, borrow_limit)
