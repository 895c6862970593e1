"""Queue and shares in different stacks of one app, and the same stacks in several stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from quota_constructs import (
    QuotaConstructsError,
    QuotaManagedQueue,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    ResourceSharing,
    ServiceEnvironment,
    TrainingJobQueue,
)

Json = Mapping[str, Any]
UNIT = "ml.g5.xlarge"
WEAK_FLAG = {"@aws-cdk/core:defaultCrossStackReferences": "weak"}
STRONG_FLAG = {"@aws-cdk/core:defaultCrossStackReferences": "strong"}


class Platform(cdk.Stack):
    def __init__(self, scope: Any, id: str, **props: Any) -> None:
        super().__init__(scope, id, **props)
        self.gpus = QuotaManagedQueue(self, "Gpus", capacity_limits={UNIT: 2})
        self.standard = self.gpus.add_quota_share(
            "Standard", capacity_limits={UNIT: 1}, resource_sharing=ResourceSharing.reserve()
        )


class Team(cdk.Stack):
    def __init__(self, scope: Any, id: str, platform: Platform, **props: Any) -> None:
        super().__init__(scope, id, **props)
        self.share = QuotaShare(
            self,
            "Vision",
            job_queue=platform.gpus.job_queue,
            capacity_limits={UNIT: 1},
            resource_sharing=ResourceSharing.reserve(),
        )


def templates(context: dict[str, str], *, weak_queue: bool = False) -> tuple[Json, Json]:
    app = cdk.App(context=context)
    platform = Platform(app, "Platform")
    if weak_queue:
        cdk.CrossStackReferences.of(platform.gpus.job_queue).produce(cdk.ReferenceStrength.WEAK)
    team = Team(app, "Team", platform)
    return Template.from_stack(platform).to_json(), Template.from_stack(team).to_json()


def queue_of_share(template: Json) -> Json:
    shares = [each for each in template["Resources"].values() if each["Type"] == "AWS::Batch::QuotaShare"]
    queue: Json = shares[0]["Properties"]["JobQueue"]
    return queue


def exports(template: Json) -> list[str]:
    return [name for name, output in template.get("Outputs", {}).items() if "Export" in output]


@pytest.mark.parametrize(
    ("context", "weak_queue"),
    [(WEAK_FLAG, False), ({}, True), (STRONG_FLAG, True)],
    ids=["by the app's flag", "of this queue", "of this queue against the app's flag"],
)
def test_a_weak_reference_locks_neither_stack(context: dict[str, str], weak_queue: bool) -> None:
    platform, team = templates(context, weak_queue=weak_queue)

    assert exports(platform) == []
    ((name, output),) = platform["Outputs"].items()
    assert output["Value"]["Fn::GetAtt"][1] == "JobQueueArn"
    reference = queue_of_share(team)["Fn::GetStackOutput"]
    assert (reference["StackName"], reference["OutputName"]) == ("Platform", name)


def test_a_strong_reference_exports_the_queue_and_so_locks_its_stack() -> None:
    platform, team = templates(STRONG_FLAG)

    (name,) = exports(platform)
    assert queue_of_share(team) == {"Fn::ImportValue": f"Platform:{name}"}


def test_the_stack_of_the_queue_is_deployed_before_that_of_the_share() -> None:
    app = cdk.App(context=WEAK_FLAG)
    platform = Platform(app, "Platform")
    team = Team(app, "Team", platform)

    assembly = app.synth()

    (artifact,) = [each for each in assembly.stacks if each.stack_name == team.stack_name]
    assert platform.artifact_id in [dependency.id for dependency in artifact.dependencies]


def test_without_the_reference_the_stack_of_the_queue_has_nothing_left_of_it() -> None:
    app = cdk.App(context=WEAK_FLAG)
    alone = Template.from_stack(Platform(app, "Platform")).to_json()

    platform, _ = templates(WEAK_FLAG)

    assert "Outputs" not in alone
    assert platform["Resources"] == alone["Resources"]


def test_a_share_of_another_stack_is_judged_with_the_queue() -> None:
    app = cdk.App()
    platform = Platform(app, "Platform")
    team = Team(app, "Team", platform)

    assert [share.name for share in platform.gpus.job_queue.design.quota_shares] == ["Standard", "Vision"]
    assert team.share.design in platform.gpus.job_queue.design.quota_shares


def place(account: str = "111111111111", region: str = "us-east-1") -> cdk.Environment:
    return cdk.Environment(account=account, region=region)


@pytest.mark.parametrize(
    ("elsewhere", "differs"),
    [(place(region="eu-west-1"), "Region us-east-1"), (place(account="222222222222"), "account 111111111111")],
)
def test_fails_on_a_share_elsewhere_than_its_queue(elsewhere: cdk.Environment, differs: str) -> None:
    app = cdk.App()
    platform = Platform(app, "Platform", env=place())

    with pytest.raises(QuotaConstructsError, match=f"^the job queue is in {differs}, its quota share would be in "):
        Team(app, "Team", platform, env=elsewhere)
    assert len(platform.gpus.job_queue.design.quota_shares) == 1


def test_fails_on_a_share_elsewhere_than_its_imported_queue() -> None:
    stack = cdk.Stack(cdk.App(), "Team", env=place())
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", "arn:aws:batch:eu-west-1:111111111111:job-queue/gpus")

    with pytest.raises(QuotaConstructsError, match="the job queue is in Region eu-west-1"):
        QuotaShare(stack, "Share", job_queue=queue, capacity_limits={UNIT: 1}, resource_sharing=ResourceSharing.lend())


@pytest.mark.parametrize("elsewhere", ["scheduling policy", "service environment"])
def test_fails_on_a_queue_elsewhere_than_its_parts(elsewhere: str) -> None:
    app = cdk.App()
    here = cdk.Stack(app, "America", env=place())
    there = cdk.Stack(app, "Europe", env=place(region="eu-west-1"))
    environment = ServiceEnvironment(
        there if "environment" in elsewhere else here, "Environment", capacity_limits={UNIT: 1}
    )
    policy = QuotaShareSchedulingPolicy(there if "policy" in elsewhere else here, "Policy")

    with pytest.raises(QuotaConstructsError, match=f"^the {elsewhere} is in Region eu-west-1, its job queue would be "):
        TrainingJobQueue(here, "Queue", scheduling_policy=policy, service_environment=environment)


@pytest.mark.parametrize("env", [place(), None])
def test_accepts_a_share_that_may_be_where_its_queue_is(env: cdk.Environment | None) -> None:
    app = cdk.App()
    Team(app, "Team", Platform(app, "Platform", env=place()), env=env)


# Stages


class Environment(cdk.Stage):
    def __init__(self, scope: Any, id: str, **props: Any) -> None:
        super().__init__(scope, id, **props)
        self.platform = Platform(self, "Platform")
        self.platform.standard.publish(f"/{id.lower()}/gpus/standard")
        self.team = Team(self, "Team", self.platform)


def named_things(template: Json) -> set[str]:
    """Names that must be different in one account: all that AWS does not make up, but for shares, which are in queues."""
    kinds = {
        "AWS::Batch::JobQueue": "JobQueueName",
        "AWS::Batch::ServiceEnvironment": "ServiceEnvironmentName",
        "AWS::Batch::SchedulingPolicy": "Name",
        "AWS::SSM::Parameter": "Name",
    }
    properties = [(kinds.get(each["Type"]), each["Properties"]) for each in template["Resources"].values()]
    return {props[name] for name, props in properties if name is not None and name in props}


def test_two_stages_with_the_same_stacks_have_no_name_in_common() -> None:
    app = cdk.App(context=WEAK_FLAG)
    beta, prod = Environment(app, "Beta"), Environment(app, "Prod")

    assert {beta.platform.stack_name, beta.team.stack_name} == {"Beta-Platform", "Beta-Team"}
    assert {prod.platform.stack_name, prod.team.stack_name} == {"Prod-Platform", "Prod-Team"}
    of_beta, of_prod = (named_things(Template.from_stack(stage.platform).to_json()) for stage in (beta, prod))
    assert of_beta == {"/beta/gpus/standard/quota-share-arn"}
    assert of_prod == {"/prod/gpus/standard/quota-share-arn"}


def test_a_stage_refers_to_the_queue_of_its_own() -> None:
    app = cdk.App(context=WEAK_FLAG)
    stages = [Environment(app, "Beta"), Environment(app, "Prod")]

    references = [queue_of_share(Template.from_stack(stage.team).to_json()) for stage in stages]

    assert [each["Fn::GetStackOutput"]["StackName"] for each in references] == ["Beta-Platform", "Prod-Platform"]
