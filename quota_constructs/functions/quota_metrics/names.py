"""What the metrics, their dimensions and the events are called, for the function and for who reads its metrics."""

from __future__ import annotations

from enum import StrEnum


class MetricName(StrEnum):
    """The metrics. Instances are counted, unless something else is said."""

    CAPACITY_LIMIT = "CapacityLimit"
    """Of a share: what it may use without borrowing. Of an instance type: the service environment's limit."""
    USED = "Used"
    """What dispatched jobs hold (SCHEDULED, STARTING and RUNNING)."""
    BORROWED = "Borrowed"
    """Derived: what is used above the share's limit; of an instance type, the sum over its shares."""
    LENT = "Lent"
    """Derived: the share's part of what others borrow, in proportion to what it leaves unused."""
    IDLE = "Idle"
    """Derived: what neither the share nor a borrower uses. Of an instance type: the environment's limit less all use."""
    IDLE_RESERVE = "IdleReserve"
    """Derived: the sum of what RESERVE shares leave idle, which nobody else can use."""
    WAITING_JOBS = "WaitingJobs"
    """Jobs that are RUNNABLE."""
    WAITING_INSTANCES = "WaitingInstances"
    """What RUNNABLE jobs ask for."""
    HEAD_AGE = "HeadAge"
    """Seconds for which a share's first RUNNABLE job is its first; 0 if none waits. Of a queue: the longest."""
    BLOCKED_SHARES = "BlockedShares"
    """Shares whose first job waits for something that will not come by itself, as AWS says in its status reason."""
    PREEMPTIONS = "Preemptions"
    """Preemptions that started, in jobs."""


class Dimension(StrEnum):
    """What a metric is about."""

    JOB_QUEUE = "JobQueue"
    """The queue's name."""
    QUOTA_SHARE = "QuotaShare"
    """The share's name."""
    INSTANCE_TYPE = "InstanceType"
    """The capacity unit, such as ``ml.g5.xlarge``."""


class EventType(StrEnum):
    """The ``detail-type`` of the events that the function takes."""

    SCHEDULED = "Scheduled Event"
    PREEMPTION_STARTED = "Batch Service Job Preemption Started"


class Setting(StrEnum):
    """The environment variables that the function reads."""

    JOB_QUEUE_ARN = "JOB_QUEUE_ARN"
    NAMESPACE = "METRIC_NAMESPACE"
