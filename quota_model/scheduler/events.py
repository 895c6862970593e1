"""What can happen to a queue: the events that a :class:`~quota_model.scheduler.Scheduler` is told.

Every event carries the time at which it happens, in integer milliseconds of whatever clock the caller keeps.
The scheduler has no clock: a job runs until the caller says that it ended, and a stopping job holds its machines
until the caller says that its stop is complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from quota_model.design import QuotaShare, ServiceEnvironment, State

__all__ = [
    "EnvironmentReplaced",
    "Event",
    "JobEnded",
    "JobRetried",
    "JobStarted",
    "JobSubmitted",
    "JobTerminated",
    "PriorityChanged",
    "QueueStateChanged",
    "ShareAdded",
    "ShareRemoved",
    "ShareReplaced",
    "StopCompleted",
    "TimeLimitExpired",
]


class JobSubmitted(NamedTuple):
    """A job enters a quota share's queue (SubmitServiceJob).

    ``request`` is the number of instances by instance type, all of which the job needs at once. ``priority`` is 0
    to 9999. ``preemption_retries`` is AWS's ``preemptionRetriesBeforeTermination``: how many preemptions the job
    survives; ``None`` is any number. A job larger than its share's limits is accepted, as AWS does.
    """

    time: int
    job_id: str
    share: str
    request: Mapping[str, int]
    priority: int = 0
    preemption_retries: int | None = None


class JobStarted(NamedTuple):
    """A dispatched job is RUNNING. Telling it is optional: it only makes the job a less likely victim than one
    that is still SCHEDULED or STARTING.
    """

    time: int
    job_id: str


class JobEnded(NamedTuple):
    """A dispatched job ended by itself and will not be retried."""

    time: int
    job_id: str
    succeeded: bool = True


class JobRetried(NamedTuple):
    """An attempt of a dispatched job ended (it failed, or SageMaker had no capacity) and the job goes back to
    RUNNABLE at its old place. Whether ``retryStrategy`` allows that is the caller's to judge.
    """

    time: int
    job_id: str


class StopCompleted(NamedTuple):
    """A job that a preemption or its user stops has given its machines back."""

    time: int
    job_id: str


class JobTerminated(NamedTuple):
    """A user ends a job (TerminateServiceJob). A waiting job is FAILED at once; a dispatched one keeps quota and
    machines until its :class:`StopCompleted`.
    """

    time: int
    job_id: str


class PriorityChanged(NamedTuple):
    """A job's scheduling priority changes, whether it waits or runs (UpdateServiceJob)."""

    time: int
    job_id: str
    priority: int


class TimeLimitExpired(NamedTuple):
    """A ``jobStateTimeLimitActions`` rule ends a job that stayed at the head for ``reason`` for its time."""

    time: int
    job_id: str
    reason: str


class ShareAdded(NamedTuple):
    """A quota share is created."""

    time: int
    share: QuotaShare


class ShareReplaced(NamedTuple):
    """The quota share of the same name has these properties from now on."""

    time: int
    share: QuotaShare


class ShareRemoved(NamedTuple):
    """A quota share is deleted: its limits are gone, waiting jobs fail, dispatched jobs are to be stopped."""

    time: int
    name: str


class EnvironmentReplaced(NamedTuple):
    """The service environment has these limits and this state from now on."""

    time: int
    environment: ServiceEnvironment


class QueueStateChanged(NamedTuple):
    """The job queue is enabled or disabled: a disabled one takes no new jobs, those in it go on."""

    time: int
    state: State


Event = (
    JobSubmitted
    | JobStarted
    | JobEnded
    | JobRetried
    | StopCompleted
    | JobTerminated
    | PriorityChanged
    | TimeLimitExpired
    | ShareAdded
    | ShareReplaced
    | ShareRemoved
    | EnvironmentReplaced
    | QueueStateChanged
)
