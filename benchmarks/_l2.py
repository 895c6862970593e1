"""The same quota shares as in ``_l1``, written with this library."""

from __future__ import annotations

from aws_cdk import Stack

from benchmarks._l1 import QUEUE_ARN, QUEUES, SHARES, SHARES_OF_A_QUEUE, UNIT
from quota_constructs import QuotaManagedQueue, QuotaShare, ResourceSharing, TrainingJobQueue


def queues(stack: Stack) -> None:
    """Define queues with 20 shares each."""
    for number in range(QUEUES):
        gpus = QuotaManagedQueue(stack, f"Gpus{number}", capacity_limits={UNIT: SHARES_OF_A_QUEUE})
        for share in range(SHARES_OF_A_QUEUE):
            gpus.add_quota_share(
                f"Share{share}",
                capacity_limits={UNIT: 1},
                resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
                in_share_preemption=True,
            )


def shares(stack: Stack) -> None:
    """Define as many shares of one queue that exists."""
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    for number in range(SHARES):
        QuotaShare(
            stack,
            f"Share{number}",
            job_queue=queue,
            capacity_limits={UNIT: 1},
            resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
            in_share_preemption=True,
        )
