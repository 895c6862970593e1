"""The service jobs of one account and Region, indexed so that a queue of 100,000 jobs lists at once."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence

from quotactl.local.batch.job import ServiceJob

__all__ = ["JobStore"]


class JobStore:
    """Jobs by id, and by queue and status in their order of submission."""

    def __init__(self) -> None:
        self._by_id: dict[str, ServiceJob] = {}
        self._by_sequence: list[ServiceJob] = []
        self._of_queue: defaultdict[str, list[int]] = defaultdict(list)
        self._in_status: defaultdict[tuple[str, str], list[int]] = defaultdict(list)

    @property
    def next_sequence(self) -> int:
        """The sequence number of the job that is added next."""
        return len(self._by_sequence)

    def add(self, job: ServiceJob) -> None:
        """Keep a new job, the latest of all."""
        self._by_id[job.id] = job
        self._by_sequence.append(job)
        self._of_queue[job.queue_arn].append(job.sequence)
        self._in_status[job.queue_arn, job.status].append(job.sequence)

    def get(self, job_id: str) -> ServiceJob | None:
        """Return the job of this id, if there is one."""
        return self._by_id.get(job_id)

    def __getitem__(self, job_id: str) -> ServiceJob:
        return self._by_id[job_id]

    def set_status(self, job: ServiceJob, status: str) -> None:
        """Change a job's status."""
        if job.status != status:
            left = self._in_status[job.queue_arn, job.status]
            del left[bisect_left(left, job.sequence)]
            insort(self._in_status[job.queue_arn, status], job.sequence)
            job.status = status

    def newest_first(
        self, queue_arn: str, status: str | None = None, before: int | None = None
    ) -> Iterator[ServiceJob]:
        """Yield the jobs of a queue, or those in one status, with sequence numbers below ``before``."""
        sequences: Sequence[int] = self._of_queue[queue_arn] if status is None else self._in_status[queue_arn, status]
        end = len(sequences) if before is None else bisect_left(sequences, before)
        for index in range(end - 1, -1, -1):
            yield self._by_sequence[sequences[index]]

    def __len__(self) -> int:
        return len(self._by_id)
