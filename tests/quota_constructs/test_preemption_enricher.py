"""The function that adds queue and share to preemption events, and what deploys it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_logs as logs
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError

import quota_constructs
from quota_constructs import PreemptionEnricher, QuotaConstructsError, QuotaManagedQueue, TrainingJobQueue
from tests.event_patterns import matches
from tests.quota_constructs.batch_events import PREEMPTION_COMPLETED, PREEMPTION_STARTED, SAMPLES
from tests.synthesis import LIMITS, QUEUE_ARN, template_of

CODE = Path(quota_constructs.__file__).parent / "functions/preemption_enricher.py"
DESCRIPTION: dict[str, Any] = {
    "jobArn": PREEMPTION_STARTED["resources"][0],
    "jobId": "4c7599ae-0a82-49aa-ba5a-4727fcce14a8",
    "jobName": "sweep",
    "jobQueue": QUEUE_ARN,
    "quotaShareName": "vision",
    "capacityUsage": [{"capacityUnit": "ml.g5.xlarge", "quantity": 1.0}],
    "schedulingPriority": 0,
    "serviceJobType": "SAGEMAKER_TRAINING",
    "startedAt": 1641944300058,
    "status": "RUNNING",
}


class Aws:
    """Answers the function's calls, and keeps the events that it puts."""

    def __init__(self) -> None:
        self.description: dict[str, Any] = dict(DESCRIPTION)
        self.refuses: dict[str, str] = {}
        self.put: list[dict[str, Any]] = []

    def describe(self, **_: Any) -> AWSResponse:
        if self.refuses:
            return self._answer(400, self.refuses)
        return self._answer(200, self.description)

    def put_events(self, request: Any, **_: Any) -> AWSResponse:
        self.put += json.loads(request.body)["Entries"]
        return self._answer(200, {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]})

    def throttle_events(self, **_: Any) -> AWSResponse:
        return self._answer(200, {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "ThrottlingException"}]})

    @staticmethod
    def _answer(status: int, body: dict[str, Any]) -> AWSResponse:
        answer = AWSResponse("https://aws", status, {"x-amzn-errortype": body.get("__type", "")}, None)  # type: ignore[arg-type]
        answer._content = json.dumps(body).encode()  # type: ignore[attr-defined]
        return answer


@pytest.fixture
def aws() -> Aws:
    return Aws()


@pytest.fixture
def function(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    settings = {
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "JOB_QUEUE_ARN": QUEUE_ARN,
        "EVENT_SOURCE": "quota-constructs",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    specification = importlib.util.spec_from_file_location("index", CODE)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.batch.meta.events.register("before-send.batch.DescribeServiceJob", aws.describe)
    module.events.meta.events.register("before-send.events.PutEvents", aws.put_events)
    yield module
    module.batch.close()
    module.events.close()


@pytest.mark.parametrize("event", [PREEMPTION_STARTED, PREEMPTION_COMPLETED], ids=["started", "completed"])
def test_an_event_is_sent_again_with_all_it_said_and_queue_and_share(
    function: ModuleType, aws: Aws, event: dict[str, Any]
) -> None:
    function.handler(event, None)

    (sent,) = aws.put
    detail = json.loads(sent["Detail"])
    assert (sent["Source"], sent["DetailType"], sent["Resources"]) == (
        "quota-constructs",
        event["detail-type"],
        event["resources"],
    )
    assert event["detail"].items() <= detail.items()
    assert (detail["jobQueue"], detail["quotaShareName"], detail["jobName"]) == (QUEUE_ARN, "vision", "sweep")
    assert detail["schedulingPriority"] == 0


def test_an_event_keeps_its_time(function: ModuleType, aws: Aws) -> None:
    function.handler(PREEMPTION_STARTED, None)

    assert aws.put[0]["Time"] == 1641944200  # 2022-01-11T23:36:40Z


def test_an_event_of_another_queue_is_not_sent(function: ModuleType, aws: Aws) -> None:
    aws.description["jobQueue"] = f"{QUEUE_ARN}-2"
    function.handler(PREEMPTION_STARTED, None)

    assert aws.put == []


def test_a_runtime_older_than_quota_shares_still_finds_the_share(function: ModuleType, aws: Aws) -> None:
    described = function.batch.meta.service_model.operation_model("DescribeServiceJob").output_shape
    del described.members["quotaShareName"]
    assert "quotaShareName" not in function.batch.describe_service_job(jobId="any")

    function.handler(PREEMPTION_STARTED, None)

    assert json.loads(aws.put[0]["Detail"])["quotaShareName"] == "vision"


def test_fails_when_the_job_cannot_be_described(function: ModuleType, aws: Aws) -> None:
    aws.refuses = {"__type": "ClientException", "message": "Job does not exist"}

    with pytest.raises(ClientError, match="Job does not exist"):
        function.handler(PREEMPTION_STARTED, None)
    assert aws.put == []


def test_fails_when_eventbridge_does_not_take_the_event(function: ModuleType, aws: Aws) -> None:
    function.events.meta.events.unregister("before-send.events.PutEvents", aws.put_events)
    function.events.meta.events.register("before-send.events.PutEvents", aws.throttle_events)

    with pytest.raises(RuntimeError, match="ThrottlingException"):
        function.handler(PREEMPTION_STARTED, None)


@pytest.fixture
def template(stack: Stack) -> dict[str, Any]:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    PreemptionEnricher(stack, "Enricher", job_queue=queue)
    return template_of(stack)


def properties(template: dict[str, Any], kind: str) -> dict[str, Any]:
    (found,) = [each["Properties"] for each in template["Resources"].values() if each["Type"] == kind]
    return dict(found)


def test_the_function_is_called_for_preemptions_and_nothing_else(template: dict[str, Any]) -> None:
    pattern = properties(template, "AWS::Events::Rule")["EventPattern"]

    assert [event for event in SAMPLES if matches(pattern, event)] == [PREEMPTION_STARTED, PREEMPTION_COMPLETED]


def test_the_function_is_not_called_for_what_it_sends(template: dict[str, Any]) -> None:
    pattern = properties(template, "AWS::Events::Rule")["EventPattern"]

    assert not matches(pattern, PREEMPTION_STARTED | {"source": "quota-constructs"})


def test_the_deployed_code_is_the_tested_one_and_short_enough_to_be_inline(template: dict[str, Any]) -> None:
    code = properties(template, "AWS::Lambda::Function")["Code"]["ZipFile"]

    assert code == CODE.read_text(encoding="utf-8")
    assert len(code) <= 4096


def test_the_function_may_describe_jobs_send_its_own_events_and_log(template: dict[str, Any]) -> None:
    statements = properties(template, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]

    actions = {
        action
        for each in statements
        for action in ([each["Action"]] if isinstance(each["Action"], str) else each["Action"])
    }
    assert actions == {
        "batch:DescribeServiceJob",
        "events:PutEvents",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
    }
    (sending,) = [each for each in statements if each["Action"] == "events:PutEvents"]
    assert sending["Condition"] == {"StringEquals": {"events:source": "quota-constructs"}}


def test_the_log_is_kept_for_a_month_or_as_long_as_is_said(stack: Stack) -> None:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    PreemptionEnricher(stack, "Default", job_queue=queue)
    PreemptionEnricher(stack, "Given", job_queue=queue, log_retention=logs.RetentionDays.ONE_YEAR)

    resources = template_of(stack)["Resources"].values()
    kept = [each["Properties"]["RetentionInDays"] for each in resources if each["Type"] == "AWS::Logs::LogGroup"]
    assert kept == [30, 365]


def test_fails_for_what_is_no_queue(stack: Stack) -> None:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS)

    with pytest.raises(
        QuotaConstructsError, match=r"is not a job queue; give .* of a QuotaManagedQueue, its job_queue"
    ):
        PreemptionEnricher(stack, "Enricher", job_queue=cast("Any", gpus))


def test_fails_where_no_event_would_come(app: App) -> None:
    elsewhere = Stack(app, "Elsewhere", env=Environment(account="111122223333", region="us-east-1"))
    queue = TrainingJobQueue.from_job_queue_arn(elsewhere, "Queue", QUEUE_ARN)

    with pytest.raises(QuotaConstructsError, match="define the preemption enricher in a stack of that Region"):
        PreemptionEnricher(elsewhere, "Enricher", job_queue=queue)
    assert "Resources" not in template_of(elsewhere)
