"""Texts that are known in part, such as the ARN of a job queue that a template declares.

Its account only the deployment decides, and the name in it is the queue's. Kept as pieces, such a text can be joined
and split, and still leads to the resource that it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

from quota_model.design import UNKNOWN, Unknown
from quotactl.designs.templates import Template

__all__ = ["NAMED_TYPES", "NameOf", "NamedType", "Segment", "Text", "arn_of", "joined", "split"]


class Segment(Enum):
    """A part of an ARN that the deployment fills in; it has neither a colon nor a slash."""

    PARTITION = "partition"
    REGION = "region"
    ACCOUNT = "account"


@dataclass(frozen=True)
class NameOf:
    """The name of a resource of this type, declared in ``template``."""

    template: Template
    logical_id: str
    type: str


Piece = str | Segment | NameOf | Unknown


@dataclass(frozen=True)
class Text:
    """A text that is not known as a whole."""

    pieces: tuple[Piece, ...]


class NamedType(NamedTuple):
    """A resource type whose ARN ends in its name; ``Ref`` and an attribute give the ARN."""

    arn_attribute: str
    name_property: str
    word: str
    """What stands before the name in the ARN."""


NAMED_TYPES: Final = {
    "AWS::Batch::JobQueue": NamedType("JobQueueArn", "JobQueueName", "job-queue"),
    "AWS::Batch::SchedulingPolicy": NamedType("Arn", "Name", "scheduling-policy"),
    "AWS::Batch::ServiceEnvironment": NamedType(
        "ServiceEnvironmentArn", "ServiceEnvironmentName", "service-environment"
    ),
}

_MAX_TEXT: Final = 10_000
"""Characters of a resolved text; outputs that repeat one another could make it endless."""


def arn_of(template: Template, logical_id: str) -> Any:
    """Return the ARN of a queue, policy or environment that the template declares; ``UNKNOWN`` of anything else."""
    definition = template.section("Resources").get(logical_id)
    kind = definition.get("Type") if isinstance(definition, dict) else None
    if not isinstance(kind, str) or kind not in NAMED_TYPES:
        return UNKNOWN
    region = template.region or Text((Segment.REGION,))
    account = template.account or Text((Segment.ACCOUNT,))
    name = Text((NameOf(template, logical_id, kind),))
    word = f":{NAMED_TYPES[kind].word}/"
    return joined("", ["arn:", Text((Segment.PARTITION,)), ":batch:", region, ":", account, word, name])


def joined(delimiter: str, values: Sequence[Any]) -> Any:
    """Join texts, known or in part; anything else that has no text is an unknown piece."""
    pieces: list[Piece] = []
    for index, value in enumerate(values):
        for piece in ([delimiter] if index else []) + list(_pieces(value)):
            if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
                pieces[-1] += piece
            elif piece != "":
                pieces.append(piece)
    known = [piece for piece in pieces if isinstance(piece, str)]
    if sum(map(len, known)) > _MAX_TEXT or len(pieces) > _MAX_TEXT:
        return UNKNOWN
    return "".join(known) if len(known) == len(pieces) else Text(tuple(pieces))


def _pieces(value: Any) -> Iterator[Piece]:
    if isinstance(value, Text):
        yield from value.pieces
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, str | int | float):
        yield str(value)
    else:
        yield UNKNOWN


def split(delimiter: str, value: Any) -> Any:
    """Split a text, known or in part; ``UNKNOWN`` where an unknown piece might hold the delimiter."""
    if isinstance(value, str):
        return value.split(delimiter)
    # Only a colon or a slash is certain not to be inside of a piece that is not known.
    if not isinstance(value, Text) or UNKNOWN in value.pieces or delimiter not in (":", "/"):
        return UNKNOWN
    parts: list[list[Piece]] = [[]]
    for piece in value.pieces:
        if isinstance(piece, str):
            first, *others = piece.split(delimiter)
            parts[-1].append(first)
            parts += [[other] for other in others]
        else:
            parts[-1].append(piece)
    return [joined("", [piece if isinstance(piece, str) else Text((piece,)) for piece in part]) for part in parts]
