"""The events of AWS Batch's User Guide: "Service job state change events", "... queue blocked ..." and "... preemption ...".

The guide's sample events, less the fields that say nothing to a rule (attempts, times). They name another queue than
ours and, older than quota shares, no share; :func:`of_queue` makes them ours.
"""

from __future__ import annotations

from typing import Any

JOB = "arn:aws:batch:us-east-1:123456789012:service-job/4c7599ae-0a82-49aa-ba5a-4727fcce14a8"
GUIDE_QUEUE = "arn:aws:batch:us-east-1:123456789012:job-queue/HappyPathJobQueue"


def _event(detail_type: str, detail: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": "0",
        "id": "c8f9c4b5-76e5-d76a-f980-7011e206042b",
        "detail-type": detail_type,
        "source": "aws.batch",
        "account": "123456789012",
        "time": "2022-01-11T23:36:40Z",
        "region": "us-east-1",
        "resources": [JOB],
        "detail": detail,
    }


STATE_CHANGE = _event(
    "Batch Service Job State Change",
    {
        "jobArn": JOB,
        "jobId": "0bb17543-ece6-4480-b1a7-a556d344746b",
        "jobName": "event-test",
        "jobQueue": GUIDE_QUEUE,
        "serviceJobType": "SAGEMAKER_TRAINING",
        "status": "SUCCEEDED",
        "statusReason": "Received status from SageMaker: Training job completed",
        "timeoutConfig": {"attemptDurationSeconds": 60},
    },
)
QUEUE_BLOCKED = _event(
    "Batch Service Job Queue Blocked",
    {
        "attempts": [],
        "jobArn": JOB,
        "jobId": "6271dfdf-d8a7-41b1-a4d2-55a2224f5375",
        "jobName": "event-test",
        "jobQueue": GUIDE_QUEUE,
        "serviceJobType": "SAGEMAKER_TRAINING",
        "status": "RUNNABLE",
        "statusReason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Unable to provision requested compute resources",
        "timeoutConfig": {"attemptDurationSeconds": 60},
    },
)
PREEMPTION_STARTED = _event(
    "Batch Service Job Preemption Started",
    {
        "statusReason": "PREEMPTION_IN_PROGRESS: Cross-share preemption triggered to reclaim borrowed capacity",
        "preemptedJobArn": JOB,
        "status": "RUNNING",
    },
)
PREEMPTION_COMPLETED = _event(
    "Batch Service Job Preemption Completed",
    {
        "preemptedJobArn": JOB,
        "preemptionSummary": {"preemptedAttemptCount": 1, "recentPreemptedAttempts": []},
        "status": "RUNNABLE",
    },
)
SAMPLES = (STATE_CHANGE, QUEUE_BLOCKED, PREEMPTION_STARTED, PREEMPTION_COMPLETED)


def of_queue(event: dict[str, Any], queue: str, share: str | None = None, **detail: Any) -> dict[str, Any]:
    """Return an event as it is about a job of this queue and share, with further fields of the detail."""
    named = {"jobQueue": queue} | ({} if share is None else {"quotaShareName": share})
    return event | {"detail": event["detail"] | named | detail}


def enriched(event: dict[str, Any], queue: str, share: str) -> dict[str, Any]:
    """Return a preemption event as an enricher sends it."""
    return of_queue(event, queue, share, jobName="event-test") | {"source": "quota-constructs"}
