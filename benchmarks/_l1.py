"""Quota shares written with CDK's L1 classes by hand, as somebody without this library writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from aws_cdk import App, Stack
from aws_cdk import aws_batch as batch
from constructs import Construct

QUEUES: Final = 15
SHARES_OF_A_QUEUE: Final = 20
SHARES: Final = QUEUES * SHARES_OF_A_QUEUE
UNIT: Final = "ml.g5.xlarge"
QUEUE_ARN: Final = "arn:aws:batch:us-east-1:111122223333:job-queue/gpus"
_Share = batch.CfnQuotaShare


def synthesize(build: Callable[[Stack], None], directory: str) -> None:
    """Build and synthesize an app, with all that a CDK app does by default."""
    app = App(outdir=directory)
    build(Stack(app, "Stack"))
    app.synth()


def queues(stack: Stack) -> None:
    """Define queues with 20 shares each."""
    for number in range(QUEUES):
        scope = Construct(stack, f"Gpus{number}")
        policy = batch.CfnSchedulingPolicy(
            scope,
            "SchedulingPolicy",
            quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(
                idle_resource_assignment_strategy="FIFO"
            ),
        )
        environment = batch.CfnServiceEnvironment(
            scope,
            "ServiceEnvironment",
            service_environment_type="SAGEMAKER_TRAINING",
            capacity_limits=[
                batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=UNIT, max_capacity=SHARES_OF_A_QUEUE)
            ],
        )
        queue = batch.CfnJobQueue(
            scope,
            "JobQueue",
            job_queue_type="SAGEMAKER_TRAINING",
            priority=1,
            scheduling_policy_arn=policy.attr_arn,
            service_environment_order=[
                batch.CfnJobQueue.ServiceEnvironmentOrderProperty(
                    order=1, service_environment=environment.attr_service_environment_arn
                )
            ],
        )
        before = None
        arn = queue.attr_job_queue_arn
        for place in range(SHARES_OF_A_QUEUE):
            resource = share(scope, f"Share{place}", arn, f"Share{place}")
            if before is not None:
                resource.add_resource_dependency(before)
            before = resource


def shares(stack: Stack) -> None:
    """Define as many shares of one queue that exists."""
    for number in range(SHARES):
        share(stack, f"Share{number}", QUEUE_ARN, f"Share{number}")


def share(scope: Construct, id: str, queue_arn: str, name: str) -> batch.CfnQuotaShare:
    """Define a share."""
    return _Share(
        scope,
        id,
        job_queue=queue_arn,
        quota_share_name=name,
        capacity_limits=[_Share.QuotaShareCapacityLimitProperty(capacity_unit=UNIT, max_capacity=1)],
        preemption_configuration=_Share.QuotaSharePreemptionConfigurationProperty(in_share_preemption="ENABLED"),
        resource_sharing_configuration=_Share.QuotaShareResourceSharingConfigurationProperty(
            strategy="LEND_AND_BORROW", borrow_limit=200
        ),
    )
