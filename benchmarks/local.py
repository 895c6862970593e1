"""The local Batch with 100,000 jobs in its state, against the same calls with 100."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.measurement import Measurement, fastest
from quotactl.local.aws import LocalAws
from quotactl.local.batch.api import call
from quotactl.local.clock import Clock

_UNIT = "ml.g5.xlarge"
_SHARES = 20
_FEW, _MANY = 100, 100_000
_CALLS = 20
_GOAL = 3.0


def measure() -> Iterator[Measurement]:
    """Measure what clients call most, and what a turn of the clock costs."""
    few, many = _Loaded(_FEW), _Loaded(_MANY)
    for name, subject in _SUBJECTS.items():
        small, large = fastest(_repeated(subject, few), _repeated(subject, many))
        value, reference = (seconds / _CALLS * 1e6 for seconds in (large, small))
        met = value <= _GOAL * reference
        goal = f"at most {_GOAL:g} times"
        yield Measurement(f"local Batch, {_MANY:,} jobs: {name}", value, "µs", reference, f"{_FEW} jobs", goal, met)


class _Loaded:
    """A local Batch whose shares run one job each, and many more wait."""

    def __init__(self, jobs: int) -> None:
        self.aws = LocalAws(Clock(0, start=0))
        self.batch = self.aws.batch("123456789012", "us-east-1")
        policy = self.call(
            "CreateSchedulingPolicy", name="p", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"}
        )
        self.call(
            "CreateServiceEnvironment",
            serviceEnvironmentName="e",
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=[{"capacityUnit": _UNIT, "maxCapacity": _SHARES}],
        )
        self.call(
            "CreateJobQueue",
            jobQueueName="q",
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=policy["arn"],
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "e"}],
        )
        for share in range(_SHARES):
            self.call(
                "CreateQuotaShare",
                quotaShareName=f"share-{share}",
                jobQueue="q",
                capacityLimits=[{"capacityUnit": _UNIT, "maxCapacity": 1}],
                resourceSharingConfiguration={"strategy": "LEND_AND_BORROW"},
                preemptionConfiguration={"inSharePreemption": "DISABLED"},
            )
        self.jobs = [self.submit(number) for number in range(jobs)]

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        return call(self.batch, operation, parameters)

    def submit(self, number: int = 0) -> str:
        request = {
            "TrainingJobName": "train",
            "RoleArn": "arn:aws:iam::123456789012:role/training",
            "OutputDataConfig": {"S3OutputPath": "s3://output"},
            "ResourceConfig": {"InstanceType": _UNIT, "InstanceCount": 1},
        }
        response = self.call(
            "SubmitServiceJob",
            jobName=f"train-{number}",
            jobQueue="q",
            serviceJobType="SAGEMAKER_TRAINING",
            quotaShareName=f"share-{number % _SHARES}",
            schedulingPriority=number % 10,
            serviceRequestPayload=json.dumps(request),
        )
        return str(response["jobId"])


def _end_one(loaded: _Loaded) -> None:
    loaded.call("TerminateServiceJob", jobId=loaded.submit(), reason="bench")


def _list_page(loaded: _Loaded) -> None:
    loaded.call("ListServiceJobs", jobQueue="q", jobStatus="RUNNABLE")


_SUBJECTS: dict[str, Callable[[_Loaded], object]] = {
    "SubmitServiceJob and TerminateServiceJob": _end_one,
    "UpdateServiceJob": lambda loaded: loaded.call("UpdateServiceJob", jobId=loaded.jobs[-1], schedulingPriority=5),
    "DescribeServiceJob": lambda loaded: loaded.call("DescribeServiceJob", jobId=loaded.jobs[-1]),
    "ListServiceJobs, a page of 100": _list_page,
    "GetJobQueueSnapshot": lambda loaded: loaded.call("GetJobQueueSnapshot", jobQueue="q"),
    "a second of the clock": lambda loaded: loaded.aws.clock.advance(1000),
}


def _repeated(subject: Callable[[_Loaded], object], loaded: _Loaded) -> Callable[[], object]:
    def repeat() -> None:
        for _ in range(_CALLS):
            subject(loaded)

    return repeat
