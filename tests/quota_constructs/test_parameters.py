"""Publishing a queue or share in an SSM parameter, and importing it from there."""

from __future__ import annotations

from typing import cast

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template
from constructs import Construct

from quota_constructs import QuotaConstructsError, QuotaManagedQueue, QuotaShare, ResourceSharing, TrainingJobQueue

UNIT = "ml.g5.xlarge"
SHARE_ARN = "arn:aws:batch:eu-west-1:111122223333:job-queue/gpus/quota-share/vision"


@pytest.fixture
def stack() -> cdk.Stack:
    return cdk.Stack(cdk.App(), "Platform")


def queue_with_share(stack: cdk.Stack) -> tuple[QuotaManagedQueue, QuotaShare]:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={UNIT: 1})
    return gpus, gpus.add_quota_share("Vision", capacity_limits={UNIT: 1}, resource_sharing=ResourceSharing.reserve())


def parameters(stack: cdk.Stack) -> dict[str, object]:
    found = Template.from_stack(stack).find_resources("AWS::SSM::Parameter")
    return {each["Properties"]["Name"]: each["Properties"]["Value"] for each in found.values()}


def logical_id(construct: Construct) -> str:
    resource = construct.node.default_child
    assert isinstance(resource, cdk.CfnElement)
    found: str = cdk.Stack.of(construct).resolve(resource.logical_id)
    return found


def test_a_queue_is_published_by_its_arn(stack: cdk.Stack) -> None:
    gpus, _ = queue_with_share(stack)

    gpus.job_queue.publish("/gpus")

    (value,) = parameters(stack).values()
    assert value == {"Fn::GetAtt": [logical_id(gpus.job_queue), "JobQueueArn"]}
    assert list(parameters(stack)) == ["/gpus/job-queue-arn"]


def test_a_share_is_published_by_its_arn_alone_which_names_the_queue_too(stack: cdk.Stack) -> None:
    _, vision = queue_with_share(stack)

    vision.publish("/gpus/vision")

    assert parameters(stack) == {"/gpus/vision/quota-share-arn": {"Fn::GetAtt": [logical_id(vision), "QuotaShareArn"]}}


def test_an_imported_share_can_be_published(stack: cdk.Stack) -> None:
    QuotaShare.from_quota_share_arn(stack, "Vision", SHARE_ARN).publish("/gpus/vision")

    assert parameters(stack) == {"/gpus/vision/quota-share-arn": SHARE_ARN}


def test_a_share_can_be_published_under_two_prefixes_while_readers_move(stack: cdk.Stack) -> None:
    _, vision = queue_with_share(stack)

    vision.publish("/old")
    vision.publish("/new")

    assert set(parameters(stack)) == {"/old/quota-share-arn", "/new/quota-share-arn"}


def test_publishing_exports_nothing_so_no_reader_locks_the_stack(stack: cdk.Stack) -> None:
    gpus, vision = queue_with_share(stack)
    gpus.job_queue.publish("/gpus")
    vision.publish("/gpus/vision")

    assert "Outputs" not in Template.from_stack(stack).to_json()


def deployed(value: object, refs: dict[str, str]) -> object:
    """What CloudFormation makes of a value."""
    if not isinstance(value, dict):
        return value
    ((function, argument),) = value.items()
    if function == "Ref":
        return refs[argument]
    first, second = (deployed(part, refs) for part in argument)
    if function == "Fn::Split":
        return str(second).split(str(first))
    if function == "Fn::Select":
        return second[int(str(first))]  # type: ignore[index]
    assert function == "Fn::Join"
    return str(first).join(str(deployed(part, refs)) for part in argument[1])


def test_a_share_is_read_from_its_parameter_at_each_deployment() -> None:
    team = cdk.Stack(cdk.App(), "Team")

    share = QuotaShare.from_parameters(team, "Share", "/gpus/vision")

    logical_id = team.resolve(share.quota_share_arn)["Ref"]
    assert Template.from_stack(team).to_json()["Parameters"][logical_id] == {
        "Type": "AWS::SSM::Parameter::Value<String>",
        "Default": "/gpus/vision/quota-share-arn",
    }


def test_names_of_a_share_that_is_read_are_taken_from_its_arn_at_deployment() -> None:
    team = cdk.Stack(cdk.App(), "Team")

    share = QuotaShare.from_parameters(team, "Share", "/gpus/vision")

    refs = {team.resolve(share.quota_share_arn)["Ref"]: SHARE_ARN}
    assert deployed(team.resolve(share.quota_share_name), refs) == "vision"
    assert deployed(team.resolve(share.job_queue_arn), refs) == "arn:aws:batch:eu-west-1:111122223333:job-queue/gpus"


def test_a_queue_is_read_from_its_parameter_and_takes_shares() -> None:
    team = cdk.Stack(cdk.App(), "Team")

    queue = TrainingJobQueue.from_parameters(team, "Queue", "/gpus")
    QuotaShare(team, "Vision", job_queue=queue, capacity_limits={UNIT: 1}, resource_sharing=ResourceSharing.lend())

    Template.from_stack(team).has_resource_properties(
        "AWS::Batch::QuotaShare", {"JobQueue": team.resolve(queue.job_queue_arn), "QuotaShareName": "Vision"}
    )


def test_grants_on_a_share_that_is_read_name_its_queue_itself_and_jobs_and_no_more() -> None:
    team = cdk.Stack(cdk.App(), "Team")
    share = QuotaShare.from_parameters(team, "Share", "/gpus/vision")
    role = iam.Role(team, "Role", assumed_by=iam.AccountRootPrincipal())

    share.grants.submit(role)

    (policy,) = Template.from_stack(team).find_resources("AWS::IAM::Policy").values()
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    queue, of_share, jobs = statement["Resource"]
    assert (queue, of_share) == (team.resolve(share.job_queue_arn), team.resolve(share.quota_share_arn))
    assert jobs["Fn::Join"][1][-1] == ":service-job/*"


def test_what_is_read_is_in_the_account_and_region_of_its_reader() -> None:
    team = cdk.Stack(cdk.App(), "Team", env=cdk.Environment(account="111122223333", region="eu-west-1"))

    share = QuotaShare.from_parameters(team, "Share", "/gpus/vision")
    queue = TrainingJobQueue.from_parameters(team, "Queue", "/gpus")

    assert (share.env.account, share.env.region) == ("111122223333", "eu-west-1")
    assert (queue.env.account, queue.env.region) == ("111122223333", "eu-west-1")


def test_reading_the_same_parameter_twice_takes_one_template_parameter() -> None:
    team = cdk.Stack(cdk.App(), "Team")
    QuotaShare.from_parameters(team, "One", "/gpus/vision")
    QuotaShare.from_parameters(team, "Two", "/gpus/vision")

    names = [parameter.get("Default") for parameter in Template.from_stack(team).to_json()["Parameters"].values()]
    assert names.count("/gpus/vision/quota-share-arn") == 1


@pytest.mark.parametrize("prefix", ["/gpus", "/a/b/c", "/team_1/gpus-2.0", "/awesome-gpus"])
def test_prefixes_that_systems_manager_accepts_are_accepted(stack: cdk.Stack, prefix: str) -> None:
    QuotaShare.from_quota_share_arn(stack, "Vision", SHARE_ARN).publish(prefix)

    assert list(parameters(stack)) == [f"{prefix}/quota-share-arn"]


@pytest.mark.parametrize("prefix", ["", "/", "gpus", "/gpus/", "//gpus", "/g pus", "/gpus:1", "/a" * 15])
def test_fails_for_a_prefix_that_is_no_parameter_path(stack: cdk.Stack, prefix: str) -> None:
    share = QuotaShare.from_quota_share_arn(stack, "Vision", SHARE_ARN)

    with pytest.raises(QuotaConstructsError, match=r"give one such as '/gpus/vision'"):
        share.publish(prefix)
    with pytest.raises(QuotaConstructsError, match=r"give one such as '/gpus/vision'"):
        QuotaShare.from_parameters(stack, "Read", prefix)


def test_fails_for_a_prefix_that_is_no_text_as_of_a_variable_that_is_not_set(stack: cdk.Stack) -> None:
    prefix = cast("str", None)

    with pytest.raises(QuotaConstructsError, match=r"parameter_prefix None is not a text; give one such as '/gpus"):
        QuotaShare.from_parameters(stack, "Read", prefix)


@pytest.mark.parametrize("prefix", ["/aws/gpus", "/ssm", "/AWS-gpus"])
def test_fails_for_a_prefix_that_aws_keeps_for_itself(stack: cdk.Stack, prefix: str) -> None:
    share = QuotaShare.from_quota_share_arn(stack, "Vision", SHARE_ARN)

    with pytest.raises(QuotaConstructsError, match="which AWS keeps for itself"):
        share.publish(prefix)


def test_fails_for_two_shares_under_one_prefix_before_cloudformation_does(stack: cdk.Stack) -> None:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={UNIT: 2})
    vision, speech = (
        gpus.add_quota_share(name, capacity_limits={UNIT: 1}, resource_sharing=ResourceSharing.lend())
        for name in ("vision", "speech")
    )
    vision.publish("/gpus")

    message = r"parameter '/gpus/quota-share-arn' is published by '.*/vision' already; give '.*/speech' another"
    with pytest.raises(QuotaConstructsError, match=message):
        speech.publish("/gpus")


def test_two_stacks_may_publish_under_one_prefix_as_they_may_be_in_two_accounts(app: cdk.App) -> None:
    stacks = [cdk.Stack(app, name) for name in ("Beta", "Prod")]
    for stack in stacks:
        QuotaShare.from_quota_share_arn(stack, "Vision", SHARE_ARN).publish("/gpus")

    assert [list(parameters(stack)) for stack in stacks] == [["/gpus/quota-share-arn"]] * 2


def test_fails_for_a_prefix_that_is_a_token(stack: cdk.Stack) -> None:
    share = QuotaShare.from_quota_share_arn(stack, "Vision", SHARE_ARN)

    with pytest.raises(QuotaConstructsError, match="parameter_prefix is a token; give a literal one"):
        share.publish(f"/{stack.stack_id}")
