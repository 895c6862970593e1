"""ListServiceJobs, UpdateServiceJob, TerminateServiceJob(s) and GetJobQueueSnapshot: API reference."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.conformance.target import UNIT, Target

pytestmark = pytest.mark.slow


@pytest.fixture
def queue(target: Target) -> str:
    return target.queue()


@pytest.fixture
def waiting(target: Target, queue: str) -> dict[str, str]:
    """Jobs that wait for ever, by name, in order of submission: nothing is started."""
    large = target.payload(instances=4)
    for share in ("vision", "speech"):
        target.share(queue, share)
    submissions = (("Alpha", "vision"), ("beta", "vision"), ("alpha", "speech"), ("alphabet", "speech"))
    jobs = [target.submit(queue, share, name=name, payload=large) for name, share in submissions]
    for job in jobs:
        target.wait_for(job, "RUNNABLE")
    return dict(zip(("Alpha", "beta", "alpha", "alphabet"), jobs, strict=True))


def listed(target: Target, queue: str, **request: Any) -> list[str]:
    response = target.batch.list_service_jobs(jobQueue=queue, **request)
    return [job["jobId"] for job in response["jobSummaryList"]]


def by(name: str, *values: str) -> dict[str, Any]:
    return {"filters": [{"name": name, "values": list(values)}]}


def test_without_a_status_only_running_jobs_are_listed(target: Target, queue: str, waiting: dict[str, str]) -> None:
    assert listed(target, queue) == []
    assert set(listed(target, queue, jobStatus="RUNNABLE")) == set(waiting.values())


def test_the_newest_jobs_come_first(target: Target, queue: str, waiting: dict[str, str]) -> None:
    jobs = target.batch.list_service_jobs(jobQueue=queue, jobStatus="RUNNABLE")["jobSummaryList"]
    created = [job["createdAt"] for job in jobs]
    assert created == sorted(created, reverse=True)


def test_pages_hold_every_job_once(target: Target, queue: str, waiting: dict[str, str]) -> None:
    paginator = target.batch.get_paginator("list_service_jobs")
    pages = list(paginator.paginate(jobQueue=queue, jobStatus="RUNNABLE", PaginationConfig={"PageSize": 3}))
    assert [len(page["jobSummaryList"]) for page in pages] == [3, 1]
    found = [job["jobId"] for page in pages for job in page["jobSummaryList"]]
    assert sorted(found) == sorted(waiting.values())


def test_a_name_filter_ignores_case_and_status_and_groups_by_name(
    target: Target, queue: str, waiting: dict[str, str]
) -> None:
    found = listed(target, queue, **by("JOB_NAME", "ALPHA"), jobStatus="SUCCEEDED")
    assert set(found) == {waiting["Alpha"], waiting["alpha"]}
    found = listed(target, queue, **by("JOB_NAME", "alpha*"))
    assert set(found) == {waiting["Alpha"], waiting["alpha"], waiting["alphabet"]}


def test_a_share_filter_combines_with_a_status(target: Target, queue: str, waiting: dict[str, str]) -> None:
    found = listed(target, queue, **by("QUOTA_SHARE_NAME", "speech"), jobStatus="RUNNABLE")
    assert set(found) == {waiting["alpha"], waiting["alphabet"]}
    assert listed(target, queue, **by("QUOTA_SHARE_NAME", "speech"), jobStatus="RUNNING") == []


def test_time_filters_compare_the_creation(target: Target, queue: str, waiting: dict[str, str]) -> None:
    created = target.describe(waiting["Alpha"])["createdAt"]
    assert set(listed(target, queue, **by("AFTER_CREATED_AT", str(created - 1)))) == set(waiting.values())
    assert listed(target, queue, **by("BEFORE_CREATED_AT", str(created))) == []


def test_a_summary_has_the_share_and_capacity_but_no_priority(
    target: Target, queue: str, waiting: dict[str, str]
) -> None:
    (job,) = target.batch.list_service_jobs(jobQueue=queue, **by("JOB_NAME", "beta"))["jobSummaryList"]
    assert job["quotaShareName"] == "vision"
    assert job["capacityUsage"] == [{"capacityUnit": UNIT, "quantity": 4.0}]
    assert "schedulingPriority" not in job
    assert "isTerminated" not in job


@pytest.mark.parametrize(
    "wrong",
    [
        {"maxResults": 0},
        {"maxResults": 101},
        {"nextToken": "nonsense"},
        by("job_name", "x"),
        {"filters": [{"name": "JOB_NAME", "values": ["x"]}, {"name": "QUOTA_SHARE_NAME", "values": ["x"]}]},
    ],
)
def test_fails_to_list_with_what_the_api_does_not_take(target: Target, queue: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(target.refused):
        listed(target, queue, **wrong)


def test_the_head_of_each_share_says_why_it_can_never_run(target: Target, queue: str, waiting: dict[str, str]) -> None:
    # 4 instances in an environment of 3
    reason = (
        "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s) associated with the job queue "
        "cannot meet the capacity requirement of the job."
    )
    target.wait_until(lambda: target.describe(waiting["Alpha"]).get("statusReason") == reason)
    summaries = target.batch.list_service_jobs(jobQueue=queue, **by("JOB_NAME", "Alpha"))["jobSummaryList"]
    assert reason in {job.get("statusReason") for job in summaries}


def test_a_snapshot_shows_the_head_of_each_share_and_the_front_of_the_queue(
    target: Target, queue: str, waiting: dict[str, str]
) -> None:
    target.share(queue, "idle")
    snapshot = target.batch.get_job_queue_snapshot(jobQueue=queue)
    arn = {name: target.describe(job)["jobArn"] for name, job in waiting.items()}
    heads = snapshot["frontOfQuotaShares"]["quotaShares"]
    assert {share: [job["jobArn"] for job in jobs] for share, jobs in heads.items()} == {
        "vision": [arn["Alpha"]],
        "speech": [arn["alpha"]],
        "idle": [],
    }
    assert {job["jobArn"] for job in snapshot["frontOfQueue"]["jobs"]} == set(arn.values())
    assert all(job["earliestTimeAtPosition"] > 0 for job in snapshot["frontOfQueue"]["jobs"])
    assert snapshot["queueUtilization"]["totalCapacityUsage"] == []


def test_a_higher_priority_moves_a_waiting_job_ahead(target: Target, queue: str, waiting: dict[str, str]) -> None:
    response = target.batch.update_service_job(jobId=waiting["beta"], schedulingPriority=7)
    assert response["jobId"] == waiting["beta"]
    assert target.describe(waiting["beta"])["schedulingPriority"] == 7
    arn = target.describe(waiting["beta"])["jobArn"]

    def head() -> str:
        shares = target.batch.get_job_queue_snapshot(jobQueue=queue)["frontOfQuotaShares"]["quotaShares"]
        return str(shares["vision"][0]["jobArn"])

    target.wait_until(lambda: head() == arn)


@pytest.mark.parametrize("priority", [-1, 10_000])
def test_fails_to_update_to_a_priority_outside_0_to_9999(
    target: Target, waiting: dict[str, str], priority: int
) -> None:
    with pytest.raises(target.refused):
        target.batch.update_service_job(jobId=waiting["Alpha"], schedulingPriority=priority)


def test_a_terminated_job_is_failed_for_the_users_reason(target: Target, waiting: dict[str, str]) -> None:
    target.batch.terminate_service_job(jobId=waiting["Alpha"], reason="not needed any more")
    job = target.wait_for(waiting["Alpha"], "FAILED")
    assert job["isTerminated"] is True
    assert job["statusReason"] == "not needed any more"
    assert job["stoppedAt"] >= job["createdAt"]


def test_termination_in_bulk_counts_unknown_ids_as_successful(target: Target, waiting: dict[str, str]) -> None:
    jobs = [waiting["Alpha"], "00000000-0000-0000-0000-000000000000"]
    response = target.batch.terminate_service_jobs(jobs=jobs, reason="cleanup")
    assert (response["successful"], response["errors"]) == (jobs, [])
    assert target.wait_for(waiting["Alpha"], "FAILED")["statusReason"] == "cleanup"


def test_termination_in_bulk_takes_arns(target: Target, waiting: dict[str, str]) -> None:
    arn = target.describe(waiting["beta"])["jobArn"]
    response = target.batch.terminate_service_jobs(jobs=[arn], reason="cleanup")
    assert (response["successful"], response["errors"]) == ([arn], [])
    assert target.wait_for(waiting["beta"], "FAILED")["isTerminated"] is True


def test_fails_to_terminate_more_than_50_jobs_at_once(target: Target) -> None:
    with pytest.raises(target.refused):
        target.batch.terminate_service_jobs(jobs=[str(number) for number in range(51)], reason="too many")


@pytest.mark.parametrize("operation", ["describe", "update", "terminate"])
def test_fails_with_a_job_that_does_not_exist(target: Target, operation: str) -> None:
    job = "00000000-0000-0000-0000-000000000000"
    call = {
        "describe": target.batch.describe_service_job,
        "update": partial(target.batch.update_service_job, schedulingPriority=1),
        "terminate": partial(target.batch.terminate_service_job, reason="none"),
    }[operation]
    with pytest.raises(target.refused):
        call(jobId=job)
