"""The operations on job queues: SageMaker Training queues with a quota-share policy, and no others."""

from __future__ import annotations

from typing import Any, Final

from quota_model.design import JobStateTimeLimitAction, State
from quota_model.rules import check_job_queue, check_job_queue_environments, check_service_environment_use
from quotactl.local.batch.batch import Batch, Operation
from quotactl.local.batch.checks import check_name, check_tags, refuse_findings
from quotactl.local.batch.queue_runs import QueueRun
from quotactl.local.batch.resources import EnvironmentRecord, JobQueueRecord
from quotactl.local.errors import ClientException, not_supported
from quotactl.local.paging import page

__all__ = ["OPERATIONS"]

_MOST_QUEUES: Final = 50


def create_job_queue(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Create a queue on an environment that serves no other queue."""
    name = request["jobQueueName"]
    check_name("jobQueueName", name)
    if request.get("jobQueueType") != "SAGEMAKER_TRAINING":
        raise not_supported(f"A job queue of type {request.get('jobQueueType', 'ECS')}")
    if "schedulingPolicyArn" not in request:
        raise not_supported("A SageMaker Training queue without a quota-share scheduling policy")
    if name in batch.queues:
        raise ClientException("Object already exists")
    if len(batch.queues) >= _MOST_QUEUES:
        raise ClientException(f"An account has at most {_MOST_QUEUES} job queues in a Region.")
    order, environment = _only_environment(batch, request)
    queue = JobQueueRecord(
        batch.arns.of(f"job-queue/{name}"),
        name,
        request["priority"],
        batch.policy(request["schedulingPolicyArn"]),
        environment,
        order,
        State(request.get("state", State.ENABLED)),
        _time_limits(request),
        tags=check_tags(request.get("tags", {})),
    )
    refuse_findings(check_job_queue(queue.design()))
    batch.runs[name] = QueueRun(batch, queue)
    batch.queues[name] = queue
    return {"jobQueueName": name, "jobQueueArn": queue.arn}


def update_job_queue(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Change a queue in place; its policy can be replaced by one of the same kind, never removed."""
    queue = batch.queue(request["jobQueue"])
    changed = JobQueueRecord(
        queue.arn,
        queue.name,
        request.get("priority", queue.priority),
        batch.policy(request["schedulingPolicyArn"]) if "schedulingPolicyArn" in request else queue.policy,
        queue.environment,
        queue.environment_order,
        State(request.get("state", queue.state)),
        _time_limits(request) if "jobStateTimeLimitActions" in request else queue.time_limits,
    )
    if "serviceEnvironmentOrder" in request or request.get("computeEnvironmentOrder"):
        changed.environment_order, changed.environment = _only_environment(batch, request, queue)
    refuse_findings(check_job_queue(changed.design()))
    for field in ("priority", "policy", "environment", "environment_order", "state", "time_limits"):
        setattr(queue, field, getattr(changed, field))
    batch.runs[queue.name].design_changed()
    return {"jobQueueName": queue.name, "jobQueueArn": queue.arn}


def delete_job_queue(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Delete a disabled queue that has no shares left; whether AWS would take the shares along is not documented."""
    queue = batch.queue(request["jobQueue"])
    if queue.state is not State.DISABLED:
        raise ClientException(f"Cannot delete, job queue {queue.name} must be DISABLED first")
    if queue.shares:
        raise ClientException(
            f"Cannot delete, job queue {queue.name} has quota shares: {', '.join(queue.shares)}; delete them first"
        )
    del batch.queues[queue.name]
    del batch.runs[queue.name]
    return {}


def describe_job_queues(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Describe the named queues, or all; those that do not exist are left out."""
    wanted = request.get("jobQueues")
    if not wanted:
        queues = list(batch.queues.values())
    else:
        names = [batch.arns.name("job-queue", given) for given in wanted]
        queues = [batch.queues[name] for name in names if name is not None and name in batch.queues]
    found, following = page(queues, request)
    return {"jobQueues": [queue.describe() for queue in found], **following}


def _only_environment(
    batch: Batch, request: dict[str, Any], queue: JobQueueRecord | None = None
) -> tuple[int, EnvironmentRecord]:
    if request.get("computeEnvironmentOrder"):
        raise ClientException("A SageMaker Training queue has no compute environments; use serviceEnvironmentOrder.")
    order = request.get("serviceEnvironmentOrder", [])
    name = request.get("jobQueueName", queue.name if queue is not None else None)
    refuse_findings(check_job_queue_environments(name, len(order)))
    environment = batch.environment(order[0]["serviceEnvironment"])
    others = sum(other is not queue for other in batch.queues_of_environment(environment))
    refuse_findings(check_service_environment_use(environment.design, others + 1))
    return order[0]["order"], environment


def _time_limits(request: dict[str, Any]) -> tuple[JobStateTimeLimitAction, ...]:
    return tuple(JobStateTimeLimitAction.from_json(action) for action in request.get("jobStateTimeLimitActions", []))


OPERATIONS: Final[dict[str, Operation]] = {
    "CreateJobQueue": create_job_queue,
    "UpdateJobQueue": update_job_queue,
    "DeleteJobQueue": delete_job_queue,
    "DescribeJobQueues": describe_job_queues,
}
