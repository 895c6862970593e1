from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from aws_cdk import Duration, Stack, Tags
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces import aws_batch as refs

from quota_constructs import (
    JobStateTimeLimitAction,
    JobStateTimeLimitReason,
    QuotaConstructsError,
    QuotaShareSchedulingPolicy,
    RefusedDesignError,
    ServiceEnvironment,
    State,
    TrainingJobQueue,
)
from quota_model.rules import TIME_LIMIT_REASONS
from tests.synthesis import LIMITS, properties_of


def queue(stack: Stack, **props: Any) -> TrainingJobQueue:
    policy = QuotaShareSchedulingPolicy(stack, "Policy")
    environment = ServiceEnvironment(stack, "Environment", capacity_limits=LIMITS)
    defaults = {"scheduling_policy": policy, "service_environment": environment}
    return TrainingJobQueue(stack, "Queue", **(defaults | props))


def time_limit(seconds: float = 600, **fields: Any) -> JobStateTimeLimitAction:
    fields = {"reason": JobStateTimeLimitReason.QUOTA_MANAGEMENT_LIMIT_EXCEEDED} | fields
    return JobStateTimeLimitAction(max_time=Duration.seconds(seconds), **fields)


def test_renders_what_it_is_given(stack: Stack) -> None:
    queue(
        stack,
        job_queue_name="gpus",
        priority=7,
        state=State.DISABLED,
        job_state_time_limit_actions=[time_limit(3600)],
        tags={"team": "platform"},
    )

    properties = properties_of(stack, "JobQueue")
    del properties["SchedulingPolicyArn"], properties["ServiceEnvironmentOrder"]
    assert properties == {
        "JobQueueName": "gpus",
        "JobQueueType": "SAGEMAKER_TRAINING",
        "Priority": 7,
        "State": "DISABLED",
        "JobStateTimeLimitActions": [
            {
                "Reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
                "MaxTimeSeconds": 3600,
                "Action": "TERMINATE",
                "State": "RUNNABLE",
            }
        ],
        "Tags": {"team": "platform"},
    }


def test_refers_to_policy_and_environment_by_arn_so_that_deletion_is_ordered(stack: Stack) -> None:
    policy = QuotaShareSchedulingPolicy(stack, "Own")
    environment = ServiceEnvironment(stack, "OwnEnvironment", capacity_limits=LIMITS)
    queue(stack, scheduling_policy=policy, service_environment=environment)

    policy_arn, environment_arn = map(
        stack.resolve, (policy.scheduling_policy_arn, environment.service_environment_arn)
    )
    assert properties_of(stack, "JobQueue") == {
        "JobQueueType": "SAGEMAKER_TRAINING",
        "Priority": 1,  # CloudFormation requires one.
        "SchedulingPolicyArn": policy_arn,
        "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": environment_arn}],
    }
    assert "Fn::GetAtt" in policy_arn
    assert "Fn::GetAtt" in environment_arn


def test_knows_every_reason_that_aws_accepts() -> None:
    assert {reason.value for reason in JobStateTimeLimitReason} == set(TIME_LIMIT_REASONS)


@pytest.mark.parametrize(
    ("props", "rule"),
    [
        ({"job_queue_name": "a b"}, "name-invalid"),
        ({"priority": -1}, "queue-priority-range"),
        ({"priority": 1001}, "queue-priority-range"),
        ({"priority": 0.5}, "queue-priority-range"),
        ({"job_state_time_limit_actions": [time_limit(599)]}, "time-limit-seconds"),
        ({"job_state_time_limit_actions": [time_limit(86_401)]}, "time-limit-seconds"),
        ({"job_state_time_limit_actions": [time_limit(action="CANCEL")]}, "time-limit-action"),
        ({"job_state_time_limit_actions": [time_limit(state="RUNNING")]}, "time-limit-state"),
        # A reason that upstream's queues have, and SageMaker's do not.
        (
            {"job_state_time_limit_actions": [time_limit(reason="MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT")]},
            "time-limit-reason",
        ),
    ],
)
def test_fails_on_what_a_rule_refuses(stack: Stack, props: dict[str, Any], rule: str) -> None:
    with pytest.raises(RefusedDesignError, match=f"^quota-constructs:{rule}: job queue") as refused:
        queue(stack, **props)

    assert refused.value.rule_ids == (rule,)
    assert stack.node.try_find_child("Queue") is None


@pytest.mark.parametrize(
    "props",
    [
        {"priority": 0},
        {"priority": 1000},
        {"job_state_time_limit_actions": [time_limit(600)]},
        {"job_state_time_limit_actions": [time_limit(86_400)]},
        {"job_state_time_limit_actions": [time_limit(reason=reason) for reason in JobStateTimeLimitReason]},
    ],
)
def test_accepts_what_is_just_within_the_limits(stack: Stack, props: dict[str, Any]) -> None:
    queue(stack, **props)


def test_fails_on_a_state_that_aws_does_not_have(stack: Stack) -> None:
    with pytest.raises(QuotaConstructsError, match="state 'OFF' is not one of ENABLED, DISABLED"):
        queue(stack, state="OFF")


def fair_share_l2(stack: Stack) -> refs.ISchedulingPolicyRef:
    return batch.FairshareSchedulingPolicy(stack, "Fair")


def fair_share_imported(stack: Stack) -> refs.ISchedulingPolicyRef:
    arn = "arn:aws:batch:eu-west-1:111122223333:scheduling-policy/fair"
    return batch.FairshareSchedulingPolicy.from_fairshare_scheduling_policy_arn(stack, "Fair", arn)


def fair_share_l1(stack: Stack) -> refs.ISchedulingPolicyRef:
    policy = batch.CfnSchedulingPolicy.FairsharePolicyProperty(share_decay_seconds=60)
    return batch.CfnSchedulingPolicy(stack, "Fair", fairshare_policy=policy)


@pytest.mark.parametrize("make", [fair_share_l2, fair_share_imported, fair_share_l1])
def test_fails_on_a_fair_share_policy(stack: Stack, make: Any) -> None:
    with pytest.raises(RefusedDesignError, match="its scheduling policy is a fair-share policy") as refused:
        queue(stack, scheduling_policy=make(stack))

    assert refused.value.rule_ids == ("fair-share-policy",)


def test_fails_on_an_l1_policy_of_neither_kind(stack: Stack) -> None:
    with pytest.raises(RefusedDesignError) as refused:
        queue(stack, scheduling_policy=batch.CfnSchedulingPolicy(stack, "Empty"))

    assert refused.value.rule_ids == ("quota-share-policy-missing",)


def two_queues(stack: Stack, environment: refs.IServiceEnvironmentRef) -> None:
    for id in ("One", "Two"):
        policy = QuotaShareSchedulingPolicy(stack, f"{id}Policy")
        TrainingJobQueue(stack, id, scheduling_policy=policy, service_environment=environment)


def environment_l2(stack: Stack) -> refs.IServiceEnvironmentRef:
    return ServiceEnvironment(stack, "Environment", capacity_limits=LIMITS)


def environment_imported(stack: Stack) -> refs.IServiceEnvironmentRef:
    arn = "arn:aws:batch:eu-west-1:111122223333:service-environment/gpus"
    return ServiceEnvironment.from_service_environment_arn(stack, "Environment", arn)


def environment_l1(stack: Stack) -> refs.IServiceEnvironmentRef:
    return l1_environment(stack, "ml.g5.xlarge", 1)


def l1_environment(stack: Stack, unit: str, capacity: int) -> batch.CfnServiceEnvironment:
    limit = batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=unit, max_capacity=capacity)
    return batch.CfnServiceEnvironment(
        stack, "L1Environment", service_environment_type="SAGEMAKER_TRAINING", capacity_limits=[limit]
    )


@pytest.mark.parametrize(
    ("unit", "capacity", "rule"),
    [("NUM_INSTANCES", 3, "capacity-unit-not-an-instance-type"), ("ml.g5.xlarge", 0, "capacity-limit-whole-number")],
)
def test_fails_on_an_l1_environment_that_cannot_be_quota_managed(
    stack: Stack, unit: str, capacity: int, rule: str
) -> None:
    with pytest.raises(RefusedDesignError, match="service environment: capacity ") as refused:
        queue(stack, service_environment=l1_environment(stack, unit, capacity))

    assert refused.value.rule_ids == (rule,)


@pytest.mark.parametrize("make", [environment_l2, environment_imported, environment_l1])
def test_fails_on_an_environment_that_serves_another_queue(stack: Stack, make: Any) -> None:
    with pytest.raises(RefusedDesignError, match="2 job queues refer to it; give each queue an environment") as refused:
        two_queues(stack, make(stack))

    assert refused.value.rule_ids == ("environment-serves-one-queue",)
    assert stack.node.try_find_child("Two") is None


def test_a_queue_that_was_refused_does_not_use_up_its_environment(stack: Stack) -> None:
    environment = environment_l2(stack)
    policy = QuotaShareSchedulingPolicy(stack, "Policy")
    define = partial(TrainingJobQueue, stack, "Queue", scheduling_policy=policy, service_environment=environment)
    with pytest.raises(RefusedDesignError):
        define(job_queue_name="two words")
    with pytest.raises(RuntimeError, match="tags"):
        define(tags={"team": 5})  # type: ignore[dict-item] # which jsii finds late
    define()


def test_takes_l1_policies_and_environments(stack: Stack) -> None:
    policy = batch.CfnSchedulingPolicy(
        stack,
        "L1Policy",
        quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(idle_resource_assignment_strategy="FIFO"),
    )
    environment = l1_environment(stack, "ml.g5.xlarge", 1)
    queue(stack, scheduling_policy=policy, service_environment=environment)

    properties = properties_of(stack, "JobQueue")
    # Ref of both is the ARN.
    assert properties["SchedulingPolicyArn"] == {"Ref": "L1Policy"}
    assert properties["ServiceEnvironmentOrder"] == [{"Order": 1, "ServiceEnvironment": {"Ref": "L1Environment"}}]


def test_its_default_child_is_the_l1(stack: Stack) -> None:
    assert isinstance(queue(stack).node.default_child, batch.CfnJobQueue)


def test_tags_of_reaches_it(stack: Stack) -> None:
    queue(stack)
    Tags.of(stack).add("project", "one")

    assert properties_of(stack, "JobQueue")["Tags"] == {"project": "one"}


def test_name_resolves_to_the_name_rather_than_the_arn(stack: Stack) -> None:
    gpus = queue(stack)

    arn = stack.resolve(gpus.job_queue_arn)
    assert arn["Fn::GetAtt"][1] == "JobQueueArn"
    assert stack.resolve(gpus.job_queue_name) == {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}
