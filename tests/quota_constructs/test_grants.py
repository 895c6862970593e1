"""What grants render, for whom and on what. What they allow and deny is shown in tests/iam."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam

from quota_constructs import (
    JobQueueGrants,
    QuotaConstructsError,
    QuotaManagedQueue,
    QuotaShare,
    QuotaShareGrants,
    ResourceSharing,
    ServiceEnvironment,
    ServiceEnvironmentGrants,
    TrainingJobQueue,
)
from tests.synthesis import LIMITS, QUEUE_ARN, SHARE_ARN, template_of, warnings_of

JOBS = "batch:eu-west-1:111122223333:service-job/*"


def _text(value: Any) -> str:
    """Return an ARN as a text, whether its partition is a reference or, with newer feature flags, literal."""
    return value if isinstance(value, str) else "".join(_text(part) for part in value.get("Fn::Join", ["", [""]])[1])


def statements_of(stack: Stack) -> list[dict[str, Any]]:
    """Return the statements of all policies of a stack."""
    resources = template_of(stack)["Resources"].values()
    policies = [each["Properties"]["PolicyDocument"] for each in resources if each["Type"] == "AWS::IAM::Policy"]
    return [statement for policy in policies for statement in policy["Statement"]]


@pytest.fixture
def role(stack: Stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())


@pytest.fixture
def share(stack: Stack) -> Any:
    return QuotaShare.from_quota_share_arn(stack, "Share", SHARE_ARN)


class TestWhoIsGranted:
    def test_a_role_gets_a_policy(self, stack: Stack, share: Any, role: iam.Role) -> None:
        grant = share.grants.submit(role)

        assert grant.success
        assert len(statements_of(stack)) == 1

    def test_an_imported_role_gets_a_policy(self, stack: Stack, share: Any) -> None:
        share.grants.submit(iam.Role.from_role_name(stack, "Imported", "researchers"))

        (policy,) = [r for r in template_of(stack)["Resources"].values() if r["Type"] == "AWS::IAM::Policy"]
        assert policy["Properties"]["Roles"] == ["researchers"]

    def test_a_user_gets_a_policy(self, stack: Stack, share: Any) -> None:
        share.grants.submit(iam.User(stack, "User"))

        assert len(statements_of(stack)) == 1

    def test_a_group_gets_a_policy(self, stack: Stack, share: Any) -> None:
        share.grants.submit(iam.Group(stack, "Group"))

        assert len(statements_of(stack)) == 1

    def test_a_policy_gets_a_statement_so_that_its_wildcards_can_be_kept_apart(
        self, stack: Stack, share: Any, role: iam.Role
    ) -> None:
        policy = iam.Policy(stack, "Readers", roles=[role])
        share.grants.view(policy)

        (only,) = [r for r in template_of(stack)["Resources"].values() if r["Type"] == "AWS::IAM::Policy"]
        assert only["Properties"]["PolicyName"].startswith("Readers")

    def test_a_service_gets_nothing_and_a_warning_says_so(self, app: App, stack: Stack, share: Any) -> None:
        grant = share.grants.submit(iam.ServicePrincipal("states.amazonaws.com"))

        assert not grant.success
        assert "AWS::IAM::Policy" not in str(template_of(stack))
        ((path, text),) = warnings_of(app)
        assert path == "/Stack/Share"
        assert "grant it to the role that the principal uses" in text
        assert "quota-constructs:grant-without-effect" in text

    def test_a_role_of_another_account_gets_nothing_of_use_and_a_warning_says_so(self, app: App, share: Any) -> None:
        elsewhere = Stack(app, "Elsewhere", env=Environment(account="444455556666", region="eu-west-1"))
        share.grants.submit(iam.Role(elsewhere, "Role", assumed_by=iam.AccountRootPrincipal()))

        ((path, text),) = warnings_of(app)
        assert path == "/Stack/Share"
        assert "granted to a principal of account 444455556666, in account 111122223333, has no effect" in text
        assert "grant it to a role of account 111122223333, which the principal assumes" in text

    def test_a_role_that_is_imported_from_another_account_is_warned_of_too(
        self, app: App, stack: Stack, share: Any
    ) -> None:
        share.grants.submit(iam.Role.from_role_arn(stack, "Imported", "arn:aws:iam::444455556666:role/Submitter"))

        ((_, text),) = warnings_of(app)
        assert "quota-constructs:grant-without-effect" in text

    def test_a_role_of_the_same_account_or_of_one_that_is_not_known_is_warned_of_not(
        self, app: App, stack: Stack, share: Any, role: iam.Role
    ) -> None:
        share.grants.submit(role)
        share.grants.submit(iam.Role.from_role_arn(stack, "Imported", "arn:aws:iam::111122223333:role/Submitter"))

        assert warnings_of(app) == []


class TestWhatIsGrantedOn:
    def test_our_share_names_itself_and_its_queue_by_reference(self, stack: Stack, role: iam.Role) -> None:
        queue = QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS)
        share = queue.add_quota_share("vision", capacity_limits=LIMITS, resource_sharing=ResourceSharing.reserve())
        share.grants.submit(role)

        resources = statements_of(stack)[0]["Resource"]
        assert {each["Fn::GetAtt"][1] for each in resources if "Fn::GetAtt" in each} == {"JobQueueArn", "QuotaShareArn"}
        assert len(resources) == 3

    def test_an_imported_share_names_exact_arns(self, stack: Stack, share: Any, role: iam.Role) -> None:
        share.grants.submit(role)

        resources = statements_of(stack)[0]["Resource"]
        assert {QUEUE_ARN, SHARE_ARN} == {each for each in resources if isinstance(each, str)}
        assert any(_text(each).endswith(JOBS) for each in resources)
        assert len(resources) == 3

    def test_a_share_of_another_account_and_region_keeps_them(self, app: App) -> None:
        here = Stack(app, "Here", env=Environment(account="444455556666", region="us-east-1"))
        role = iam.Role(here, "Role", assumed_by=iam.AccountRootPrincipal())
        QuotaShare.from_quota_share_arn(here, "Share", SHARE_ARN).grants.manage_jobs(role, job_tags={"team": "vision"})

        jobs = statements_of(here)[0]["Resource"]
        assert _text(jobs).endswith(JOBS)

    def test_a_role_in_another_stack_gets_the_arn_of_the_share(self, app: App) -> None:
        env = Environment(account="111122223333", region="eu-west-1")
        platform, team = Stack(app, "Platform", env=env), Stack(app, "Team", env=env)
        queue = QuotaManagedQueue(platform, "Gpus", capacity_limits=LIMITS)
        share = queue.add_quota_share("vision", capacity_limits=LIMITS, resource_sharing=ResourceSharing.reserve())
        share.grants.submit(iam.Role(team, "Role", assumed_by=iam.AccountRootPrincipal()))

        assert "service-job/*" in str(statements_of(team))
        assert statements_of(platform) == []

    def test_a_token_arn_is_taken_apart_at_deployment(self, stack: Stack, role: iam.Role) -> None:
        arn = CfnParameter(stack, "Arn").value_as_string
        QuotaShare.from_quota_share_arn(stack, "Share", arn).grants.submit(role)

        resources = statements_of(stack)[0]["Resource"]
        account, region = ({"Fn::Select": [at, {"Fn::Split": [":", {"Ref": "Arn"}]}]} for at in (4, 3))
        assert {"Ref": "Arn"} in resources
        assert {"Fn::Select": [0, {"Fn::Split": ["/quota-share/", {"Ref": "Arn"}]}]} in resources
        (jobs,) = [each for each in resources if "Fn::Join" in each]
        assert jobs["Fn::Join"][1][2:] == [":batch:", region, ":", account, ":service-job/*"]

    def test_facades_and_properties_render_the_same(self, stack: Stack, share: Any) -> None:
        one = iam.Role(stack, "One", assumed_by=iam.AccountRootPrincipal())
        other = iam.Role(stack, "Other", assumed_by=iam.AccountRootPrincipal())
        QuotaShareGrants.from_quota_share(share).submit(one)
        share.grants.submit(other)

        first, second = statements_of(stack)
        assert first == second

    def test_l1s_are_accepted(self, stack: Stack, role: iam.Role) -> None:
        queue = batch.CfnJobQueue(stack, "Queue", priority=1)
        environment = batch.CfnServiceEnvironment(
            stack, "Environment", service_environment_type="SAGEMAKER_TRAINING", capacity_limits=[]
        )
        JobQueueGrants.from_job_queue(queue).view(role)
        ServiceEnvironmentGrants.from_service_environment(environment).administer(role)

        resources = [statement["Resource"] for statement in statements_of(stack)]
        assert {"Ref": "Queue"} in resources
        assert {"Ref": "Environment"} in resources


class TestConditions:
    def test_the_cap_binds_submissions_that_name_a_priority(self, stack: Stack, share: Any, role: iam.Role) -> None:
        share.grants.submit(role, max_priority=50)

        (statement,) = statements_of(stack)
        assert statement["Condition"] == {"NumericLessThanEqualsIfExists": {"batch:SchedulingPriority": "50"}}

    def test_a_cap_of_zero_is_a_cap(self, stack: Stack, share: Any, role: iam.Role) -> None:
        share.grants.submit(role, max_priority=0)

        (statement,) = statements_of(stack)
        assert statement["Condition"]["NumericLessThanEqualsIfExists"] == {"batch:SchedulingPriority": "0"}

    def test_a_cap_known_at_deployment_is_a_reference(self, stack: Stack, share: Any, role: iam.Role) -> None:
        share.grants.submit(role, max_priority=CfnParameter(stack, "Cap", type="Number").value_as_number)

        (statement,) = statements_of(stack)
        assert statement["Condition"]["NumericLessThanEqualsIfExists"] == {"batch:SchedulingPriority": {"Ref": "Cap"}}

    def test_without_options_there_is_no_condition(self, stack: Stack, share: Any, role: iam.Role) -> None:
        share.grants.submit(role)

        assert "Condition" not in statements_of(stack)[0]

    def test_several_tags_are_all_asked_for(self, stack: Stack, share: Any, role: iam.Role) -> None:
        share.grants.manage_jobs(role, job_tags={"team": "vision", "user": "${aws:username}"})

        (statement,) = statements_of(stack)
        assert statement["Condition"] == {
            "StringEquals": {"aws:ResourceTag/team": "vision", "aws:ResourceTag/user": "${aws:username}"}
        }

    @pytest.mark.parametrize("priority", [-1, 10000, 1.5, float("nan"), True, "50"])
    def test_fails_for_what_is_no_priority(self, share: Any, role: iam.Role, priority: Any) -> None:
        with pytest.raises(
            QuotaConstructsError, match=f"max_priority {priority!r} is not a job priority; give 0 to 9999"
        ):
            share.grants.submit(role, max_priority=priority)

    def test_fails_without_any_tag(self, share: Any, role: iam.Role) -> None:
        with pytest.raises(QuotaConstructsError, match="job_tags is empty; name at least one tag"):
            share.grants.manage_jobs(role, job_tags={})

    def test_fails_for_a_tag_key_known_at_deployment(self, stack: Stack, share: Any, role: iam.Role) -> None:
        key = CfnParameter(stack, "Key").value_as_string

        with pytest.raises(QuotaConstructsError, match="give a literal key"):
            share.grants.submit(role, job_tags={key: "vision"})

    @pytest.mark.parametrize("value", [None, 5])
    def test_fails_for_a_tag_whose_value_is_no_text_since_cdk_would_drop_the_condition(
        self, share: Any, role: iam.Role, value: Any
    ) -> None:
        with pytest.raises(
            QuotaConstructsError, match=rf"job_tags\['team'\] {value} is not a text; give a tag's value"
        ):
            share.grants.manage_jobs(role, job_tags={"team": value})

    @pytest.mark.parametrize(("key", "problem"), [("", "empty or not known at synthesis"), (1, "not a text")])
    def test_fails_for_what_is_no_tag_key(self, share: Any, role: iam.Role, key: Any, problem: str) -> None:
        with pytest.raises(QuotaConstructsError, match=f"job tag key {key!r} is {problem}; give "):
            share.grants.submit(role, job_tags={key: "vision"})

    def test_fails_for_tags_that_are_no_mapping(self, share: Any, role: iam.Role) -> None:
        with pytest.raises(QuotaConstructsError, match="job_tags 'vision' is not a mapping; give one such as"):
            share.grants.submit(role, job_tags="vision")

    def test_refused_grants_leave_nothing_behind(self, stack: Stack, share: Any, role: iam.Role) -> None:
        with pytest.raises(QuotaConstructsError):
            share.grants.submit(role, max_priority=50, job_tags={})

        assert statements_of(stack) == []


class TestActions:
    """The way out for what no grant foresees."""

    def test_are_allowed_on_the_resource_alone_and_sorted(self, stack: Stack, role: iam.Role) -> None:
        queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
        queue.grants.actions(role, ["batch:UpdateJobQueue", "batch:DeleteJobQueue"])

        (statement,) = statements_of(stack)
        assert statement["Action"] == ["batch:DeleteJobQueue", "batch:UpdateJobQueue"]
        assert statement["Resource"] == QUEUE_ARN

    def test_are_allowed_on_resources_of_choice(self, stack: Stack, share: Any, role: iam.Role) -> None:
        share.grants.actions(role, ["batch:ListServiceJobs"], resource_arns=["*"])

        assert statements_of(stack)[0]["Resource"] == "*"

    def test_are_allowed_on_an_environment(self, stack: Stack, role: iam.Role) -> None:
        arn = "arn:aws:batch:eu-west-1:111122223333:service-environment/gpus"
        environment = ServiceEnvironment.from_service_environment_arn(stack, "Environment", arn)
        environment.grants.actions(role, ["batch:UpdateServiceEnvironment"])

        assert statements_of(stack)[0]["Resource"] == arn
