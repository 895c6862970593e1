"""Since when jobs stand where they stand at the front of a queue (GetJobQueueSnapshot)."""

from __future__ import annotations

from quota_model.scheduler import FrontJob, Scheduler

__all__ = ["Fronts"]

_SHOWN = 100


class Fronts:
    """The first 100 waiting jobs of a queue, each with the time at which it came to its position."""

    def __init__(self) -> None:
        self.jobs: tuple[tuple[str, int], ...] = ()
        self.heads: dict[str, tuple[FrontJob, ...]] = {}

    def observe(self, scheduler: Scheduler, now: int) -> None:
        """Note the fronts after a pass: a job that stands where it stood keeps its time."""
        front = [job.job_id for job in scheduler.front_of_queue(_SHOWN)]
        before = self.jobs
        self.jobs = tuple(
            (job_id, before[place][1] if place < len(before) and before[place][0] == job_id else now)
            for place, job_id in enumerate(front)
        )
        self.heads = scheduler.front_of_quota_shares()
