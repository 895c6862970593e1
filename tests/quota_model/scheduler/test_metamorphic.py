"""I14 and I17: machine time adds up, what must not matter does not, and special cases are what they look like."""

from __future__ import annotations

import heapq
from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import given

from quota_model.design import QuotaQueue, QuotaShare
from quota_model.scheduler import (
    Block,
    Decision,
    Dispatch,
    JobStatus,
    Preempt,
    Scheduler,
    SchedulerOptions,
    Unblock,
    VictimOrder,
)
from tests.quota_model.scheduler.simulation import Work, simulate
from tests.quota_model.scheduler.story import G, borrow, environment, lend, reserve

SHARES = st.lists(
    st.builds(
        lambda make, limit, in_share: make("?", limit, in_share=in_share),
        st.sampled_from((reserve, lend, borrow)),
        st.integers(1, 4),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)
JOBS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 300), st.integers(0, 3), st.integers(1, 4), st.integers(0, 2)),
    max_size=25,
)
OPTIONS = st.builds(SchedulerOptions, victim_order=st.sampled_from(list(VictimOrder)))
Drawn = list[tuple[int, int, int, int, int]]


def queue_of(shares: list[QuotaShare], spare: int = 0) -> QuotaQueue:
    named = tuple(replace(share, name=f"S{index}") for index, share in enumerate(shares))
    total = sum(share.capacity_limits.as_instances()[G] for share in named)
    return QuotaQueue(environment(total + spare), named)


def workload(drawn: Drawn, shares: int) -> list[Work]:
    now = 0
    works = []
    for index, (gap, duration, share, instances, priority) in enumerate(drawn):
        now += gap
        works.append(Work(now, duration, f"j{index}", f"S{share % shares}", {G: instances}, priority))
    return works


def starts(decisions: list[Decision]) -> list[tuple[int, str]]:
    return [(it.time, it.job_id) for it in decisions if isinstance(it, Dispatch)]


@given(SHARES, JOBS, OPTIONS, st.integers(1, 5))
def test_an_empty_reserve_share_changes_nothing(
    shares: list[QuotaShare], drawn: Drawn, options: SchedulerOptions, limit: int
) -> None:
    queue = queue_of(shares)
    wider = replace(queue, quota_shares=(*queue.quota_shares, reserve("empty", limit)))
    works = workload(drawn, len(shares))
    assert simulate(wider, works, options) == simulate(queue, works, options)


def test_an_empty_lender_does_change_something() -> None:
    works = [Work(0, 10, "wide", "S0", {G: 2}, 0)]
    queue = queue_of([borrow("?", 1)], spare=1)
    wider = replace(queue, quota_shares=(*queue.quota_shares, lend("empty", 1)))
    assert starts(simulate(queue, works)) == []
    assert starts(simulate(wider, works)) == [(0, "wide")]


@given(SHARES, JOBS, OPTIONS, st.integers(2, 1000))
def test_scaled_time_changes_nothing_but_the_times(
    shares: list[QuotaShare], drawn: Drawn, options: SchedulerOptions, scale: int
) -> None:
    queue, works = queue_of(shares), workload(drawn, len(shares))
    slower = [work._replace(time=work.time * scale, duration=work.duration * scale) for work in works]
    expected = [it._replace(time=it.time * scale) for it in simulate(queue, works, options)]
    assert simulate(queue, slower, options, stop=120 * scale) == expected


def _with_names(decision: Decision, names: dict[str, str]) -> Decision:
    if isinstance(decision, Preempt):
        decision = decision._replace(preemptor_share=names[decision.preemptor_share])
    return decision._replace(share=names[decision.share])


@given(SHARES, JOBS, OPTIONS)
def test_renamed_shares_change_nothing_but_the_names(
    shares: list[QuotaShare], drawn: Drawn, options: SchedulerOptions
) -> None:
    names = {f"S{index}": f"{9 - index} renamed" for index in range(4)}
    queue, works = queue_of(shares), workload(drawn, len(shares))
    other = replace(
        queue, quota_shares=tuple(replace(share, name=names[str(share.name)]) for share in queue.quota_shares)
    )
    renamed = [work._replace(share=names[work.share]) for work in works]
    expected = [_with_names(it, names) for it in simulate(queue, works, options)]
    assert simulate(other, renamed, options) == expected


def plain_queue(works: list[Work], capacity: int) -> list[tuple[int, str]]:
    """Starts of a strict priority queue on one pool."""
    coming: list[tuple[int, int, int, Work]] = [(work.time, 1, index, work) for index, work in enumerate(works)]
    heapq.heapify(coming)
    waiting: list[tuple[int, int, Work]] = []
    begun = []
    while coming:
        now = coming[0][0]
        while coming and coming[0][0] == now:
            _, arrives, index, work = heapq.heappop(coming)
            if arrives:
                heapq.heappush(waiting, (-work.priority, index, work))
            else:
                capacity += work.request[G]
        while waiting and waiting[0][2].request[G] <= capacity:
            _, index, work = heapq.heappop(waiting)
            capacity -= work.request[G]
            begun.append((now, work.job))
            heapq.heappush(coming, (now + work.duration, 0, index, work))
    return begun


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), JOBS, st.integers(0, 3))
def test_reserve_shares_are_independent_priority_queues(limits: list[int], drawn: Drawn, spare: int) -> None:
    queue, works = queue_of([reserve("?", limit) for limit in limits], spare), workload(drawn, len(limits))
    begun = starts(simulate(queue, works))
    for index, limit in enumerate(limits):
        own = [work for work in works if work.share == f"S{index}"]
        names = {work.job for work in own}
        assert [it for it in begun if it[1] in names] == plain_queue(own, limit)


@given(st.sampled_from((reserve, lend, borrow)), st.integers(1, 6), JOBS)
def test_one_share_that_owns_everything_is_a_plain_priority_queue(make: object, limit: int, drawn: Drawn) -> None:
    works = workload(drawn, 1)
    decisions = simulate(queue_of([make("?", limit)]), works)  # type: ignore[operator]
    assert starts(decisions) == plain_queue(works, limit)
    assert all(isinstance(it, Dispatch | Block | Unblock) for it in decisions)


@given(SHARES, JOBS, OPTIONS)
def test_machine_time_is_useful_lost_or_stopping(
    shares: list[QuotaShare], drawn: Drawn, options: SchedulerOptions
) -> None:
    """I14: what machines were held for is the work of jobs that ended, work that a preemption lost, or a stop."""
    works = {work.job: work for work in workload(drawn, len(shares))}
    held = since = busy = 0

    def look(now: int, scheduler: Scheduler) -> None:
        nonlocal held, since, busy
        held += busy * (now - since)
        since = now
        on_machines = [job for job in scheduler.jobs() if job.stopping or job.status is not JobStatus.RUNNABLE]
        busy = sum(sum(job.request.values()) for job in on_machines)

    decisions = simulate(queue_of(shares), works.values(), options, look=look)
    begun: dict[str, int] = {}
    lost = stopping = 0
    for it in decisions:
        if isinstance(it, Dispatch):
            begun[it.job_id] = it.time
        elif isinstance(it, Preempt):
            instances = works[it.job_id].request[G]
            lost += (it.time - begun.pop(it.job_id)) * instances
            stopping += 120 * instances
    useful = sum(works[job].duration * works[job].request[G] for job in begun)
    assert busy == 0, "all that started has ended or stopped"
    assert held == useful + lost + stopping
