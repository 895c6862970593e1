"""What the grants of an environment allow and deny, evaluated by an IAM simulator with AWS's action data."""

from __future__ import annotations

import pytest
from aws_cdk import Stack

from quota_constructs import ServiceEnvironmentGrants
from tests.iam.scene import ENVIRONMENT, ENVIRONMENTS, OTHER_ENVIRONMENT, QUEUE, SHARE, grantee
from tests.iam.simulator import Principal, Request, Simulator, submit_service_job
from tests.iam.templates import ACCOUNT
from tests.synthesis import template_of

LINKED_SERVICE = "sagemaker-queuing.batch.amazonaws.com"
LINKED_ROLE = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/{LINKED_SERVICE}/AWSServiceRoleForAWSBatchWithSagemaker"


@pytest.fixture(scope="class", params=ENVIRONMENTS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestAdminister:
    @pytest.fixture(scope="class")
    @classmethod
    def administrator(cls, simulator: Simulator, stack: Stack, kind: str) -> Principal:
        ServiceEnvironmentGrants.from_service_environment(ENVIRONMENTS[kind](stack)).administer(grantee(stack))
        return simulator.grantee_of(template_of(stack))

    @pytest.mark.parametrize("action", ["Create", "Delete", "Update"])
    def test_allows_the_environment(self, administrator: Principal, action: str) -> None:
        assert administrator.may(Request(f"batch:{action}ServiceEnvironment", ENVIRONMENT))

    @pytest.mark.parametrize("action", ["ListTagsForResource", "TagResource", "UntagResource"])
    def test_allows_its_tags(self, administrator: Principal, action: str) -> None:
        assert administrator.may(Request(f"batch:{action}", ENVIRONMENT))

    def test_allows_describing_which_aws_does_not_narrow(self, administrator: Principal) -> None:
        assert administrator.may(Request("batch:DescribeServiceEnvironments"))

    def test_allows_the_service_linked_role_that_the_first_environment_needs(self, administrator: Principal) -> None:
        assert administrator.may(
            Request("iam:CreateServiceLinkedRole", LINKED_ROLE, {"iam:AWSServiceName": LINKED_SERVICE})
        )

    def test_fails_for_the_service_linked_role_of_another_service(self, administrator: Principal) -> None:
        other = "spot.amazonaws.com"
        role = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/{other}/AWSServiceRoleForEC2Spot"

        assert not administrator.may(Request("iam:CreateServiceLinkedRole", role, {"iam:AWSServiceName": other}))
        assert not administrator.may(Request("iam:CreateServiceLinkedRole", LINKED_ROLE, {"iam:AWSServiceName": other}))

    @pytest.mark.parametrize("action", ["Create", "Delete", "Update"])
    def test_fails_for_another_environment(self, administrator: Principal, action: str) -> None:
        assert not administrator.may(Request(f"batch:{action}ServiceEnvironment", OTHER_ENVIRONMENT))

    @pytest.mark.parametrize(
        "call",
        [
            Request("batch:UpdateJobQueue", QUEUE),
            Request("batch:DeleteJobQueue", QUEUE),
            Request("batch:UpdateQuotaShare", SHARE),
            Request("batch:TagResource", QUEUE),
        ],
        ids=lambda call: call.action,
    )
    def test_fails_for_queue_and_shares(self, administrator: Principal, call: Request) -> None:
        assert not administrator.may(call)

    def test_fails_to_submit(self, administrator: Principal) -> None:
        assert not administrator.may(submit_service_job(QUEUE, SHARE))
