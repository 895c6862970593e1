"""SubmitServiceJob: API reference and user guide, "Submit a service job"."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.target import UNIT, Target

pytestmark = pytest.mark.slow


@pytest.fixture
def queue(target: Target) -> str:
    return target.queue()


@pytest.fixture
def share(target: Target, queue: str) -> str:
    """A share whose one job waits for ever: nothing is started, and nothing costs."""
    return target.share(queue, "vision")


@pytest.fixture
def too_large(target: Target) -> dict[str, Any]:
    return target.payload(instances=4)


def test_a_job_is_described_as_it_was_submitted(
    target: Target, queue: str, share: str, too_large: dict[str, Any]
) -> None:
    retry = {"attempts": 3, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "*"}]}
    job = target.submit(
        queue,
        share,
        payload=too_large,
        name="train",
        schedulingPriority=9999,
        retryStrategy=retry,
        timeoutConfig={"attemptDurationSeconds": 3600},
        preemptionConfiguration={"preemptionRetriesBeforeTermination": 0},
        tags={"team": "vision"},
    )
    described = target.describe(job)
    assert described["jobId"] == job
    assert described["jobArn"].endswith(f":service-job/{job}")
    assert described["jobName"] == "train"
    assert described["jobQueue"] == target.describe_queue(queue)["jobQueueArn"]
    assert described["quotaShareName"] == "vision"
    assert described["serviceJobType"] == "SAGEMAKER_TRAINING"
    assert described["schedulingPriority"] == 9999
    assert described["retryStrategy"] == retry
    assert described["timeoutConfig"] == {"attemptDurationSeconds": 3600}
    assert described["preemptionConfiguration"] == {"preemptionRetriesBeforeTermination": 0}
    assert described["tags"] == {"team": "vision"}
    assert json.loads(described["serviceRequestPayload"]) == too_large
    assert described["capacityUsage"] == [{"capacityUnit": UNIT, "quantity": 4.0}]
    assert described["createdAt"] > 1_500_000_000_000, "milliseconds"
    assert "shareIdentifier" not in described
    assert "preemptionSummary" not in described


def test_an_arn_names_a_job_as_well_as_its_id(
    target: Target, queue: str, share: str, too_large: dict[str, Any]
) -> None:
    job = target.submit(queue, share, payload=too_large)
    assert target.describe(target.describe(job)["jobArn"])["jobId"] == job


def test_a_job_larger_than_its_share_is_accepted(
    target: Target, queue: str, share: str, too_large: dict[str, Any]
) -> None:
    job = target.submit(queue, share, payload=too_large)
    assert target.wait_for(job, "RUNNABLE")["status"] == "RUNNABLE"


def test_a_retry_action_may_be_written_in_mixed_case(
    target: Target, queue: str, share: str, too_large: dict[str, Any]
) -> None:
    strategy = {"attempts": 2, "evaluateOnExit": [{"action": "Retry", "onStatusReason": "*"}]}
    target.submit(queue, share, payload=too_large, retryStrategy=strategy)


@pytest.mark.parametrize(
    "wrong",
    [
        {"schedulingPriority": -1},
        {"schedulingPriority": 10_000},
        {"retryStrategy": {"attempts": 0}},
        {"retryStrategy": {"attempts": 11}},
        {"retryStrategy": {"attempts": 1, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "*"}] * 6}},
        {"retryStrategy": {"attempts": 1, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "x" * 513}]}},
        {"jobName": "not valid"},
        {"jobName": "x" * 129},
        {"shareIdentifier": "vision"},
        {"quotaShareName": "no-such-share"},
        {"jobQueue": "no-such-queue"},
        {"serviceJobType": "EKS"},
        {"tags": {f"key-{number}": "" for number in range(51)}},
        {"clientToken": "t" * 65},
        {"serviceRequestPayload": json.dumps({"padding": "x" * 10_240})},
    ],
)
def test_fails_with_values_that_the_api_does_not_take(
    target: Target, queue: str, share: str, wrong: dict[str, Any]
) -> None:
    with pytest.raises(target.refused):
        target.submit(queue, share, **wrong)


def test_fails_without_a_quota_share(target: Target, queue: str, share: str) -> None:
    with pytest.raises(target.refused):
        target.batch.submit_service_job(
            jobName="train",
            jobQueue=queue,
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload=json.dumps(target.payload()),
        )


def test_fails_in_a_disabled_share(target: Target, queue: str, share: str) -> None:
    target.batch.update_quota_share(quotaShareArn=share, state="DISABLED")
    target.wait_until(lambda: target.describe_share(share)["status"] == "VALID")
    with pytest.raises(target.refused):
        target.submit(queue, share)


def test_fails_in_a_disabled_queue(target: Target, queue: str, share: str) -> None:
    target.batch.update_job_queue(jobQueue=queue, state="DISABLED")
    target.wait_until(lambda: target.describe_queue(queue)["status"] == "VALID")
    with pytest.raises(target.refused):
        target.submit(queue, share)


def test_fails_when_the_same_request_comes_with_the_same_token(
    target: Target, queue: str, share: str, too_large: dict[str, Any]
) -> None:
    token = target.new_name("token")
    target.submit(queue, share, payload=too_large, name="train", clientToken=token)
    with pytest.raises(target.refused):
        target.submit(queue, share, payload=too_large, name="train", clientToken=token)
