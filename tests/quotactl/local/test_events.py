"""Events of the local Batch, delivered by EventBridge to a target of a rule."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quotactl.local.testing import RunningAws, local_aws  # noqa: F401
from tests.conformance.target import UNIT, Target

pytestmark = pytest.mark.slow


class Inbox:
    """An SQS queue that gets every event of AWS Batch."""

    def __init__(self, aws: RunningAws) -> None:
        self.sqs, events = aws.client("sqs"), aws.client("events")
        self.url = self.sqs.create_queue(QueueName="inbox")["QueueUrl"]
        arn = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        events.put_rule(Name="all", EventPattern=json.dumps({"source": ["aws.batch"]}))
        events.put_targets(Rule="all", Targets=[{"Id": "inbox", "Arn": arn}])

    def take(self, count: int = 1, last: str = "") -> list[dict[str, Any]]:
        """Return the next events, so many and at least one of the type ``last``; SQS waits for them."""
        taken: list[dict[str, Any]] = []
        for _ in range(20):
            messages = self.sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
            for message in messages.get("Messages", []):
                self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
                taken.append(json.loads(message["Body"]))
            if len(taken) >= count and last in {"", *(event["detail-type"] for event in taken)}:
                break
        return taken


@pytest.fixture(scope="module")
def inbox(local_aws: RunningAws) -> Inbox:  # noqa: F811
    return Inbox(local_aws)


@pytest.fixture
def target(local_aws: RunningAws) -> Target:  # noqa: F811
    return Target(local_aws.session(), local_aws.instance.endpoint, local_aws.advance)


def test_every_change_of_state_but_the_submission_is_told(target: Target, inbox: Inbox) -> None:
    queue = target.queue()
    job = target.submit(queue, target.share(queue), name="train", tags={"team": "a"})
    target.wait_for(job, "SUCCEEDED")
    events = inbox.take(5)
    described = target.describe(job)
    assert [event["detail"]["status"] for event in events] == [
        "RUNNABLE",
        "SCHEDULED",
        "STARTING",
        "RUNNING",
        "SUCCEEDED",
    ]
    assert {event["detail-type"] for event in events} == {"Batch Service Job State Change"}
    assert {event["source"] for event in events} == {"aws.batch"}
    assert all(event["resources"] == [described["jobArn"]] for event in events)
    last = events[-1]["detail"]
    expected = {
        key: value
        for key, value in described.items()
        if key not in ("tags", "serviceRequestPayload", "ResponseMetadata")
    }
    assert last == expected
    assert last["attempts"][0]["statusReason"] == "Received status from SageMaker: Training job completed"


def test_a_preemption_is_told_when_it_starts_and_when_it_is_complete(target: Target, inbox: Inbox) -> None:
    queue = target.queue({UNIT: 2})
    borrower = target.share(queue, strategy="LEND_AND_BORROW")
    lender = target.share(queue, strategy="LEND")
    jobs = [target.submit(queue, borrower) for _ in range(2)]
    for job in jobs:
        target.wait_for(job, "RUNNING")
    target.submit(queue, lender)
    victim = target.describe(jobs[1])
    target.wait_for(jobs[1], "RUNNABLE")
    events = {event["detail-type"]: event for event in inbox.take(last="Batch Service Job Preemption Completed")}
    started = events["Batch Service Job Preemption Started"]
    assert started["resources"] == [victim["jobArn"]]
    assert started["detail"] == {
        "statusReason": "PREEMPTION_IN_PROGRESS: Cross-share preemption triggered to reclaim borrowed capacity",
        "preemptedJobArn": victim["jobArn"],
        "status": "RUNNING",
    }
    completed = events["Batch Service Job Preemption Completed"]["detail"]
    assert completed == {
        "preemptedJobArn": victim["jobArn"],
        "preemptionSummary": target.describe(jobs[1])["preemptionSummary"],
        "status": "RUNNABLE",
    }


def test_a_blocked_head_is_told_with_its_reason(target: Target, inbox: Inbox) -> None:
    queue = target.queue()
    job = target.submit(queue, target.share(queue), payload=target.payload(instances=2))
    events = [
        event for event in inbox.take(last="Batch Service Job Queue Blocked") if event["resources"][0].endswith(job)
    ]
    (blocked,) = [event for event in events if event["detail-type"] == "Batch Service Job Queue Blocked"]
    assert blocked["detail"]["status"] == "RUNNABLE"
    assert blocked["detail"]["statusReason"] == target.describe(job)["statusReason"]
    assert blocked["detail"]["statusReason"].startswith("MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - ")
