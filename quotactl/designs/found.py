"""What reading an input gives: designs, each part with the place it comes from, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quota_model.design import QuotaQueue, QuotaShare

__all__ = ["Designs", "LocatedQueue", "LocatedShare", "Place", "Remark"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part of a design is declared; a design file has neither stack nor logical ids."""

    file: str
    stack: str | None = None
    logical_id: str | None = None
    construct_path: str | None = None

    def __str__(self) -> str:
        return self.construct_path or "/".join(part for part in (self.stack, self.logical_id) if part) or self.file


@dataclass(frozen=True, slots=True)
class LocatedShare:
    """A quota share and where it is declared."""

    share: QuotaShare
    place: Place


@dataclass(frozen=True, slots=True)
class LocatedQueue:
    """A design, where the queue is declared, and where its parts are.

    A part that the input refers to without declaring it has no place, and its values are unknown.
    """

    queue: QuotaQueue
    place: Place
    environment_place: Place | None
    policy_place: Place | None
    share_places: tuple[Place, ...]
    queues_of_environment: int = 1
    """How many job queues of the input refer to the service environment."""
    environments: int = 1
    """How many service environments the queue names; with another number than one, their values are unknown."""

    @property
    def shares(self) -> Iterator[LocatedShare]:
        """The queue's shares with their places."""
        return map(LocatedShare, self.queue.quota_shares, self.share_places)


@dataclass(frozen=True, slots=True)
class Remark:
    """Something the reader did not judge, or judged under an assumption, and why."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Designs:
    """All that an input declares.

    ``loose_shares`` belong to a queue that the input does not declare; they are judged by themselves.
    """

    queues: tuple[LocatedQueue, ...]
    loose_shares: tuple[LocatedShare, ...] = ()
    remarks: tuple[Remark, ...] = ()
