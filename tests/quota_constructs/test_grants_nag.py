"""cdk-nag on what is granted: which wildcards AWS forces, and that acknowledging those silences no other."""

from __future__ import annotations

import pytest
from aws_cdk import Acknowledgment, App, Stack, Validations
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks

from quota_constructs import PreemptionEnricher, QuotaManagedQueue, QuotaShare, ResourceSharing, TrainingExecutionRole
from tests.synthesis import LIMITS

ANY = "AwsSolutions-IAM5[Resource::*]"
ANY_JOB = "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:batch:<AWS::Region>:<AWS::AccountId>:service-job/*]"


def findings_of(app: App) -> set[tuple[str, str | None]]:
    """Return finding and construct path of all that AwsSolutions says."""
    report = AwsSolutionsChecks(app).validate_scope(app)
    return {(each.rule_name, where.construct_path) for each in report.violations for where in each.violating_resources}


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
