"""What AWS Batch tells of a queue at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from typing import Any

from .ledger import Account

MAX_WAITING_JOBS = 1000
"""As many RUNNABLE jobs of a share are counted at most, so that a flood of jobs does not hold the function up."""
_PAGE = 100
# AWS Batch User Guide, "Jobs stuck in a RUNNABLE status": what it says of a job that blocks its queue.
_BLOCKED_REASONS = ("MISCONFIGURATION:", "CAPACITY:")


@dataclass(frozen=True, slots=True)
class Front:
    """The RUNNABLE jobs of one share."""

    head_since: int | None = None
    """Epoch milliseconds; ``None`` if no job waits."""
    blocked: bool = False
    jobs: int = 0
    instances: Mapping[str, float] | None = field(default_factory=dict)
    """``None`` if AWS leaves out what some of them ask for."""


@dataclass(frozen=True, slots=True)
class Share:
    """One quota share."""

    name: str
    limits: Mapping[str, float]
    lends: bool
    front: Front = field(default_factory=Front)


@dataclass(frozen=True, slots=True)
class Reading:
    """A queue, its environment's limits, its shares, and what they use of each instance type."""

    queue: str
    capacity: Mapping[str, float]
    shares: Sequence[Share]
    used: Mapping[str, float]
    used_by_share: Mapping[tuple[str, str], float]
    fronts_updated_at: int
    """Epoch milliseconds by AWS's clock; 0 if AWS does not say."""

    @property
    def instance_types(self) -> list[str]:
        """The types that anything is known of, in order."""
        limited = (unit for share in self.shares for unit in share.limits)
        return sorted({*self.capacity, *self.used, *limited})

    def accounts(self, instance_type: str) -> list[Account]:
        """Return what is known of each share that has a limit for a type, or uses it.

        A share that the snapshot does not list uses nothing, if those that it lists add up to the queue's total.
        """
        listed = {share: used for (share, unit), used in self.used_by_share.items() if unit == instance_type}
        complete = isclose(sum(listed.values()), self.used.get(instance_type, 0.0), abs_tol=1e-9)
        unlisted = 0.0 if complete else None
        known = {share.name: share for share in self.shares if instance_type in share.limits}
        return [
            *(
                Account(name, share.limits[instance_type], listed.get(name, unlisted), share.lends)
                for name, share in known.items()
            ),
            # A share that is no longer listed, or has no limit for the type: all that it uses is above its limit.
            *(Account(name, 0.0, used, lends=False) for name, used in listed.items() if name not in known),
        ]


def read(batch: Any, job_queue_arn: str) -> Reading:
    """Return what AWS Batch tells now.

    :param batch: a boto3 client.
    :raises LookupError: if the queue does not exist.
    """
    queue = _one(batch.describe_job_queues(jobQueues=[job_queue_arn])["jobQueues"], "job queue", job_queue_arn)
    shares = batch.get_paginator("list_quota_shares").paginate(jobQueue=job_queue_arn).build_full_result()
    snapshot = batch.get_job_queue_snapshot(jobQueue=job_queue_arn)
    fronts = snapshot.get("frontOfQuotaShares", {})
    heads = fronts.get("quotaShares", {})
    utilization = snapshot.get("queueUtilization", {})
    return Reading(
        queue["jobQueueName"],
        _capacity(batch, queue),
        [_share(batch, job_queue_arn, share, heads) for share in shares["quotaShares"]],
        _quantities(utilization.get("totalCapacityUsage", [])),
        {
            (share["quotaShareName"], unit): quantity
            for share in utilization.get("quotaShareUtilization", {}).get("topCapacityUtilization", [])
            for unit, quantity in _quantities(share["capacityUsage"]).items()
        },
        fronts.get("lastUpdatedAt", 0),
    )


def preempted_share(batch: Any, job_queue_arn: str, preempted_job_arn: str) -> str | None:
    """Return the share of a preempted job, or ``None`` if the job is of another queue.

    The event names neither, so every queue's preemptions of the account and Region arrive here.
    """
    job = batch.describe_service_job(jobId=_job_id(preempted_job_arn))
    return str(job["quotaShareName"]) if job["jobQueue"] == job_queue_arn else None


def _share(batch: Any, queue: str, share: Mapping[str, Any], heads: Mapping[str, Sequence[Any]]) -> Share:
    name = share["quotaShareName"]
    head = next(iter(heads.get(name, ())), None)
    return Share(
        name,
        {limit["capacityUnit"]: float(limit["maxCapacity"]) for limit in share["capacityLimits"]},
        share["resourceSharingConfiguration"]["strategy"] in ("LEND", "LEND_AND_BORROW"),
        # A share without a first RUNNABLE job has none at all: it need not be asked for its jobs.
        Front() if head is None else _front(batch, queue, name, head),
    )


def _front(batch: Any, queue: str, share: str, head: Mapping[str, Any]) -> Front:
    first = batch.describe_service_job(jobId=_job_id(head["jobArn"]))
    pages = batch.get_paginator("list_service_jobs").paginate(
        jobQueue=queue,
        jobStatus="RUNNABLE",
        filters=[{"name": "QUOTA_SHARE_NAME", "values": [share]}],
        PaginationConfig={"PageSize": _PAGE, "MaxItems": MAX_WAITING_JOBS},
    )
    jobs = pages.build_full_result()["jobSummaryList"]
    return Front(
        head["earliestTimeAtPosition"],
        first["status"] == "RUNNABLE" and first.get("statusReason", "").startswith(_BLOCKED_REASONS),
        len(jobs),
        _asked_for(jobs),
    )


def _asked_for(jobs: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    asked: dict[str, float] = {}
    for job in jobs:
        usage = job.get("capacityUsage")
        if not usage:
            return None
        for unit, quantity in _quantities(usage).items():
            asked[unit] = asked.get(unit, 0.0) + quantity
    return asked


def _capacity(batch: Any, queue: Mapping[str, Any]) -> dict[str, float]:
    names = [entry["serviceEnvironment"] for entry in queue.get("serviceEnvironmentOrder", [])]
    if not names:
        raise LookupError(f"job queue {queue['jobQueueName']} has no service environment; it is not quota-managed")
    found = batch.describe_service_environments(serviceEnvironments=names)["serviceEnvironments"]
    environment = _one(found, "service environment", names[0])
    return {limit["capacityUnit"]: float(limit["maxCapacity"]) for limit in environment["capacityLimits"]}


def _one(found: Sequence[Any], kind: str, name: str) -> Any:
    if len(found) != 1:
        raise LookupError(f"{kind} {name} does not exist; {len(found)} were found")
    return found[0]


def _quantities(usage: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {entry["capacityUnit"]: float(entry["quantity"]) for entry in usage}


def _job_id(arn: str) -> str:
    return arn.rpartition("/")[2]
