"""Values that a type checker would refuse: one sentence, and nothing stays in the tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Duration, Fn, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ec2 as ec2

from quota_constructs import (
    JobStateTimeLimitAction,
    JobStateTimeLimitReason,
    MalformedArnError,
    QuotaConstructsError,
    QuotaManagedQueue,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    RefusedDesignError,
    ResourceSharing,
    ServiceEnvironment,
    TrainingJobQueue,
    TrainingPlan,
)
from tests.synthesis import LIMITS, QUEUE_ARN, properties_of

REASON = JobStateTimeLimitReason.INSUFFICIENT_INSTANCE_CAPACITY


def share(stack: Stack, **props: Any) -> QuotaShare:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    defaults = {"job_queue": queue, "capacity_limits": LIMITS, "resource_sharing": ResourceSharing.lend()}
    return QuotaShare(stack, "It", **(defaults | props))


def environment(stack: Stack, **props: Any) -> ServiceEnvironment:
    return ServiceEnvironment(stack, "It", **({"capacity_limits": LIMITS} | props))


def queue(stack: Stack, **props: Any) -> TrainingJobQueue:
    policy = QuotaShareSchedulingPolicy(stack, "Policy")
    environment = ServiceEnvironment(stack, "Environment", capacity_limits=LIMITS)
    return TrainingJobQueue(stack, "It", **({"scheduling_policy": policy, "service_environment": environment} | props))


def plan(stack: Stack, **props: Any) -> object:
    arn = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring"
    return TrainingPlan.from_training_plan_attributes(
        stack, "It", **({"training_plan_arn": arn, "instance_counts": LIMITS} | props)
    )


def for_plan(stack: Stack, **props: Any) -> QuotaManagedQueue:
    return QuotaManagedQueue.for_training_plan(stack, "It", **props)


@pytest.mark.parametrize(
    ("make", "props", "message"),
    [
        (
            environment,
            {"capacity_limits": None},
            "capacity_limits None is not a mapping from instance type to number; ",
        ),
        (environment, {"capacity_limits": [("ml.g5.xlarge", 1)]}, 'write it as in {"ml.g5.xlarge": 1}'),
        (environment, {"capacity_limits": {5: 1}}, "instance type in capacity_limits 5 is not a text; "),
        (
            environment,
            {"capacity_limits": {ec2.InstanceType("g5.xlarge"): 1}},
            "instance type in capacity_limits <aws_cdk.aws_ec2.InstanceType object",
        ),
        (plan, {"instance_counts": ["ml.p5.48xlarge"]}, "instance_counts ['ml.p5.48xlarge'] is not a mapping "),
        (
            for_plan,
            {"training_plan": "spring"},
            "training_plan 'spring' is not a training plan; give what TrainingPlan.",
        ),
        (share, {"resource_sharing": None}, "resource_sharing None is not a ResourceSharing; "),
        (share, {"resource_sharing": "LEND"}, "give ResourceSharing.reserve(), ResourceSharing.lend() or "),
        # The parentheses are forgotten.
        (share, {"resource_sharing": ResourceSharing.lend}, "resource_sharing <bound method ResourceSharing.lend of"),
        (
            share,
            {"resource_sharing": ResourceSharing("lend")},  # type: ignore[arg-type]
            "resource_sharing's strategy 'lend' is not one of RESERVE, LEND, LEND_AND_BORROW; use one of them",
        ),
        (share, {"in_share_preemption": "DISABLED"}, "in_share_preemption 'DISABLED' is not True or False; give one"),
        (share, {"in_share_preemption": Fn.ref("Preempt")}, "goes to the L1, which is node.default_child"),
        (share, {"job_queue": None}, "job_queue None is not a job queue; give a TrainingJobQueue, defined or imported"),
        (share, {"job_queue": QUEUE_ARN}, f"job_queue '{QUEUE_ARN}' is not a job queue; "),
        (
            queue,
            {"scheduling_policy": None},
            "scheduling_policy None is not a scheduling policy; give a QuotaShareSched",
        ),
        (
            queue,
            {"service_environment": "gpus"},
            "service_environment 'gpus' is not a service environment; give a Serv",
        ),
        (
            queue,
            {"job_state_time_limit_actions": JobStateTimeLimitAction(REASON, Duration.hours(1))},
            "is not a list; write JobStateTimeLimitAction(JobStateTimeLimitReason..., Duration.hours(1)), in a list",
        ),
        (queue, {"job_state_time_limit_actions": [REASON]}, "is not a JobStateTimeLimitAction; write "),
        (
            queue,
            {"job_state_time_limit_actions": [JobStateTimeLimitAction(REASON, 3600)]},  # type: ignore[arg-type]
            "max_time 3600 is not a Duration; write ",
        ),
    ],
)
def test_fails_on_a_value_of_another_type(
    stack: Stack, make: Callable[..., object], props: dict[str, Any], message: str
) -> None:
    with pytest.raises(QuotaConstructsError, match=re.escape(message)):
        make(stack, **props)

    assert stack.node.try_find_child("It") is None


def test_fails_on_a_pattern_where_its_queue_belongs(stack: Stack) -> None:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS)

    with pytest.raises(
        QuotaConstructsError, match=r"QuotaManagedQueue object .* of a QuotaManagedQueue, its job_queue"
    ):
        share(stack, job_queue=gpus)


def test_fails_on_a_scope_that_is_no_construct() -> None:
    with pytest.raises(QuotaConstructsError, match="scope None is not a construct; give the stack"):
        QuotaManagedQueue(None, "Gpus", capacity_limits=LIMITS)  # type: ignore[arg-type]


def test_fails_on_an_arn_that_nobody_set(stack: Stack) -> None:
    with pytest.raises(MalformedArnError, match="None is not the ARN of a job queue; give arn:"):
        TrainingJobQueue.from_job_queue_arn(stack, "Queue", None)  # type: ignore[arg-type]


def test_takes_upstreams_imported_queue_which_python_knows_no_class_of(stack: Stack) -> None:
    share(stack, job_queue=batch.JobQueue.from_job_queue_arn(stack, "Upstream", QUEUE_ARN))

    assert properties_of(stack, "QuotaShare")["JobQueue"] == QUEUE_ARN


def test_takes_whole_numbers_that_python_writes_with_a_point(stack: Stack) -> None:
    sharing = ResourceSharing.lend_and_borrow(borrow_limit=100.0)
    whole = share(stack, capacity_limits={"ml.g5.xlarge": 8 / 2}, resource_sharing=sharing)

    assert whole.design.capacity_limits.as_instances() == {"ml.g5.xlarge": 4}
    assert whole.design.resource_sharing.borrow_limit == 100
    properties = properties_of(stack, "QuotaShare")
    numbers = properties["CapacityLimits"][0]["MaxCapacity"], properties["ResourceSharingConfiguration"]["BorrowLimit"]
    assert [str(number) for number in numbers] == ["4", "100"]


def refused_environment(stack: Stack) -> None:
    QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 0})


def refused_queue(stack: Stack) -> None:
    QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS, job_queue_name="two words")


def refused_by_jsii(stack: Stack) -> None:
    ServiceEnvironment(stack, "Gpus", capacity_limits=LIMITS, tags={"team": 5})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("define", "error"),
    [(refused_environment, RefusedDesignError), (refused_queue, RefusedDesignError), (refused_by_jsii, RuntimeError)],
)
def test_fails_without_leaving_the_half_of_it(
    stack: Stack, define: Callable[[Stack], None], error: type[Exception]
) -> None:
    with pytest.raises(error):
        define(stack)

    assert stack.node.try_find_child("Gpus") is None
    QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS)
    assert properties_of(stack, "ServiceEnvironment")["CapacityLimits"] == [
        {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1}
    ]


def test_fails_on_an_id_that_is_taken_and_leaves_the_first(stack: Stack) -> None:
    first = environment(stack)

    with pytest.raises(RuntimeError, match="There is already a Construct with name 'It'"):
        environment(stack)
    assert stack.node.find_child("It") is first
