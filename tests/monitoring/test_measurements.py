from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from quota_constructs.functions.quota_metrics.datapoints import measurements
from quota_constructs.functions.quota_metrics.reading import read
from tests.monitoring.conftest import (
    GUIDE_SNAPSHOT,
    JOB_ARN,
    QUEUE_ARN,
    TYPE,
    UPDATED,
    StubbedBatch,
    share,
    waiting_job,
)

NOW = datetime.fromtimestamp(UPDATED / 1000, UTC)
SHARES = [
    share("team-a-share", "LEND_AND_BORROW", {TYPE: 3}),
    share("team-b-share", "LEND", {TYPE: 6}),
    share("reserve", "RESERVE", {TYPE: 1}),
]


def measure(batch: StubbedBatch, now: datetime = NOW) -> dict[tuple[str, ...], float]:
    """Return the value of each metric by its name and the values of its dimensions but the queue."""
    data = measurements(read(batch.client, QUEUE_ARN), now)
    found: dict[tuple[str, ...], float] = {}
    for datum in data:
        (queue, *about) = datum["Dimensions"]
        assert queue == {"Name": "JobQueue", "Value": "my-job-queue"}
        key = (datum["MetricName"], *(dimension["Value"] for dimension in about))
        assert key not in found
        found[key] = datum["Value"]
    return found


def snapshot(heads: dict[str, Sequence[dict[str, Any]]], **utilization: Any) -> dict[str, Any]:
    """Return the guide's snapshot with other heads, and a part of its utilization replaced."""
    return {
        **GUIDE_SNAPSHOT,
        "frontOfQuotaShares": {"quotaShares": heads, "lastUpdatedAt": UPDATED},
        "queueUtilization": {**GUIDE_SNAPSHOT["queueUtilization"], **utilization},
    }


def head(id: str, seconds: int) -> dict[str, Any]:
    """Return a job that has been its share's first for some seconds."""
    return {"jobArn": f"{JOB_ARN}/{id}", "earliestTimeAtPosition": UPDATED - seconds * 1000}


def test_the_snapshot_of_the_user_guide_gives_these_metrics(batch: StubbedBatch) -> None:
    batch.describes(SHARES, {TYPE: 10}, GUIDE_SNAPSHOT)

    # team-a uses 5 of its 3, team-b 4 of its 6: 2 are borrowed, all that team-b leaves. The reserve's 1 is idle.
    assert measure(batch) == {
        ("CapacityLimit", "team-a-share", TYPE): 3,
        ("Used", "team-a-share", TYPE): 5,
        ("Borrowed", "team-a-share", TYPE): 2,
        ("Lent", "team-a-share", TYPE): 0,
        ("Idle", "team-a-share", TYPE): 0,
        ("CapacityLimit", "team-b-share", TYPE): 6,
        ("Used", "team-b-share", TYPE): 4,
        ("Borrowed", "team-b-share", TYPE): 0,
        ("Lent", "team-b-share", TYPE): 2,
        ("Idle", "team-b-share", TYPE): 0,
        ("CapacityLimit", "reserve", TYPE): 1,
        ("Used", "reserve", TYPE): 0,
        ("Borrowed", "reserve", TYPE): 0,
        ("Lent", "reserve", TYPE): 0,
        ("Idle", "reserve", TYPE): 1,
        ("WaitingInstances", "team-a-share", TYPE): 0,
        ("WaitingInstances", "team-b-share", TYPE): 0,
        ("WaitingInstances", "reserve", TYPE): 0,
        ("WaitingJobs", "team-a-share"): 0,
        ("WaitingJobs", "team-b-share"): 0,
        ("WaitingJobs", "reserve"): 0,
        ("HeadAge", "team-a-share"): 0,
        ("HeadAge", "team-b-share"): 0,
        ("HeadAge", "reserve"): 0,
        ("CapacityLimit", TYPE): 10,
        ("Used", TYPE): 9,
        ("Borrowed", TYPE): 2,
        ("Idle", TYPE): 1,
        ("IdleReserve",): 1,
        ("WaitingJobs",): 0,
        ("HeadAge",): 0,
        ("BlockedShares",): 0,
        ("Preemptions",): 0,
    }


def test_who_waits_is_counted_by_share_and_instance_type(batch: StubbedBatch) -> None:
    batch.describes(SHARES, {TYPE: 10}, snapshot({"team-a-share": [head("a1", 90)], "team-b-share": [head("b1", 600)]}))
    batch.describes_job("a1", quota_share="team-a-share")
    batch.lists(
        "team-a-share",
        [waiting_job("a3", "team-a-share", {TYPE: 2}), waiting_job("a2", "team-a-share", {TYPE: 1})],
        [waiting_job("a1", "team-a-share", {TYPE: 4})],
    )
    batch.describes_job("b1", quota_share="team-b-share")
    batch.lists("team-b-share", [waiting_job("b1", "team-b-share", {TYPE: 8})])

    found = measure(batch)

    assert found["WaitingJobs", "team-a-share"] == 3
    assert found["WaitingInstances", "team-a-share", TYPE] == 7
    assert found["HeadAge", "team-a-share"] == 90
    assert found["WaitingJobs", "team-b-share"] == 1
    assert found["WaitingInstances", "team-b-share", TYPE] == 8
    assert found["HeadAge", "team-b-share"] == 600
    assert found["WaitingJobs",] == 4
    assert found["HeadAge",] == 600


def test_waiting_instances_are_left_out_where_aws_does_not_say_what_a_job_asks_for(batch: StubbedBatch) -> None:
    batch.describes(SHARES, {TYPE: 10}, snapshot({"team-a-share": [head("a1", 90)]}))
    batch.describes_job("a1", quota_share="team-a-share")
    batch.lists("team-a-share", [waiting_job("a1", "team-a-share"), waiting_job("a2", "team-a-share", {TYPE: 1})])

    found = measure(batch)

    assert found["WaitingJobs", "team-a-share"] == 2
    assert ("WaitingInstances", "team-a-share", TYPE) not in found


def test_no_more_than_a_thousand_waiting_jobs_of_a_share_are_counted(batch: StubbedBatch) -> None:
    batch.describes(SHARES, {TYPE: 10}, snapshot({"team-a-share": [head("0", 1)]}))
    batch.describes_job("0", quota_share="team-a-share")
    pages = [[waiting_job(f"{page * 100 + job}", "team-a-share") for job in range(100)] for page in range(10)]
    batch.lists("team-a-share", *pages, and_more=True)

    assert measure(batch)["WaitingJobs", "team-a-share"] == 1000


@pytest.mark.parametrize(
    ("reason", "blocked"),
    [
        ("MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits.", 1),
        ("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Unable to provision requested compute resources", 1),
        ("Cross-share preemption triggered to reclaim borrowed capacity", 0),
        (None, 0),
    ],
)
def test_a_share_is_blocked_if_aws_says_so_of_its_first_job(
    batch: StubbedBatch, reason: str | None, blocked: int
) -> None:
    batch.describes(SHARES, {TYPE: 10}, snapshot({"team-a-share": [head("a1", 5)]}))
    batch.describes_job("a1", quota_share="team-a-share", reason=reason)
    batch.lists("team-a-share", [waiting_job("a1", "team-a-share", {TYPE: 4})])

    assert measure(batch)["BlockedShares",] == blocked


def test_a_first_job_that_has_been_dispatched_since_the_snapshot_blocks_nothing(batch: StubbedBatch) -> None:
    batch.describes(SHARES, {TYPE: 10}, snapshot({"team-a-share": [head("a1", 5)]}))
    batch.describes_job("a1", quota_share="team-a-share", status="SCHEDULED", reason="CAPACITY:INSUFFICIENT - old")
    batch.lists("team-a-share", [])

    assert measure(batch)["BlockedShares",] == 0


def test_the_age_of_a_first_job_goes_on_between_two_snapshots_of_aws(batch: StubbedBatch) -> None:
    batch.describes(SHARES, {TYPE: 10}, snapshot({"team-a-share": [head("a1", 90)]}))
    batch.describes_job("a1", quota_share="team-a-share")
    batch.lists("team-a-share", [waiting_job("a1", "team-a-share")])

    a_minute_later = datetime.fromtimestamp(UPDATED / 1000 + 60, UTC)
    assert measure(batch, a_minute_later)["HeadAge", "team-a-share"] == 150


def test_an_age_is_right_if_the_clock_of_aws_is_ahead(batch: StubbedBatch) -> None:
    batch.describes(SHARES, {TYPE: 10}, snapshot({"team-a-share": [head("a1", 90)]}))
    batch.describes_job("a1", quota_share="team-a-share")
    batch.lists("team-a-share", [waiting_job("a1", "team-a-share")])

    assert measure(batch, datetime.fromtimestamp(0, UTC))["HeadAge", "team-a-share"] == 90


def test_each_instance_type_has_a_ledger_of_its_own(batch: StubbedBatch) -> None:
    shares = [
        share("a", "LEND_AND_BORROW", {"ml.g5.xlarge": 2, "ml.p5.48xlarge": 1}),
        share("b", "LEND", {"ml.g5.xlarge": 2, "ml.p5.48xlarge": 1}),
    ]
    batch.describes(
        shares,
        {"ml.g5.xlarge": 4, "ml.p5.48xlarge": 2},
        snapshot(
            {"a": [], "b": []},
            totalCapacityUsage=[
                {"capacityUnit": "ml.g5.xlarge", "quantity": 2.0},
                {"capacityUnit": "ml.p5.48xlarge", "quantity": 2.0},
            ],
            quotaShareUtilization={
                "topCapacityUtilization": [
                    {
                        "quotaShareName": "a",
                        "capacityUsage": [
                            {"capacityUnit": "ml.g5.xlarge", "quantity": 2.0},
                            {"capacityUnit": "ml.p5.48xlarge", "quantity": 2.0},
                        ],
                    }
                ]
            },
        ),
    )

    found = measure(batch)

    assert found["Borrowed", "a", "ml.g5.xlarge"] == 0
    assert found["Borrowed", "a", "ml.p5.48xlarge"] == 1
    assert found["Lent", "b", "ml.g5.xlarge"] == 0
    assert found["Lent", "b", "ml.p5.48xlarge"] == 1
    assert found["Idle", "b", "ml.g5.xlarge"] == 2


def test_what_an_unlisted_share_uses_is_left_out_if_the_listed_ones_do_not_add_up(batch: StubbedBatch) -> None:
    batch.describes(SHARES, {TYPE: 10}, snapshot({}, totalCapacityUsage=[{"capacityUnit": TYPE, "quantity": 10.0}]))

    found = measure(batch)

    # 5 + 4 of 10 are told of: the reserve uses the tenth, or a share that was just deleted.
    assert found["Used", TYPE] == 10
    assert found["Borrowed", "team-a-share", TYPE] == 2
    assert ("Used", "reserve", TYPE) not in found
    assert ("Lent", "team-b-share", TYPE) not in found
    assert ("Borrowed", TYPE) not in found
    assert ("IdleReserve",) not in found


def test_a_share_that_is_deleted_while_its_jobs_run_borrows_all_it_uses(batch: StubbedBatch) -> None:
    batch.describes(SHARES[1:], {TYPE: 10}, GUIDE_SNAPSHOT)

    found = measure(batch)

    assert found["CapacityLimit", "team-a-share", TYPE] == 0
    assert found["Borrowed", "team-a-share", TYPE] == 5


def test_a_new_queue_without_shares_or_jobs_is_measured(batch: StubbedBatch) -> None:
    batch.describes([], {TYPE: 10}, {"frontOfQueue": {"jobs": [], "lastUpdatedAt": UPDATED}})

    assert measure(batch) == {
        ("CapacityLimit", TYPE): 10,
        ("Used", TYPE): 0,
        ("Borrowed", TYPE): 0,
        ("Idle", TYPE): 10,
        ("IdleReserve",): 0,
        ("WaitingJobs",): 0,
        ("HeadAge",): 0,
        ("BlockedShares",): 0,
        ("Preemptions",): 0,
    }


def test_fails_if_the_queue_does_not_exist(batch: StubbedBatch) -> None:
    batch.stubber.add_response("describe_job_queues", {"jobQueues": []})

    with pytest.raises(LookupError, match=r"job queue arn:aws:batch:.*/my-job-queue does not exist"):
        read(batch.client, QUEUE_ARN)


def test_fails_if_the_queue_is_not_quota_managed(batch: StubbedBatch) -> None:
    fifo = {
        "jobQueueName": "ecs",
        "jobQueueArn": QUEUE_ARN,
        "state": "ENABLED",
        "priority": 1,
        "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "ecs"}],
    }
    batch.stubber.add_response("describe_job_queues", {"jobQueues": [fifo]})
    batch.stubber.add_client_error("list_quota_shares", "ClientException", "Job queue is not quota-managed", 400)

    with pytest.raises(batch.client.exceptions.ClientException, match="not quota-managed"):
        read(batch.client, QUEUE_ARN)
