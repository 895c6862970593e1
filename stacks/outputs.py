"""What someone who submits a job must know of a stack."""

from __future__ import annotations

from aws_cdk import CfnOutput
from constructs import Construct

from quota_constructs import QuotaManagedQueue


def output_what_submitting_needs(stack: Construct, queue: QuotaManagedQueue, instance_type: str) -> None:
    """Add the queue, each share and the instance type to a stack's outputs, which no other stack imports."""
    CfnOutput(stack, "JobQueueName", value=queue.job_queue.job_queue_name, description="jobQueue of SubmitServiceJob")
    CfnOutput(stack, "JobQueueArn", value=queue.job_queue.job_queue_arn, description="jobQueue, from another account")
    for share in queue.quota_shares:
        CfnOutput(
            stack,
            f"{share.node.id}QuotaShareName",
            value=share.quota_share_name,
            description="quotaShareName of SubmitServiceJob",
        )
    CfnOutput(stack, "InstanceType", value=instance_type, description="ResourceConfig.InstanceType of a job's payload")
