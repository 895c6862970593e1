"""Where things have to be: AWS Batch knows nothing of other accounts and Regions than its own."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary, WeakSet

from aws_cdk import Stack
from aws_cdk.interfaces import IEnvironmentAware
from aws_cdk.interfaces import aws_batch as refs
from constructs import IConstruct

from quota_constructs._construction import expect_a_queue
from quota_constructs._tokens import is_token
from quota_constructs.errors import QuotaConstructsError

_near: WeakKeyDictionary[IConstruct, WeakSet[IEnvironmentAware]] = WeakKeyDictionary()
"""What is not known to be elsewhere than a scope: asking takes trips to CDK's process, too many for each share."""


def note_defined(scope: IConstruct, resource: IEnvironmentAware) -> None:
    """Take note that a resource is defined in a scope, so that nobody need ask where it is to use it there."""
    _near.setdefault(scope, WeakSet()).add(resource)


def refuse_elsewhere(scope: IConstruct, job_queue: refs.IJobQueueRef, what: str) -> None:
    """Raise :class:`QuotaConstructsError` if the scope is known to be in another account or Region than the queue.

    AWS Batch shows a queue, and sends its events, in its own account and Region only.
    """
    expect_a_queue("job queue", job_queue)
    for kind, here, home in _differences(scope, job_queue):
        raise QuotaConstructsError(
            f"the queue is in {kind} {home}, {what} would be in {here}, where AWS Batch neither shows the queue nor "
            f"sends its events; define {what} in a stack of that {kind}"
        )


def refuse_parts_elsewhere(scope: IConstruct, what: str, other: IEnvironmentAware, what_other: str) -> None:
    """Raise :class:`QuotaConstructsError` if a resource is known to be elsewhere than one that it is tied to."""
    near = _near.setdefault(scope, WeakSet())
    if other in near:
        return
    for kind, here, home in _differences(scope, other):
        raise QuotaConstructsError(
            f"{what_other} is in {kind} {home}, {what} would be in {here}, and AWS Batch ties only resources of one "
            f"account and Region; define both in stacks of the same {kind}"
        )
    near.add(other)


def _differences(scope: IConstruct, other: IEnvironmentAware) -> Iterator[tuple[str, str, str]]:
    stack, there = Stack.of(scope), other.env
    for kind, here, home in (("account", stack.account, there.account), ("Region", stack.region, there.region)):
        if not is_token(here) and not is_token(home) and here != home:
            yield kind, here, home
