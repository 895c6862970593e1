"""The events that the local Batch sends, in the form of the user guide's examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quotactl.local.batch.job import ServiceJob

if TYPE_CHECKING:
    from quotactl.local.batch.batch import Batch

__all__ = ["preemption_completed", "preemption_started", "queue_blocked", "state_changed"]


def state_changed(batch: Batch, job: ServiceJob) -> None:
    """Tell that a job has come into another status."""
    batch.send_event("Batch Service Job State Change", job.arn, job.event_detail())


def preemption_started(batch: Batch, job: ServiceJob) -> None:
    """Tell that a job is being stopped for another; the event names neither the other job nor a share, as on AWS."""
    detail = {"statusReason": job.status_reason, "preemptedJobArn": job.arn, "status": job.status}
    batch.send_event("Batch Service Job Preemption Started", job.arn, detail)


def preemption_completed(batch: Batch, job: ServiceJob) -> None:
    """Tell that a preempted job has stopped: it waits again, or is FAILED if it was preempted too often."""
    detail = {"preemptedJobArn": job.arn, "preemptionSummary": job.preemption_summary(), "status": job.status}
    batch.send_event("Batch Service Job Preemption Completed", job.arn, detail)


def queue_blocked(batch: Batch, job: ServiceJob) -> None:
    """Tell that a job at the head cannot run, and why."""
    batch.send_event("Batch Service Job Queue Blocked", job.arn, {**job.event_detail(), "status": "RUNNABLE"})
