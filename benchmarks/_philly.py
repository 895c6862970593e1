"""The Philly trace as a workload: 82,247 training jobs, its virtual clusters as the shares of one queue.

Licence and source of the data: ``benchmarks/traces/README.md``.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from quota_model.design import CapacityLimits, QuotaQueue, QuotaShare, ResourceSharing, ServiceEnvironment

UNIT: Final = "ml.g5.xlarge"
"""One GPU each, so that a job of the trace asks for as many instances as it had GPUs."""
CAPACITY: Final = 600
"""Instances of the environment: the trace keeps 374 busy on average."""
STOP: Final = 120_000
"""Milliseconds that a stop takes."""
_TRACE = Path(__file__).parent / "traces" / "philly_jobs_82k.csv.gz"
_LARGE = 11
"""Virtual clusters that get a share of their own; the small rest has one together."""
_SHARINGS = (
    ResourceSharing.lend_and_borrow(borrow_limit=100),
    ResourceSharing.lend_and_borrow(),
    ResourceSharing.lend(),
    ResourceSharing.lend_and_borrow(borrow_limit=50),
    ResourceSharing.reserve(),
    ResourceSharing.lend_and_borrow(borrow_limit=200),
)


class TraceJob(NamedTuple):
    """A job of the trace: when it is submitted and how long it runs in milliseconds, and what it asks for."""

    submitted: int
    duration: int
    job_id: str
    share: str
    request: dict[str, int]
    priority: int


@cache
def jobs() -> tuple[TraceJob, ...]:
    """Return the jobs in order of submission. The trace has no priorities; here every tenth job is urgent."""
    with gzip.open(_TRACE, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    clusters = [cluster for cluster, _ in Counter(row["cluster"] for row in rows).most_common(_LARGE)]
    rows.sort(key=lambda row: row["timestamp"])
    found = []
    for index, row in enumerate(rows):
        share = row["cluster"] if row["cluster"] in clusters else "others"
        submitted = datetime.fromisoformat(row["timestamp"]).replace(tzinfo=UTC)
        found.append(
            TraceJob(
                round(submitted.timestamp()) * 1000,
                round(float(row["duration"]) * 1000),
                f"job-{index}",
                share,
                {UNIT: int(row["num_gpus"])},
                2 if index % 10 == 0 else 1,
            )
        )
    return tuple(found)


@cache
def queue() -> QuotaQueue:
    """Return a queue of twelve shares, whose limits follow the clusters' part of all GPU time."""
    time: Counter[str] = Counter()
    largest: Counter[str] = Counter()
    for job in jobs():
        instances = job.request[UNIT]
        time[job.share] += job.duration * instances
        largest[job.share] = max(largest[job.share], instances)
    total = sum(time.values())
    shares = []
    for index, share in enumerate(time):
        limit = max(CAPACITY * time[share] // total, largest[share])
        limits = CapacityLimits.of({UNIT: limit})
        shares.append(QuotaShare(share, limits, _SHARINGS[index % len(_SHARINGS)], index % 2 == 0))
    owned = sum(int(share.capacity_limits.as_instances()[UNIT]) for share in shares)
    return QuotaQueue(ServiceEnvironment(CapacityLimits.of({UNIT: owned})), tuple(shares))
