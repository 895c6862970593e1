"""Resources that exist already: their names, their account and region, and what may be done with them."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Aws, CfnParameter, Stack

from quota_constructs import (
    MalformedArnError,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    ResourceSharing,
    ServiceEnvironment,
    TrainingJobQueue,
    TrainingPlan,
)
from tests.synthesis import LIMITS, QUEUE_ARN, SHARE_ARN, properties_of

POLICY_ARN = "arn:aws:batch:eu-west-1:111122223333:scheduling-policy/quotas"
ENVIRONMENT_ARN = "arn:aws:batch:eu-west-1:111122223333:service-environment/gpus"
PLAN_ARN = "arn:aws:sagemaker:eu-west-1:111122223333:training-plan/spring"


def import_plan(scope: Stack, id: str, arn: str) -> Any:
    return TrainingPlan.from_training_plan_attributes(scope, id, training_plan_arn=arn, instance_counts=LIMITS)


IMPORTS: dict[str, Any] = {
    "policy": (
        QuotaShareSchedulingPolicy.from_scheduling_policy_arn,
        POLICY_ARN,
        "scheduling_policy_arn",
        "scheduling_policy_name",
        "quotas",
    ),
    "environment": (
        ServiceEnvironment.from_service_environment_arn,
        ENVIRONMENT_ARN,
        "service_environment_arn",
        "service_environment_name",
        "gpus",
    ),
    "queue": (TrainingJobQueue.from_job_queue_arn, QUEUE_ARN, "job_queue_arn", "job_queue_name", "gpus"),
    "share": (QuotaShare.from_quota_share_arn, SHARE_ARN, "quota_share_arn", "quota_share_name", "vision"),
    "plan": (import_plan, PLAN_ARN, "training_plan_arn", "training_plan_name", "spring"),
}
each_import = pytest.mark.parametrize("kind", IMPORTS)


@each_import
def test_a_literal_arn_gives_the_name(stack: Stack, kind: str) -> None:
    make, arn, arn_member, name_member, name = IMPORTS[kind]
    imported = make(stack, "Imported", arn)

    assert getattr(imported, arn_member) == arn
    assert getattr(imported, name_member) == name


@each_import
def test_account_and_region_are_those_of_the_arn(stack: Stack, kind: str) -> None:
    make, arn, *_ = IMPORTS[kind]
    imported = make(stack, "Imported", arn)

    assert (imported.env.account, imported.env.region) == ("111122223333", "eu-west-1")


@each_import
@pytest.mark.parametrize("partition", ["aws-cn", "aws-us-gov", "aws-eusc", Aws.PARTITION])
def test_arns_of_every_partition_are_read(stack: Stack, kind: str, partition: str) -> None:
    make, arn, _, name_member, name = IMPORTS[kind]
    imported = make(stack, "Imported", arn.replace("arn:aws:", f"arn:{partition}:"))

    assert getattr(imported, name_member) == name


@each_import
def test_an_arn_with_tokens_inside_gives_the_name(stack: Stack, kind: str) -> None:
    make, arn, _, name_member, name = IMPORTS[kind]
    imported = make(stack, "Imported", arn.replace("eu-west-1:111122223333", f"{Aws.REGION}:{Aws.ACCOUNT_ID}"))

    assert getattr(imported, name_member) == name
    assert stack.resolve(imported.env.account) == {"Ref": "AWS::AccountId"}


@each_import
def test_a_token_arn_is_split_at_deployment(stack: Stack, kind: str) -> None:
    make, _, arn_member, name_member, _ = IMPORTS[kind]
    arn = CfnParameter(stack, "Arn").value_as_string
    imported = make(stack, "Imported", arn)

    position = 3 if kind == "share" else 1
    assert getattr(imported, arn_member) == arn
    assert stack.resolve(getattr(imported, name_member)) == {
        "Fn::Select": [position, {"Fn::Split": ["/", {"Ref": "Arn"}]}]
    }
    assert stack.resolve(imported.env.region) == {"Fn::Select": [3, {"Fn::Split": [":", {"Ref": "Arn"}]}]}


def test_a_token_that_is_part_of_an_arn_is_split_at_deployment(stack: Stack) -> None:
    resource = CfnParameter(stack, "Resource").value_as_string
    share = QuotaShare.from_quota_share_arn(stack, "Share", f"arn:aws:batch:eu-west-1:111122223333:{resource}")

    assert stack.resolve(share.quota_share_name)["Fn::Select"][0] == 3


@each_import
@pytest.mark.parametrize(
    "arn",
    [
        "",
        "vision",
        "arn:aws:batch:eu-west-1:111122223333",
        "arn:aws:batch:eu-west-1:111122223333:job-definition/train:1",
        "arn:aws:batch:eu-west-1:111122223333:job-queue/",
        "arn:aws:batch:eu-west-1:111122223333:job-queue/gpus/quota-share/",
        "arn:aws:sqs:eu-west-1:111122223333:job-queue/gpus",
    ],
)
def test_fails_on_an_arn_of_something_else(stack: Stack, kind: str, arn: str) -> None:
    make, right, *_ = IMPORTS[kind]
    with pytest.raises(MalformedArnError) as refused:
        make(stack, "Imported", arn)

    shape = right.split(":", 5)[-1].split("/")[0]
    assert repr(arn) in str(refused.value)
    assert f"<account>:{shape}/<name>" in str(refused.value)
    assert not stack.node.children


def test_fails_on_the_arn_of_the_queue_in_place_of_the_shares(stack: Stack) -> None:
    with pytest.raises(ValueError, match=r"is not the ARN of a quota share; give arn:.*job-queue/<name>/quota-share/"):
        QuotaShare.from_quota_share_arn(stack, "Share", QUEUE_ARN)


def test_fails_on_the_arn_of_a_share_in_place_of_its_queues(stack: Stack) -> None:
    with pytest.raises(MalformedArnError, match="is not the ARN of a job queue"):
        TrainingJobQueue.from_job_queue_arn(stack, "Queue", SHARE_ARN)


def test_a_share_knows_its_queue_from_its_arn(stack: Stack) -> None:
    assert QuotaShare.from_quota_share_arn(stack, "Share", SHARE_ARN).job_queue_arn == QUEUE_ARN


def test_a_share_knows_its_queue_from_a_token_arn(stack: Stack) -> None:
    share = QuotaShare.from_quota_share_arn(stack, "Share", CfnParameter(stack, "Arn").value_as_string)

    assert stack.resolve(share.job_queue_arn) == {"Fn::Select": [0, {"Fn::Split": ["/quota-share/", {"Ref": "Arn"}]}]}


def test_a_share_is_imported_by_queue_and_name(stack: Stack) -> None:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    share = QuotaShare.from_quota_share_attributes(stack, "Share", job_queue=queue, quota_share_name="vision")

    assert (share.quota_share_arn, share.quota_share_name, share.job_queue_arn) == (SHARE_ARN, "vision", QUEUE_ARN)
    assert share.env.region == "eu-west-1"


def test_a_share_is_imported_by_a_queue_and_a_name_that_are_tokens(stack: Stack) -> None:
    queue_arn, name = (CfnParameter(stack, id).value_as_string for id in ("QueueArn", "Name"))
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", queue_arn)
    share = QuotaShare.from_quota_share_attributes(stack, "Share", job_queue=queue, quota_share_name=name)

    assert stack.resolve(share.quota_share_arn) == {
        "Fn::Join": ["", [{"Ref": "QueueArn"}, "/quota-share/", {"Ref": "Name"}]]
    }


def test_a_queue_can_be_built_on_an_imported_policy_and_environment(stack: Stack) -> None:
    TrainingJobQueue(
        stack,
        "Queue",
        scheduling_policy=QuotaShareSchedulingPolicy.from_scheduling_policy_arn(stack, "Policy", POLICY_ARN),
        service_environment=ServiceEnvironment.from_service_environment_arn(stack, "Environment", ENVIRONMENT_ARN),
    )

    properties = properties_of(stack, "JobQueue")
    assert properties["SchedulingPolicyArn"] == POLICY_ARN
    assert properties["ServiceEnvironmentOrder"] == [{"Order": 1, "ServiceEnvironment": ENVIRONMENT_ARN}]


def test_a_share_can_be_added_to_a_queue_of_another_account(stack: Stack) -> None:
    # CloudFormation decides whether it may: the reference is the ARN as it stands.
    QuotaShare(
        stack,
        "Share",
        job_queue=TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN),
        capacity_limits=LIMITS,
        resource_sharing=ResourceSharing.lend(),
    )

    assert properties_of(stack, "QuotaShare")["JobQueue"] == QUEUE_ARN


@each_import
def test_what_is_imported_offers_no_way_to_change_it(stack: Stack, kind: str) -> None:
    make, arn, *_ = IMPORTS[kind]
    imported = make(stack, "Imported", arn)

    assert imported.node.default_child is None
    assert not [member for member in dir(imported) if member.startswith("add_")]
