"""Values that only a deployment knows are passed on, and no rule judges them."""

from __future__ import annotations

import pytest
from aws_cdk import App, CfnOutput, CfnParameter, Duration, Environment, Fn, PhysicalName, Stack, Token
from aws_cdk import aws_batch as batch

from quota_constructs import (
    JobStateTimeLimitAction,
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
from quota_model.design import UNKNOWN, SharingStrategy
from tests.synthesis import LIMITS, QUEUE_ARN, in_commercial_regions, output_of, properties_of, warnings_of


@pytest.fixture
def text(stack: Stack) -> str:
    return CfnParameter(stack, "Text").value_as_string


@pytest.fixture
def number(stack: Stack) -> float:
    return CfnParameter(stack, "Number", type="Number").value_as_number


TEXT, NUMBER = {"Ref": "Text"}, {"Ref": "Number"}


def test_a_share_takes_tokens_everywhere(stack: Stack, text: str, number: float) -> None:
    sharing = ResourceSharing(SharingStrategy.LEND_AND_BORROW, number)
    share = QuotaShare(
        stack,
        "Share",
        job_queue=TrainingJobQueue.from_job_queue_arn(stack, "Queue", text),
        quota_share_name=text,
        capacity_limits={text: number},
        resource_sharing=sharing,
        state=text,
        tags={"team": text},
    )

    assert properties_of(stack, "QuotaShare") == {
        "JobQueue": TEXT,
        "QuotaShareName": TEXT,
        "CapacityLimits": [{"CapacityUnit": TEXT, "MaxCapacity": NUMBER}],
        "ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW", "BorrowLimit": NUMBER},
        "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
        "State": TEXT,
        "Tags": {"team": TEXT},
    }
    assert share.design.name is UNKNOWN
    assert share.design.state is UNKNOWN
    assert share.design.resource_sharing.borrow_limit is UNKNOWN
    assert not share.design.capacity_limits.are_known


def test_a_strategy_can_be_a_token(stack: Stack, text: str) -> None:
    QuotaShare(
        stack,
        "Share",
        job_queue=TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN),
        capacity_limits=LIMITS,
        resource_sharing=ResourceSharing(text, 5),  # type: ignore[arg-type]
    )

    assert properties_of(stack, "QuotaShare")["ResourceSharingConfiguration"] == {"Strategy": TEXT, "BorrowLimit": 5}


def test_an_environment_takes_tokens_everywhere(stack: Stack, text: str, number: float) -> None:
    ServiceEnvironment(
        stack,
        "Environment",
        capacity_limits={text: number, "ml.g5.xlarge": 1},
        service_environment_name=text,
        state=text,
        tags={"team": text},
    )

    assert properties_of(stack, "ServiceEnvironment") == {
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
        "ServiceEnvironmentName": TEXT,
        "CapacityLimits": [
            {"CapacityUnit": TEXT, "MaxCapacity": NUMBER},
            {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1},
        ],
        "State": TEXT,
        "Tags": {"team": TEXT},
    }


def test_a_queue_takes_tokens_everywhere(stack: Stack, text: str, number: float) -> None:
    TrainingJobQueue(
        stack,
        "Queue",
        scheduling_policy=QuotaShareSchedulingPolicy.from_scheduling_policy_arn(stack, "Policy", text),
        service_environment=ServiceEnvironment.from_service_environment_arn(stack, "Environment", text),
        job_queue_name=text,
        priority=number,
        state=text,
        job_state_time_limit_actions=[JobStateTimeLimitAction(text, Duration.seconds(number), action=text, state=text)],
        tags={"team": text},
    )

    assert properties_of(stack, "JobQueue") == {
        "JobQueueType": "SAGEMAKER_TRAINING",
        "JobQueueName": TEXT,
        "Priority": NUMBER,
        "SchedulingPolicyArn": TEXT,
        "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": TEXT}],
        "State": TEXT,
        "JobStateTimeLimitActions": [{"Reason": TEXT, "MaxTimeSeconds": NUMBER, "Action": TEXT, "State": TEXT}],
        "Tags": {"team": TEXT},
    }


def test_a_policy_takes_tokens_everywhere(stack: Stack, text: str) -> None:
    QuotaShareSchedulingPolicy(stack, "Policy", scheduling_policy_name=text, tags={"team": text})

    properties = properties_of(stack, "SchedulingPolicy")
    assert (properties["Name"], properties["Tags"]) == (TEXT, {"team": TEXT})


def test_a_plan_takes_tokens_everywhere(stack: Stack, text: str, number: float) -> None:
    plan = TrainingPlan.from_training_plan_attributes(
        stack, "Plan", training_plan_arn=text, instance_counts={text: number}
    )
    QuotaManagedQueue.for_training_plan(stack, "Gpus", training_plan=plan)

    assert properties_of(stack, "ServiceEnvironment")["CapacityLimits"] == [
        {"CapacityUnit": TEXT, "MaxCapacity": NUMBER}
    ]


def test_a_limit_can_be_what_another_stack_exports(stack: Stack) -> None:
    limit = Token.as_number(Fn.import_value("GpuCount"))
    ServiceEnvironment(stack, "Environment", capacity_limits={"ml.g5.xlarge": limit})

    assert properties_of(stack, "ServiceEnvironment")["CapacityLimits"] == [
        {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": {"Fn::ImportValue": "GpuCount"}}
    ]


def test_what_is_known_beside_a_token_is_still_judged(stack: Stack, text: str, number: float) -> None:
    with pytest.raises(RefusedDesignError) as refused:
        ServiceEnvironment(
            stack, "Environment", capacity_limits={"ml.g5.xlarge": 0, text: 3}, service_environment_name=text
        )

    assert refused.value.rule_ids == ("capacity-limit-whole-number",)


def test_a_text_around_a_token_is_a_token(stack: Stack, text: str) -> None:
    ServiceEnvironment(stack, "Environment", capacity_limits=LIMITS, service_environment_name=f"not a name: {text}")

    assert properties_of(stack, "ServiceEnvironment")["ServiceEnvironmentName"] == {
        "Fn::Join": ["", ["not a name: ", TEXT]]
    }


def test_a_whole_queue_of_tokens_gives_no_warning(app: App, stack: Stack, text: str, number: float) -> None:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": number})
    sharing = ResourceSharing.lend_and_borrow(borrow_limit=number)
    gpus.add_quota_share("One", capacity_limits={"ml.g5.xlarge": number}, resource_sharing=sharing)
    gpus.add_quota_share("Two", capacity_limits={text: number}, resource_sharing=sharing)

    assert warnings_of(app) == []


def test_cdk_generates_a_name_where_it_is_needed(app: App) -> None:
    """What PhysicalName.GENERATE_IF_NEEDED is for: a reference from another account, which needs a literal ARN."""
    platform = Stack(app, "Platform", env=Environment(account="111111111111", region="us-east-1"))
    team = Stack(app, "Team", env=Environment(account="222222222222", region="us-east-1"))
    gpus = QuotaManagedQueue(platform, "Gpus", capacity_limits=LIMITS, job_queue_name=PhysicalName.GENERATE_IF_NEEDED)
    CfnOutput(team, "Queue", value=gpus.job_queue.job_queue_arn)

    name = properties_of(platform, "JobQueue")["JobQueueName"]
    assert in_commercial_regions(output_of(team, "Queue")) == f"arn:aws:batch:us-east-1:111111111111:job-queue/{name}"


def test_fails_on_a_share_whose_name_is_to_be_generated_if_needed(stack: Stack) -> None:
    """CloudFormation generates none, so the share would be without one wherever CDK sees no need."""
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS)

    with pytest.raises(QuotaConstructsError, match="CloudFormation always needs one; give a name, or leave it out"):
        gpus.add_quota_share(
            "Share",
            capacity_limits=LIMITS,
            resource_sharing=ResourceSharing.lend(),
            quota_share_name=PhysicalName.GENERATE_IF_NEEDED,
        )


def test_an_l1_environment_of_tokens_is_not_judged(app: App, stack: Stack, text: str, number: float) -> None:
    limit = batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=text, max_capacity=number)
    environment = batch.CfnServiceEnvironment(
        stack, "Environment", service_environment_type="SAGEMAKER_TRAINING", capacity_limits=[limit]
    )
    queue = TrainingJobQueue(
        stack,
        "Queue",
        scheduling_policy=QuotaShareSchedulingPolicy(stack, "Policy"),
        service_environment=environment,
    )
    QuotaShare(stack, "Share", job_queue=queue, capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend())

    assert warnings_of(app) == []


def test_cdk_generates_no_name_where_none_is_needed(stack: Stack) -> None:
    QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS, job_queue_name=PhysicalName.GENERATE_IF_NEEDED)

    assert "JobQueueName" not in properties_of(stack, "JobQueue")
