"""From what was read to what CloudWatch is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from .ledger import Balance, balances
from .names import Dimension, MetricName
from .reading import Reading, Share

MAX_METRICS = 1000
"""As many fit in one PutMetricData request."""


def measurements(reading: Reading, now: datetime) -> list[dict[str, Any]]:
    """Return the data of one measurement: of the queue, of its shares, and of each instance type."""
    write = _Writer(now, reading.queue)
    # If AWS's clock is ahead, no age becomes negative.
    moment = max(int(now.timestamp() * 1000), reading.fronts_updated_at)
    by_type = {unit: balances(reading.accounts(unit)) for unit in reading.instance_types}
    return [
        *_of_shares(write, reading.shares, moment),
        *(datum for unit, lines in by_type.items() for datum in _of_type(write, reading, unit, lines)),
        *_of_queue(write, reading, by_type, moment),
    ]


def preemption(queue: str, share: str, time: datetime) -> list[dict[str, Any]]:
    """Return the data of one preemption: it counts for the share, and for the queue."""
    write = _Writer(time, queue)
    return [
        write(MetricName.PREEMPTIONS, 1, share=share),
        write(MetricName.PREEMPTIONS, 1),
    ]


def publish(cloudwatch: Any, namespace: str, data: Sequence[dict[str, Any]]) -> None:
    """Give data to CloudWatch, in as few requests as it takes.

    :param cloudwatch: a boto3 client.
    """
    for start in range(0, len(data), MAX_METRICS):
        cloudwatch.put_metric_data(Namespace=namespace, MetricData=list(data[start : start + MAX_METRICS]))


class _Writer:
    def __init__(self, time: datetime, queue: str) -> None:
        self._time = time
        self._queue = queue

    def __call__(
        self, name: MetricName, value: float, *, share: str | None = None, instance_type: str | None = None
    ) -> dict[str, Any]:
        about = {
            Dimension.JOB_QUEUE: self._queue,
            Dimension.QUOTA_SHARE: share,
            Dimension.INSTANCE_TYPE: instance_type,
        }
        return {
            "MetricName": str(name),
            "Dimensions": [{"Name": str(key), "Value": text} for key, text in about.items() if text is not None],
            "Timestamp": self._time,
            "Value": float(value),
            "Unit": "Seconds" if name is MetricName.HEAD_AGE else "Count",
        }


def _of_shares(write: _Writer, shares: Sequence[Share], moment: int) -> Iterator[dict[str, Any]]:
    for share in shares:
        yield write(MetricName.WAITING_JOBS, share.front.jobs, share=share.name)
        yield write(MetricName.HEAD_AGE, _head_age(share, moment), share=share.name)
        if share.front.instances is not None:
            for unit in sorted({*share.limits, *share.front.instances}):
                asked = share.front.instances.get(unit, 0.0)
                yield write(MetricName.WAITING_INSTANCES, asked, share=share.name, instance_type=unit)


def _of_type(write: _Writer, reading: Reading, unit: str, lines: Sequence[Balance]) -> Iterator[dict[str, Any]]:
    for line in lines:
        values = {
            MetricName.CAPACITY_LIMIT: line.limit,
            MetricName.USED: line.used,
            MetricName.BORROWED: line.borrowed,
            MetricName.LENT: line.lent,
            MetricName.IDLE: line.idle,
        }
        for name, value in values.items():
            if value is not None:
                yield write(name, value, share=line.share, instance_type=unit)
    capacity, used = reading.capacity.get(unit, 0.0), reading.used.get(unit, 0.0)
    yield write(MetricName.CAPACITY_LIMIT, capacity, instance_type=unit)
    yield write(MetricName.USED, used, instance_type=unit)
    yield write(MetricName.IDLE, max(0.0, capacity - used), instance_type=unit)
    borrowed = [line.borrowed for line in lines]
    if None not in borrowed:
        yield write(MetricName.BORROWED, sum(value or 0.0 for value in borrowed), instance_type=unit)


def _of_queue(
    write: _Writer, reading: Reading, by_type: dict[str, list[Balance]], moment: int
) -> Iterator[dict[str, Any]]:
    reserves = {share.name for share in reading.shares if not share.lends}
    idle = [line.idle for lines in by_type.values() for line in lines if line.share in reserves]
    yield write(MetricName.WAITING_JOBS, sum(share.front.jobs for share in reading.shares))
    yield write(MetricName.HEAD_AGE, max((_head_age(share, moment) for share in reading.shares), default=0.0))
    yield write(MetricName.BLOCKED_SHARES, sum(share.front.blocked for share in reading.shares))
    if None not in idle:
        yield write(MetricName.IDLE_RESERVE, sum(value or 0.0 for value in idle))
    # Preemptions are counted when they happen; this keeps the queue's metric from having gaps.
    yield write(MetricName.PREEMPTIONS, 0)


def _head_age(share: Share, moment: int) -> float:
    since = share.front.head_since
    return 0.0 if since is None else max(0, moment - since) / 1000
