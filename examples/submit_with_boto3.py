"""Submit training jobs to a quota share with boto3, raise a priority, and see who waits.

Works the same on a real account and on the local AWS::

    quotactl local up --detach --speed 60
    quotactl local exec -- cdk bootstrap
    quotactl local exec -- cdk deploy ThreeQuota
    quotactl local exec -- python -m examples.submit_with_boto3 <JobQueueName output> --share background

On a real account, give --role, --image and --output too: the job runs there, and costs what its instance costs.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

__all__ = ["main", "submit", "waiting"]


def submit(
    batch: Any,
    queue: str,
    share: str,
    name: str,
    *,
    instance_type: str,
    priority: int = 0,
    role: str = "arn:aws:iam::123456789012:role/training",
    image: str = "123456789012.dkr.ecr.us-east-1.amazonaws.com/training:latest",
    output: str = "s3://training-output/",
) -> str:
    """Submit one training job of one instance to a quota share and return the service job's id.

    The payload is SageMaker's CreateTrainingJob request. A job that can be preempted keeps checkpoints
    (``CheckpointConfig``) and begins again from the latest.
    """
    training_job = {
        "TrainingJobName": name,
        "RoleArn": role,
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": output},
        "CheckpointConfig": {"S3Uri": f"{output.rstrip('/')}/checkpoints/{name}"},
        "ResourceConfig": {"InstanceType": instance_type, "InstanceCount": 1, "VolumeSizeInGB": 50},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    }
    response = batch.submit_service_job(
        jobName=name,
        jobQueue=queue,
        serviceJobType="SAGEMAKER_TRAINING",
        quotaShareName=share,
        schedulingPriority=priority,
        retryStrategy={"attempts": 1},
        serviceRequestPayload=json.dumps(training_job),
    )
    return str(response["jobId"])


def waiting(batch: Any, queue: str, share: str) -> list[dict[str, Any]]:
    """Return the jobs of a share that wait, newest first."""
    pages = batch.get_paginator("list_service_jobs").paginate(
        jobQueue=queue, jobStatus="RUNNABLE", filters=[{"name": "QUOTA_SHARE_NAME", "values": [share]}]
    )
    return [job for page in pages for job in page["jobSummaryList"]]


def main() -> int:
    """Submit three jobs with rising priorities, then raise the one that waits."""
    parser = argparse.ArgumentParser(description="Submit training jobs to a quota share.")
    parser.add_argument("queue", help="the job queue's name or ARN: the stack's output JobQueueName")
    parser.add_argument("--share", default="background")
    parser.add_argument("--instance-type", default="ml.g5.xlarge")
    for option in ("role", "image", "output"):
        parser.add_argument(f"--{option}")
    arguments = parser.parse_args()
    given = {name: getattr(arguments, name) for name in ("role", "image", "output")}
    settings = {name: value for name, value in given.items() if value is not None}
    try:
        batch = boto3.client("batch")
        for priority, name in enumerate(("low", "med", "high"), start=1):
            job = submit(
                batch,
                arguments.queue,
                arguments.share,
                name,
                instance_type=arguments.instance_type,
                priority=priority,
                **settings,
            )
            sys.stdout.write(f"{name}: {job}\n")
        for summary in waiting(batch, arguments.queue, arguments.share):
            batch.update_service_job(jobId=summary["jobId"], schedulingPriority=10)
            sys.stdout.write(
                f"{summary['jobName']} waits: {summary.get('statusReason', 'for capacity')}; raised to 10\n"
            )
    except (ClientError, BotoCoreError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
