"""A queue as AWS Batch would describe it, behind boto3 clients that check every request against AWS's models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

QUEUE_ARN = "arn:aws:batch:us-east-1:123456789012:job-queue/my-job-queue"
ENVIRONMENT_ARN = "arn:aws:batch:us-east-1:123456789012:service-environment/my-environment"
JOB_ARN = "arn:aws:batch:us-east-1:123456789012:service-job"
TYPE = "ml.m5.large"
UPDATED = 1_700_000_000_000

# AWS Batch User Guide, "Track service job capacity utilization": the example of a quota-management queue.
GUIDE_SNAPSHOT: dict[str, Any] = {
    "frontOfQueue": {"jobs": [], "lastUpdatedAt": UPDATED},
    "frontOfQuotaShares": {"quotaShares": {"team-a-share": [], "team-b-share": []}, "lastUpdatedAt": UPDATED},
    "queueUtilization": {
        "totalCapacityUsage": [{"capacityUnit": TYPE, "quantity": 9.0}],
        "quotaShareUtilization": {
            "topCapacityUtilization": [
                {"quotaShareName": "team-a-share", "capacityUsage": [{"capacityUnit": TYPE, "quantity": 5.0}]},
                {"quotaShareName": "team-b-share", "capacityUsage": [{"capacityUnit": TYPE, "quantity": 4.0}]},
            ]
        },
        "lastUpdatedAt": UPDATED,
    },
}


def share(name: str, strategy: str, limits: Mapping[str, int]) -> dict[str, Any]:
    """Return a share as ListQuotaShares shows it."""
    return {
        "quotaShareName": name,
        "quotaShareArn": f"{QUEUE_ARN}/quota-share/{name}",
        "jobQueueArn": QUEUE_ARN,
        "capacityLimits": [{"capacityUnit": unit, "maxCapacity": limit} for unit, limit in limits.items()],
        "resourceSharingConfiguration": {"strategy": strategy},
        "preemptionConfiguration": {"inSharePreemption": "DISABLED"},
        "state": "ENABLED",
        "status": "VALID",
    }


def waiting_job(id: str, quota_share: str, instances: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return a RUNNABLE job as ListServiceJobs shows it."""
    job = {
        "jobId": id,
        "jobArn": f"{JOB_ARN}/{id}",
        "jobName": "train",
        "serviceJobType": "SAGEMAKER_TRAINING",
        "quotaShareName": quota_share,
        "status": "RUNNABLE",
    }
    if instances is not None:
        usage = [{"capacityUnit": unit, "quantity": quantity} for unit, quantity in instances.items()]
        return {**job, "capacityUsage": usage}
    return job


class StubbedBatch:
    """AWS Batch's answers, in the order in which they are asked for."""

    def __init__(self) -> None:
        self.client = boto3.client(
            "batch", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        self.stubber = Stubber(self.client)

    def describes(
        self, shares: Sequence[Mapping[str, Any]], capacity: Mapping[str, int], snapshot: Mapping[str, Any]
    ) -> None:
        """Answer what is asked of the queue itself."""
        queue = {
            "jobQueueName": "my-job-queue",
            "jobQueueArn": QUEUE_ARN,
            "state": "ENABLED",
            "priority": 1,
            "computeEnvironmentOrder": [],
            "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": ENVIRONMENT_ARN}],
            "jobQueueType": "SAGEMAKER_TRAINING",
        }
        environment = {
            "serviceEnvironmentName": "my-environment",
            "serviceEnvironmentArn": ENVIRONMENT_ARN,
            "serviceEnvironmentType": "SAGEMAKER_TRAINING",
            "capacityLimits": [{"capacityUnit": unit, "maxCapacity": limit} for unit, limit in capacity.items()],
        }
        self.stubber.add_response("describe_job_queues", {"jobQueues": [queue]}, {"jobQueues": [QUEUE_ARN]})
        self.stubber.add_response("list_quota_shares", {"quotaShares": list(shares)}, {"jobQueue": QUEUE_ARN})
        self.stubber.add_response("get_job_queue_snapshot", dict(snapshot), {"jobQueue": QUEUE_ARN})
        self.stubber.add_response(
            "describe_service_environments",
            {"serviceEnvironments": [environment]},
            {"serviceEnvironments": [ENVIRONMENT_ARN]},
        )

    def describes_job(
        self, id: str, *, quota_share: str, queue: str = QUEUE_ARN, status: str = "RUNNABLE", reason: str | None = None
    ) -> None:
        """Answer what is asked of one job."""
        job = {
            "jobId": id,
            "jobName": "train",
            "jobQueue": queue,
            "quotaShareName": quota_share,
            "serviceJobType": "SAGEMAKER_TRAINING",
            "startedAt": 0,
            "status": status,
        }
        if reason is not None:
            job["statusReason"] = reason
        self.stubber.add_response("describe_service_job", job, {"jobId": id})

    def lists(self, quota_share: str, *pages: Sequence[Mapping[str, Any]], and_more: bool = False) -> None:
        """Answer which jobs wait, page by page; the last one can say that there are more."""
        for number, page in enumerate(pages):
            answer: dict[str, Any] = {"jobSummaryList": list(page)}
            asked: dict[str, Any] = {
                "jobQueue": QUEUE_ARN,
                "jobStatus": "RUNNABLE",
                "filters": [{"name": "QUOTA_SHARE_NAME", "values": [quota_share]}],
                "maxResults": ANY,
            }
            if and_more or number + 1 < len(pages):
                answer["nextToken"] = f"page-{number + 1}"
            if number:
                asked["nextToken"] = f"page-{number}"
            self.stubber.add_response("list_service_jobs", answer, asked)


@pytest.fixture
def batch() -> Iterator[StubbedBatch]:
    """A boto3 client of AWS Batch whose answers the test gives, all of which must be asked for."""
    stubbed = StubbedBatch()
    with stubbed.stubber:
        yield stubbed
        stubbed.stubber.assert_no_pending_responses()
