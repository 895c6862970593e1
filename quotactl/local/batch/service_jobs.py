"""The operations on service jobs after their submission."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from quotactl.local.batch.batch import Batch, Operation
from quotactl.local.batch.job import ServiceJob
from quotactl.local.batch.submission import check_priority, submit_service_job
from quotactl.local.errors import AwsError, ClientException

__all__ = ["OPERATIONS"]

_MOST_TERMINATED: Final = 50
_LARGEST_PAGE: Final = 100
_FILTERS: Final = ("JOB_NAME", "BEFORE_CREATED_AT", "AFTER_CREATED_AT", "SHARE_IDENTIFIER", "QUOTA_SHARE_NAME")
_STATUS_COMBINES_WITH: Final = ("SHARE_IDENTIFIER", "QUOTA_SHARE_NAME")


def describe_service_job(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Describe one job by id or ARN."""
    return batch.job(request["jobId"]).describe()


def update_service_job(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Change a job's priority, whether it waits or runs."""
    job = batch.job(request["jobId"])
    check_priority(request["schedulingPriority"])
    if job.has_finished:
        raise ClientException(f"Service job {job.id} is {job.status}; its priority cannot be changed any more.")
    batch.runs[batch.queue(job.queue_arn).name].set_priority(job, request["schedulingPriority"])
    return {"jobArn": job.arn, "jobName": job.name, "jobId": job.id}


def terminate_service_job(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """End a job; one that has ended already stays as it is."""
    job = batch.job(request["jobId"])
    if not job.has_finished:
        batch.runs[batch.queue(job.queue_arn).name].terminate(job, request["reason"])
    return {}


def terminate_service_jobs(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """End up to 50 jobs, each with a result of its own; unknown ids count as successful."""
    jobs = request["jobs"]
    if not 1 <= len(jobs) <= _MOST_TERMINATED:
        raise ClientException(f"jobs has {len(jobs)} entries; it must have 1 to {_MOST_TERMINATED}.")
    successful, errors = [], []
    for job in jobs:
        try:
            job_id = batch.arns.name("service-job", job)
            if job_id is not None and batch.jobs.get(job_id) is not None:
                terminate_service_job(batch, {"jobId": job, "reason": request["reason"]})
            successful.append(job)
        except AwsError as error:
            errors.append({"job": job, "code": error.code, "message": error.message})
    return {"successful": successful, "errors": errors}


def list_service_jobs(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """List the jobs of a queue, newest first: those RUNNING unless a status or a filter says otherwise."""
    if "jobQueue" not in request:
        raise ClientException("jobQueue is missing; name the queue whose jobs to list.")
    queue_arn = batch.queue(request["jobQueue"]).arn
    size = request.get("maxResults", _LARGEST_PAGE)
    if not 1 <= size <= _LARGEST_PAGE:
        raise ClientException(f"maxResults is {size}; it must be between 1 and {_LARGEST_PAGE}.")
    name, wanted = _filter(request)
    after = _read_token(request.get("nextToken"))
    if name == "JOB_NAME":
        matching: Iterator[ServiceJob] = _grouped_by_name(batch, queue_arn, wanted, after)
    else:
        status = request.get("jobStatus", "RUNNING") if name is None or name in _STATUS_COMBINES_WITH else None
        if name in _STATUS_COMBINES_WITH and "jobStatus" not in request:
            status = None
        before = None if after is None else int(after[1])
        matching = filter(wanted, batch.jobs.newest_first(queue_arn, status, before))
    found = list(islice(matching, size + 1))
    response: dict[str, Any] = {"jobSummaryList": [job.summary() for job in found[:size]]}
    if len(found) > size:
        last = found[size - 1]
        response["nextToken"] = _token(last.name.lower() if name == "JOB_NAME" else "", last.sequence)
    return response


def get_job_queue_snapshot(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Show a queue's first 100 waiting jobs, the head of each share, and what the shares use.

    Whether AWS lists a share that uses nothing is not documented; here it does not.
    """
    queue = batch.queue(request["jobQueue"])
    run, now = batch.runs[queue.name], batch.clock.now()
    arn = batch.arns.of
    heads = {
        share: [
            {"jobArn": arn(f"service-job/{job.job_id}"), "earliestTimeAtPosition": job.since or now} for job in jobs[:1]
        ]
        for share, jobs in run.scheduler.front_of_quota_shares().items()
    }
    shares: dict[str, dict[str, int]] = {}
    total: dict[str, int] = {}
    for job in run.dispatched():
        used = shares.setdefault(job.share, {})
        for unit, instances in job.instances.items():
            used[unit] = used.get(unit, 0) + instances
            total[unit] = total.get(unit, 0) + instances
    busiest = sorted(shares.items(), key=lambda share: (-sum(share[1].values()), share[0]))
    return {
        "frontOfQueue": {
            "jobs": [{"jobArn": arn(f"service-job/{job}"), "earliestTimeAtPosition": at} for job, at in run.front()],
            "lastUpdatedAt": now,
        },
        "frontOfQuotaShares": {
            "quotaShares": {name: heads.get(name, []) for name in queue.shares},
            "lastUpdatedAt": now,
        },
        "queueUtilization": {
            "totalCapacityUsage": _usage(total),
            "quotaShareUtilization": {
                "topCapacityUtilization": [
                    {"quotaShareName": name, "capacityUsage": _usage(used)} for name, used in busiest
                ]
            },
            "lastUpdatedAt": now,
        },
    }


def _usage(instances: dict[str, int]) -> list[dict[str, Any]]:
    return [{"capacityUnit": unit, "quantity": float(count)} for unit, count in instances.items()]


def _filter(request: dict[str, Any]) -> tuple[str | None, Callable[[ServiceJob], bool]]:
    """Return the one filter of a request and whether a job passes it."""
    filters = request.get("filters", [])
    if not filters:
        return None, lambda _: True
    if len(filters) > 1:
        raise ClientException(f"filters has {len(filters)} entries; only one filter can be used at a time.")
    name, values = filters[0].get("name"), filters[0].get("values", [])
    if name not in _FILTERS:
        raise ClientException(f"filters has no filter {name!r}; use one of {', '.join(_FILTERS)} (case matters).")
    if not values:
        raise ClientException(f"Filter {name} has no values; give at least one.")
    if name == "JOB_NAME":
        return name, lambda job: any(_name_matches(job.name.lower(), value.lower()) for value in values)
    if name == "QUOTA_SHARE_NAME":
        return name, lambda job: job.share in values
    if name == "SHARE_IDENTIFIER":
        return name, lambda _: False
    instant = _milliseconds(name, values[0])
    if name == "BEFORE_CREATED_AT":
        return name, lambda job: job.created_at < instant
    return name, lambda job: job.created_at > instant


def _name_matches(name: str, value: str) -> bool:
    return name.startswith(value[:-1]) if value.endswith("*") else name == value


def _milliseconds(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise ClientException(f"Filter {name} has value {value[:50]!r}; give epoch milliseconds.") from None


def _grouped_by_name(
    batch: Batch, queue_arn: str, wanted: Callable[[ServiceJob], bool], after: tuple[str, int] | None
) -> Iterator[ServiceJob]:
    matching = (job for job in batch.jobs.newest_first(queue_arn) if wanted(job))
    for job in sorted(matching, key=lambda job: (job.name.lower(), -job.sequence)):
        if after is None or (job.name.lower(), -job.sequence) > (after[0], -after[1]):
            yield job


def _token(name: str, sequence: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([name, sequence]).encode()).decode()


def _read_token(token: str | None) -> tuple[str, int] | None:
    if token is None:
        return None
    try:
        name, sequence = json.loads(base64.urlsafe_b64decode(token.encode()))
        return str(name), int(sequence)
    except (binascii.Error, ValueError, TypeError, OverflowError, RecursionError):
        raise ClientException("nextToken is not one that ListServiceJobs returned; start again without it.") from None


OPERATIONS: Final[dict[str, Operation]] = {
    "SubmitServiceJob": submit_service_job,
    "DescribeServiceJob": describe_service_job,
    "UpdateServiceJob": update_service_job,
    "TerminateServiceJob": terminate_service_job,
    "TerminateServiceJobs": terminate_service_jobs,
    "ListServiceJobs": list_service_jobs,
    "GetJobQueueSnapshot": get_job_queue_snapshot,
}
