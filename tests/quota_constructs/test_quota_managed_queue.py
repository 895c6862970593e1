from __future__ import annotations

import pytest
from aws_cdk import Duration, Stack
from aws_cdk import aws_batch as batch

from quota_constructs import (
    JobStateTimeLimitAction,
    JobStateTimeLimitReason,
    QuotaManagedQueue,
    QuotaShareSchedulingPolicy,
    RefusedDesignError,
    ResourceSharing,
    State,
    TrainingPlan,
)
from tests.synthesis import LIMITS, properties_of, resources_of, template_of

PLAN_ARN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring"


def test_defines_the_three_resources_that_aws_ties_one_to_one(stack: Stack) -> None:
    QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 3})

    types = [resource["Type"] for resource in template_of(stack)["Resources"].values()]
    assert sorted(types) == ["AWS::Batch::JobQueue", "AWS::Batch::SchedulingPolicy", "AWS::Batch::ServiceEnvironment"]
    assert properties_of(stack, "ServiceEnvironment")["CapacityLimits"] == [
        {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 3}
    ]


def test_passes_on_what_it_is_given(stack: Stack) -> None:
    QuotaManagedQueue(
        stack,
        "Gpus",
        capacity_limits=LIMITS,
        job_queue_name="gpus",
        service_environment_name="machines",
        state=State.DISABLED,
        job_state_time_limit_actions=[
            JobStateTimeLimitAction(JobStateTimeLimitReason.INSUFFICIENT_INSTANCE_CAPACITY, Duration.hours(2))
        ],
    )

    queue = properties_of(stack, "JobQueue")
    assert (queue["JobQueueName"], queue["State"]) == ("gpus", "DISABLED")
    assert queue["JobStateTimeLimitActions"][0]["MaxTimeSeconds"] == 7200
    assert properties_of(stack, "ServiceEnvironment")["ServiceEnvironmentName"] == "machines"


def test_two_queues_can_have_one_policy(stack: Stack) -> None:
    policy = QuotaShareSchedulingPolicy(stack, "Policy")
    for id in ("One", "Two"):
        QuotaManagedQueue(stack, id, capacity_limits=LIMITS, scheduling_policy=policy)

    assert len(resources_of(stack, "SchedulingPolicy")) == 1
    assert {str(queue["Properties"]["SchedulingPolicyArn"]) for queue in resources_of(stack, "JobQueue")} == {
        str(stack.resolve(policy.scheduling_policy_arn))
    }


def test_creates_its_shares_one_after_the_other(stack: Stack) -> None:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 3})
    shares = [
        gpus.add_quota_share(id, capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend())
        for id in ("One", "Two", "Three")
    ]

    ids = [str(stack.resolve(resource.logical_id)) for resource in map(l1_of, shares)]
    resources = template_of(stack)["Resources"]
    assert [resources[id].get("DependsOn") for id in ids] == [None, [ids[0]], [ids[1]]]
    assert gpus.quota_shares == tuple(shares)


def l1_of(share: object) -> batch.CfnQuotaShare:
    resource = getattr(share, "node").default_child  # noqa: B009
    assert isinstance(resource, batch.CfnQuotaShare)
    return resource


def test_takes_its_limits_from_a_training_plan(stack: Stack) -> None:
    plan = TrainingPlan.from_training_plan_attributes(
        stack, "Plan", training_plan_arn=PLAN_ARN, instance_counts={"ml.p5.48xlarge": 16}
    )
    gpus = QuotaManagedQueue.for_training_plan(stack, "Gpus", training_plan=plan, job_queue_name="gpus")

    assert properties_of(stack, "ServiceEnvironment")["CapacityLimits"] == [
        {"CapacityUnit": "ml.p5.48xlarge", "MaxCapacity": 16}
    ]
    assert properties_of(stack, "JobQueue")["JobQueueName"] == "gpus"
    assert gpus.training_plan is plan


def test_has_no_training_plan_unless_it_is_made_for_one(stack: Stack) -> None:
    assert QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS).training_plan is None


def test_fails_on_a_plan_without_instances(stack: Stack) -> None:
    plan = TrainingPlan.from_training_plan_attributes(
        stack, "Plan", training_plan_arn=PLAN_ARN, instance_counts={"ml.p5.48xlarge": 0}
    )
    with pytest.raises(RefusedDesignError, match=r"capacity limit 0 of ml\.p5\.48xlarge"):
        QuotaManagedQueue.for_training_plan(stack, "Gpus", training_plan=plan)


def test_its_design_is_what_was_declared(stack: Stack) -> None:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 2}, job_queue_name="gpus")
    gpus.add_quota_share("One", capacity_limits=LIMITS, resource_sharing=ResourceSharing.reserve())
    gpus.add_quota_share("Two", capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend(), state=State.DISABLED)

    assert gpus.job_queue.design.to_json() == {
        "jobQueueName": "gpus",
        "state": "ENABLED",
        "priority": 1,
        "schedulingPolicy": {"kind": "QUOTA_SHARE"},
        "serviceEnvironment": {
            "capacityLimits": [{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 2}],
            "state": "ENABLED",
        },
        "quotaShares": [
            {
                "quotaShareName": name,
                "capacityLimits": [{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 1}],
                "resourceSharingConfiguration": {"strategy": strategy},
                "preemptionConfiguration": {"inSharePreemption": "DISABLED"},
                "state": state,
            }
            for name, strategy, state in (("One", "RESERVE", "ENABLED"), ("Two", "LEND", "DISABLED"))
        ],
        "jobStateTimeLimitActions": [],
    }
