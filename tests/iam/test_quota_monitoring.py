"""What the function of a monitoring may do, evaluated by an IAM simulator with AWS's action data."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from aws_cdk import Stack

from quota_constructs import QuotaMonitoring
from tests.iam.scene import OTHER_QUEUE, QUEUE, QUEUES, SHARE
from tests.iam.simulator import (
    Principal,
    Request,
    Simulator,
    pass_role,
    submit_service_job,
    terminate_service_job,
    update_service_job,
)
from tests.iam.templates import ACCOUNT, REGION
from tests.synthesis import template_of

Call = Request | Sequence[Request]

CALLS = [
    Request("batch:DescribeJobQueues"),
    Request("batch:DescribeServiceEnvironments"),
    Request("batch:DescribeServiceJob"),
    Request("batch:GetJobQueueSnapshot", QUEUE),
    Request("batch:ListQuotaShares", QUEUE),
    Request("batch:ListServiceJobs"),
    Request("cloudwatch:PutMetricData", context={"cloudwatch:namespace": "Gpus"}),
]
FORBIDDEN: dict[str, Call] = {
    "look at another queue": Request("batch:GetJobQueueSnapshot", OTHER_QUEUE),
    "list another queue's shares": Request("batch:ListQuotaShares", OTHER_QUEUE),
    "publish in another namespace": Request("cloudwatch:PutMetricData", context={"cloudwatch:namespace": "AWS/EC2"}),
    "read metrics": Request("cloudwatch:GetMetricData"),
    "change a share": Request("batch:UpdateQuotaShare", SHARE),
    "change the queue": Request("batch:UpdateJobQueue", QUEUE),
    "submit a job": submit_service_job(QUEUE, SHARE),
    "end a job": terminate_service_job(),
    "change a job": update_service_job(1),
    "pass a role": pass_role(),
    "write another log": Request(
        "logs:PutLogEvents", f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/aws/lambda/other:log-stream:1"
    ),
    "create a log group": Request("logs:CreateLogGroup", f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:other"),
}


@pytest.fixture(scope="class", params=QUEUES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestFunction:
    @pytest.fixture(scope="class")
    @classmethod
    def function(cls, simulator: Simulator, stack: Stack, kind: str) -> Principal:
        QuotaMonitoring(stack, "Monitoring", queue=QUEUES[kind](stack), namespace="Gpus")
        return simulator.grantee_of(template_of(stack), "MonitoringRole")

    @pytest.mark.parametrize("call", CALLS, ids=lambda call: call.action)
    def test_may_make_each_of_its_calls(self, function: Principal, call: Request) -> None:
        assert function.may(call)

    def test_may_write_its_log(self, function: Principal, stack: Stack) -> None:
        (log_group,) = (
            id for id, resource in template_of(stack)["Resources"].items() if resource["Type"] == "AWS::Logs::LogGroup"
        )
        streams = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{log_group}:log-stream:2026/11/29/[$LATEST]1"

        assert function.may([Request(f"logs:{action}", streams) for action in ("CreateLogStream", "PutLogEvents")])

    @pytest.mark.parametrize("call", FORBIDDEN.values(), ids=FORBIDDEN.keys())
    def test_fails_to_do_more(self, function: Principal, call: Call) -> None:
        assert not function.may(call)
