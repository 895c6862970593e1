"""What the local Batch tells the scheduler, and what it shows of its queues."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quotactl.local.aws import LocalAws
from tests.quotactl.local.conftest import START, Call, SentEvents

UNIT = "ml.g5.xlarge"


class Queue:
    """A queue of one borrower and one lender, by the API alone."""

    def __init__(self, api: Call, lent: int) -> None:
        self.api = api
        policy = api("CreateSchedulingPolicy", name="p", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
        api(
            "CreateServiceEnvironment",
            serviceEnvironmentName="e",
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=[{"capacityUnit": UNIT, "maxCapacity": 1 + lent}],
        )
        api(
            "CreateJobQueue",
            jobQueueName="q",
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=policy["arn"],
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "e"}],
        )
        self.share("borrower", 1, "LEND_AND_BORROW")
        self.share("lender", lent, "LEND")

    def share(self, name: str, limit: int, strategy: str) -> None:
        self.api(
            "CreateQuotaShare",
            quotaShareName=name,
            jobQueue="q",
            capacityLimits=[{"capacityUnit": UNIT, "maxCapacity": limit}],
            resourceSharingConfiguration={"strategy": strategy},
            preemptionConfiguration={"inSharePreemption": "DISABLED"},
        )

    def submit(self, share: str, behaviour: dict[str, Any] | None = None, **more: Any) -> str:
        request = {
            "TrainingJobName": "train",
            "RoleArn": "arn:aws:iam::123456789012:role/training",
            "OutputDataConfig": {"S3OutputPath": "s3://output"},
            "ResourceConfig": {"InstanceType": UNIT, "InstanceCount": 1},
            "Environment": {"QUOTACTL_LOCAL": json.dumps(behaviour or {"trainingSeconds": 3600})},
        }
        response = self.api(
            "SubmitServiceJob",
            jobName="train",
            jobQueue="q",
            serviceJobType="SAGEMAKER_TRAINING",
            quotaShareName=share,
            serviceRequestPayload=json.dumps(request),
            **more,
        )
        return str(response["jobId"])

    def describe(self, job: str) -> dict[str, Any]:
        return self.api("DescribeServiceJob", jobId=job)

    def positions(self) -> list[int]:
        front = self.api("GetJobQueueSnapshot", jobQueue="q")["frontOfQueue"]["jobs"]
        return [job["earliestTimeAtPosition"] - START for job in front]


@pytest.fixture
def queue(api: Call) -> Queue:
    return Queue(api, lent=2)


def test_a_job_that_has_not_started_goes_before_a_running_one_of_lower_priority(aws: LocalAws, queue: Queue) -> None:
    own, running = queue.submit("borrower", schedulingPriority=9), queue.submit("borrower", schedulingPriority=1)
    aws.clock.advance(100_000)
    starting = queue.submit("borrower", schedulingPriority=5)
    aws.clock.advance(40_000)
    assert [queue.describe(job)["status"] for job in (own, running, starting)] == ["RUNNING", "RUNNING", "STARTING"]
    queue.submit("lender")
    assert queue.describe(starting)["statusReason"].startswith("PREEMPTION_IN_PROGRESS")
    assert "statusReason" not in queue.describe(running)


def test_a_stopping_job_still_counts_in_the_snapshot(aws: LocalAws, queue: Queue) -> None:
    for _ in range(3):
        queue.submit("borrower")
    aws.clock.advance(100_000)
    queue.submit("lender")
    usage = queue.api("GetJobQueueSnapshot", jobQueue="q")["queueUtilization"]
    assert usage["totalCapacityUsage"] == [{"capacityUnit": UNIT, "quantity": 3.0}]


def test_positions_are_dated_from_when_the_job_came_there(aws: LocalAws, queue: Queue) -> None:
    jobs = [queue.submit("borrower") for _ in range(3)]
    aws.clock.advance(1000)
    queue.submit("borrower")
    aws.clock.advance(1000)
    queue.submit("borrower")
    aws.clock.advance(1000)
    assert queue.positions() == [1000, 2000]
    queue.api("TerminateServiceJob", jobId=jobs[0], reason="enough")
    aws.clock.advance(120_000)
    assert queue.positions() == [123_000]


def test_the_same_job_is_told_of_once_at_each_change(aws: LocalAws, queue: Queue, events: SentEvents) -> None:
    job = queue.submit("borrower")
    aws.clock.advance(10_000_000)
    statuses = [detail["status"] for detail in events.details("Batch Service Job State Change")]
    assert statuses == ["RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED"]
    assert queue.describe(job)["status"] == "SUCCEEDED"


def test_a_job_that_is_terminated_while_it_is_preempted_is_failed_for_its_users_reason(
    aws: LocalAws, queue: Queue
) -> None:
    jobs = [queue.submit("borrower") for _ in range(3)]
    aws.clock.advance(100_000)
    queue.submit("lender")
    victim = next(job for job in jobs if "statusReason" in queue.describe(job))
    queue.api("TerminateServiceJob", jobId=victim, reason="not needed")
    aws.clock.advance(200_000)
    described = queue.describe(victim)
    assert (described["status"], described["statusReason"]) == ("FAILED", "not needed")


def test_a_share_is_deleting_until_its_jobs_have_stopped(aws: LocalAws, queue: Queue) -> None:
    job = queue.submit("lender")
    aws.clock.advance(100_000)
    arn = queue.api("ListQuotaShares", jobQueue="q")["quotaShares"][1]["quotaShareArn"]
    queue.api("UpdateQuotaShare", quotaShareArn=arn, state="DISABLED")
    queue.api("DeleteQuotaShare", quotaShareArn=arn)
    assert queue.api("DescribeQuotaShare", quotaShareArn=arn)["status"] == "DELETING"
    aws.clock.advance(120_000)
    assert [share["quotaShareName"] for share in queue.api("ListQuotaShares", jobQueue="q")["quotaShares"]] == [
        "borrower"
    ]
    assert queue.describe(job)["status"] == "FAILED"


def test_a_job_that_never_finds_instances_tries_again_for_ever_and_time_goes_on(aws: LocalAws, queue: Queue) -> None:
    never = {"capacityShortages": 999_999_999, "pendingSeconds": 0}
    job = queue.submit("borrower", behaviour=never)
    aws.clock.advance(60_000)
    assert queue.describe(job)["status"] in ("RUNNABLE", "SCHEDULED")
    assert aws.clock.now() == START + 60_000
