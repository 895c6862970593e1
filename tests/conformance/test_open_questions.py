"""What AWS does not document: each test pins what the local AWS assumes, and asks a real account whether it is so.

On a real account (``make test-aws``) an assumption that proves wrong is reported as XFAIL: news, not a failure.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.conformance.target import OTHER_UNIT, UNIT, Target, capacity_limits

pytestmark = pytest.mark.slow

BORROWING: dict[str, Any] = {"strategy": "LEND_AND_BORROW"}
BORROW_LIMITS = (
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits and borrow "
    "limits."
)


def assumed(question: str) -> pytest.MarkDecorator:
    return pytest.mark.assumed(question)


def principal(target: Target, *statements: dict[str, Any]) -> Any:
    """Return a batch client whose role may do no more than the statements say."""
    role = os.environ.get("QUOTACTL_CONFORMANCE_PRINCIPAL_ROLE_ARN")
    if target.is_local or role is None:
        pytest.skip("the local AWS evaluates no IAM policies; on a real account, name a role to assume")
    import boto3

    credentials = boto3.client("sts").assume_role(
        RoleArn=role,
        RoleSessionName="quotactl-test",
        Policy=json.dumps({"Version": "2012-10-17", "Statement": list(statements)}),
    )["Credentials"]
    return boto3.client(
        "batch",
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
    )


def submit_as(client: Any, target: Target, queue: str, share: str) -> str:
    response = client.submit_service_job(
        jobName=target.new_name(),
        jobQueue=queue,
        serviceJobType="SAGEMAKER_TRAINING",
        quotaShareName=share.rpartition("/")[2],
        serviceRequestPayload=json.dumps(target.payload(instances=9)),
    )
    return str(response["jobId"])


@assumed("Q1: is the quota share's ARN evaluated on SubmitServiceJob?")
def test_who_may_submit_to_one_share_may_not_submit_to_another(target: Target) -> None:
    queue = target.queue()
    mine, other = target.share(queue), target.share(queue)
    resources = [target.describe_queue(queue)["jobQueueArn"], mine, "arn:aws:batch:*:*:service-job/*"]
    client = principal(
        target,
        {"Effect": "Allow", "Action": "batch:SubmitServiceJob", "Resource": resources},
        {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "*"},
    )
    submit_as(client, target, queue, mine)
    with pytest.raises(client.exceptions.ClientError, match=r"AccessDenied|not authorized"):
        submit_as(client, target, queue, other)


@assumed("Q2: is batch:SchedulingPriority present when the priority is left out?")
def test_a_cap_on_the_priority_does_not_apply_where_none_is_given(target: Target) -> None:
    queue = target.queue()
    client = principal(
        target,
        {
            "Effect": "Allow",
            "Action": "batch:SubmitServiceJob",
            "Resource": "*",
            "Condition": {"Null": {"batch:SchedulingPriority": "true"}},
        },
        {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "*"},
    )
    submit_as(client, target, queue, target.share(queue))


@assumed("Q3: may a share have a limit for an instance type that its environment lacks?")
def test_a_unit_that_the_environment_lacks_is_accepted(target: Target) -> None:
    target.share(target.queue({UNIT: 1}), limits={OTHER_UNIT: 1})


@assumed("Q4: may the shares' limits add up to more than the environment?")
def test_limits_may_add_up_to_more_than_the_environment(target: Target) -> None:
    queue = target.queue({UNIT: 1})
    for _ in range(2):
        target.share(queue, limits={UNIT: 1})


@assumed("Q5: what limits may an environment have?")
@pytest.mark.parametrize(
    "limits",
    [
        capacity_limits({UNIT: 1, "NUM_INSTANCES": 1}),
        capacity_limits({UNIT: 1}) * 2,
        capacity_limits(
            {f"ml.c5.{size}": 1 for size in ("large", "xlarge", "2xlarge", "4xlarge", "9xlarge", "18xlarge")}
        ),
    ],
    ids=["both kinds", "one twice", "six"],
)
def test_an_environment_of_mixed_doubled_or_six_limits_is_refused(target: Target, limits: list[dict[str, Any]]) -> None:
    with pytest.raises(target.refused):
        target.batch.create_service_environment(
            serviceEnvironmentName=target.new_name(),
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=limits,
        )


@assumed("Q6: is a borrow limit refused where nothing is borrowed?")
@pytest.mark.parametrize("strategy", ["LEND", "RESERVE"])
def test_a_borrow_limit_without_borrowing_is_refused(target: Target, strategy: str) -> None:
    with pytest.raises(target.refused):
        target.share(target.queue(), strategy=strategy, borrowLimit=50)


@assumed("Q6: may a borrow limit be 0, or very large?")
@pytest.mark.parametrize("limit", [0, 1_000_000])
def test_a_borrow_limit_may_be_nothing_or_very_large(target: Target, limit: int) -> None:
    target.share(target.queue(), **BORROWING, borrowLimit=limit)


@assumed("Q7: does DeleteJobQueue succeed while shares exist?")
def test_a_queue_with_shares_is_not_deleted(target: Target) -> None:
    queue = target.queue()
    target.share(queue)
    target.batch.update_job_queue(jobQueue=queue, state="DISABLED")
    target.wait_until(lambda: target.describe_queue(queue)["status"] == "VALID")
    with pytest.raises(target.refused):
        target.batch.delete_job_queue(jobQueue=queue)


@assumed("Q8: can two shares of a queue be created at once?")
def test_shares_can_be_created_at_once(target: Target) -> None:
    queue = target.queue()
    with ThreadPoolExecutor(2) as pool:
        arns = list(pool.map(lambda _: target.share(queue), range(2)))
    assert len(set(arns)) == 2


@assumed("Q9: what does a refusal say?")
def test_a_refusal_names_the_value_and_what_is_allowed(target: Target) -> None:
    with pytest.raises(target.refused, match=r"schedulingPriority is 10000.* 9999"):
        target.batch.update_service_job(jobId=waiting_job(target), schedulingPriority=10_000)


@assumed("Q10: which priority has a job that names none?")
def test_the_default_priority_is_0(target: Target) -> None:
    assert target.describe(waiting_job(target))["schedulingPriority"] == 0


def waiting_job(target: Target, **payload: Any) -> str:
    """Submit a job that waits for ever."""
    queue = target.queue()
    return target.submit(queue, target.share(queue), payload=target.payload(instances=9, **payload))


@assumed("Q11: which payloads are refused at once?")
@pytest.mark.parametrize(
    "payload",
    [
        "no JSON",
        "[]",
        "{}",
        json.dumps({"ResourceConfig": {"InstanceType": UNIT}}),
        json.dumps({"ResourceConfig": {"InstanceCount": 1}}),
        json.dumps({"ResourceConfig": {"InstanceType": UNIT, "InstanceCount": 0}}),
        json.dumps({"ResourceConfig": {"InstancePreferences": [{"InstanceType": UNIT, "InstanceCount": 1}]}}),
    ],
)
def test_a_payload_that_names_no_instances_is_refused(target: Target, payload: str) -> None:
    queue = target.queue()
    with pytest.raises(target.refused):
        target.submit(queue, target.share(queue), serviceRequestPayload=payload)


@assumed("Q11: how are instance groups counted?")
def test_instance_groups_are_added_up_by_type(target: Target) -> None:
    queue = target.queue({UNIT: 1, OTHER_UNIT: 1})
    payload = target.payload()
    payload["ResourceConfig"] = {
        "VolumeSizeInGB": 1,
        "InstanceGroups": [
            {"InstanceType": unit, "InstanceCount": 2, "InstanceGroupName": f"group-{place}"}
            for place, unit in enumerate((UNIT, OTHER_UNIT, UNIT))
        ],
    }
    job = target.submit(queue, target.share(queue), payload=payload)
    usage = {entry["capacityUnit"]: entry["quantity"] for entry in target.describe(job)["capacityUsage"]}
    assert usage == {UNIT: 4.0, OTHER_UNIT: 2.0}


@assumed("Q12: how is a borrow limit rounded?")
def test_half_an_instance_is_nothing(target: Target) -> None:
    queue = target.queue({UNIT: 2})
    share = target.share(queue, **BORROWING, borrowLimit=50)
    target.share(queue, strategy="LEND")
    job = target.submit(queue, share, payload=target.payload(instances=2))
    target.wait_until(lambda: target.describe(job).get("statusReason") == BORROW_LIMITS)


@assumed("Q13: is environment capacity that no share owns borrowable?")
def test_unowned_capacity_is_not_borrowed(target: Target) -> None:
    queue = target.queue({UNIT: 3})
    share = target.share(queue, **BORROWING)
    target.share(queue, strategy="RESERVE")
    first, second = (target.submit(queue, share) for _ in range(2))
    target.wait_for(first, "RUNNING")
    assert target.status(second) == "RUNNABLE"


@assumed("Q14: in which order are shares looked at?")
def test_owners_go_first_then_borrowers_in_order_of_submission(target: Target) -> None:
    queue = target.queue({UNIT: 3})
    shares = [target.share(queue, **BORROWING) for _ in range(3)]
    blocker = target.submit(queue, shares[0], payload=target.payload(instances=3, seconds=600))
    target.wait_for(blocker, "RUNNING")
    # Two borrowers and two owners wait for the same three instances; the borrowers were submitted first.
    borrowers = [target.submit(queue, shares[0], payload=target.payload(instances=2)) for _ in range(1)]
    owners = [target.submit(queue, share) for share in shares[1:]]
    target.wait_for(owners[0], "RUNNING")
    target.wait_for(owners[1], "RUNNING")
    assert target.status(borrowers[0]) == "RUNNABLE"


@assumed("Q15: may a smaller job pass a blocked head of its share?")
def test_a_smaller_job_does_not_pass_the_head(target: Target) -> None:
    queue = target.queue({UNIT: 2})
    share = target.share(queue, limits={UNIT: 2})
    running = target.submit(queue, share)
    target.wait_for(running, "RUNNING")
    head = target.submit(queue, share, payload=target.payload(instances=2))
    small = target.submit(queue, share)
    assert target.wait_for(head, "RUNNABLE")["status"] == "RUNNABLE"
    assert target.status(small) == "RUNNABLE"


@assumed("Q16: which of several borrowers has to go?")
def test_the_lowest_priority_and_then_the_youngest_borrower_goes(target: Target) -> None:
    queue = target.queue({UNIT: 4})
    borrower, lender = target.share(queue, **BORROWING), target.share(queue, limits={UNIT: 3}, strategy="LEND")
    long = target.payload(seconds=2400)
    jobs = []
    for priority in (9, 5, 5, 7):
        jobs.append(target.submit(queue, borrower, payload=long, schedulingPriority=priority))
        target.wait_for(jobs[-1], "RUNNING")
    for expected in (jobs[2], jobs[1], jobs[3]):
        target.submit(queue, lender, payload=long)
        target.wait_for(expected, "RUNNABLE")
    assert target.status(jobs[0]) == "RUNNING"


@assumed("Q17: what does an in-share preemption say?")
def test_an_in_share_preemption_has_a_reason_of_its_own(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue, inSharePreemption="ENABLED")
    low = target.submit(queue, share, payload=target.payload(seconds=2400), schedulingPriority=1)
    target.wait_for(low, "RUNNING")
    target.submit(queue, share, schedulingPriority=2)
    (attempt,) = target.wait_for(low, "RUNNABLE")["preemptionSummary"]["recentPreemptedAttempts"]
    assert "In-share preemption" in attempt["statusReason"]


@assumed("Q18: are preempted attempts among the attempts?")
def test_preempted_attempts_are_in_the_preemption_summary_alone(target: Target) -> None:
    queue = target.queue()
    share = target.share(queue, inSharePreemption="ENABLED")
    low = target.submit(queue, share, schedulingPriority=1)
    target.wait_for(low, "RUNNING")
    target.submit(queue, share, schedulingPriority=2)
    target.wait_for(low, "RUNNABLE")
    done = target.wait_for(low, "SUCCEEDED")
    assert (len(done["attempts"]), done["preemptionSummary"]["preemptedAttemptCount"]) == (1, 1)


@assumed("Q19: can a unit be borrowed without a limit of one's own for it?")
def test_a_unit_without_a_limit_is_not_borrowed(target: Target) -> None:
    queue = target.queue({UNIT: 1, OTHER_UNIT: 1})
    share = target.share(queue, limits={UNIT: 1}, **BORROWING)
    target.share(queue, limits={OTHER_UNIT: 1}, strategy="LEND")
    job = target.submit(queue, share, payload=target.payload(unit=OTHER_UNIT))
    target.wait_until(lambda: "statusReason" in target.describe(job))
    assert target.status(job) == "RUNNABLE"


@assumed("Q20: does a DISABLED share lend?")
def test_a_disabled_share_goes_on_lending(target: Target) -> None:
    queue = target.queue({UNIT: 2})
    borrower, lender = target.share(queue, **BORROWING), target.share(queue, strategy="LEND")
    target.batch.update_quota_share(quotaShareArn=lender, state="DISABLED")
    target.wait_until(lambda: target.describe_share(lender)["status"] == "VALID")
    job = target.submit(queue, borrower, payload=target.payload(instances=2))
    target.wait_for(job, "RUNNING")


@assumed("Q21: does a job whose training plan is not active yet hold capacity?")
@pytest.mark.local_only
def test_a_job_waits_scheduled_for_its_plan_and_holds_capacity(target: Target) -> None:
    queue = target.queue()
    now = target.describe(waiting_job(target))["createdAt"] / 1000
    offering = target.sagemaker.search_training_plan_offerings(
        InstanceType="ml.p5.48xlarge",
        InstanceCount=1,
        DurationHours=24,
        StartTimeAfter=now + 7200,
        TargetResources=["training-job"],
    )["TrainingPlanOfferings"][0]
    name = target.new_name("plan")
    plan = target.sagemaker.create_training_plan(
        TrainingPlanName=name, TrainingPlanOfferingId=offering["TrainingPlanOfferingId"]
    )["TrainingPlanArn"]
    assert target.sagemaker.describe_training_plan(TrainingPlanName=name)["Status"] == "Scheduled"
    payload = target.payload()
    payload["ResourceConfig"]["TrainingPlanArn"] = plan
    job = target.submit(queue, target.share(queue), payload=payload)
    assert target.wait_for(job, "SCHEDULED")["status"] == "SCHEDULED"
    usage = target.batch.get_job_queue_snapshot(jobQueue=queue)["queueUtilization"]["totalCapacityUsage"]
    assert usage == [{"capacityUnit": UNIT, "quantity": 1.0}]
    started = target.wait_for(job, "RUNNING", seconds=9000)["startedAt"]
    assert started >= (now + 7200) * 1000
    assert target.sagemaker.describe_training_plan(TrainingPlanName=name)["Status"] == "Active"


@assumed("Q22: how is a long training job name cut?")
def test_a_long_training_job_name_keeps_its_first_23_characters(target: Target) -> None:
    queue = target.queue()
    name = "a-name-of-sixty-three-characters".ljust(63, "x")
    job = target.submit(queue, target.share(queue), payload={**target.payload(), "TrainingJobName": name})
    arn = target.wait_for(job, "SCHEDULED", "STARTING")["latestAttempt"]["serviceResourceId"]["value"]
    training = arn.rpartition("/")[2]
    assert training[: 8 + 23] == f"AWSBatch{name[:23]}"
    assert len(training) == 63


@assumed("Q23: can a quota-share policy be swapped for a fair-share policy?")
def test_a_fair_share_policy_is_no_replacement(target: Target) -> None:
    queue, fair = target.queue(), target.policy(fairsharePolicy={"shareDecaySeconds": 600})
    with pytest.raises(target.refused):
        target.batch.update_job_queue(jobQueue=queue, schedulingPolicyArn=fair)


@assumed("Q24: do instances that are kept warm count?")
def test_only_live_jobs_count(target: Target) -> None:
    queue = target.queue()
    payload = target.payload()
    payload["ResourceConfig"]["KeepAlivePeriodInSeconds"] = 600
    job = target.submit(queue, target.share(queue), payload=payload)
    target.wait_for(job, "SUCCEEDED")
    assert target.batch.get_job_queue_snapshot(jobQueue=queue)["queueUtilization"]["totalCapacityUsage"] == []
