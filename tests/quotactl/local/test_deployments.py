"""The real CDK CLI on the local AWS: what the template says is what boto3 sees, after every kind of change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch

from quota_constructs import QuotaManagedQueue, ResourceSharing
from quotactl.local.testing import RunningAws, local_aws  # noqa: F401

pytestmark = pytest.mark.slow

CDK = str(Path(__file__).parents[3] / "node_modules/.bin/cdk")
UNIT = "ml.g5.xlarge"
Declare = Callable[[cdk.Stack], object]


def declare(
    stack: cdk.Stack,
    vision: int = 1,
    sharing: ResourceSharing | None = None,
    shares: tuple[str, ...] = ("vision", "speech"),
    tags: dict[str, str] | None = None,
) -> QuotaManagedQueue:
    """Declare a queue of three instances with two shares, or what a test changes of it."""
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={UNIT: 3}, job_queue_name=f"{stack.stack_name}-gpus")
    for place, name in enumerate(shares):
        gpus.add_quota_share(
            f"Share{place}",
            quota_share_name=name,
            capacity_limits={UNIT: 1 if place else vision},
            resource_sharing=ResourceSharing.lend() if place else sharing or ResourceSharing.lend_and_borrow(),
            tags=tags,
        )
    return gpus


class Project:
    """A CDK app of one stack, deployed again and again."""

    def __init__(self, aws: RunningAws, directory: Path, stack: str) -> None:
        self.aws, self.directory, self.stack = aws, directory, stack
        self.batch = aws.client("batch")
        self.queue = f"{stack}-gpus"

    def synth(self, declare: Declare) -> str:
        assembly = str(self.directory / "cdk.out")
        app = cdk.App(outdir=assembly, default_stack_synthesizer=cdk.BootstraplessSynthesizer())
        declare(cdk.Stack(app, self.stack))
        app.synth()
        return assembly

    def cdk(self, command: str, declare: Declare, *options: str, succeeds: bool = True) -> str:
        result = self.aws.run([CDK, command, "--app", self.synth(declare), *options], cwd=self.directory)
        assert (result.returncode == 0) is succeeds, result.stdout + result.stderr
        return result.stdout + result.stderr

    def deploy(self, declare: Declare, **expected: bool) -> str:
        return self.cdk("deploy", declare, "--require-approval", "never", **expected)

    def shares(self) -> dict[str, dict[str, Any]]:
        listed = self.batch.list_quota_shares(jobQueue=self.queue)["quotaShares"]
        return {share["quotaShareName"]: share for share in listed}

    def limit(self, share: str) -> int:
        return int(self.shares()[share]["capacityLimits"][0]["maxCapacity"])

    def submit(self, share: str, name: str) -> str:
        request = {
            "TrainingJobName": name,
            "RoleArn": "arn:aws:iam::123456789012:role/training",
            "OutputDataConfig": {"S3OutputPath": "s3://output/"},
            "ResourceConfig": {"InstanceType": UNIT, "InstanceCount": 1},
        }
        response = self.batch.submit_service_job(
            jobName=name,
            jobQueue=self.queue,
            serviceJobType="SAGEMAKER_TRAINING",
            quotaShareName=share,
            serviceRequestPayload=json.dumps(request),
        )
        return str(response["jobId"])


@pytest.fixture
def project(local_aws: RunningAws, tmp_path: Path, request: pytest.FixtureRequest) -> Project:  # noqa: F811
    """A stack that is deployed."""
    name = "".join(part.capitalize() for part in request.node.name.split("_"))[:60]
    project = Project(local_aws, tmp_path, name)
    project.deploy(declare)
    return project


def test_a_first_deploy_makes_what_the_template_says(project: Project) -> None:
    (queue,) = project.batch.describe_job_queues(jobQueues=[project.queue])["jobQueues"]
    (environment,) = project.batch.describe_service_environments(
        serviceEnvironments=[queue["serviceEnvironmentOrder"][0]["serviceEnvironment"]]
    )["serviceEnvironments"]
    assert environment["capacityLimits"] == [{"capacityUnit": UNIT, "maxCapacity": 3}]
    assert (queue["status"], queue["state"]) == ("VALID", "ENABLED")
    shares = project.shares()
    assert shares.keys() == {"vision", "speech"}
    assert shares["vision"]["resourceSharingConfiguration"]["strategy"] == "LEND_AND_BORROW"
    assert shares["speech"]["resourceSharingConfiguration"] == {"strategy": "LEND"}


def test_deploying_the_same_again_changes_nothing(project: Project) -> None:
    before = project.shares()
    assert "(no changes)" in project.deploy(declare)
    assert "There were no differences" in project.cdk("diff", declare)
    assert project.shares() == before


def test_limits_strategy_and_tags_change_in_place(project: Project) -> None:
    before = project.shares()["vision"]["quotaShareArn"]
    project.deploy(lambda stack: declare(stack, vision=2, sharing=ResourceSharing.reserve(), tags={"team": "a"}))
    share = project.shares()["vision"]
    assert share["quotaShareArn"] == before
    assert project.limit("vision") == 2
    assert share["resourceSharingConfiguration"] == {"strategy": "RESERVE"}
    assert project.batch.list_tags_for_resource(resourceArn=before)["tags"] == {"team": "a"}


def test_a_renamed_share_is_replaced(project: Project) -> None:
    changed: Declare = lambda stack: declare(stack, shares=("images", "speech"))  # noqa: E731
    assert "requires replacement" in project.cdk("diff", changed)
    project.deploy(changed)
    assert project.shares().keys() == {"images", "speech"}


def test_a_share_that_goes_takes_its_jobs_along_and_leaves_the_others(project: Project) -> None:
    going, staying = project.submit("speech", "going"), project.submit("vision", "staying")
    project.aws.wait_for_job(going, "RUNNING")
    project.aws.wait_for_job(staying, "RUNNING")
    project.deploy(lambda stack: declare(stack, shares=("vision",)))
    assert project.shares().keys() == {"vision"}
    assert project.batch.describe_service_job(jobId=going)["status"] == "FAILED"
    assert project.aws.wait_for_job(staying, "SUCCEEDED")["status"] == "SUCCEEDED"


def test_a_change_that_fails_is_rolled_back(project: Project) -> None:
    def failing(stack: cdk.Stack) -> None:
        gpus = declare(stack, vision=2, sharing=ResourceSharing.lend())
        # The environment serves the queue above already, which AWS refuses.
        other = batch.CfnJobQueue(
            stack,
            "Other",
            priority=1,
            job_queue_type="SAGEMAKER_TRAINING",
            scheduling_policy_arn=gpus.scheduling_policy.scheduling_policy_ref.scheduling_policy_arn,
            service_environment_order=[
                batch.CfnJobQueue.ServiceEnvironmentOrderProperty(
                    order=1,
                    service_environment=gpus.service_environment.service_environment_ref.service_environment_arn,
                )
            ],
        )
        other.node.add_dependency(*[child for child in gpus.node.children if "Share" in child.node.id])

    before = project.shares()
    output = project.deploy(failing, succeeds=False)
    assert "2 job queues refer to it" in output
    assert project.shares() == before
    stack = project.aws.client("cloudformation").describe_stacks(StackName=project.stack)["Stacks"][0]
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    project.deploy(lambda stack: declare(stack, vision=2))
    assert project.limit("vision") == 2


def test_drift_is_found_after_a_change_behind_cloudformations_back(project: Project) -> None:
    assert "No drift detected" in project.cdk("drift", declare)
    project.batch.update_quota_share(
        quotaShareArn=project.shares()["vision"]["quotaShareArn"],
        capacityLimits=[{"capacityUnit": UNIT, "maxCapacity": 2}],
    )
    output = project.cdk("drift", declare)
    assert "/CapacityLimits/0/MaxCapacity" in output
    assert "1 resource has drifted" in output


def test_a_deleted_resource_shows_as_drift(project: Project) -> None:
    arn = project.shares()["speech"]["quotaShareArn"]
    project.batch.update_quota_share(quotaShareArn=arn, state="DISABLED")
    project.batch.delete_quota_share(quotaShareArn=arn)
    assert "Deleted Resources" in project.cdk("drift", declare)


def test_destroying_leaves_nothing_although_jobs_run(project: Project) -> None:
    job = project.submit("vision", "running")
    project.aws.wait_for_job(job, "RUNNING")
    project.cdk("destroy", declare, "--force")
    assert project.batch.describe_job_queues(jobQueues=[project.queue])["jobQueues"] == []
    policies = project.batch.list_scheduling_policies()["schedulingPolicies"]
    assert not [policy for policy in policies if project.stack in policy["arn"]]
    environments = project.batch.describe_service_environments()["serviceEnvironments"]
    assert not [found for found in environments if project.stack in found["serviceEnvironmentName"]]
    assert project.batch.describe_service_job(jobId=job)["status"] == "FAILED"


def test_fails_to_create_what_the_api_refuses_and_leaves_nothing(local_aws: RunningAws, tmp_path: Path) -> None:  # noqa: F811
    def refused(stack: cdk.Stack) -> None:
        batch.CfnServiceEnvironment(
            stack,
            "Environment",
            service_environment_type="SAGEMAKER_TRAINING",
            service_environment_name="refused",
            capacity_limits=[{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 4}],
        )

    project = Project(local_aws, tmp_path, "Refused")
    output = project.deploy(refused, succeeds=False)
    assert "Resource handler returned message" in output
    assert project.batch.describe_service_environments(serviceEnvironments=["refused"])["serviceEnvironments"] == []
