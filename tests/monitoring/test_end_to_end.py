"""The monitoring, deployed by the CDK CLI to the local AWS, whose clock the tests move."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from quotactl.local.testing import running_local_aws
from tests.monitoring.deployed import UNIT, Monitored, deploy, eventually

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Monitored]]:
    with running_local_aws(behaviour={"trainingSeconds": 1_000_000, "stoppingSeconds": 20}) as aws:
        yield deploy(aws, tmp_path_factory.mktemp("monitoring"), Numbers="numbers", Alarms="alarms", Waits="waits")


def test_metrics_show_what_the_jobs_do(deployed: dict[str, Monitored]) -> None:
    """The example of AWS's notebook: a background job borrows an instance, and its lender takes it back."""
    gpus = deployed["Numbers"]
    for priority in (3, 2, 1):
        gpus.submit("background", priority=priority)
    gpus.aws.advance(120)

    gpus.measure()

    # The first two run, one on standard's instance; the third waits, since reserved does not lend.
    ledger = {
        share: [gpus.value(name, share, UNIT) for name in ("CapacityLimit", "Used", "Borrowed", "Lent", "Idle")]
        for share in ("background", "standard", "reserved")
    }
    assert ledger == {"background": [1, 2, 1, 0, 0], "standard": [1, 0, 0, 1, 0], "reserved": [1, 0, 0, 0, 1]}
    assert [gpus.value(name, UNIT) for name in ("CapacityLimit", "Used", "Borrowed", "Idle")] == [3, 2, 1, 1]
    assert gpus.value("WaitingJobs", "background") == 1
    assert gpus.value("WaitingInstances", "background", UNIT) == 1
    assert gpus.value("HeadAge", "background") == 120
    assert gpus.value("IdleReserve") == 1
    assert gpus.value("Preemptions", statistic="Sum") == 0

    gpus.submit("standard")
    gpus.aws.advance(120)
    # AWS's event names neither queue nor share: the function looks them up.
    eventually(lambda: gpus.value("Preemptions", "background", statistic="Sum") == 1, "the preemption is counted")
    gpus.measure()

    assert gpus.value("Preemptions", statistic="Sum") == 1
    assert gpus.value("Preemptions", "standard", statistic="Sum") is None
    assert gpus.value("Borrowed", "background", UNIT) == 0
    assert gpus.value("Lent", "standard", UNIT) == 0


def test_a_queue_that_is_imported_is_measured_just_the_same(deployed: dict[str, Monitored]) -> None:
    gpus = deployed["Waits"]
    gpus.measure()
    gpus.measure("FunctionOfImported")

    def names(namespace: str) -> list[tuple[str, str]]:
        metrics = gpus.cloudwatch.list_metrics(Namespace=namespace)["Metrics"]
        return sorted((metric["MetricName"], json.dumps(metric["Dimensions"])) for metric in metrics)

    assert names(f"{gpus.namespace}/Imported") == names(gpus.namespace)
    assert gpus.value("CapacityLimit", UNIT, namespace=f"{gpus.namespace}/Imported") == 3


def test_alarms_go_off_when_a_share_is_blocked_and_a_reserve_idles_and_recover(deployed: dict[str, Monitored]) -> None:
    gpus = deployed["Alarms"]
    too_large = gpus.submit("reserved", instances=2)  # The share has one instance and does not borrow.
    gpus.measure()

    assert gpus.value("BlockedShares") == 1
    assert (gpus.alarm("BlockedAlarm"), gpus.alarm("IdleReserveAlarm")) == ("ALARM", "ALARM")
    told = set(gpus.messages())
    assert {("BlockedShares", "ALARM"), ("IdleReserve", "ALARM")} <= told

    gpus.batch.terminate_service_job(jobId=too_large, reason="it can never run")
    gpus.submit("reserved")
    gpus.aws.advance(60)
    gpus.measure()

    assert (gpus.alarm("BlockedAlarm"), gpus.alarm("IdleReserveAlarm")) == ("OK", "OK")
    assert {("BlockedShares", "OK"), ("IdleReserve", "OK")} <= set(gpus.messages())


def test_an_alarm_goes_off_when_a_job_waits_at_the_head_for_too_long(deployed: dict[str, Monitored]) -> None:
    gpus = deployed["Waits"]
    gpus.submit("standard")
    gpus.submit("standard")
    gpus.measure()
    assert gpus.alarm("HeadAgeAlarm") == "OK"

    gpus.aws.advance(4 * 3600)
    gpus.measure()

    assert gpus.value("HeadAge", "standard") == 4 * 3600
    assert gpus.alarm("HeadAgeAlarm") == "ALARM"
