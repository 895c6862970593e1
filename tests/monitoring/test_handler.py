from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from quota_constructs.functions.quota_metrics import datapoints, handler
from quota_constructs.functions.quota_metrics.names import EventType
from tests.monitoring.conftest import GUIDE_SNAPSHOT, JOB_ARN, QUEUE_ARN, TYPE, StubbedBatch, share

NAMESPACE = "QuotaConstructs"

# AWS Batch User Guide, "Service job preemption events".
PREEMPTION_STARTED = {
    "version": "0",
    "id": "1b4a511e-2737-226a-a1e7-fc97f1cd9681",
    "detail-type": "Batch Service Job Preemption Started",
    "source": "aws.batch",
    "account": "123456789012",
    "time": "2026-03-16T19:57:27Z",
    "region": "us-east-1",
    "resources": [f"{JOB_ARN}/51f245a9-2995-4a53-bced-7b3c00028f84"],
    "detail": {
        "statusReason": "PREEMPTION_IN_PROGRESS: Cross-share preemption triggered to reclaim borrowed capacity",
        "preemptedJobArn": f"{JOB_ARN}/51f245a9-2995-4a53-bced-7b3c00028f84",
        "status": "RUNNING",
    },
}
# Amazon EventBridge User Guide: what a rule with a schedule sends.
SCHEDULED = {
    "version": "0",
    "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
    "detail-type": "Scheduled Event",
    "source": "aws.events",
    "account": "123456789012",
    "time": "2026-03-16T19:58:00Z",
    "region": "us-east-1",
    "resources": ["arn:aws:events:us-east-1:123456789012:rule/measure"],
    "detail": {},
}


@pytest.fixture
def cloudwatch(batch: StubbedBatch, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubber]:
    """The function's surroundings; returns its CloudWatch."""
    client = boto3.client("cloudwatch", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
    clients = {"batch": batch.client, "cloudwatch": client}
    monkeypatch.setattr(handler, "_client", clients.__getitem__)
    monkeypatch.setenv("JOB_QUEUE_ARN", QUEUE_ARN)
    monkeypatch.setenv("METRIC_NAMESPACE", NAMESPACE)
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def preemptions(*about: tuple[str, str]) -> dict[str, Any]:
    return {
        "MetricName": "Preemptions",
        "Dimensions": [{"Name": name, "Value": value} for name, value in about],
        "Timestamp": datetime(2026, 3, 16, 19, 57, 27, tzinfo=UTC),
        "Value": 1.0,
        "Unit": "Count",
    }


def test_a_schedule_publishes_the_queue_in_one_request(batch: StubbedBatch, cloudwatch: Stubber) -> None:
    batch.describes([share("team-a-share", "LEND", {TYPE: 3})], {TYPE: 10}, GUIDE_SNAPSHOT)
    cloudwatch.add_response("put_metric_data", {}, {"Namespace": NAMESPACE, "MetricData": ANY})

    handler.handle(SCHEDULED, None)


def test_a_preemption_counts_for_the_share_and_the_queue_when_it_happened(
    batch: StubbedBatch, cloudwatch: Stubber
) -> None:
    batch.describes_job("51f245a9-2995-4a53-bced-7b3c00028f84", quota_share="background", status="RUNNING")
    cloudwatch.add_response(
        "put_metric_data",
        {},
        {
            "Namespace": NAMESPACE,
            "MetricData": [
                preemptions(("JobQueue", "my-job-queue"), ("QuotaShare", "background")),
                preemptions(("JobQueue", "my-job-queue")),
            ],
        },
    )

    handler.handle(PREEMPTION_STARTED, None)


def test_a_preemption_in_another_queue_counts_for_nothing(batch: StubbedBatch, cloudwatch: Stubber) -> None:
    another = "arn:aws:batch:us-east-1:123456789012:job-queue/another"
    batch.describes_job("51f245a9-2995-4a53-bced-7b3c00028f84", quota_share="background", queue=another)

    handler.handle(PREEMPTION_STARTED, None)


def test_fails_when_batch_fails_so_that_lambda_counts_an_error(batch: StubbedBatch, cloudwatch: Stubber) -> None:
    batch.stubber.add_client_error("describe_job_queues", "ServerException", "try again", 500)

    with pytest.raises(batch.client.exceptions.ServerException):
        handler.handle(SCHEDULED, None)


def test_fails_when_cloudwatch_refuses_the_data(batch: StubbedBatch, cloudwatch: Stubber) -> None:
    batch.describes([], {TYPE: 10}, GUIDE_SNAPSHOT)
    cloudwatch.add_client_error("put_metric_data", "AccessDenied", "no", 403)

    with pytest.raises(cloudwatch.client.exceptions.ClientError, match="AccessDenied"):
        handler.handle(SCHEDULED, None)


def test_fails_on_an_event_that_it_does_not_know(cloudwatch: Stubber) -> None:
    expected = f"event of type 'Batch Job State Change'; this function takes {', '.join(EventType)}"

    with pytest.raises(ValueError, match=expected):
        handler.handle({"detail-type": "Batch Job State Change"}, None)


def test_fails_in_a_runtime_whose_boto3_is_older_than_quota_shares(
    cloudwatch: Stubber, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "_client", lambda _: SimpleNamespace())

    with pytest.raises(RuntimeError, match="does not know quota shares; choose a newer runtime"):
        handler.handle(SCHEDULED, None)


def test_more_data_than_a_request_takes_go_in_several(cloudwatch: Stubber) -> None:
    datum = {"MetricName": "Used", "Value": 1.0}
    for size in (1000, 1000, 1):
        cloudwatch.add_response("put_metric_data", {}, {"Namespace": NAMESPACE, "MetricData": [datum] * size})

    datapoints.publish(cloudwatch.client, NAMESPACE, [datum] * 2001)
