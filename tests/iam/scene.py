"""A queue with the shares of two teams, of every kind that a grant can be made on."""

from __future__ import annotations

from collections.abc import Callable

from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_batch as refs

from quota_constructs import QuotaManagedQueue, QuotaShare, ResourceSharing, ServiceEnvironment, TrainingJobQueue
from tests.iam.templates import ACCOUNT, REGION

BATCH = f"arn:aws:batch:{REGION}:{ACCOUNT}"
QUEUE = f"{BATCH}:job-queue/gpus"
SHARE = f"{QUEUE}/quota-share/vision"
OTHER_SHARE = f"{QUEUE}/quota-share/speech"
OTHER_QUEUE = f"{BATCH}:job-queue/cpus"
ENVIRONMENT = f"{BATCH}:service-environment/gpus"
OTHER_ENVIRONMENT = f"{BATCH}:service-environment/cpus"

VISION = {"team": "vision"}
SPEECH = {"team": "speech"}
LIMITS = {"ml.g5.xlarge": 1}


def grantee(stack: Stack) -> iam.Role:
    """The role that things are granted to."""
    return iam.Role(stack, "Grantee", assumed_by=iam.AccountRootPrincipal())


def _our_queue(stack: Stack) -> QuotaManagedQueue:
    return QuotaManagedQueue(
        stack, "Gpus", capacity_limits=LIMITS, job_queue_name="gpus", service_environment_name="gpus"
    )


def _our_share(stack: Stack) -> refs.IQuotaShareRef:
    queue = _our_queue(stack)
    return queue.add_quota_share("vision", capacity_limits=LIMITS, resource_sharing=ResourceSharing.reserve())


def _l1_share(stack: Stack) -> refs.IQuotaShareRef:
    return batch.CfnQuotaShare(
        stack,
        "Share",
        quota_share_name="vision",
        job_queue=_l1_queue(stack).job_queue_ref.job_queue_arn,
        capacity_limits=[{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 1}],
        resource_sharing_configuration={"strategy": "RESERVE"},
        preemption_configuration={"inSharePreemption": "DISABLED"},
    )


def _l1_queue(stack: Stack) -> refs.IJobQueueRef:
    return batch.CfnJobQueue(stack, "Queue", job_queue_name="gpus", job_queue_type="SAGEMAKER_TRAINING", priority=1)


def _l1_environment(stack: Stack) -> refs.IServiceEnvironmentRef:
    return batch.CfnServiceEnvironment(
        stack,
        "Environment",
        service_environment_name="gpus",
        service_environment_type="SAGEMAKER_TRAINING",
        capacity_limits=[{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 1}],
    )


def _parameter(stack: Stack, arn: str) -> str:
    return CfnParameter(stack, "Arn", default=arn).value_as_string


SHARES: dict[str, Callable[[Stack], refs.IQuotaShareRef]] = {
    "our share": _our_share,
    "an L1": _l1_share,
    "a share imported by ARN": lambda stack: QuotaShare.from_quota_share_arn(stack, "Share", SHARE),
    "a share imported by a parameter": lambda stack: QuotaShare.from_quota_share_arn(
        stack, "Share", _parameter(stack, SHARE)
    ),
}

QUEUES: dict[str, Callable[[Stack], refs.IJobQueueRef]] = {
    "our queue": lambda stack: _our_queue(stack).job_queue,
    "an L1": _l1_queue,
    "a queue imported by ARN": lambda stack: TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE),
    "a queue imported by a parameter": lambda stack: TrainingJobQueue.from_job_queue_arn(
        stack, "Queue", _parameter(stack, QUEUE)
    ),
    "an upstream queue": lambda stack: batch.JobQueue.from_job_queue_arn(stack, "Queue", QUEUE),
}

ENVIRONMENTS: dict[str, Callable[[Stack], refs.IServiceEnvironmentRef]] = {
    "our environment": lambda stack: _our_queue(stack).service_environment,
    "an L1": _l1_environment,
    "an environment imported by ARN": lambda stack: ServiceEnvironment.from_service_environment_arn(
        stack, "Environment", ENVIRONMENT
    ),
}
