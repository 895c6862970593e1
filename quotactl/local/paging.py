"""Pages of a list, as AWS's operations give them: ``maxResults`` and an opaque ``nextToken``."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any, TypeVar

from quotactl.local.errors import ClientException

__all__ = ["page"]

_Item = TypeVar("_Item")
_LARGEST_PAGE = 100


def page(items: Sequence[_Item], request: dict[str, Any]) -> tuple[Sequence[_Item], dict[str, str]]:
    """Return one page and ``{nextToken}``, empty on the last page; a page has at most 100 items."""
    size = request.get("maxResults", _LARGEST_PAGE)
    if not 1 <= size <= _LARGEST_PAGE:
        raise ClientException(f"maxResults is {size}; it must be between 1 and {_LARGEST_PAGE}.")
    start = _position(request.get("nextToken"), len(items))
    following = {"nextToken": _token(start + size)} if start + size < len(items) else {}
    return items[start : start + size], following


def _token(position: int) -> str:
    return base64.urlsafe_b64encode(f"quotactl:{position}".encode()).decode()


def _position(token: str | None, length: int) -> int:
    if token is None:
        return 0
    try:
        scheme, _, position = base64.urlsafe_b64decode(token.encode()).decode().partition(":")
        if scheme == "quotactl" and int(position) >= 0:
            return min(int(position), length)
    except (binascii.Error, ValueError):
        pass
    raise ClientException("nextToken is not one that this operation returned; start again without it.")
