"""What the training execution role renders. What it allows and denies is shown in tests/iam."""

from __future__ import annotations

from typing import Any, cast

import pytest
from aws_cdk import App, CfnParameter, Environment, PropertyInjectors, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from quota_constructs import QuotaConstructsError, QuotaShare, TrainingExecutionRole
from tests.quota_constructs.test_property_injection import Defaults
from tests.synthesis import SHARE_ARN, template_of


def only(stack: Stack, kind: str) -> dict[str, Any]:
    """Return the properties of the only resource of a type."""
    (found,) = [each["Properties"] for each in template_of(stack)["Resources"].values() if each["Type"] == kind]
    return cast("dict[str, Any]", found)


def statements_on(stack: Stack, action: str) -> list[dict[str, Any]]:
    """Return the statements that allow an action."""
    statements = only(stack, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    return [each for each in statements if action in each["Action"]]


@pytest.fixture
def role(stack: Stack) -> TrainingExecutionRole:
    return TrainingExecutionRole(stack, "Training")


@pytest.fixture
def bucket(stack: Stack) -> s3.IBucket:
    return s3.Bucket.from_bucket_arn(stack, "Bucket", "arn:aws:s3:::data")


class TestTrust:
    @pytest.mark.usefixtures("role")
    def test_sagemaker_alone_may_assume_it(self, stack: Stack) -> None:
        (statement,) = only(stack, "AWS::IAM::Role")["AssumeRolePolicyDocument"]["Statement"]

        assert statement["Principal"] == {"Service": "sagemaker.amazonaws.com"}

    def test_only_for_training_jobs_of_its_account_and_region(self, app: App) -> None:
        stack = Stack(app, "There", env=Environment(account="111122223333", region="eu-west-1"))
        TrainingExecutionRole(stack, "Training")

        (statement,) = only(stack, "AWS::IAM::Role")["AssumeRolePolicyDocument"]["Statement"]
        assert "sagemaker:eu-west-1:111122223333:training-job/*" in str(statement["Condition"]["ArnLike"])
        assert list(statement["Condition"]["ArnLike"]) == ["aws:SourceArn"]


class TestProperties:
    def test_name_description_and_boundary_are_the_roles(self, stack: Stack) -> None:
        boundary = iam.ManagedPolicy.from_aws_managed_policy_name("PowerUserAccess")
        TrainingExecutionRole(
            stack, "Training", role_name="training", description="Trains", permissions_boundary=boundary
        )

        properties = only(stack, "AWS::IAM::Role")
        assert (properties["RoleName"], properties["Description"]) == ("training", "Trains")
        assert "PowerUserAccess" in str(properties["PermissionsBoundary"])

    def test_an_organisation_can_give_every_training_role_its_boundary(self, stack: Stack) -> None:
        boundary = iam.ManagedPolicy.from_aws_managed_policy_name("PowerUserAccess")
        PropertyInjectors.of(stack).add(Defaults(TrainingExecutionRole, permissions_boundary=boundary))
        TrainingExecutionRole(stack, "Training")

        assert "PowerUserAccess" in str(only(stack, "AWS::IAM::Role")["PermissionsBoundary"])

    def test_it_is_a_role_for_every_construct_that_takes_one(self, stack: Stack, role: TrainingExecutionRole) -> None:
        share = QuotaShare.from_quota_share_arn(stack, "Share", SHARE_ARN)
        submitter = iam.Role(stack, "Submitter", assumed_by=iam.AccountRootPrincipal())
        share.grants.submit(submitter, execution_role=role)

        policies = [each for each in template_of(stack)["Resources"].values() if each["Type"] == "AWS::IAM::Policy"]
        passing = [
            s for p in policies for s in p["Properties"]["PolicyDocument"]["Statement"] if "iam:PassRole" in s["Action"]
        ]
        assert [each["Resource"]["Fn::GetAtt"][1] for each in passing] == ["Arn"]


class TestData:
    @pytest.mark.usefixtures("role")
    def test_none_is_allowed_by_default(self, stack: Stack) -> None:
        actions = str(only(stack, "AWS::IAM::Policy"))

        assert "s3:" not in actions
        assert "ecr:" not in actions

    def test_a_whole_bucket_is_allowed_unless_a_prefix_is_given(
        self, stack: Stack, role: TrainingExecutionRole, bucket: s3.IBucket
    ) -> None:
        role.add_input(bucket)

        assert statements_on(stack, "s3:GetObject")[0]["Resource"] == "arn:aws:s3:::data/*"
        assert "Condition" not in statements_on(stack, "s3:ListBucket")[0]

    def test_output_cannot_be_listed(self, stack: Stack, role: TrainingExecutionRole, bucket: s3.IBucket) -> None:
        role.add_output(bucket, "models/")

        assert statements_on(stack, "s3:PutObject")[0]["Resource"] == "arn:aws:s3:::data/models/*"
        assert statements_on(stack, "s3:ListBucket") == []

    def test_a_buckets_own_key_is_allowed_with_it(self, stack: Stack, role: TrainingExecutionRole) -> None:
        role.add_input(s3.Bucket(stack, "Encrypted", encryption=s3.BucketEncryption.KMS))

        (statement,) = statements_on(stack, "kms:Decrypt")
        assert statement["Resource"]["Fn::GetAtt"][1] == "Arn"

    def test_a_prefix_may_be_known_at_deployment(
        self, stack: Stack, role: TrainingExecutionRole, bucket: s3.IBucket
    ) -> None:
        role.add_input(bucket, CfnParameter(stack, "Prefix").value_as_string)

        assert "Prefix" in str(statements_on(stack, "s3:GetObject"))

    @pytest.mark.parametrize("prefix", ["/datasets", "datasets/*", "datasets/?", "s3://bucket/datasets/", None])
    def test_fails_for_what_no_key_begins_with(
        self, role: TrainingExecutionRole, bucket: s3.IBucket, prefix: Any
    ) -> None:
        with pytest.raises(QuotaConstructsError, match="give one such as 'datasets/'"):
            role.add_input(bucket, prefix)


class TestImages:
    def test_every_repository_is_named(self, stack: Stack, role: TrainingExecutionRole) -> None:
        for name in ("trainer", "evaluator"):
            role.add_image(ecr.Repository.from_repository_name(stack, name, name))

        pulled = str(statements_on(stack, "ecr:BatchGetImage"))
        assert ":repository/trainer" in pulled
        assert ":repository/evaluator" in pulled
        assert "*" not in pulled

    def test_logging_in_is_allowed_once(self, stack: Stack, role: TrainingExecutionRole) -> None:
        for name in ("trainer", "evaluator"):
            role.add_image(ecr.Repository.from_repository_name(stack, name, name))

        assert len(statements_on(stack, "ecr:GetAuthorizationToken")) == 1

    def test_an_l1_is_taken(self, stack: Stack, role: TrainingExecutionRole) -> None:
        role.add_image(ecr.CfnRepository(stack, "Repository"))

        assert len(statements_on(stack, "ecr:BatchGetImage")) == 1
