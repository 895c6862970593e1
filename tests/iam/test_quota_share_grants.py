"""What the grants of a share allow and deny, evaluated by an IAM simulator with AWS's action data."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from quota_constructs import QuotaShare, QuotaShareGrants
from tests.iam.scene import BATCH, OTHER_QUEUE, OTHER_SHARE, QUEUE, SHARE, SHARES, SPEECH, VISION, grantee
from tests.iam.simulator import (
    JOB,
    TRAINING_ROLE,
    Principal,
    Request,
    Simulator,
    pass_role,
    submit_service_job,
    tag_job,
    terminate_service_job,
    update_service_job,
)
from tests.synthesis import template_of

Call = Request | Sequence[Request]


@pytest.fixture(scope="class", params=SHARES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="class")
def grants(stack: Stack, kind: str) -> QuotaShareGrants:
    return QuotaShareGrants.from_quota_share(SHARES[kind](stack))


ADMINISTRATION: dict[str, Call] = {
    "change the share": Request("batch:UpdateQuotaShare", SHARE),
    "delete the share": Request("batch:DeleteQuotaShare", SHARE),
    "add a share": [Request("batch:CreateQuotaShare", QUEUE), Request("batch:CreateQuotaShare", OTHER_SHARE)],
    "change the queue": Request("batch:UpdateJobQueue", QUEUE),
    "delete the queue": Request("batch:DeleteJobQueue", QUEUE),
    "change the environment": Request("batch:UpdateServiceEnvironment", f"{BATCH}:service-environment/gpus"),
    "change the policy": Request("batch:UpdateSchedulingPolicy", f"{BATCH}:scheduling-policy/gpus"),
    "tag the share": Request("batch:TagResource", SHARE, {"aws:RequestTag/team": "vision"}),
    "submit an ordinary job": Request("batch:SubmitJob", QUEUE),
    "create a training job": Request(
        "sagemaker:CreateTrainingJob", "arn:aws:sagemaker:eu-west-1:123456789012:training-job/x"
    ),
}


class TestSubmit:
    @pytest.fixture(scope="class")
    @classmethod
    def submitter(cls, simulator: Simulator, stack: Stack, grants: QuotaShareGrants) -> Principal:
        role = iam.Role.from_role_arn(stack, "Training", TRAINING_ROLE)
        grants.submit(grantee(stack), max_priority=50, job_tags=VISION, execution_role=role)
        return simulator.grantee_of(template_of(stack))

    @pytest.mark.parametrize(
        "call",
        [
            pytest.param(submit_service_job(QUEUE, SHARE, tags=VISION), id="without a priority"),
            pytest.param(submit_service_job(QUEUE, SHARE, priority=0, tags=VISION), id="at the lowest priority"),
            pytest.param(submit_service_job(QUEUE, SHARE, priority=50, tags=VISION), id="at the cap"),
            pytest.param(submit_service_job(QUEUE, SHARE, tags=VISION | {"run": "7"}), id="with further tags"),
            pytest.param(
                submit_service_job(QUEUE, SHARE, tags=VISION, role=TRAINING_ROLE), id="with the execution role"
            ),
        ],
    )
    def test_allows_jobs_in_the_share(self, submitter: Principal, call: Call) -> None:
        assert submitter.may(call)

    @pytest.mark.parametrize(
        "call",
        [
            pytest.param(submit_service_job(QUEUE, OTHER_SHARE, tags=VISION), id="in another share"),
            pytest.param(submit_service_job(QUEUE, f"{SHARE}-2", tags=VISION), id="in a share whose name begins alike"),
            pytest.param(submit_service_job(OTHER_QUEUE, None, tags=VISION), id="in another queue"),
            pytest.param(
                submit_service_job(OTHER_QUEUE, f"{OTHER_QUEUE}/quota-share/vision", tags=VISION),
                id="in a share of the same name in another queue",
            ),
            pytest.param(submit_service_job(QUEUE, SHARE, priority=51, tags=VISION), id="above the cap"),
            pytest.param(submit_service_job(QUEUE, SHARE, priority=9999, tags=VISION), id="at the highest priority"),
            pytest.param(submit_service_job(QUEUE, SHARE), id="without the tag"),
            pytest.param(submit_service_job(QUEUE, SHARE, tags=SPEECH), id="with another team's tag"),
            pytest.param(
                submit_service_job(QUEUE, SHARE, tags=VISION, role="arn:aws:iam::123456789012:role/Admin"),
                id="with another role",
            ),
        ],
    )
    def test_fails_for_jobs_elsewhere_or_otherwise(self, submitter: Principal, call: Call) -> None:
        assert not submitter.may(call)

    @pytest.mark.parametrize("service", ["ec2.amazonaws.com", "lambda.amazonaws.com", "glue.amazonaws.com"])
    def test_fails_to_pass_the_role_to_another_service(self, submitter: Principal, service: str) -> None:
        assert not submitter.may(pass_role(service=service))

    @pytest.mark.parametrize("job", [VISION, SPEECH, None], ids=["own", "another team's", "untagged"])
    def test_fails_to_manage_any_job(self, submitter: Principal, job: dict[str, str] | None) -> None:
        assert not submitter.may(terminate_service_job(tags=job))
        assert not submitter.may(update_service_job(1, tags=job))

    def test_fails_to_take_over_another_teams_job_by_tagging_it(self, submitter: Principal) -> None:
        assert not submitter.may(tag_job(VISION, tags=SPEECH))

    def test_fails_to_give_an_own_job_away_or_strip_it_of_its_tag(self, submitter: Principal) -> None:
        assert not submitter.may(tag_job(SPEECH, tags=VISION))
        assert not submitter.may(Request("batch:UntagResource", JOB, {"aws:TagKeys": ["team"]}))

    @pytest.mark.parametrize("call", ADMINISTRATION.values(), ids=ADMINISTRATION.keys())
    def test_fails_to_administer(self, submitter: Principal, call: Call) -> None:
        assert not submitter.may(call)


class TestSubmitWithoutOptions:
    @pytest.fixture(scope="class")
    @classmethod
    def submitter(cls, simulator: Simulator, stack: Stack, grants: QuotaShareGrants) -> Principal:
        grants.submit(grantee(stack))
        return simulator.grantee_of(template_of(stack))

    def test_allows_untagged_jobs_of_any_priority_in_the_share(self, submitter: Principal) -> None:
        assert submitter.may(submit_service_job(QUEUE, SHARE))
        assert submitter.may(submit_service_job(QUEUE, SHARE, priority=9999))

    def test_fails_in_another_share(self, submitter: Principal) -> None:
        assert not submitter.may(submit_service_job(QUEUE, OTHER_SHARE))

    def test_fails_for_tagged_jobs_since_tagging_would_reach_all_jobs(self, submitter: Principal) -> None:
        assert not submitter.may(submit_service_job(QUEUE, SHARE, tags=VISION))
        assert not submitter.may(tag_job(VISION))

    def test_fails_to_pass_any_role(self, submitter: Principal) -> None:
        assert not submitter.may(pass_role())


class TestSubmitToTwoShares:
    """Statements of one principal add up; they must not do so across shares."""

    @pytest.fixture(scope="class")
    @classmethod
    def submitter(cls, simulator: Simulator, stack: Stack) -> Principal:
        role = grantee(stack)
        for id, arn, cap, tags in (("Vision", SHARE, 10, VISION), ("Speech", OTHER_SHARE, 100, SPEECH)):
            share = QuotaShare.from_quota_share_arn(stack, id, arn)
            share.grants.submit(role, max_priority=cap, job_tags=tags)
            share.grants.manage_jobs(role, max_priority=cap, job_tags=tags)
        return simulator.grantee_of(template_of(stack))

    def test_allows_each_share_its_own_cap_and_tag(self, submitter: Principal) -> None:
        assert submitter.may(submit_service_job(QUEUE, SHARE, priority=10, tags=VISION))
        assert submitter.may(submit_service_job(QUEUE, OTHER_SHARE, priority=100, tags=SPEECH))
        assert submitter.may(update_service_job(100, tags=SPEECH))

    def test_fails_with_one_shares_cap_or_tag_in_the_other(self, submitter: Principal) -> None:
        assert not submitter.may(submit_service_job(QUEUE, SHARE, priority=11, tags=VISION))
        assert not submitter.may(submit_service_job(QUEUE, SHARE, priority=11, tags=SPEECH))
        assert not submitter.may(submit_service_job(QUEUE, OTHER_SHARE, priority=10, tags=VISION))
        assert not submitter.may(update_service_job(11, tags=VISION))


class TestManageJobs:
    @pytest.fixture(scope="class")
    @classmethod
    def manager(cls, simulator: Simulator, stack: Stack, grants: QuotaShareGrants) -> Principal:
        grants.manage_jobs(grantee(stack), max_priority=50, job_tags=VISION)
        return simulator.grantee_of(template_of(stack))

    def test_allows_ending_and_reordering_jobs_with_the_tag(self, manager: Principal) -> None:
        assert manager.may(terminate_service_job(tags=VISION))
        assert manager.may(update_service_job(0, tags=VISION))
        assert manager.may(update_service_job(50, tags=VISION))

    def test_fails_above_the_cap(self, manager: Principal) -> None:
        assert not manager.may(update_service_job(51, tags=VISION))

    @pytest.mark.parametrize("job", [SPEECH, None, {"Team": "speech"}], ids=["another team's", "untagged", "other key"])
    def test_fails_for_jobs_without_the_tag(self, manager: Principal, job: dict[str, str] | None) -> None:
        assert not manager.may(terminate_service_job(tags=job))
        assert not manager.may(update_service_job(1, tags=job))

    def test_fails_to_submit_or_tag(self, manager: Principal) -> None:
        assert not manager.may(submit_service_job(QUEUE, SHARE))
        assert not manager.may(tag_job(VISION, tags=VISION))

    @pytest.mark.parametrize("call", ADMINISTRATION.values(), ids=ADMINISTRATION.keys())
    def test_fails_to_administer(self, manager: Principal, call: Call) -> None:
        assert not manager.may(call)


class TestManageJobsWithoutOptions:
    def test_allows_any_priority_on_jobs_with_the_tag(
        self, simulator: Simulator, stack: Stack, grants: QuotaShareGrants
    ) -> None:
        grants.manage_jobs(grantee(stack), job_tags=VISION)
        manager = simulator.grantee_of(template_of(stack))

        assert manager.may(update_service_job(9999, tags=VISION))
        assert not manager.may(update_service_job(1, tags=SPEECH))


class TestView:
    @pytest.fixture(scope="class")
    @classmethod
    def viewer(cls, simulator: Simulator, stack: Stack, grants: QuotaShareGrants) -> Principal:
        grants.view(grantee(stack))
        return simulator.grantee_of(template_of(stack))

    @pytest.mark.parametrize(
        "call",
        [
            Request("batch:DescribeQuotaShare", SHARE),
            Request("batch:GetJobQueueSnapshot", QUEUE),
            Request("batch:ListQuotaShares", QUEUE),
            Request("batch:DescribeJobQueues"),
            Request("batch:DescribeSchedulingPolicies"),
            Request("batch:DescribeServiceEnvironments"),
            Request("batch:DescribeServiceJob"),
            Request("batch:ListServiceJobs"),
        ],
        ids=lambda call: call.action,
    )
    def test_allows_looking(self, viewer: Principal, call: Request) -> None:
        assert viewer.may(call)

    @pytest.mark.parametrize(
        "call",
        [
            Request("batch:DescribeQuotaShare", OTHER_SHARE),
            Request("batch:GetJobQueueSnapshot", OTHER_QUEUE),
            Request("batch:ListQuotaShares", OTHER_QUEUE),
            Request("batch:DescribeJobs"),
        ],
        ids=lambda call: call.action,
    )
    def test_fails_elsewhere(self, viewer: Principal, call: Request) -> None:
        assert not viewer.may(call)

    def test_fails_to_use(self, viewer: Principal) -> None:
        assert not viewer.may(submit_service_job(QUEUE, SHARE))
        assert not viewer.may(terminate_service_job(tags=VISION))

    @pytest.mark.parametrize("call", ADMINISTRATION.values(), ids=ADMINISTRATION.keys())
    def test_fails_to_administer(self, viewer: Principal, call: Call) -> None:
        assert not viewer.may(call)


class TestAdminister:
    @pytest.fixture(scope="class")
    @classmethod
    def administrator(cls, simulator: Simulator, stack: Stack, grants: QuotaShareGrants) -> Principal:
        grants.administer(grantee(stack))
        return simulator.grantee_of(template_of(stack))

    @pytest.mark.parametrize(
        "call",
        [
            pytest.param(
                [Request("batch:CreateQuotaShare", arn, {"aws:RequestTag/team": "vision"}) for arn in (QUEUE, SHARE)],
                id="create",
            ),
            pytest.param(Request("batch:UpdateQuotaShare", SHARE), id="update"),
            pytest.param(Request("batch:DeleteQuotaShare", SHARE), id="delete"),
            pytest.param(Request("batch:DescribeQuotaShare", SHARE), id="describe"),
            pytest.param(Request("batch:TagResource", SHARE, {"aws:RequestTag/team": "vision"}), id="tag"),
            pytest.param(Request("batch:UntagResource", SHARE, {"aws:TagKeys": ["team"]}), id="untag"),
            pytest.param(Request("batch:ListTagsForResource", SHARE), id="list tags"),
        ],
    )
    def test_allows_the_share(self, administrator: Principal, call: Call) -> None:
        assert administrator.may(call)

    @pytest.mark.parametrize("action", ["UpdateQuotaShare", "DeleteQuotaShare", "DescribeQuotaShare", "TagResource"])
    def test_fails_for_another_share(self, administrator: Principal, action: str) -> None:
        assert not administrator.may(Request(f"batch:{action}", OTHER_SHARE))

    @pytest.mark.parametrize(
        "call",
        [ADMINISTRATION[name] for name in ("add a share", "change the queue", "delete the queue", "change the policy")],
    )
    def test_fails_beyond_the_share(self, administrator: Principal, call: Call) -> None:
        assert not administrator.may(call)

    def test_fails_to_use(self, administrator: Principal) -> None:
        assert not administrator.may(submit_service_job(QUEUE, SHARE))
        assert not administrator.may(Request("batch:TagResource", JOB, {"aws:RequestTag/team": "vision"}))
