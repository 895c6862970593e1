"""Jobs that run: statuses, training jobs, preemption, retries and time limits.

User guide: "Mapping AWS Batch service job status to SageMaker AI status", "Service job retry strategies",
"Preemption", "Service job stuck in RUNNABLE". On a real account these tests start instances.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.target import UNIT, Target

pytestmark = pytest.mark.slow

CROSS_SHARE = "Cross-share preemption triggered to reclaim borrowed capacity"


@pytest.fixture
def three(target: Target) -> str:
    """AWS's notebook: three shares of one instance each; QS1 borrows, QS2 lends, QS3 reserves."""
    queue = target.queue({UNIT: 3})
    target.share(queue, "QS1", strategy="LEND_AND_BORROW", borrowLimit=200, inSharePreemption="ENABLED")
    target.share(queue, "QS2", strategy="LEND")
    target.share(queue, "QS3", strategy="RESERVE")
    return queue


def test_a_job_goes_through_its_statuses_with_its_training_job(target: Target) -> None:
    queue = target.queue()
    job = target.submit(queue, target.share(queue))
    scheduled = target.wait_for(job, "SCHEDULED", "STARTING")
    arn = scheduled["latestAttempt"]["serviceResourceId"]["value"]
    assert scheduled["latestAttempt"]["serviceResourceId"]["name"] == "TrainingJobArn"
    name = arn.rpartition("/")[2]
    assert name.startswith("AWSBatchquotactl-test")
    assert len(name) <= 63
    target.wait_for(job, "RUNNING")
    training = target.sagemaker.describe_training_job(TrainingJobName=name)
    assert (training["TrainingJobStatus"], training["SecondaryStatus"]) == ("InProgress", "Training")
    assert training["ResourceConfig"]["InstanceType"] == UNIT
    done = target.wait_for(job, "SUCCEEDED")
    assert done["statusReason"] == "Received status from SageMaker: Training job completed"
    assert done["createdAt"] <= done["scheduledAt"] <= done["startedAt"] <= done["stoppedAt"]
    (attempt,) = done["attempts"]
    assert attempt["serviceResourceId"]["value"] == arn
    assert attempt["statusReason"] == done["statusReason"]
    assert target.sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == "Completed"


def test_usage_counts_scheduled_starting_and_running_jobs(target: Target, three: str) -> None:
    first = target.submit(three, "QS1")
    target.wait_for(first, "SCHEDULED", "STARTING", "RUNNING")

    def usage() -> Any:
        return target.batch.get_job_queue_snapshot(jobQueue=three)["queueUtilization"]

    used = [{"capacityUnit": UNIT, "quantity": 1.0}]
    assert usage()["totalCapacityUsage"] == used
    top = usage()["quotaShareUtilization"]["topCapacityUtilization"]
    assert {"quotaShareName": "QS1", "capacityUsage": used} in top
    target.wait_for(first, "RUNNING")
    assert usage()["totalCapacityUsage"] == used


def test_the_notebook(target: Target, three: str) -> None:
    long = target.payload(seconds=2400)
    high, med, low = (
        target.submit(three, "QS1", name=name, payload=long, schedulingPriority=priority, retryStrategy={"attempts": 1})
        for name, priority in (("high", 3), ("med", 2), ("low", 1))
    )
    # high runs on its own instance, med borrows QS2's, low waits: what QS3 reserves is not lent.
    target.wait_for(high, "RUNNING")
    target.wait_for(med, "RUNNING")
    assert target.status(low) == "RUNNABLE"
    # QS2 takes its instance back, at a lower priority than the borrower's.
    owner = target.submit(three, "QS2", name="owner", payload=long, schedulingPriority=1)
    preempted = target.wait_for(med, "RUNNABLE")
    target.wait_for(owner, "RUNNING")
    assert target.status(high) == "RUNNING"
    summary = preempted["preemptionSummary"]
    assert summary["preemptedAttemptCount"] == 1
    (attempt,) = summary["recentPreemptedAttempts"]
    assert attempt["statusReason"] == CROSS_SHARE
    assert attempt["startedAt"] <= attempt["stoppedAt"]
    # Raised above high, low takes the instance of its own share.
    target.batch.update_service_job(jobId=low, schedulingPriority=4)
    target.wait_for(high, "RUNNABLE")
    target.wait_for(low, "RUNNING")
    assert (target.status(med), target.status(owner)) == ("RUNNABLE", "RUNNING")


def test_a_preempted_job_says_so_while_it_stops(target: Target, three: str) -> None:
    long = target.payload(seconds=2400)
    own, borrower = (target.submit(three, "QS1", payload=long, schedulingPriority=2 - n) for n in range(2))
    target.wait_for(own, "RUNNING")
    target.wait_for(borrower, "RUNNING")
    target.submit(three, "QS2", payload=long)
    target.wait_until(lambda: "statusReason" in target.describe(borrower))
    job = target.describe(borrower)
    assert job["statusReason"] == f"PREEMPTION_IN_PROGRESS: {CROSS_SHARE}"
    assert job["status"] == "RUNNING"


def test_without_retries_a_preempted_job_is_failed(target: Target, three: str) -> None:
    long = target.payload(seconds=2400)
    own = target.submit(three, "QS1", payload=long, schedulingPriority=2)
    none = {"preemptionRetriesBeforeTermination": 0}
    borrower = target.submit(three, "QS1", payload=long, schedulingPriority=1, preemptionConfiguration=none)
    target.wait_for(own, "RUNNING")
    target.wait_for(borrower, "RUNNING")
    target.submit(three, "QS2", payload=long)
    assert target.wait_for(borrower, "FAILED")["preemptionSummary"]["preemptedAttemptCount"] == 1


def test_a_job_is_failed_by_the_preemption_after_its_last_retry(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue, inSharePreemption="ENABLED")
    once = {"preemptionRetriesBeforeTermination": 1}
    long, short = target.payload(seconds=2400), target.payload(seconds=60)
    job = target.submit(queue, share, payload=long, schedulingPriority=1, preemptionConfiguration=once)
    for status in ("RUNNABLE", "FAILED"):
        target.wait_for(job, "RUNNING")
        target.submit(queue, share, payload=short, schedulingPriority=2)
        target.wait_for(job, status)
    summary = target.describe(job)["preemptionSummary"]
    assert summary["preemptedAttemptCount"] == 2
    arns = [attempt["serviceResourceId"]["value"] for attempt in summary["recentPreemptedAttempts"]]
    assert len(set(arns)) == 2
    ended = [attempt["stoppedAt"] for attempt in summary["recentPreemptedAttempts"]]
    assert ended == sorted(ended, reverse=True), "the newest first"


def test_equal_priority_never_preempts_within_a_share(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue, inSharePreemption="ENABLED")
    first = target.submit(queue, share, schedulingPriority=5)
    target.wait_for(first, "RUNNING")
    second = target.submit(queue, share, schedulingPriority=5)
    assert target.wait_for(second, "RUNNABLE")["status"] == "RUNNABLE"
    target.wait_for(first, "SUCCEEDED")
    assert "preemptionSummary" not in target.describe(first)


def test_a_higher_priority_waits_where_preemption_within_the_share_is_off(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue, inSharePreemption="DISABLED")
    first = target.submit(queue, share, schedulingPriority=1)
    target.wait_for(first, "RUNNING")
    second = target.submit(queue, share, schedulingPriority=9)
    target.wait_for(first, "SUCCEEDED")
    target.wait_for(second, "RUNNING")
    assert "preemptionSummary" not in target.describe(first)


def test_lowering_the_environment_stops_nothing(target: Target) -> None:
    queue = target.queue({UNIT: 2})
    share = target.share(queue, limits={UNIT: 2})
    jobs = [target.submit(queue, share) for _ in range(2)]
    for job in jobs:
        target.wait_for(job, "RUNNING")
    environment = target.describe_queue(queue)["serviceEnvironmentOrder"][0]["serviceEnvironment"]
    target.batch.update_service_environment(
        serviceEnvironment=environment, capacityLimits=[{"capacityUnit": UNIT, "maxCapacity": 1}]
    )
    for job in jobs:
        target.wait_for(job, "SUCCEEDED")


def test_a_job_above_a_lowered_limit_goes_when_a_lender_needs_its_instance(target: Target) -> None:
    """Lowering a share's limit makes what runs above it eligible for preemption, and no more (UG/quota-shares)."""
    queue = target.queue({UNIT: 2})
    lowered = target.share(queue, limits={UNIT: 2}, strategy="LEND")
    raised = target.share(queue, limits={UNIT: 1}, strategy="LEND")
    long = target.payload(seconds=2400)
    jobs = [target.submit(queue, lowered, payload=long, schedulingPriority=2 - number) for number in range(2)]
    for job in jobs:
        target.wait_for(job, "RUNNING")
    target.batch.update_quota_share(quotaShareArn=lowered, capacityLimits=[{"capacityUnit": UNIT, "maxCapacity": 1}])
    target.wait_until(lambda: target.describe_share(lowered)["status"] == "VALID")
    assert [target.status(job) for job in jobs] == ["RUNNING", "RUNNING"], "nobody needs it yet"
    owner = target.submit(queue, raised, payload=long)
    target.wait_for(jobs[1], "RUNNABLE")
    target.wait_for(owner, "RUNNING")
    assert target.status(jobs[0]) == "RUNNING"


def test_an_environment_that_is_disabled_places_nothing_and_stops_nothing(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue)
    running, waiting = (target.submit(queue, share) for _ in range(2))
    target.wait_for(running, "RUNNING")
    environment = target.describe_queue(queue)["serviceEnvironmentOrder"][0]["serviceEnvironment"]
    target.batch.update_service_environment(serviceEnvironment=environment, state="DISABLED")
    target.wait_for(running, "SUCCEEDED")
    assert target.wait_for(waiting, "RUNNABLE")["status"] == "RUNNABLE"
    target.batch.update_service_environment(serviceEnvironment=environment, state="ENABLED")
    target.wait_for(waiting, "SUCCEEDED")


def test_jobs_of_a_disabled_queue_finish(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue)
    running, waiting = (target.submit(queue, share) for _ in range(2))
    target.wait_for(running, "RUNNING")
    target.batch.update_job_queue(jobQueue=queue, state="DISABLED")
    target.wait_for(running, "SUCCEEDED")
    target.wait_for(waiting, "SUCCEEDED")


def test_lowering_a_running_jobs_priority_lets_another_of_its_share_take_its_place(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue, inSharePreemption="ENABLED")
    long = target.payload(seconds=2400)
    first = target.submit(queue, share, payload=long, schedulingPriority=5)
    target.wait_for(first, "RUNNING")
    second = target.submit(queue, share, payload=long, schedulingPriority=5)
    target.wait_for(second, "RUNNABLE")
    target.batch.update_service_job(jobId=first, schedulingPriority=4)
    target.wait_for(first, "RUNNABLE")
    target.wait_for(second, "RUNNING")


def test_jobs_of_a_disabled_share_finish(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue)
    running, waiting = (target.submit(queue, share) for _ in range(2))
    target.wait_for(running, "RUNNING")
    target.batch.update_quota_share(quotaShareArn=share, state="DISABLED")
    target.wait_for(running, "SUCCEEDED")
    target.wait_for(waiting, "SUCCEEDED")


def test_deleting_a_share_ends_its_jobs(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue)
    running, waiting = (target.submit(queue, share) for _ in range(2))
    target.wait_for(running, "RUNNING")
    target.delete_share(share)
    assert [target.wait_for(job, "FAILED")["status"] for job in (running, waiting)] == ["FAILED", "FAILED"]


def test_terminating_a_running_job_stops_its_training_job(target: Target) -> None:
    queue = target.queue()
    job = target.submit(queue, target.share(queue))
    running = target.wait_for(job, "RUNNING")
    target.batch.terminate_service_job(jobId=job, reason="enough")
    failed = target.wait_for(job, "FAILED")
    assert (failed["statusReason"], failed["isTerminated"]) == ("enough", True)
    name = running["latestAttempt"]["serviceResourceId"]["value"].rpartition("/")[2]
    assert target.sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == "Stopped"


def test_a_training_job_that_someone_else_stops_fails_its_job(target: Target) -> None:
    queue = target.queue()
    job = target.submit(queue, target.share(queue))
    running = target.wait_for(job, "RUNNING")
    name = running["latestAttempt"]["serviceResourceId"]["value"].rpartition("/")[2]
    target.sagemaker.stop_training_job(TrainingJobName=name)
    target.wait_for(job, "FAILED")


@pytest.mark.parametrize(
    "wrong",
    [
        {"OutputDataConfig": None},
        {"OutputDataConfig": {"S3OutputPath": "/home/me/models"}},
        {"RoleArn": "arn:aws:iam::123456789012:user/training"},
        {"StoppingCondition": {"MaxRuntimeInSeconds": 0}},
    ],
    ids=["no output", "output elsewhere", "no role", "no time"],
)
def test_a_training_request_that_sagemaker_refuses_fails_the_attempt_with_its_words(
    target: Target, wrong: dict[str, Any]
) -> None:
    queue = target.queue()
    payload = {key: value for key, value in {**target.payload(), **wrong}.items() if value is not None}
    job = target.submit(queue, target.share(queue), payload=payload)
    failed = target.wait_for(job, "FAILED")
    assert failed["statusReason"].startswith("Received status from SageMaker: ValidationException")


def test_an_attempt_ends_at_its_timeout(target: Target) -> None:
    queue = target.queue()
    payload = target.payload(seconds=2400)
    job = target.submit(queue, target.share(queue), payload=payload, timeoutConfig={"attemptDurationSeconds": 60})
    failed = target.wait_for(job, "FAILED")
    assert failed["stoppedAt"] - failed["startedAt"] < 2_400_000


@pytest.mark.local_only
def test_a_failed_attempt_is_followed_by_as_many_as_the_strategy_allows(target: Target) -> None:
    queue = target.queue()
    payload = target.payload(failures=2, failureReason="AlgorithmError: loss is NaN")
    job = target.submit(queue, target.share(queue), payload=payload, retryStrategy={"attempts": 3})
    done = target.wait_for(job, "SUCCEEDED")
    reasons = [attempt["statusReason"] for attempt in done["attempts"]]
    failed = "Received status from SageMaker: AlgorithmError: loss is NaN"
    assert reasons == [failed, failed, "Received status from SageMaker: Training job completed"]
    arns = {attempt["serviceResourceId"]["value"] for attempt in done["attempts"]}
    assert len(arns) == 3, "each attempt is a new training job"


@pytest.mark.local_only
@pytest.mark.parametrize(
    ("pattern", "attempts"),
    [
        ("Received status from SageMaker: AlgorithmError*", 1),
        ("*Error*", 1),
        ("Received status from SageMaker: InternalServerError*", 3),
    ],
)
def test_a_matching_exit_rule_ends_the_retries(target: Target, pattern: str, attempts: int) -> None:
    queue = target.queue()
    strategy = {"attempts": 3, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": pattern}]}
    payload = target.payload(failures=9)
    job = target.submit(queue, target.share(queue), payload=payload, retryStrategy=strategy)
    assert len(target.wait_for(job, "FAILED")["attempts"]) == attempts


@pytest.mark.local_only
def test_the_first_matching_rule_decides(target: Target) -> None:
    queue = target.queue()
    rules = [
        {"action": "RETRY", "onStatusReason": "Received status from SageMaker: InternalServerError*"},
        {"action": "EXIT", "onStatusReason": "*"},
    ]
    payload = target.payload(failures=1, failureReason="InternalServerError: try again")
    strategy = {"attempts": 2, "evaluateOnExit": rules}
    job = target.submit(queue, target.share(queue), payload=payload, retryStrategy=strategy)
    assert len(target.wait_for(job, "SUCCEEDED")["attempts"]) == 2


@pytest.mark.local_only
def test_a_job_without_a_strategy_has_one_attempt(target: Target) -> None:
    queue = target.queue()
    job = target.submit(queue, target.share(queue), payload=target.payload(failures=1))
    assert len(target.wait_for(job, "FAILED")["attempts"]) == 1


@pytest.mark.local_only
def test_insufficient_capacity_is_retried_without_using_up_attempts(target: Target) -> None:
    queue = target.queue()
    payload = target.payload(capacityShortages=4)
    job = target.submit(queue, target.share(queue), payload=payload, retryStrategy={"attempts": 1})
    done = target.wait_for(job, "SUCCEEDED")
    assert len(done["attempts"]) == 1


@pytest.mark.local_only
def test_only_the_latest_training_job_without_capacity_is_kept(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue)
    before = {
        job["TrainingJobName"] for job in target.sagemaker.list_training_jobs(MaxResults=100)["TrainingJobSummaries"]
    }
    job = target.submit(queue, share, payload=target.payload(capacityShortages=3))
    target.wait_for(job, "RUNNING")
    after = {
        job["TrainingJobName"] for job in target.sagemaker.list_training_jobs(MaxResults=100)["TrainingJobSummaries"]
    }
    assert len(after - before) == 1


@pytest.mark.local_only
def test_a_time_limit_counts_the_time_scheduled_without_capacity(target: Target) -> None:
    reason = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
    limit = {"reason": reason, "state": "RUNNABLE", "maxTimeSeconds": 600, "action": "TERMINATE"}
    queue = target.queue(jobStateTimeLimitActions=[limit])
    payload = target.payload(capacityShortages=1000, pendingSeconds=250)
    job = target.submit(queue, target.share(queue), payload=payload)
    failed = target.wait_for(job, "FAILED")
    assert failed["statusReason"] == f"Terminated by JobStateTimeLimit action due to reason: {reason}"
    assert failed["stoppedAt"] - failed["createdAt"] == 750_000


def test_a_time_limit_ends_a_job_that_can_never_run_and_lets_the_next_one_go(target: Target) -> None:
    reason = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
    limit = {"reason": reason, "state": "RUNNABLE", "maxTimeSeconds": 600, "action": "TERMINATE"}
    queue = target.queue({UNIT: 5}, jobStateTimeLimitActions=[limit])
    share = target.share(queue, limits={UNIT: 2})
    stuck = target.submit(queue, share, payload=target.payload(instances=3))
    behind = target.submit(queue, share)
    text = f"{reason} - Job requirements exceed quota share capacity limits."
    target.wait_until(lambda: target.describe(stuck).get("statusReason") == text)
    assert target.status(behind) == "RUNNABLE"
    failed = target.wait_for(stuck, "FAILED")
    assert failed["statusReason"] == f"Terminated by JobStateTimeLimit action due to reason: {reason}"
    target.wait_for(behind, "RUNNING")


@pytest.mark.parametrize(
    ("instances", "reason"),
    [
        (17, "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s) associated with the job "
             "queue cannot meet the capacity requirement of the job."),
        (13, "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits "
             "and borrow limits."),
        (10, "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requires borrowing that exceeds all configured "
             "borrowable capacity."),
    ],
)  # fmt: skip
def test_a_job_that_can_never_run_gets_awss_reason(target: Target, instances: int, reason: str) -> None:
    queue = target.queue({UNIT: 16})
    borrowing: Any = {"strategy": "LEND_AND_BORROW", "borrowLimit": 200}
    share = target.share(queue, limits={UNIT: 4}, **borrowing)
    target.share(queue, limits={UNIT: 4}, **borrowing)
    job = target.submit(queue, share, payload=target.payload(instances=instances))
    target.wait_until(lambda: target.describe(job).get("statusReason") == reason)


def test_a_share_may_use_its_limit_and_its_borrow_limit(target: Target) -> None:
    queue = target.queue({UNIT: 6})
    share = target.share(queue, limits={UNIT: 2}, strategy="LEND_AND_BORROW", borrowLimit=100)
    target.share(queue, limits={UNIT: 4}, strategy="LEND")
    job = target.submit(queue, share, payload=target.payload(instances=4))
    target.wait_for(job, "RUNNING")
