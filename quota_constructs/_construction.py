"""How constructs are defined: from values of the right type, and whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from constructs import Construct

from quota_constructs.errors import QuotaConstructsError

_Init = TypeVar("_Init", bound=Callable[..., None])
_MAX_SHOWN = 100


def expect(holds: bool, prop: str, value: object, what: str, remedy: str) -> None:
    """Raise :class:`QuotaConstructsError` unless a property has the type that its annotation asks for.

    Nobody has to run a type checker, and what jsii says of a wrong type takes a page, or comes too late.

    :param holds: whether it has.
    :param what: what belongs there, with its article.
    :param remedy: what to write.
    """
    if not holds:
        shown = repr(value)
        shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 3]}..."
        raise QuotaConstructsError(f"{prop} {shown} is not {what}; {remedy}")


def expect_a_queue(prop: str, job_queue: object) -> None:
    """Raise :class:`QuotaConstructsError` unless a property is a job queue of any kind: ours, an L1, or imported."""
    # Of ours, the class is asked: its reference would be made anew each time.
    has_reference = hasattr(type(job_queue), "job_queue_ref") or hasattr(job_queue, "job_queue_ref")
    remedy = "give a TrainingJobQueue, defined or imported; of a QuotaManagedQueue, its job_queue"
    expect(has_reference, prop, job_queue, "a job queue", remedy)


def whole_or_not_at_all(init: _Init) -> _Init:
    """Let a construct whose ``__init__`` raises leave nothing in the tree, of itself or of its children."""

    @wraps(init)
    def defining(self: Any, scope: Construct, id: str, **props: Any) -> None:
        try:
            init(self, scope, id, **props)
        except BaseException:
            # Another one of this id may be why it failed: that one stays.
            if scope.node.try_find_child(id) is self:
                scope.node.try_remove_child(id)
            raise

    return cast("_Init", defining)
