"""How fast the scheduler is: on a real trace next to simulators without quotas, and as jobs and shares grow."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

from benchmarks import _philly, _philly_speed
from benchmarks._replay import replay
from benchmarks.measurement import Measurement, fastest
from quota_model.design import CapacityLimits, QuotaQueue, QuotaShare, ResourceSharing, ServiceEnvironment
from quota_model.scheduler import JobSubmitted, Scheduler

_FLAT = 1.3
"""How much more time or memory a job may take when there are far more of them, or more shares."""


def measure() -> Iterator[Measurement]:
    """Measure jobs per second on the Philly trace, and time and memory per job as the numbers grow."""
    yield from _philly_speed.measure()
    yield from _as_jobs_grow()
    yield _as_shares_grow()
    yield _memory()


def _as_jobs_grow() -> Iterator[Measurement]:
    small, middle, large = (_synthetic(count, 12) for count in (1_000, 10_000, 1_000_000))
    queue = _even_queue(12)
    (few,) = fastest(lambda: replay(small, queue), rounds=20)
    (some,) = fastest(lambda: replay(middle, queue), rounds=5)
    (many,) = fastest(lambda: replay(large, queue), rounds=1)
    per_job = many / len(large)
    yield _flat("scheduler, 1,000,000 jobs", per_job, few / len(small), "1,000 jobs, while the queue fills")
    yield _flat("scheduler, 1,000,000 jobs", per_job, some / len(middle), "10,000 jobs")


def _as_shares_grow() -> Measurement:
    def run(shares: int) -> Callable[[], object]:
        jobs, queue = _synthetic(20_000, shares), _even_queue(shares)
        return lambda: replay(jobs, queue)

    few, many = fastest(run(5), run(20), rounds=5)
    return _flat("scheduler, 20 shares", many / 20_000, few / 20_000, "5 shares")


def _flat(name: str, value: float, reference: float, against: str) -> Measurement:
    goal, met = f"at most {_FLAT}", value <= _FLAT * reference
    return Measurement(name, value * 1e6, "us/job", reference * 1e6, against, goal, met)


def _memory() -> Measurement:
    few, many = _bytes_per_waiting_job(2_000), _bytes_per_waiting_job(50_000)
    goal = f"at most {_FLAT}"
    return Measurement("scheduler, 50,000 waiting jobs", many, "B/job", few, "2,000 jobs", goal, many <= _FLAT * few)


def _bytes_per_waiting_job(count: int) -> float:
    jobs, queue = _synthetic(count, 12), _even_queue(12)
    tracemalloc.start()
    scheduler = Scheduler(queue)
    for job in jobs:
        scheduler.apply(JobSubmitted(0, job.job_id, job.share, job.request, job.priority))
    scheduler.run_pass(0)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / count


def _even_queue(shares: int) -> QuotaQueue:
    """Return shares with ten instances each, which lend and borrow."""
    limits = CapacityLimits.of({_philly.UNIT: 10})
    sharing = ResourceSharing.lend_and_borrow(borrow_limit=200)
    return QuotaQueue(
        ServiceEnvironment(CapacityLimits.of({_philly.UNIT: 10 * shares})),
        tuple(QuotaShare(f"share-{index}", limits, sharing, in_share_preemption=True) for index in range(shares)),
    )


def _synthetic(count: int, shares: int) -> tuple[_philly.TraceJob, ...]:
    """Return jobs that keep about 0.8 of such a queue busy, whatever their number and the number of shares.

    A linear congruential generator draws them, so that they are the same everywhere.
    """
    state = 1
    now = 0
    jobs = []
    for index in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        chance = state >> 32
        now += chance % (2 * 230_000 // shares)
        instances = (1, 1, 1, 1, 2, 2, 4, 8)[chance % 8]
        duration = (chance >> 8) % 1_600_000
        request = {_philly.UNIT: instances}
        share = f"share-{(chance >> 4) % shares}"
        jobs.append(_philly.TraceJob(now, duration, f"job-{index}", share, request, 1 + ((chance >> 16) % 10 == 0)))
    return tuple(jobs)
