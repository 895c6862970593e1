"""SubmitServiceJob: all the checks that AWS documents, then the job enters its share's queue."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from quota_model.design import State
from quotactl.local.batch.batch import Batch
from quotactl.local.batch.checks import check_name, check_tags
from quotactl.local.batch.job import ServiceJob
from quotactl.local.batch.options import HIGHEST_PRIORITY
from quotactl.local.batch.payload import capacity_request, parse_payload
from quotactl.local.batch.resources import JobQueueRecord
from quotactl.local.errors import ClientException
from quotactl.local.training.behaviour import BehaviourError

__all__ = ["check_priority", "submit_service_job"]

_MOST_ATTEMPTS: Final = 10
_MOST_RULES: Final = 5
_LONGEST_PATTERN: Final = 512
_LONGEST_TOKEN: Final = 64


def submit_service_job(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Take a job in; one that is larger than its share's limits too, since AWS only finds out when it is its turn."""
    check_name("jobName", request["jobName"])
    queue = batch.queue(request["jobQueue"])
    share = _share(queue, request)
    check_priority(request.get("schedulingPriority", 0))
    _check_retry_strategy(request.get("retryStrategy"))
    _check_positive(
        "timeoutConfig.attemptDurationSeconds", request.get("timeoutConfig", {}).get("attemptDurationSeconds"), 1
    )
    retries = request.get("preemptionConfiguration", {}).get("preemptionRetriesBeforeTermination")
    _check_positive("preemptionRetriesBeforeTermination", retries, 0)
    tags = check_tags(request.get("tags", {}))
    training_request = parse_payload(request["serviceRequestPayload"])
    instances = capacity_request(training_request)
    try:
        behaviour = batch.training_jobs.behaviours.of_job(request["jobName"], training_request)
    except BehaviourError as error:
        raise ClientException(f"The local AWS cannot run this job: {error}") from error
    _check_accepts_jobs(queue, share)
    _check_token(batch, request)
    job_id = batch.new_id()
    job = ServiceJob(
        id=job_id,
        arn=batch.arns.of(f"service-job/{job_id}"),
        name=request["jobName"],
        queue_arn=queue.arn,
        share=share,
        sequence=batch.jobs.next_sequence,
        payload=request["serviceRequestPayload"],
        training_request=training_request,
        instances=instances,
        behaviour=behaviour,
        priority=request.get("schedulingPriority", batch.options.default_scheduling_priority),
        created_at=batch.clock.now(),
        retry_strategy=request.get("retryStrategy"),
        timeout_seconds=request.get("timeoutConfig", {}).get("attemptDurationSeconds"),
        preemption_retries=retries,
        tags=tags,
    )
    batch.runs[queue.name].submit(job)
    return {"jobArn": job.arn, "jobName": job.name, "jobId": job.id}


def check_priority(priority: int) -> None:
    """Refuse a priority outside 0 to 9999."""
    if not 0 <= priority <= HIGHEST_PRIORITY:
        raise ClientException(f"schedulingPriority is {priority}; it must be between 0 and {HIGHEST_PRIORITY}.")


def _share(queue: JobQueueRecord, request: dict[str, Any]) -> str:
    if "shareIdentifier" in request:
        raise ClientException(
            f"shareIdentifier cannot be given: job queue {queue.name} has no fair-share scheduling policy."
        )
    if "quotaShareName" not in request:
        raise ClientException(
            f"quotaShareName is missing: job queue {queue.name} has a quota-share scheduling policy; "
            f"give one of {', '.join(queue.shares) or 'its quota shares (it has none yet)'}."
        )
    name = request["quotaShareName"]
    if name not in queue.shares:
        raise ClientException(f"Quota share {name[:150]} does not exist in job queue {queue.name}")
    return str(name)


def _check_accepts_jobs(queue: JobQueueRecord, share: str) -> None:
    record = queue.shares[share]
    if queue.state is not State.ENABLED:
        raise ClientException(f"Job queue {queue.name} is DISABLED and accepts no jobs.")
    if record.design.state is not State.ENABLED or record.status == "DELETING":
        raise ClientException(f"Quota share {share} is DISABLED and accepts no jobs.")


def _check_retry_strategy(strategy: dict[str, Any] | None) -> None:
    if strategy is None:
        return
    if not 1 <= strategy["attempts"] <= _MOST_ATTEMPTS:
        raise ClientException(f"retryStrategy.attempts is {strategy['attempts']}; it must be 1 to {_MOST_ATTEMPTS}.")
    rules = strategy.get("evaluateOnExit", [])
    if len(rules) > _MOST_RULES:
        raise ClientException(
            f"retryStrategy.evaluateOnExit has {len(rules)} rules; it can have at most {_MOST_RULES}."
        )
    for rule in rules:
        if len(rule.get("onStatusReason", "")) > _LONGEST_PATTERN:
            raise ClientException(f"An onStatusReason of evaluateOnExit has more than {_LONGEST_PATTERN} characters.")


def _check_positive(field: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise ClientException(f"{field} is {value}; it must be at least {least}.")


def _check_token(batch: Batch, request: dict[str, Any]) -> None:
    """Refuse the same request sent twice: AWS documents that the second of two requests with identical payloads and
    tokens is rejected.
    """
    token = request.get("clientToken")
    if token is None:
        return
    if not 1 <= len(token) <= _LONGEST_TOKEN:
        raise ClientException(f"clientToken has {len(token)} characters; it must have 1 to {_LONGEST_TOKEN}.")
    fingerprint = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()
    if fingerprint in batch.tokens:
        raise ClientException("A job with this clientToken and the same parameters was submitted already.")
    batch.tokens.add(fingerprint)
