"""JobQueue of type SAGEMAKER_TRAINING: API reference and user guide, "Create quota management resources"."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.target import Target

pytestmark = pytest.mark.slow

CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
ENVIRONMENT = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
QUOTA = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"


def time_limit(reason: str = QUOTA, **changes: Any) -> dict[str, Any]:
    return {"reason": reason, "state": "RUNNABLE", "maxTimeSeconds": 600, "action": "TERMINATE", **changes}


def test_a_queue_is_described_with_its_environment_by_arn_and_no_compute_environments(target: Target) -> None:
    policy, environment = target.policy(), target.environment()
    name = target.queue(
        schedulingPolicyArn=policy,
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": environment.rpartition("/")[2]}],
    )
    queue = target.describe_queue(name)
    assert queue["jobQueueArn"].endswith(f":job-queue/{name}")
    assert queue["jobQueueType"] == "SAGEMAKER_TRAINING"
    assert (queue["state"], queue["status"], queue["statusReason"]) == ("ENABLED", "VALID", "JobQueue Healthy")
    assert queue["schedulingPolicyArn"] == policy
    assert queue["computeEnvironmentOrder"] == []
    assert queue["serviceEnvironmentOrder"] == [{"order": 1, "serviceEnvironment": environment}]


def test_it_changes_in_place(target: Target) -> None:
    name, policy = target.queue(), target.policy()
    target.batch.update_job_queue(
        jobQueue=name, priority=1000, schedulingPolicyArn=policy, jobStateTimeLimitActions=[time_limit()]
    )
    target.wait_until(lambda: target.describe_queue(name)["status"] == "VALID")
    queue = target.describe_queue(name)
    assert queue["priority"] == 1000
    assert queue["schedulingPolicyArn"] == policy
    assert queue["jobStateTimeLimitActions"] == [time_limit()]


@pytest.mark.parametrize("reason", [CAPACITY, ENVIRONMENT, QUOTA])
def test_time_limits_take_three_reasons(target: Target, reason: str) -> None:
    name = target.queue(jobStateTimeLimitActions=[time_limit(reason, maxTimeSeconds=86_400)])
    assert target.describe_queue(name)["jobStateTimeLimitActions"][0]["reason"] == reason


@pytest.mark.parametrize(
    "wrong",
    [
        time_limit("MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT"),
        time_limit(state="RUNNING"),
        time_limit(action="CANCEL"),
        time_limit(maxTimeSeconds=599),
        time_limit(maxTimeSeconds=86_401),
    ],
)
def test_fails_with_a_time_limit_that_sagemaker_queues_do_not_have(target: Target, wrong: dict[str, Any]) -> None:
    with pytest.raises(target.refused):
        target.queue(jobStateTimeLimitActions=[wrong])


def test_an_empty_list_of_compute_environments_is_accepted(target: Target) -> None:
    target.queue(computeEnvironmentOrder=[])


def test_one_policy_serves_several_queues(target: Target) -> None:
    policy = target.policy()
    assert target.queue(schedulingPolicyArn=policy) != target.queue(schedulingPolicyArn=policy)


def test_fails_with_a_name_that_is_taken(target: Target) -> None:
    name = target.queue()
    with pytest.raises(target.refused) as refusal:
        target.batch.create_job_queue(
            jobQueueName=name,
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=target.policy(),
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": target.environment()}],
        )
    assert refusal.value.response["Error"]["Message"] == "Object already exists"  # type: ignore[attr-defined]


def test_fails_with_an_environment_that_serves_another_queue(target: Target) -> None:
    order = [{"order": 1, "serviceEnvironment": target.environment()}]
    target.queue(serviceEnvironmentOrder=order)
    with pytest.raises(target.refused):
        target.queue(serviceEnvironmentOrder=order)


def test_fails_with_two_environments(target: Target) -> None:
    order = [{"order": number, "serviceEnvironment": target.environment()} for number in (1, 2)]
    with pytest.raises(target.refused):
        target.queue(serviceEnvironmentOrder=order)


def test_fails_with_a_fair_share_policy(target: Target) -> None:
    with pytest.raises(target.refused):
        target.queue(schedulingPolicyArn=target.policy(fairsharePolicy={"shareDecaySeconds": 600}))


@pytest.mark.parametrize("priority", [-1, 1001])
def test_fails_with_a_priority_outside_0_to_1000(target: Target, priority: int) -> None:
    with pytest.raises(target.refused):
        target.queue(priority=priority)


def test_fails_to_give_up_its_policy(target: Target) -> None:
    queue = target.queue()
    with pytest.raises(target.refused):
        target.batch.update_job_queue(jobQueue=queue, schedulingPolicyArn="")


def test_a_deleted_queue_is_described_no_more_and_frees_its_environment_and_policy(target: Target) -> None:
    policy, environment = target.policy(), target.environment()
    order = [{"order": 1, "serviceEnvironment": environment}]
    queue = target.queue(schedulingPolicyArn=policy, serviceEnvironmentOrder=order)
    target.delete_queue(queue)
    assert target.describe_queue(queue)["status"] in (None, "DELETED")
    target.queue(schedulingPolicyArn=policy, serviceEnvironmentOrder=order)


def test_fails_to_be_deleted_while_it_is_enabled(target: Target) -> None:
    with pytest.raises(target.refused):
        target.batch.delete_job_queue(jobQueue=target.queue())


def test_fails_with_a_policy_or_environment_that_does_not_exist(target: Target) -> None:
    queue = target.queue()
    policy = target.describe_queue(queue)["schedulingPolicyArn"]
    with pytest.raises(target.refused):
        target.batch.update_job_queue(jobQueue=queue, schedulingPolicyArn=f"{policy}-not")
    with pytest.raises(target.refused):
        target.queue(serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "no-such-environment"}])
