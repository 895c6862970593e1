"""What others can do with our constructs: upstream's own, other stacks and accounts, mixins and aspects."""

from __future__ import annotations

import jsii
import pytest
from aws_cdk import (
    App,
    Aspects,
    CfnOutput,
    Environment,
    IAspect,
    Mixin,
    RemovalPolicy,
    Size,
    Stack,
)
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_batch as refs
from constructs import IConstruct

from quota_constructs import (
    IQuotaShare,
    IQuotaShareSchedulingPolicy,
    IServiceEnvironment,
    ITrainingJobQueue,
    QuotaManagedQueue,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    ResourceSharing,
    ServiceEnvironment,
    TrainingJobQueue,
)
from tests.synthesis import (
    LIMITS,
    QUEUE_ARN,
    SHARE_ARN,
    in_commercial_regions,
    output_of,
    properties_of,
    resources_of,
    template_of,
)


@pytest.fixture
def gpus(stack: Stack) -> QuotaManagedQueue:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS)
    gpus.add_quota_share("Vision", capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend())
    return gpus


def test_upstream_takes_a_queue_by_its_reference_interface(stack: Stack, gpus: QuotaManagedQueue) -> None:
    arn = batch.CfnJobQueue.arn_for_job_queue(gpus.job_queue)

    assert stack.resolve(arn) == stack.resolve(gpus.job_queue.job_queue_arn)


def test_upstream_takes_a_share_by_its_reference_interface(stack: Stack, gpus: QuotaManagedQueue) -> None:
    (share,) = gpus.quota_shares

    assert stack.resolve(batch.CfnQuotaShare.arn_for_quota_share(share)) == stack.resolve(share.quota_share_arn)


def test_upstream_takes_an_environment_by_its_reference_interface(stack: Stack, gpus: QuotaManagedQueue) -> None:
    environment = gpus.service_environment

    arn = batch.CfnServiceEnvironment.arn_for_service_environment(environment)
    assert stack.resolve(arn) == stack.resolve(environment.service_environment_arn)


def test_upstream_takes_imported_ones(stack: Stack) -> None:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    share = QuotaShare.from_quota_share_arn(stack, "Share", SHARE_ARN)

    assert batch.CfnJobQueue.arn_for_job_queue(queue) == QUEUE_ARN
    assert batch.CfnQuotaShare.arn_for_quota_share(share) == SHARE_ARN


def test_upstreams_l1_takes_a_policy_as_an_object(stack: Stack) -> None:
    policy = QuotaShareSchedulingPolicy(stack, "Policy")
    batch.CfnJobQueue(stack, "Queue", priority=1, scheduling_policy_arn=policy)

    assert properties_of(stack, "JobQueue")["SchedulingPolicyArn"] == stack.resolve(policy.scheduling_policy_arn)


def test_upstreams_grants_take_a_queue(stack: Stack, gpus: QuotaManagedQueue) -> None:
    container = batch.EcsEc2ContainerDefinition(
        stack, "Container", cpu=1, memory=Size.gibibytes(1), image=ecs.ContainerImage.from_registry("busybox")
    )
    role = iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())
    batch.EcsJobDefinition(stack, "Job", container=container).grant_submit_job(role, gpus.job_queue)

    policies = [
        resource["Properties"]["PolicyDocument"]
        for resource in template_of(stack)["Resources"].values()
        if resource["Type"] == "AWS::IAM::Policy"
    ]
    statements = [statement for policy in policies for statement in policy["Statement"]]
    (resources,) = [each["Resource"] for each in statements if each["Action"] == "batch:SubmitJob"]
    assert stack.resolve(gpus.job_queue.job_queue_arn) in resources


def test_they_are_what_their_interfaces_say(stack: Stack, gpus: QuotaManagedQueue) -> None:
    """The type checker judges this: an interface's missing member would show up inside Node.js, at run time."""
    policy: IQuotaShareSchedulingPolicy = QuotaShareSchedulingPolicy(stack, "Policy")
    environment: IServiceEnvironment = gpus.service_environment
    queue: ITrainingJobQueue = gpus.job_queue
    share: IQuotaShare = gpus.quota_shares[0]
    upstream: tuple[refs.ISchedulingPolicyRef, refs.IServiceEnvironmentRef, refs.IJobQueueRef, refs.IQuotaShareRef] = (
        policy,
        environment,
        queue,
        share,
    )

    for construct in upstream:
        assert construct.env.region == stack.region
        assert construct.node.path.startswith("Stack/")


def test_a_share_takes_an_l1_queue(stack: Stack) -> None:
    queue = batch.CfnJobQueue(stack, "Queue", priority=1, job_queue_type="SAGEMAKER_TRAINING")
    share = QuotaShare(stack, "Share", job_queue=queue, capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend())

    assert properties_of(stack, "QuotaShare")["JobQueue"] == {"Ref": "Queue"}
    assert stack.resolve(share.job_queue_arn) == {"Ref": "Queue"}


def accounts(app: App) -> tuple[Stack, Stack]:
    return (
        Stack(app, "Platform", env=Environment(account="111111111111", region="us-east-1")),
        Stack(app, "Team", env=Environment(account="222222222222", region="eu-west-1")),
    )


def test_arns_and_names_are_literal_in_another_account(app: App) -> None:
    platform, team = accounts(app)
    policy = QuotaShareSchedulingPolicy(platform, "Policy", scheduling_policy_name="quotas")
    gpus = QuotaManagedQueue(
        platform,
        "Gpus",
        capacity_limits=LIMITS,
        scheduling_policy=policy,
        service_environment_name="machines",
        job_queue_name="gpus",
    )
    share = gpus.add_quota_share("Vision", capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend())
    values = {
        "Policy": (policy.scheduling_policy_arn, policy.scheduling_policy_name),
        "Environment": (
            gpus.service_environment.service_environment_arn,
            gpus.service_environment.service_environment_name,
        ),
        "Queue": (gpus.job_queue.job_queue_arn, gpus.job_queue.job_queue_name),
        "Share": (share.quota_share_arn, share.quota_share_name),
    }
    for id, (arn, name) in values.items():
        CfnOutput(team, f"{id}Arn", value=arn)
        CfnOutput(team, f"{id}Name", value=name)

    prefix = "arn:aws:batch:us-east-1:111111111111:"
    assert [in_commercial_regions(output_of(team, f"{id}Arn")) for id in values] == [
        f"{prefix}scheduling-policy/quotas",
        f"{prefix}service-environment/machines",
        f"{prefix}job-queue/gpus",
        f"{prefix}job-queue/gpus/quota-share/Vision",
    ]
    assert [output_of(team, f"{id}Name") for id in values] == ["quotas", "machines", "gpus", "Vision"]


def test_fails_on_a_reference_from_another_account_to_a_queue_without_a_name(app: App) -> None:
    platform, team = accounts(app)
    gpus = QuotaManagedQueue(platform, "Gpus", capacity_limits=LIMITS)
    CfnOutput(team, "Queue", value=gpus.job_queue.job_queue_arn)

    with pytest.raises(RuntimeError, match="physical name must be explicit set"):
        app.synth()


def test_a_name_keeps_the_order_of_creation(app: App, stack: Stack, gpus: QuotaManagedQueue) -> None:
    """A name is taken out of the ARN, so that what uses it is created after the share."""
    other = Stack(app, "Other")
    CfnOutput(other, "Name", value=gpus.quota_shares[0].quota_share_name)
    app.synth()

    assert [dependency.node.path for dependency in other.dependencies] == ["Stack"]


def test_an_imported_arn_of_another_account_is_used_as_it_stands(app: App) -> None:
    _, team = accounts(app)
    CfnOutput(team, "Share", value=QuotaShare.from_quota_share_arn(team, "Vision", SHARE_ARN).quota_share_arn)

    assert output_of(team, "Share") == SHARE_ARN


class Disabled(Mixin):
    """Disables a quota share."""

    def supports(self, construct: IConstruct) -> bool:
        return isinstance(construct, batch.CfnQuotaShare)

    def apply_to(self, construct: IConstruct) -> None:
        assert isinstance(construct, batch.CfnQuotaShare)
        construct.state = "DISABLED"


def test_a_mixin_reaches_the_l1(stack: Stack, gpus: QuotaManagedQueue) -> None:
    (share,) = gpus.quota_shares

    assert share.with_(Disabled()) is share
    assert properties_of(stack, "QuotaShare")["State"] == "DISABLED"


@jsii.implements(IAspect)
class DisableAll:
    def visit(self, node: IConstruct) -> None:
        if isinstance(node, batch.CfnQuotaShare):
            node.state = "DISABLED"


def test_an_aspect_reaches_the_l1(app: App, stack: Stack, gpus: QuotaManagedQueue) -> None:
    Aspects.of(app).add(DisableAll())

    assert properties_of(stack, "QuotaShare")["State"] == "DISABLED"


def test_a_removal_policy_reaches_the_l1(stack: Stack, gpus: QuotaManagedQueue) -> None:
    gpus.job_queue.apply_removal_policy(RemovalPolicy.RETAIN)

    assert resources_of(stack, "JobQueue")[0]["DeletionPolicy"] == "Retain"


def test_they_are_found_in_the_tree_as_the_objects_they_are(stack: Stack, gpus: QuotaManagedQueue) -> None:
    assert gpus.node.find_child("JobQueue") is gpus.job_queue
    assert gpus.node.find_child("Vision") is gpus.quota_shares[0]
    assert ServiceEnvironment.is_resource(gpus.service_environment)
