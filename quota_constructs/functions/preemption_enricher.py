"""The code of the function that adds queue and share to AWS Batch's preemption events.

It runs in AWS Lambda, whose runtime brings boto3. Nothing here is imported by the constructs: they deploy the text.
"""

import json
import os
from typing import Any

import boto3

_ADDED = ("jobQueue", "quotaShareName", "jobId", "jobName", "capacityUsage", "schedulingPriority")

batch = boto3.client("batch")
events = boto3.client("events")
_described: dict[str, Any] = {}


def _keep(http_response: Any, **_: Any) -> None:
    _described.clear()
    _described.update(json.loads(http_response.content))


# Read from the response itself: a runtime whose boto3 is older than quota shares would drop what it does not know.
batch.meta.events.register("after-call.batch.DescribeServiceJob", _keep)


def handler(event: dict[str, Any], _context: object) -> None:
    """Send a preemption event again, with its job's queue and share, if it is about our queue.

    What fails is raised: Lambda then tries twice more, and counts it in the function's Errors metric.
    """
    batch.describe_service_job(jobId=event["detail"]["preemptedJobArn"])
    if _described["jobQueue"] != os.environ["JOB_QUEUE_ARN"]:
        return
    detail = event["detail"] | {field: _described[field] for field in _ADDED if field in _described}
    answer = events.put_events(
        Entries=[
            {
                "Source": os.environ["EVENT_SOURCE"],
                "DetailType": event["detail-type"],
                "Time": event["time"],
                "Resources": event["resources"],
                "Detail": json.dumps(detail),
            }
        ]
    )
    if answer["FailedEntryCount"]:
        raise RuntimeError(f"EventBridge did not take the event: {answer['Entries']}")
