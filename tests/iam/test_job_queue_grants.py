"""What the grants of a queue allow and deny, evaluated by an IAM simulator with AWS's action data."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from aws_cdk import Stack

from quota_constructs import JobQueueGrants
from tests.iam.scene import BATCH, OTHER_QUEUE, QUEUE, QUEUES, SHARE, SPEECH, VISION, grantee
from tests.iam.simulator import (
    JOB,
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

READS = [
    Request("batch:DescribeQuotaShare", SHARE),
    Request("batch:GetJobQueueSnapshot", QUEUE),
    Request("batch:ListQuotaShares", QUEUE),
    Request("batch:DescribeJobQueues"),
    Request("batch:DescribeSchedulingPolicies"),
    Request("batch:DescribeServiceEnvironments"),
    Request("batch:DescribeServiceJob"),
    Request("batch:ListServiceJobs"),
]
READS_ELSEWHERE = [
    Request("batch:DescribeQuotaShare", f"{OTHER_QUEUE}/quota-share/vision"),
    Request("batch:DescribeQuotaShare", f"{QUEUE}-2/quota-share/vision"),
    Request("batch:GetJobQueueSnapshot", OTHER_QUEUE),
    Request("batch:ListQuotaShares", OTHER_QUEUE),
]
OPERATION = [
    Request("batch:UpdateJobQueue", QUEUE),
    Request("batch:UpdateQuotaShare", SHARE),
    terminate_service_job(tags=VISION),
    update_service_job(9999, tags=VISION),
]
BEYOND_OPERATION: dict[str, Call] = {
    "change another queue": Request("batch:UpdateJobQueue", OTHER_QUEUE),
    "change another queue's share": Request("batch:UpdateQuotaShare", f"{OTHER_QUEUE}/quota-share/vision"),
    "attach another policy": [
        Request("batch:UpdateJobQueue", QUEUE),
        Request("batch:UpdateJobQueue", f"{BATCH}:scheduling-policy/other"),
    ],
    "delete the queue": Request("batch:DeleteJobQueue", QUEUE),
    "create a queue": Request("batch:CreateJobQueue", QUEUE),
    "delete a share": Request("batch:DeleteQuotaShare", SHARE),
    "add a share": [Request("batch:CreateQuotaShare", arn) for arn in (QUEUE, SHARE)],
    "change the environment": Request("batch:UpdateServiceEnvironment", f"{BATCH}:service-environment/gpus"),
    "submit": submit_service_job(QUEUE, SHARE),
    "tag a job": tag_job(VISION),
    "untag a job": Request("batch:UntagResource", JOB, {"aws:TagKeys": ["team"]}),
    "pass a role": pass_role(),
}


@pytest.fixture(scope="class", params=QUEUES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="class")
def grants(stack: Stack, kind: str) -> JobQueueGrants:
    return JobQueueGrants.from_job_queue(QUEUES[kind](stack))


class TestView:
    @pytest.fixture(scope="class")
    @classmethod
    def viewer(cls, simulator: Simulator, stack: Stack, grants: JobQueueGrants) -> Principal:
        grants.view(grantee(stack))
        return simulator.grantee_of(template_of(stack))

    @pytest.mark.parametrize("call", READS, ids=lambda call: call.action)
    def test_allows_looking(self, viewer: Principal, call: Request) -> None:
        assert viewer.may(call)

    @pytest.mark.parametrize("call", READS_ELSEWHERE, ids=str)
    def test_fails_elsewhere(self, viewer: Principal, call: Request) -> None:
        assert not viewer.may(call)

    @pytest.mark.parametrize("call", OPERATION, ids=lambda call: call.action)
    def test_fails_to_operate(self, viewer: Principal, call: Request) -> None:
        assert not viewer.may(call)

    @pytest.mark.parametrize("call", BEYOND_OPERATION.values(), ids=BEYOND_OPERATION.keys())
    def test_fails_to_do_more(self, viewer: Principal, call: Call) -> None:
        assert not viewer.may(call)


class TestOperate:
    @pytest.fixture(scope="class")
    @classmethod
    def operator(cls, simulator: Simulator, stack: Stack, grants: JobQueueGrants) -> Principal:
        grants.operate(grantee(stack))
        return simulator.grantee_of(template_of(stack))

    @pytest.mark.parametrize("call", READS + OPERATION, ids=lambda call: call.action)
    def test_allows_looking_and_running_the_queue(self, operator: Principal, call: Request) -> None:
        assert operator.may(call)

    def test_allows_any_job_of_the_account_and_region_as_jobs_name_no_queue(self, operator: Principal) -> None:
        assert operator.may(terminate_service_job())
        assert operator.may(update_service_job(1, tags=SPEECH))

    @pytest.mark.parametrize("call", READS_ELSEWHERE, ids=str)
    def test_fails_elsewhere(self, operator: Principal, call: Request) -> None:
        assert not operator.may(call)

    @pytest.mark.parametrize("call", BEYOND_OPERATION.values(), ids=BEYOND_OPERATION.keys())
    def test_fails_to_do_more(self, operator: Principal, call: Call) -> None:
        assert not operator.may(call)


class TestOperateByTag:
    @pytest.fixture(scope="class")
    @classmethod
    def operator(cls, simulator: Simulator, stack: Stack, grants: JobQueueGrants) -> Principal:
        grants.operate(grantee(stack), job_tags=VISION)
        return simulator.grantee_of(template_of(stack))

    def test_allows_jobs_with_the_tag(self, operator: Principal) -> None:
        assert operator.may(terminate_service_job(tags=VISION))
        assert operator.may(update_service_job(9999, tags=VISION))

    @pytest.mark.parametrize("job", [SPEECH, None], ids=["another team's", "untagged"])
    def test_fails_for_jobs_without_the_tag(self, operator: Principal, job: dict[str, str] | None) -> None:
        assert not operator.may(terminate_service_job(tags=job))
        assert not operator.may(update_service_job(1, tags=job))
