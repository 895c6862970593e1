"""The local Batch makes the transitions that the scheduler's own event queue makes, from the same events (I18)."""

from __future__ import annotations

import json
from dataclasses import fields
from enum import Enum
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from quota_model.design import CapacityLimits, QuotaQueue, QuotaShare, ResourceSharing, ServiceEnvironment
from quota_model.scheduler import (
    Event,
    JobSubmitted,
    JobTerminated,
    PriorityChanged,
    SchedulerOptions,
    ShareReplaced,
)
from quotactl.local.aws import LocalAws
from quotactl.local.batch.api import call
from quotactl.local.batch.batch import Batch
from quotactl.local.clock import Clock
from quotactl.local.training.behaviour import Behaviours, JobBehaviour
from tests.quotactl.local.replay import Transition, replay

UNITS = ("ml.g5.xlarge", "ml.p4d.24xlarge")
BEHAVIOUR = JobBehaviour(
    pending_seconds=31.337, downloading_seconds=17.017, training_seconds=1511.011, uploading_seconds=5.003,
    stopping_seconds=41.041,
)  # fmt: skip
LONG = 10**8

sharings = st.sampled_from(
    [
        ResourceSharing.reserve(),
        ResourceSharing.lend(),
        ResourceSharing.lend(),
        ResourceSharing.lend_and_borrow(),
        ResourceSharing.lend_and_borrow(),
        ResourceSharing.lend_and_borrow(borrow_limit=50),
        ResourceSharing.lend_and_borrow(borrow_limit=100),
    ]
)
limits = st.dictionaries(st.sampled_from(UNITS), st.integers(1, 4), min_size=1).map(CapacityLimits.of)


def values_like(default: object) -> st.SearchStrategy[Any]:
    return st.sampled_from(type(default)) if isinstance(default, Enum) else st.booleans()


any_options = st.builds(
    SchedulerOptions, **{option.name: values_like(option.default) for option in fields(SchedulerOptions)}
)


@st.composite
def designs(draw: st.DrawFn) -> QuotaQueue:
    shares = tuple(
        QuotaShare(f"share-{place}", draw(limits), draw(sharings), draw(st.booleans()))
        for place in range(draw(st.integers(2, 4)))
    )
    totals = {
        unit: max(1, sum(int(str(share.capacity_limits.as_instances().get(unit, 0))) for share in shares))
        for unit in UNITS
    }
    change = draw(st.integers(-1, 1))
    return QuotaQueue(
        ServiceEnvironment(CapacityLimits.of({unit: max(1, total + change) for unit, total in totals.items()})), shares
    )


@st.composite
def event_lists(draw: st.DrawFn, queue: QuotaQueue) -> list[Event]:
    count = draw(st.integers(1, 20))
    times = draw(st.lists(st.integers(1, 600_000), min_size=count, max_size=count, unique=True))
    events: list[Event] = []
    jobs = 0
    for time in sorted(times):
        kind = draw(st.sampled_from(("submit", "submit", "submit", "submit", "priority", "terminate", "share")))
        if kind == "share":
            share = draw(st.sampled_from(queue.quota_shares))
            events.append(
                ShareReplaced(time, QuotaShare(share.name, draw(limits), draw(sharings), draw(st.booleans())))
            )
        elif kind == "submit" or not jobs:
            request = draw(st.dictionaries(st.sampled_from(UNITS), st.integers(1, 3), min_size=1))
            share_name = str(draw(st.sampled_from(queue.quota_shares)).name)
            retries = draw(st.sampled_from((None, None, 0, 1)))
            events.append(JobSubmitted(time, f"job-{jobs}", share_name, request, draw(st.integers(0, 3)), retries))
            jobs += 1
        elif kind == "priority":
            job = draw(st.integers(0, jobs - 1))
            events.append(PriorityChanged(time, f"job-{job}", draw(st.integers(0, 5))))
        else:
            events.append(JobTerminated(time, f"job-{draw(st.integers(0, jobs - 1))}"))
    return events


class Emulator:
    """The local Batch, given the same events through its API."""

    def __init__(self, queue: QuotaQueue, options: SchedulerOptions) -> None:
        self.aws = LocalAws(Clock(0, start=0), self.note, scheduler_options=options, behaviours=Behaviours(BEHAVIOUR))
        self.batch: Batch = self.aws.batch("123456789012", "us-east-1")
        self.transitions: list[Transition] = []
        self.ids: dict[str, str] = {}
        policy = self.call(
            "CreateSchedulingPolicy", name="p", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"}
        )
        environment = queue.service_environment.to_json()
        self.call(
            "CreateServiceEnvironment",
            **{**environment, "serviceEnvironmentName": "e", "serviceEnvironmentType": "SAGEMAKER_TRAINING"},
        )
        self.call(
            "CreateJobQueue",
            jobQueueName="q",
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=policy["arn"],
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "e"}],
        )
        for share in queue.quota_shares:
            self.call("CreateQuotaShare", jobQueue="q", **share.to_json())

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        return call(self.batch, operation, parameters)

    def note(self, _account: str, _region: str, kind: str, _resource: str, detail: dict[str, Any]) -> None:
        if kind == "Batch Service Job State Change" and detail["status"] != "STARTING":
            self.transitions.append((self.aws.clock.now(), detail["jobName"], detail["status"]))

    def happen(self, event: Event) -> None:
        self.aws.clock.advance(event.time - self.aws.clock.now())
        if isinstance(event, JobSubmitted):
            self.submit(event)
        elif isinstance(event, ShareReplaced):
            fields = event.share.to_json()
            arn = self.batch.arns.of(f"job-queue/q/quota-share/{fields.pop('quotaShareName')}")
            self.call("UpdateQuotaShare", quotaShareArn=arn, **fields)
        elif isinstance(event, JobTerminated):
            self.call("TerminateServiceJob", jobId=self.ids[event.job_id], reason="test")
        elif isinstance(event, PriorityChanged):
            job = self.batch.jobs[self.ids[event.job_id]]
            if not job.has_finished:
                self.call("UpdateServiceJob", jobId=job.id, schedulingPriority=event.priority)

    def submit(self, event: JobSubmitted) -> None:
        groups = [
            {"InstanceType": unit, "InstanceCount": count, "InstanceGroupName": unit}
            for unit, count in event.request.items()
        ]
        request = {
            "TrainingJobName": event.job_id,
            "RoleArn": "arn:aws:iam::123456789012:role/training",
            "OutputDataConfig": {"S3OutputPath": "s3://output"},
            "ResourceConfig": {"InstanceGroups": groups},
        }
        retries = {"preemptionRetriesBeforeTermination": event.preemption_retries}
        self.ids[event.job_id] = self.call(
            "SubmitServiceJob",
            jobName=event.job_id,
            jobQueue="q",
            serviceJobType="SAGEMAKER_TRAINING",
            quotaShareName=event.share,
            schedulingPriority=event.priority,
            serviceRequestPayload=json.dumps(request),
            **({} if event.preemption_retries is None else {"preemptionConfiguration": retries}),
        )["jobId"]


@settings(max_examples=150)
@given(st.data())
def test_the_same_events_make_the_same_transitions(data: st.DataObject) -> None:
    queue = data.draw(designs())
    events = data.draw(event_lists(queue))
    options = data.draw(st.just(SchedulerOptions()) | any_options)
    expected = replay(queue, events, BEHAVIOUR.attempt(), options)
    assume(expected is not None)
    emulator = Emulator(queue, options)
    for event in events:
        emulator.happen(event)
    emulator.aws.clock.advance(LONG)
    assert emulator.transitions == expected


@settings(max_examples=60)
@given(st.data())
def test_what_describe_list_and_snapshot_show_fits_together(data: st.DataObject) -> None:
    queue = data.draw(designs())
    emulator = Emulator(queue, data.draw(any_options))
    for event in data.draw(event_lists(queue)):
        emulator.happen(event)
    described = {name: emulator.call("DescribeServiceJob", jobId=job) for name, job in emulator.ids.items()}
    statuses = {job["jobId"]: job["status"] for job in described.values()}
    listed = {
        job["jobId"]: status
        for status in ("SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
        for job in emulator.call("ListServiceJobs", jobQueue="q", jobStatus=status)["jobSummaryList"]
    }
    assert listed == statuses
    snapshot = emulator.call("GetJobQueueSnapshot", jobQueue="q")
    held: dict[str, float] = {}
    for job in described.values():
        if job["status"] in ("SCHEDULED", "STARTING", "RUNNING"):
            for usage in job["capacityUsage"]:
                held[usage["capacityUnit"]] = held.get(usage["capacityUnit"], 0) + usage["quantity"]
    shown = snapshot["queueUtilization"]["totalCapacityUsage"]
    assert {usage["capacityUnit"]: usage["quantity"] for usage in shown} == held
    waiting = {job["jobArn"] for job in described.values() if job["status"] == "RUNNABLE"}
    assert {job["jobArn"] for job in snapshot["frontOfQueue"]["jobs"]} <= waiting
