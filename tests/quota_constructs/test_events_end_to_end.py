"""Events of jobs on a local AWS, delivered to the targets of a deployed stack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aws_cdk import App, BootstraplessSynthesizer, CfnOutput, Stack
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sqs as sqs

from quota_constructs import PreemptionEnricher, QuotaManagedQueue, ResourceSharing, ServiceJobStatus
from quotactl.local.testing import RunningAws, running_local_aws
from tests.conftest import feature_flags
from tests.synthesis import template_of

pytestmark = pytest.mark.slow

LIMITS = {"ml.g5.xlarge": 1}
ROLE = "arn:aws:iam::123456789012:role/Training"


def gpu_stack(app: App) -> Stack:
    """A queue of two shares that lend to each other, and an SQS queue for the events of each rule."""
    stack = Stack(app, "Gpus", synthesizer=BootstraplessSynthesizer())
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 2}, job_queue_name="gpus")
    borrower, owner = (
        gpus.add_quota_share(id, capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend_and_borrow())
        for id in ("borrower", "owner")
    )
    PreemptionEnricher(stack, "Enricher", job_queue=gpus.job_queue)
    queue = gpus.job_queue
    failed = [ServiceJobStatus.FAILED]
    rules = {
        "Changes": queue.on_job_state_change("Changes"),
        "OwnerFailed": queue.on_job_state_change("OwnerFailed", statuses=failed, quota_shares=[owner]),
        "Blocked": queue.on_queue_blocked("Blocked"),
        "Started": queue.on_preemption_started("Started"),
        "Completed": queue.on_preemption_completed("Completed"),
        "BorrowerPreempted": queue.on_preemption_started("BorrowerPreempted", enriched=True, quota_shares=[borrower]),
        "OwnerPreempted": queue.on_preemption_started("OwnerPreempted", enriched=True, quota_shares=[owner]),
        "Enriched": queue.on_preemption_completed("Enriched", enriched=True),
    }
    for id, rule in rules.items():
        inbox = sqs.Queue(stack, f"{id}Inbox")
        rule.add_target(targets.SqsQueue(inbox))
        CfnOutput(stack, id, key=f"{id}Url", value=inbox.queue_url)
    return stack


class Inboxes:
    """The events that have arrived at the targets."""

    def __init__(self, aws: RunningAws, urls: dict[str, str]) -> None:
        self._sqs, self._urls = aws.client("sqs"), urls

    def take(self, id: str, at_least: int = 0) -> list[dict[str, Any]]:
        """Return the events at a target, once so many have come: functions run beside the clock of the local AWS."""
        taken: list[dict[str, Any]] = []
        for _ in range(30):
            answer = self._sqs.receive_message(
                QueueUrl=self._urls[id], MaxNumberOfMessages=10, WaitTimeSeconds=1 if len(taken) < at_least else 0
            )
            messages = answer.get("Messages", [])
            for message in messages:
                taken.append(json.loads(message["Body"]))
                self._sqs.delete_message(QueueUrl=self._urls[id], ReceiptHandle=message["ReceiptHandle"])
            if not messages and len(taken) >= at_least:
                return taken
        raise TimeoutError(f"{len(taken)} of {at_least} events came to {id}: {taken}")

    def details(self, id: str, at_least: int = 0) -> list[dict[str, Any]]:
        """Return what the events at a target say."""
        return [event["detail"] for event in self.take(id, at_least)]


def submit(aws: RunningAws, name: str, share: str, instances: int = 1) -> str:
    """Submit a job, and return its ARN."""
    payload = {
        "TrainingJobName": name,
        "RoleArn": ROLE,
        "AlgorithmSpecification": {"TrainingImage": "trainer", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://models/"},
        "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
        "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": instances, "VolumeSizeInGB": 1},
    }
    job = aws.client("batch").submit_service_job(
        jobName=name,
        jobQueue="gpus",
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=json.dumps(payload),
        quotaShareName=share,
    )
    return str(job["jobArn"])


@pytest.fixture(scope="module")
def aws() -> Iterator[RunningAws]:
    with running_local_aws(behaviour={"trainingSeconds": 3600}) as running:
        yield running


@pytest.fixture(scope="module")
def inboxes(aws: RunningAws, tmp_path_factory: pytest.TempPathFactory) -> Inboxes:
    """Deploy; two jobs of one share run, one of them on lent capacity until its owner wants it back; one is too big."""
    stack = gpu_stack(App(context=feature_flags(), outdir=str(tmp_path_factory.mktemp("cdk.out"))))
    cloudformation = aws.client("cloudformation")
    cloudformation.create_stack(
        StackName="Gpus", TemplateBody=json.dumps(template_of(stack)), Capabilities=["CAPABILITY_IAM"]
    )
    cloudformation.get_waiter("stack_create_complete").wait(StackName="Gpus", WaiterConfig={"Delay": 1})
    (deployed,) = cloudformation.describe_stacks(StackName="Gpus")["Stacks"]
    urls = {each["OutputKey"].removesuffix("Url"): each["OutputValue"] for each in deployed["Outputs"]}

    own, borrowing = submit(aws, "own", "borrower"), submit(aws, "borrowing", "borrower")
    aws.wait_for_job(own, "RUNNING")
    aws.wait_for_job(borrowing, "RUNNING")
    reclaiming = submit(aws, "reclaiming", "owner")
    aws.wait_for_job(reclaiming, "RUNNING")
    aws.client("batch").terminate_service_job(jobId=reclaiming, reason="no longer needed")
    submit(aws, "too-big", "owner", instances=3)
    aws.wait_for_job(own, "SUCCEEDED")
    return Inboxes(aws, urls)


def test_state_changes_of_all_jobs_arrive(inboxes: Inboxes) -> None:
    own = [detail["status"] for detail in inboxes.details("Changes") if detail["jobName"] == "own"]

    assert own == ["RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED"]


def test_state_changes_can_be_told_apart_by_status_and_share(inboxes: Inboxes) -> None:
    assert [(each["jobName"], each["status"]) for each in inboxes.details("OwnerFailed")] == [("reclaiming", "FAILED")]


def test_a_blocked_queue_says_by_which_job_and_why(inboxes: Inboxes) -> None:
    (blocked,) = inboxes.details("Blocked")

    assert blocked["jobName"] == "too-big"
    assert blocked["statusReason"].startswith("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - ")


def test_preemptions_arrive_without_queue_and_share(inboxes: Inboxes) -> None:
    (started,), (completed,) = inboxes.details("Started"), inboxes.details("Completed")

    assert started["preemptedJobArn"] == completed["preemptedJobArn"]
    assert not {"jobQueue", "quotaShareName"} & (started.keys() | completed.keys())


def test_enriched_preemptions_arrive_with_queue_and_share_and_can_be_told_apart(inboxes: Inboxes) -> None:
    (started,), (completed,) = inboxes.details("BorrowerPreempted", 1), inboxes.details("Enriched", 1)

    for detail in (started, completed):
        assert detail["jobQueue"].endswith(":job-queue/gpus")
        assert (detail["quotaShareName"], detail["jobName"]) == ("borrower", "borrowing")
        assert detail["capacityUsage"] == [{"capacityUnit": "ml.g5.xlarge", "quantity": 1}]
    assert completed["preemptionSummary"]["preemptedAttemptCount"] == 1
    assert inboxes.details("OwnerPreempted") == []
