"""The status reasons of AWS Batch, letter by letter where AWS documents them.

Sources: AWS Batch User Guide, "Service job stuck in RUNNABLE: misconfiguration" and "Preemption of service jobs".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from quota_model.scheduler.job import Job
    from quota_model.scheduler.options import SchedulerOptions

ENVIRONMENT_MAX: Final = (
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s) associated with the job queue "
    "cannot meet the capacity requirement of the job."
)
"""The job asks for more than the environment's limit of an instance type."""
SHARE_LIMIT: Final = (
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits."
)
"""The job of a RESERVE or LEND share asks for more than the share's limit."""
BORROW_LIMIT: Final = (
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits "
    "and borrow limits."
)
"""The job of a LEND_AND_BORROW share asks for more than the share's limit and borrow limit together."""
BORROWABLE: Final = (
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requires borrowing that exceeds all configured "
    "borrowable capacity."
)
"""The job of a LEND_AND_BORROW share asks for more than its own limit and all that others could lend."""

CROSS_SHARE_PREEMPTED: Final = "Cross-share preemption triggered to reclaim borrowed capacity"
"""On the attempt that a cross-share preemption ended."""
PREEMPTION_IN_PROGRESS: Final = "PREEMPTION_IN_PROGRESS: "
"""Stands before the reason of a preemption while the job stops."""
IN_SHARE_PREEMPTED: Final = "In-share preemption triggered by a job of higher priority"
"""Not AWS's words: AWS documents no text for in-share preemption."""
LOWERED_LIMIT_PREEMPTED: Final = "Preemption triggered to reclaim capacity above the quota share's lowered limit"
"""Not AWS's words: AWS documents no text for jobs above a lowered limit."""
RETRIES_EXHAUSTED: Final = "Job was preempted more often than preemptionRetriesBeforeTermination allows"
"""Not AWS's words: AWS documents that the job is FAILED, and no text."""
SHARE_REMOVED: Final = "Quota share was deleted"
"""Not AWS's words: AWS documents that the jobs of a deleted share are terminated, and no text."""
TERMINATED: Final = "Terminated by user"
"""Stands where the user's own reason belongs, which the scheduler does not know."""


def never_fits(job: Job, options: SchedulerOptions) -> str | None:
    """Return AWS's reason why a job can never run as the queue is configured, or ``None`` if it can.

    The checks compare with configured limits, whatever is running, in the order of AWS's table (or the environment's
    last: option ``environment_reason_first``); the first that fails in any instance type names the reason.
    """
    parts, share = job.parts, job.share
    above_environment = any(instances > account.pool.capacity for account, instances in parts)
    if above_environment and options.environment_reason_first:
        return ENVIRONMENT_MAX
    if any(instances > account.ceiling for account, instances in parts):
        return BORROW_LIMIT if share.borrows else SHARE_LIMIT
    if any(instances > account.own_and_lendable for account, instances in parts):
        return BORROWABLE
    return ENVIRONMENT_MAX if above_environment else None


def time_limit(reason: str) -> str:
    """Return the reason of a job that a ``jobStateTimeLimitActions`` rule ended."""
    return f"Terminated by JobStateTimeLimit action due to reason: {reason}"
