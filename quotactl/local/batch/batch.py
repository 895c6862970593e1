"""The state of AWS Batch in one account and Region, and the table of operations that work on it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from quota_model.scheduler import SchedulerOptions
from quotactl.local.arns import Arns
from quotactl.local.batch.job import ServiceJob
from quotactl.local.batch.job_store import JobStore
from quotactl.local.batch.options import LocalBatchOptions
from quotactl.local.batch.resources import EnvironmentRecord, JobQueueRecord, PolicyRecord, ShareRecord, Tags
from quotactl.local.clock import Clock
from quotactl.local.errors import ClientException
from quotactl.local.training.jobs import TrainingJobs

if TYPE_CHECKING:
    from quotactl.local.batch.queue_runs import QueueRun

__all__ = ["Batch", "EventSink", "Operation"]

Operation = Callable[["Batch", dict[str, Any]], dict[str, Any]]
"""An operation: its checked parameters in, the members of its response out."""


class EventSink(Protocol):
    """Where events go: EventBridge's default bus of the same account and Region."""

    def __call__(self, detail_type: str, resource_arn: str, detail: dict[str, Any]) -> None:
        """Send one event of source ``aws.batch``."""


class Batch:
    """AWS Batch for quota-managed SageMaker Training queues in one account and Region."""

    def __init__(
        self,
        arns: Arns,
        clock: Clock,
        training_jobs: TrainingJobs,
        send_event: EventSink,
        options: LocalBatchOptions | None = None,
        scheduler_options: SchedulerOptions | None = None,
    ) -> None:
        self.arns = arns
        self.clock = clock
        self.training_jobs = training_jobs
        self.send_event = send_event
        self.options = options or LocalBatchOptions()
        self.scheduler_options = scheduler_options or SchedulerOptions()
        self.policies: dict[str, PolicyRecord] = {}
        self.environments: dict[str, EnvironmentRecord] = {}
        self.queues: dict[str, JobQueueRecord] = {}
        self.runs: dict[str, QueueRun] = {}
        """The scheduler of each queue, by the queue's name."""
        self.jobs = JobStore()
        self.tokens: set[bytes] = set()
        """Digests of the submissions that came with a client token: all that boto3 sends."""

    @staticmethod
    def new_id() -> str:
        """Return a new job or request id."""
        return str(uuid.uuid4())

    def policy(self, arn: str) -> PolicyRecord:
        """Return the scheduling policy of this ARN; a name is not enough for any of the operations."""
        name = self.arns.name("scheduling-policy", arn) if arn.startswith("arn:") else None
        if name is None or name not in self.policies:
            raise ClientException(f"Scheduling policy {arn} does not exist")
        return self.policies[name]

    def environment(self, name_or_arn: str) -> EnvironmentRecord:
        """Return the service environment of this name or ARN."""
        name = self.arns.name("service-environment", name_or_arn)
        if name is None or name not in self.environments:
            raise ClientException(f"Service environment {name_or_arn} does not exist")
        return self.environments[name]

    def queue(self, name_or_arn: str) -> JobQueueRecord:
        """Return the job queue of this name or ARN."""
        name = self.arns.name("job-queue", name_or_arn)
        if name is None or name not in self.queues:
            raise ClientException(f"Job queue {name_or_arn} does not exist")
        return self.queues[name]

    def share(self, arn: str) -> ShareRecord:
        """Return the quota share of this ARN."""
        for share in self.all_shares():
            if share.arn == arn:
                return share
        raise ClientException(f"Quota share {arn} does not exist")

    def all_shares(self) -> Iterator[ShareRecord]:
        """Return the quota shares of all queues."""
        for queue in self.queues.values():
            yield from queue.shares.values()

    def job(self, id_or_arn: str) -> ServiceJob:
        """Return the service job of this id or ARN."""
        job_id = self.arns.name("service-job", id_or_arn)
        job = self.jobs.get(job_id) if job_id is not None else None
        if job is None:
            raise ClientException(f"Service job {id_or_arn} does not exist")
        return job

    def queues_of_environment(self, environment: EnvironmentRecord) -> list[JobQueueRecord]:
        """Return the queues that this environment serves: one at most."""
        return [queue for queue in self.queues.values() if queue.environment is environment]

    def tags_of(self, arn: str) -> Tags:
        """Return the tags, to be changed in place, of any resource."""
        tagged: list[Any] = [*self.policies.values(), *self.environments.values(), *self.queues.values()]
        for resource in (*tagged, *self.all_shares()):
            if resource.arn == arn:
                tags: Tags = resource.tags
                return tags
        if self.arns.name("service-job", arn) != arn:
            return self.job(arn).tags
        raise ClientException(f"Resource {arn} does not exist")
