"""Queues, options and things that can happen to a world, drawn from a source of chance."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from random import Random
from typing import Any

from quota_model.design import (
    CapacityLimits,
    QuotaQueue,
    QuotaShare,
    ResourceSharing,
    ServiceEnvironment,
    SharingStrategy,
    State,
)
from quota_model.scheduler import (
    EnvironmentReplaced,
    Event,
    JobEnded,
    JobRetried,
    JobStarted,
    JobSubmitted,
    JobTerminated,
    PriorityChanged,
    QueueStateChanged,
    SchedulerOptions,
    ShareAdded,
    ShareRemoved,
    ShareReplaced,
    StopCompleted,
    TimeLimitExpired,
)
from tests.quota_model.scheduler.reference_books import RefJob
from tests.quota_model.scheduler.world import UNITS, World


def some_options(random: Random) -> SchedulerOptions:
    """Half of the time the defaults; else some of each option's values."""
    if random.random() < 0.5:
        return SchedulerOptions()
    return SchedulerOptions(**{option.name: _some_value(random, option.default) for option in fields(SchedulerOptions)})


def _some_value(random: Random, default: Any) -> Any:
    if isinstance(default, bool):
        return default is (random.random() < 0.7)
    values: Any = type(default)
    return random.choice(list(values))


def some_limits(random: Random, most: int) -> CapacityLimits:
    units = random.choice((UNITS[:1], UNITS[:1], UNITS[:1], UNITS[1:], UNITS))
    return CapacityLimits.of({unit: random.randint(1, most) for unit in units})


def some_share(random: Random, name: str) -> QuotaShare:
    sharing = random.choice(
        (
            ResourceSharing.reserve(),
            ResourceSharing.lend(),
            ResourceSharing.lend_and_borrow(),
            ResourceSharing.lend_and_borrow(),
            ResourceSharing.lend_and_borrow(borrow_limit=random.choice((0, 50, 100, 200))),
        )
    )
    state = State.DISABLED if random.random() < 0.1 else State.ENABLED
    return QuotaShare(name, some_limits(random, 5), sharing, random.random() < 0.5, state)


def some_environment(random: Random, shares: tuple[QuotaShare, ...]) -> ServiceEnvironment:
    limits: Counter[str] = Counter()
    for share in shares:
        limits.update(share.capacity_limits.as_instances())
    capacities = {unit: max(1, count + random.choice((-2, 0, 0, 0, 0, 2))) for unit, count in sorted(limits.items())}
    state = State.DISABLED if random.random() < 0.05 else State.ENABLED
    return ServiceEnvironment(CapacityLimits.of(capacities), state=state)


def some_queue(random: Random) -> QuotaQueue:
    shares = tuple(some_share(random, name) for name in "ABCD"[: random.choice((1, 2, 3, 3, 4, 4))])
    environment = some_environment(random, shares)
    return QuotaQueue(ServiceEnvironment(environment.capacity_limits), shares)


def _some_count(random: Random, share: QuotaShare, unit: str) -> int:
    """Mostly what the share owns or a little more, now and then what it can never run."""
    limit = share.capacity_limits.as_instances().get(unit, 0)
    if random.random() < 0.03:
        return random.randint(1, 8)
    more = 2 if share.resource_sharing.strategy is SharingStrategy.LEND_AND_BORROW and random.random() < 0.2 else 0
    return min(random.choice((1, 1, 1, 2, 2, 3, 4)), max(1, limit + more))


def submit(world: World, random: Random) -> Event | None:
    design = world.scheduler.design
    shares = [share for share in design.quota_shares if share.state is State.ENABLED]
    if not shares or design.state is State.DISABLED or len(world.reference.jobs) >= 16:
        return None
    share = shares[world.submitted // 8 % len(shares)]  # in waves, so that shares idle, lend and want it back
    units = list(share.capacity_limits.units)
    if random.random() < 0.05:
        units = list(UNITS)
    request = {unit: _some_count(random, share, unit) for unit in units if random.random() < 0.7}
    request = request or {units[0]: 1}
    world.submitted += 1
    priority, retries = random.choice((0, 1, 1, 1, 2, 3)), random.choice((None, None, 0, 1))
    return JobSubmitted(world.now, f"j{world.submitted}", str(share.name), request, priority, retries)


def _some_job(world: World, random: Random, *phases: str) -> RefJob | None:
    jobs = [job for job in world.reference.live() if job.phase in phases]
    return random.choice(jobs) if jobs else None


def start(world: World, random: Random) -> Event | None:
    job = _some_job(world, random, "dispatched")
    return JobStarted(world.now, job.id) if job else None


def end(world: World, random: Random) -> Event | None:
    job = _some_job(world, random, "dispatched")
    return JobEnded(world.now, job.id, random.random() < 0.8) if job else None


def retry(world: World, random: Random) -> Event | None:
    job = _some_job(world, random, "dispatched")
    return JobRetried(world.now, job.id) if job and not job.terminating else None


def complete_stop(world: World, random: Random) -> Event | None:
    jobs = [job for job in world.reference.live() if job.on_machines and (job.terminating or job.phase == "stopping")]
    return StopCompleted(world.now, random.choice(jobs).id) if jobs else None


def terminate(world: World, random: Random) -> Event | None:
    job = _some_job(world, random, "waiting", "nominated", "dispatched", "stopping")
    return JobTerminated(world.now, job.id) if job else None


def expire(world: World, random: Random) -> Event | None:
    blocked = [job for job in world.reference.all_heads() if world.reference.never_fits(job)]
    return TimeLimitExpired(world.now, random.choice(blocked).id, "reason") if blocked else None


def change_priority(world: World, random: Random) -> Event | None:
    job = _some_job(world, random, "waiting", "nominated", "dispatched", "stopping")
    return PriorityChanged(world.now, job.id, random.randint(0, 4)) if job else None


def replace_share(world: World, random: Random) -> Event | None:
    shares = [share for share in world.reference.shares if not share.removed]
    return ShareReplaced(world.now, some_share(random, random.choice(shares).name)) if shares else None


def add_share(world: World, random: Random) -> Event | None:
    free = sorted(set("ABCDE") - {share.name for share in world.reference.shares if not share.removed})
    return ShareAdded(world.now, some_share(random, free[0])) if free else None


def remove_share(world: World, random: Random) -> Event | None:
    shares = [share for share in world.reference.shares if not share.removed]
    return ShareRemoved(world.now, random.choice(shares).name) if len(shares) > 1 else None


def replace_environment(world: World, random: Random) -> Event | None:
    environment = some_environment(random, world.scheduler.design.quota_shares)
    return EnvironmentReplaced(world.now, environment)


def change_queue_state(world: World, random: Random) -> Event | None:
    return QueueStateChanged(world.now, random.choice((State.ENABLED, State.ENABLED, State.DISABLED)))


OFTEN = (submit, submit, submit, submit, start, start, end, end, complete_stop, complete_stop, change_priority)
SELDOM = (retry, terminate, expire, expire)
CONFIGURATION = (replace_share, add_share, remove_share, replace_environment, change_queue_state)


def step(world: World, maker: Any, random: Random) -> None:
    """Let one thing happen, now or later, with a pass or, now and then, without."""
    world.now += random.choice((0, 0, 1, 1000))
    event = maker(world, random)
    if event is not None:
        world.happen(event)
        if random.random() < 0.7:
            world.decide()
