from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch

from quota_constructs import IQuotaShare, QuotaMetrics, QuotaMonitoring, QuotaShare, TrainingJobQueue
from quota_constructs.functions.quota_metrics.names import MetricName
from tests.synthesis import QUEUE_ARN, SHARE_ARN

UNIT = "ml.g5.xlarge"
QUEUE = {"JobQueue": "gpus"}
TYPE = {**QUEUE, "InstanceType": UNIT}
SHARE = {**QUEUE, "QuotaShare": "vision"}
SHARE_AND_TYPE = {**SHARE, "InstanceType": UNIT}
Metrics = Callable[[QuotaMetrics, IQuotaShare], cloudwatch.Metric]


@pytest.fixture
def share(stack: Stack) -> IQuotaShare:
    return QuotaShare.from_quota_share_arn(stack, "Share", SHARE_ARN)


@pytest.mark.parametrize(
    ("metric", "name", "dimensions", "statistic"),
    [
        (lambda of, share: of.metric_capacity_limit(UNIT, share), "CapacityLimit", SHARE_AND_TYPE, "Average"),
        (lambda of, _: of.metric_capacity_limit(UNIT), "CapacityLimit", TYPE, "Average"),
        (lambda of, share: of.metric_used(UNIT, share), "Used", SHARE_AND_TYPE, "Average"),
        (lambda of, _: of.metric_used(UNIT), "Used", TYPE, "Average"),
        (lambda of, share: of.metric_borrowed(UNIT, share), "Borrowed", SHARE_AND_TYPE, "Average"),
        (lambda of, _: of.metric_borrowed(UNIT), "Borrowed", TYPE, "Average"),
        (lambda of, share: of.metric_lent(UNIT, share), "Lent", SHARE_AND_TYPE, "Average"),
        (lambda of, share: of.metric_idle(UNIT, share), "Idle", SHARE_AND_TYPE, "Average"),
        (lambda of, _: of.metric_idle(UNIT), "Idle", TYPE, "Average"),
        (lambda of, share: of.metric_waiting_instances(UNIT, share), "WaitingInstances", SHARE_AND_TYPE, "Average"),
        (lambda of, share: of.metric_waiting_jobs(share), "WaitingJobs", SHARE, "Average"),
        (lambda of, _: of.metric_waiting_jobs(), "WaitingJobs", QUEUE, "Average"),
        (lambda of, share: of.metric_head_age(share), "HeadAge", SHARE, "Maximum"),
        (lambda of, _: of.metric_head_age(), "HeadAge", QUEUE, "Maximum"),
        (lambda of, share: of.metric_preemptions(share), "Preemptions", SHARE, "Sum"),
        (lambda of, _: of.metric_preemptions(), "Preemptions", QUEUE, "Sum"),
        (lambda of, _: of.metric_idle_reserve(), "IdleReserve", QUEUE, "Minimum"),
        (lambda of, _: of.metric_blocked_shares(), "BlockedShares", QUEUE, "Minimum"),
    ],
)
def test_each_metric_is_one_that_the_function_publishes(
    share: IQuotaShare, metric: Metrics, name: str, dimensions: dict[str, str], statistic: str
) -> None:
    found = metric(QuotaMetrics("gpus"), share)

    assert found.namespace == "QuotaConstructs"
    assert (found.metric_name, found.dimensions, found.statistic) == (name, dimensions, statistic)
    assert found.period.to_seconds() == 300
    assert name in set(MetricName)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"statistic": "p90"}, ("p90", 300, None)),
        ({"period": Duration.hours(1), "label": "waits"}, ("Maximum", 3600, "waits")),
    ],
)
def test_statistic_period_and_label_can_be_chosen(
    options: dict[str, Any], expected: tuple[str, int, str | None]
) -> None:
    found = QuotaMetrics("gpus").metric_head_age(**options)

    assert (found.statistic, found.period.to_seconds(), found.label) == expected


def test_a_monitoring_has_the_metrics_of_its_queue_and_namespace(stack: Stack, share: IQuotaShare) -> None:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    monitoring = QuotaMonitoring(stack, "Monitoring", queue=queue, namespace="Gpus")

    found = monitoring.metric_used(UNIT, share)

    assert (found.namespace, found.dimensions) == ("Gpus", SHARE_AND_TYPE)


def test_periods_are_no_shorter_than_the_rate_so_that_there_are_no_gaps(stack: Stack) -> None:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    monitoring = QuotaMonitoring(stack, "Monitoring", queue=queue, rate=Duration.minutes(15))

    assert monitoring.metric_used(UNIT).period.to_seconds() == 900


def test_a_metric_makes_an_alarm_of_ones_own(stack: Stack, share: IQuotaShare) -> None:
    alarm = (
        QuotaMetrics("gpus")
        .metric_waiting_jobs(share)
        .create_alarm(stack, "Backlog", threshold=100, evaluation_periods=3)
    )

    assert isinstance(alarm, cloudwatch.Alarm)
