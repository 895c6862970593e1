"""Teams' stacks on a share that another stack owns, deployed by the CDK CLI to the local AWS in every order."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

from quota_constructs import QuotaManagedQueue, QuotaShare, ResourceSharing
from quotactl.local.testing import RunningAws, local_aws  # noqa: F401
from stacks.team import TeamStack
from stacks.three_quota import ThreeQuotaStack
from tests.code_blocks import blocks_of

pytestmark = pytest.mark.slow

UNIT = "ml.g5.xlarge"
CDK = Path(__file__).parents[2] / "node_modules/.bin/cdk"
Define = Callable[[cdk.App], object]


class Deployer:
    """Synthesizes an app and deploys stacks of it, as their owners would: each by itself."""

    def __init__(self, aws: RunningAws, directory: Path) -> None:
        self._aws = aws
        self._directory = directory
        self._count = 0

    def deploy(self, define: Define, *stacks: str) -> subprocess.CompletedProcess[str]:
        """Run the CDK CLI for some stacks of an app, or for all."""
        self._count += 1
        assembly = self._directory / f"cdk.out.{self._count}"
        app = cdk.App(
            outdir=str(assembly),
            context={"@aws-cdk/core:defaultCrossStackReferences": "weak"},
            default_stack_synthesizer=cdk.BootstraplessSynthesizer(),
        )
        define(app)
        app.synth()
        chosen = ["--exclusively", *stacks] if stacks else ["--all"]
        return self._aws.run(
            [str(CDK), "deploy", "--app", str(assembly), "--require-approval", "never", "--method", "direct", *chosen]
        )

    def resource_types(self, stack: str) -> set[str]:
        found = self._aws.client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
        return {each["ResourceType"] for each in found}

    def exports(self) -> list[str]:
        return [each["Name"] for each in self._aws.client("cloudformation").list_exports()["Exports"]]

    def output(self, stack: str, name: str) -> str:
        (described,) = self._aws.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        return next(str(each["OutputValue"]) for each in described["Outputs"] if each["OutputKey"] == name)


def succeeded(result: subprocess.CompletedProcess[str]) -> bool:
    assert result.returncode == 0, result.stderr
    return True


@pytest.fixture(scope="module")
def deployer(local_aws: RunningAws, tmp_path_factory: pytest.TempPathFactory) -> Deployer:  # noqa: F811
    """Everything deployed once, to be changed by the tests: each has stacks of its own."""
    deployer = Deployer(local_aws, tmp_path_factory.mktemp("assemblies"))

    def define(app: cdk.App) -> None:
        for name in ("Replaced", "TeamFirst", "PlatformFirst"):
            reader(name)(app).add_dependency(platform(name)(app))
        for name in ("WeakTeam", "WeakPlatform"):
            both(name)(app)
        vision_team(app)

    assert succeeded(deployer.deploy(define))
    return deployer


# Through a parameter


def platform(name: str, *, share_name: str = "vision", publish: bool = True) -> Callable[[cdk.App], cdk.Stack]:
    def define(app: cdk.App) -> cdk.Stack:
        stack = cdk.Stack(app, f"{name}Platform")
        gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={UNIT: 1})
        share = gpus.add_quota_share(
            "Vision",
            quota_share_name=share_name,
            capacity_limits={UNIT: 1},
            resource_sharing=ResourceSharing.reserve(),
        )
        if publish:
            share.publish(f"/{name}/vision")
        return stack

    return define


def reader(name: str, *, reads: bool = True) -> Callable[[cdk.App], cdk.Stack]:
    def define(app: cdk.App) -> cdk.Stack:
        stack = cdk.Stack(app, f"{name}Team")
        role = iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())
        if reads:
            share = QuotaShare.from_parameters(stack, "Share", f"/{name}/vision")
            share.grants.submit(role)
            cdk.CfnOutput(stack, "ShareArn", value=share.quota_share_arn)
        return stack

    return define


def test_a_share_can_be_replaced_under_a_team_that_reads_it_and_the_team_follows(deployer: Deployer) -> None:
    assert deployer.output("ReplacedTeam", "ShareArn").endswith("/quota-share/vision")

    assert succeeded(deployer.deploy(platform("Replaced", share_name="sight"), "ReplacedPlatform"))
    assert succeeded(deployer.deploy(reader("Replaced"), "ReplacedTeam"))

    assert deployer.output("ReplacedTeam", "ShareArn").endswith("/quota-share/sight")


def test_the_team_can_stop_reading_before_the_platform_stops_publishing(deployer: Deployer) -> None:
    assert succeeded(deployer.deploy(reader("TeamFirst", reads=False), "TeamFirstTeam"))
    assert succeeded(deployer.deploy(platform("TeamFirst", publish=False), "TeamFirstPlatform"))

    assert "AWS::SSM::Parameter" not in deployer.resource_types("TeamFirstPlatform")
    assert "AWS::IAM::Policy" not in deployer.resource_types("TeamFirstTeam")


def test_the_platform_can_stop_publishing_under_a_team_that_reads(deployer: Deployer) -> None:
    assert succeeded(deployer.deploy(platform("PlatformFirst", publish=False), "PlatformFirstPlatform"))
    assert succeeded(deployer.deploy(reader("PlatformFirst", reads=False), "PlatformFirstTeam"))

    assert "AWS::SSM::Parameter" not in deployer.resource_types("PlatformFirstPlatform")
    assert "AWS::IAM::Policy" not in deployer.resource_types("PlatformFirstTeam")


def test_fails_to_deploy_a_team_whose_share_is_not_published(deployer: Deployer) -> None:
    result = deployer.deploy(reader("Nobody"), "NobodyTeam")

    assert result.returncode != 0
    assert "/Nobody/vision/quota-share-arn" in result.stderr


# Through a reference between two stacks of one app


def both(name: str, *, share: bool = True) -> Define:
    def define(app: cdk.App) -> None:
        owner = cdk.Stack(app, f"{name}Platform")
        gpus = QuotaManagedQueue(owner, "Gpus", capacity_limits={UNIT: 1})
        team = cdk.Stack(app, f"{name}Team")
        iam.Role(team, "Role", assumed_by=iam.AccountRootPrincipal())
        if share:
            QuotaShare(
                team,
                "Vision",
                job_queue=gpus.job_queue,
                capacity_limits={UNIT: 1},
                resource_sharing=ResourceSharing.reserve(),
            )

    return define


def test_there_is_nothing_that_could_lock_a_stack(deployer: Deployer) -> None:
    """CloudFormation locks a stack by its exports. The local one never refuses to remove one, so they are counted."""
    assert deployer.exports() == []


@pytest.mark.parametrize("first", ["Platform", "Team"])
def test_a_weak_reference_can_be_removed_from_either_end_first(deployer: Deployer, first: str) -> None:
    name = f"Weak{first}"
    order = [f"{name}{first}", f"{name}{'Team' if first == 'Platform' else 'Platform'}"]
    assert "AWS::Batch::QuotaShare" in deployer.resource_types(f"{name}Team")

    for stack in order:
        assert succeeded(deployer.deploy(both(name, share=False), stack))

    assert "AWS::Batch::QuotaShare" not in deployer.resource_types(f"{name}Team")


# The team's stack itself


def vision_team(app: cdk.App) -> None:
    quotas = ThreeQuotaStack(app, "ThreeQuota")
    share = quotas.published_as("standard")
    second = cdk.Duration.seconds(1)
    TeamStack(app, "VisionTeam", share_prefix=share, team="vision", poll_interval=second).add_dependency(quotas)


def training_job(**behaviour: object) -> dict[str, Any]:
    return {
        "TrainingJobName": "train",
        "AlgorithmSpecification": {"TrainingInputMode": "File", "TrainingImage": "train:latest"},
        "ResourceConfig": {"InstanceType": UNIT, "InstanceCount": 1, "VolumeSizeInGB": 10},
        "OutputDataConfig": {"S3OutputPath": "s3://models/"},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
        "Environment": {"QUOTACTL_LOCAL": json.dumps(behaviour)},
    }


def execute(aws: RunningAws, deployer: Deployer, name: str, **behaviour: object) -> dict[str, Any]:
    """Run the state machine until it ends."""
    return execute_with(
        aws, deployer, {"jobName": name, "schedulingPriority": 7, "trainingJob": training_job(**behaviour)}
    )


def execute_with(aws: RunningAws, deployer: Deployer, given: dict[str, Any]) -> dict[str, Any]:
    states = aws.client("stepfunctions")
    execution = states.start_execution(
        stateMachineArn=deployer.output("VisionTeam", "StateMachineArn"), input=json.dumps(given)
    )["executionArn"]
    found: dict[str, Any] = {}

    def has_ended() -> bool:
        found.update(states.describe_execution(executionArn=execution))
        return bool(found["status"] != "RUNNING")

    aws.wait_until(has_ended, 360_000, "the end of the execution")
    return found


def test_the_state_machine_trains_on_the_teams_share_and_waits(local_aws: RunningAws, deployer: Deployer) -> None:  # noqa: F811
    execution = execute(local_aws, deployer, "good", trainingSeconds=600)

    assert execution["status"] == "SUCCEEDED", execution
    output = json.loads(execution["output"])
    job = local_aws.client("batch").describe_service_job(jobId=output["jobId"])
    assert (job["status"], job["quotaShareName"], job["schedulingPriority"]) == ("SUCCEEDED", "standard", 7)
    assert job["tags"] == {"team": "vision"}
    payload = json.loads(job["serviceRequestPayload"])
    assert payload.pop("RoleArn").startswith("arn:aws:iam::")
    assert payload == training_job(trainingSeconds=600)


def test_the_state_machine_fails_as_its_job_does(local_aws: RunningAws, deployer: Deployer) -> None:  # noqa: F811
    execution = execute(local_aws, deployer, "bad", failures=1, failureReason="AlgorithmError: out of memory")

    assert (execution["status"], execution["error"]) == ("FAILED", "TrainingJobFailed")
    assert "AlgorithmError: out of memory" in execution["cause"]


def test_the_job_that_the_guide_shows_runs(local_aws: RunningAws, deployer: Deployer) -> None:  # noqa: F811
    guide = Path(__file__).parents[2] / "docs/guides/team.md"
    (shown,) = [block.code for block in blocks_of(guide) if block.file == "job.json"]

    assert execute_with(local_aws, deployer, json.loads(shown))["status"] == "SUCCEEDED"
