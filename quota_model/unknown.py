"""The value of a design's field that only a deployment decides."""

from __future__ import annotations

from enum import Enum
from typing import Final

__all__ = ["UNKNOWN", "Unknown"]


class Unknown(Enum):
    """The type of :data:`UNKNOWN`, so that annotations can name it."""

    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return "(known at deployment)"


UNKNOWN: Final = Unknown.UNKNOWN
"""A value that is not known before deployment: a CDK token, a CloudFormation parameter. Its JSON form is null.

Every rule stays silent about it: nothing is refused for a value nobody has seen yet.
"""
