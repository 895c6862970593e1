"""Since when jobs stand where they stand at the front of a queue (GetJobQueueSnapshot)."""

from __future__ import annotations

from collections.abc import Callable

from quota_model.scheduler import Scheduler

__all__ = ["Fronts"]

_SHOWN = 100


class Fronts:
    """The first 100 waiting jobs of a queue, each with the time at which it came to its position.

    It looks only when asked, so that a queue of 100,000 jobs costs nothing while nobody looks. A job that was not
    yet seen at its position came there when it began to wait, or when a job last left the queue, whichever is later.
    """

    def __init__(self) -> None:
        self._seen: tuple[tuple[str, int], ...] = ()
        self._left_at = 0

    def left(self, now: int) -> None:
        """Note that a job has left the waiting ones, or changed its place among them."""
        self._left_at = now

    def look(self, scheduler: Scheduler, waiting_since: Callable[[str], int]) -> tuple[tuple[str, int], ...]:
        """Return ids and times of the jobs at the front."""
        before = self._seen
        self._seen = tuple(
            (job.job_id, before[place][1])
            if place < len(before) and before[place][0] == job.job_id
            else (job.job_id, max(waiting_since(job.job_id), self._left_at))
            for place, job in enumerate(scheduler.front_of_queue(_SHOWN))
        )
        return self._seen
