"""cdk-nag on what is granted: which wildcards AWS forces, and that acknowledging those silences no other."""

from __future__ import annotations

import pytest
from aws_cdk import Acknowledgment, App, CfnParameter, Stack, Validations
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks

from quota_constructs import (
    PreemptionEnricher,
    QuotaManagedQueue,
    QuotaShare,
    ResourceSharing,
    TrainingExecutionRole,
    TrainingJobQueue,
    acknowledge_batch_wildcards,
)
from tests.synthesis import LIMITS, QUEUE_ARN, SHARE_ARN

ANY = "AwsSolutions-IAM5[Resource::*]"
ANY_JOB = "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:batch:<AWS::Region>:<AWS::AccountId>:service-job/*]"
JOBS = "arn:aws:batch:eu-west-1:111122223333:service-job/*"


def findings_of(app: App) -> set[tuple[str, str | None]]:
    """Return finding and construct path of all that AwsSolutions says."""
    report = AwsSolutionsChecks(app).validate_scope(app)
    return {(each.rule_name, where.construct_path) for each in report.violations for where in each.violating_resources}


def findings_after_synthesis(app: App) -> set[tuple[str, str | None]]:
    """Return them as the plugin would, once all aspects have been applied."""
    app.synth()
    return findings_of(app)


@pytest.fixture
def queue(stack: Stack) -> QuotaManagedQueue:
    return QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS)


@pytest.fixture
def share(queue: QuotaManagedQueue) -> QuotaShare:
    return queue.add_quota_share("vision", capacity_limits=LIMITS, resource_sharing=ResourceSharing.reserve())


@pytest.fixture
def role(stack: Stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())


def test_submitting_and_managing_need_all_jobs_since_batch_makes_up_their_ids(
    app: App, share: QuotaShare, role: iam.Role
) -> None:
    share.grants.submit(role, max_priority=50, job_tags={"team": "vision"}, execution_role=role)
    share.grants.manage_jobs(role, job_tags={"team": "vision"})

    assert findings_of(app) == {(ANY_JOB, "Stack/Role/DefaultPolicy/Resource")}


def test_viewing_a_share_needs_all_resources_since_aws_ties_reads_to_none(
    app: App, share: QuotaShare, role: iam.Role
) -> None:
    share.grants.view(role)

    assert findings_of(app) == {(ANY, "Stack/Role/DefaultPolicy/Resource")}


def test_administering_a_share_needs_no_wildcard(app: App, share: QuotaShare, role: iam.Role) -> None:
    share.grants.administer(role)

    assert findings_of(app) == set()


def test_acknowledged_on_a_policy_of_its_own_it_hides_no_other_wildcard(
    app: App, stack: Stack, share: QuotaShare, role: iam.Role
) -> None:
    jobs = iam.Policy(stack, "QuotaAccess", roles=[role])
    share.grants.submit(jobs, job_tags={"team": "vision"})
    share.grants.view(jobs)
    Validations.of(jobs).acknowledge(
        Acknowledgment(id=ANY_JOB, reason="Batch makes up a job's id when it is submitted; tags tell jobs apart"),
        Acknowledgment(id=ANY, reason="AWS ties describing and listing jobs and queues to no resource"),
    )
    assert findings_of(app) == set()

    role.add_to_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"]))

    assert findings_of(app) == {(ANY, "Stack/Role/DefaultPolicy/Resource")}


def test_the_training_role_is_clean_and_hides_no_wildcard_that_others_add(app: App, stack: Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Data", "data")
    role = TrainingExecutionRole(stack, "Training")
    role.add_input(bucket, "datasets/")
    role.add_checkpoints(bucket, "checkpoints/")
    role.add_output(bucket)
    role.add_image(ecr.Repository.from_repository_name(stack, "Images", "trainer"))
    assert findings_of(app) == set()

    role.add_to_policy(iam.PolicyStatement(actions=["cloudwatch:PutMetricData"], resources=["*"]))

    assert findings_of(app) == {(ANY, "Stack/Training/DefaultPolicy/Resource")}


def test_the_enricher_is_clean_and_hides_no_wildcard_that_others_add(
    app: App, stack: Stack, queue: QuotaManagedQueue
) -> None:
    enricher = PreemptionEnricher(stack, "Enricher", job_queue=queue.job_queue)
    assert findings_of(app) == set()

    enricher.function.add_to_role_policy(iam.PolicyStatement(actions=["batch:ListServiceJobs"], resources=["*"]))

    assert {finding for finding, _ in findings_of(app)} == {ANY}


class TestAcknowledgingBatchWildcards:
    """The wildcards that AWS forces, and no others."""

    @pytest.fixture(autouse=True)
    def _acknowledged(self, app: App) -> None:
        acknowledge_batch_wildcards(app)

    def test_all_grants_are_clean(self, app: App, queue: QuotaManagedQueue, share: QuotaShare, role: iam.Role) -> None:
        share.grants.submit(role, max_priority=50, job_tags={"team": "vision"}, execution_role=role)
        share.grants.manage_jobs(role, job_tags={"team": "vision"})
        share.grants.view(role)
        share.grants.administer(role)
        queue.job_queue.grants.view(role)
        queue.job_queue.grants.operate(role)
        queue.service_environment.grants.administer(role)

        assert findings_after_synthesis(app) == set()

    def test_grants_on_imports_are_clean(self, app: App, stack: Stack, role: iam.Role) -> None:
        parameter = CfnParameter(stack, "Arn").value_as_string
        for id, arn in (("Known", SHARE_ARN), ("Unknown", parameter)):
            share = QuotaShare.from_quota_share_arn(stack, id, arn)
            share.grants.submit(role)
            share.grants.view(role)
        queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
        queue.grants.operate(role)

        assert findings_after_synthesis(app) == set()

    @pytest.mark.parametrize(
        ("actions", "resource"),
        [
            (["s3:GetObject"], "*"),
            (["batch:DescribeServiceJob", "batch:SubmitServiceJob"], "*"),
            (["batch:UntagResource"], JOBS),
            (["batch:TerminateServiceJob"], "arn:aws:batch:*:111122223333:service-job/*"),
            (["batch:DeleteQuotaShare"], f"{QUEUE_ARN}/quota-share/*"),
            (["batch:UpdateQuotaShare"], "arn:aws:batch:eu-west-1:111122223333:job-queue/*"),
        ],
        ids=str,
    )
    def test_other_wildcards_are_still_reported(
        self, app: App, role: iam.Role, actions: list[str], resource: str
    ) -> None:
        role.add_to_policy(iam.PolicyStatement(actions=actions, resources=[resource]))

        assert findings_after_synthesis(app) == {
            (f"AwsSolutions-IAM5[Resource::{resource}]", "Stack/Role/DefaultPolicy/Resource")
        }

    def test_a_wildcard_that_is_shared_with_another_action_is_still_reported(
        self, app: App, share: QuotaShare, role: iam.Role
    ) -> None:
        share.grants.view(role)
        role.add_to_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"]))

        assert findings_after_synthesis(app) == {(ANY, "Stack/Role/DefaultPolicy/Resource")}

    def test_a_wildcard_that_all_but_some_actions_are_allowed_on_is_still_reported(
        self, app: App, share: QuotaShare, role: iam.Role
    ) -> None:
        share.grants.view(role)
        role.add_to_policy(iam.PolicyStatement(not_actions=["s3:GetObject"], resources=["*"]))

        # cdk-nag cannot read such a policy, and says so of the policy as a whole.
        assert findings_after_synthesis(app) == {("AwsSolutions-IAM5", "Stack/Role/DefaultPolicy/Resource")}
