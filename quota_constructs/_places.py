"""Where things have to be that look at a queue or hear of it."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk.interfaces import aws_batch as refs
from constructs import IConstruct

from quota_constructs._tokens import is_token
from quota_constructs.errors import QuotaConstructsError


def refuse_elsewhere(scope: IConstruct, job_queue: refs.IJobQueueRef, what: str) -> None:
    """Raise :class:`QuotaConstructsError` if the scope is known to be in another account or Region than the queue.

    AWS Batch shows a queue, and sends its events, in its own account and Region only.
    """
    stack, there = Stack.of(scope), job_queue.env
    for kind, here, home in (("account", stack.account, there.account), ("Region", stack.region, there.region)):
        if not is_token(here) and not is_token(home) and here != home:
            raise QuotaConstructsError(
                f"the queue is in {kind} {home}, {what} would be in {here}, where AWS Batch neither shows the queue nor "
                f"sends its events; define {what} in a stack of that {kind}"
            )
