"""What the model chooses where AWS is silent: who has to go, and what for."""

from __future__ import annotations

import pytest

from quota_model.scheduler import Preempt, SchedulerOptions, VictimOrder
from tests.quota_model.scheduler.story import G, P, Story, borrow, lend, reserve

# In which order: victim_order


@pytest.mark.parametrize(
    ("order", "victim"),
    [
        (VictimOrder.KUEUE, "low"),
        (VictimOrder.NEWEST, "new"),
        (VictimOrder.OLDEST, "old"),
        (VictimOrder.LARGEST_BORROWER, "large"),
        (VictimOrder.CHEAPEST, "new"),
        (VictimOrder.LEAST_OVERRECLAIM, "low"),
    ],
)
def test_victim_orders_choose_differently(order: VictimOrder, victim: str) -> None:
    shares = [borrow(name, 1) for name in ("B1", "B2", "B3", "B4")]
    story = Story(14, lend("L", 10), *shares, options=SchedulerOptions(victim_order=order))
    for job, share, request, priority in (
        ("old", "B1", 3, 5),
        ("low", "B2", 2, 1),
        ("large", "B3", 5, 5),
        ("new", "B4", 3, 5),
    ):
        story.submit_running(job, share, request, priority)
        story.now += 100_000
    story.submit("lender", "L", 2)
    assert [it[0] for it in story.preempted] == [victim]


def test_scheduled_victims_go_before_running_ones() -> None:
    story = Story(4, lend("L", 2), borrow("B1", 1), borrow("B2", 1))
    story.submit("scheduled", "B1", 2, priority=9)
    story.submit_running("running", "B2", 2, priority=1)
    story.submit("lender", "L")
    assert [it[0] for it in story.preempted] == ["scheduled"]


def test_a_job_that_its_user_terminates_goes_first_and_is_not_counted() -> None:
    story = Story(4, lend("L", 2), borrow("B1", 1), borrow("B2", 1))
    story.submit_running("leaves", "B1", 2, priority=9)
    story.submit("other", "B2", 2, priority=1)
    story.terminate("leaves")
    decisions = story.submit("lender", "L")
    preemption = decisions[0]
    assert isinstance(preemption, Preempt)
    assert (preemption.job_id, preemption.counted) == ("leaves", False)
    assert story.scheduler.job("leaves").preemptions == 0
    story.stopped("leaves")
    assert list(story.failed) == ["leaves"]
    assert "lender" in story.dispatched


def test_the_most_recently_decided_goes_before_the_last_submitted() -> None:
    story = Story(6, lend("L", 4), borrow("B1", 1), borrow("B2", 1))
    for job, share, request in (("own1", "B1", 1), ("own2", "B2", 1), ("l", "L", 3)):
        story.submit_running(job, share, request)
    story.submit("first", "B1", 2)
    story.submit_running("second", "B2", 1)
    story.end("l")
    story.start("first")
    story.submit("lender", "L", 2)
    assert [it[0] for it in story.preempted] == ["first"], "submitted first, decided last"


def test_of_those_decided_at_once_the_last_submitted_goes_first() -> None:
    story = Story(4, lend("L", 2), borrow("A", 1), borrow("B", 1))
    for job, share, request in (("a", "A", 1), ("b", "B", 1), ("l", "L", 2), ("a2", "A", 1), ("b2", "B", 1)):
        story.submit(job, share, request)
    story.end("l")
    story.submit("lender", "L")
    assert [it[0] for it in story.preempted] == ["b2"]


def borrowers(*requests: int, order: VictimOrder) -> Story:
    """Shares B0, B1, ... run a job of their own and one that borrows from L, which owns just that."""
    shares = [borrow(f"B{index}", 1) for index in range(len(requests))]
    options = SchedulerOptions(victim_order=order)
    story = Story(sum(requests) + len(requests), lend("L", sum(requests)), *shares, options=options)
    for index, request in enumerate(requests):
        story.submit_running(f"own{index}", f"B{index}")
        story.submit_running(f"{request}/{index}", f"B{index}", request)
    return story


def test_least_overreclaim_ranks_again_after_each_pick() -> None:
    story = borrowers(1, 2, 2, order=VictimOrder.LEAST_OVERRECLAIM)
    story.submit("lender", "L", 3)
    assert [it[0] for it in story.preempted] == ["2/2", "1/0"], "another 2 would overshoot what is left"


def test_least_overreclaim_covers_most_among_those_that_overshoot_alike() -> None:
    story = borrowers(1, 2, 2, 3, order=VictimOrder.LEAST_OVERRECLAIM)
    story.submit("lender", "L", 4)
    assert [it[0] for it in story.preempted] == ["3/3", "1/0"]


# How many: all or nothing, spare_victims


def test_all_or_nothing_nobody_is_stopped_if_it_is_not_enough() -> None:
    story = Story(4, borrow("A", 3), borrow("B", 4))
    story.submit_running("b", "B", 2)
    story.submit_running("a1", "A", 2)
    story.submit("a2", "A", 1)
    assert story.preempted == []
    story.submit("b2", "B", 2)
    assert story.preempted == []


def test_nobody_is_stopped_if_all_candidates_are_not_enough() -> None:
    story = Story(4, borrow("A", 1), lend("B", 4))
    for job, share, request in (("own", "A", 1), ("borrower", "A", 1), ("b1", "B", 2)):
        story.submit_running(job, share, request)
    story.submit("b2", "B", 2)
    assert story.preempted == []
    assert story.waiting == ["b2"]


def test_spared_victims_are_let_go() -> None:
    story = Story(6, lend("L", 5), borrow("B", 1))
    story.submit_running("big", "B", 4)
    story.submit_running("small", "B", 2)
    story.submit("lender", "L", 4)
    assert [it[0] for it in story.preempted] == ["big"], "small came first, and can be spared once big goes"


def test_victims_that_could_be_spared_stop_too_if_told_so() -> None:
    story = Story(6, lend("L", 5), borrow("B", 1), options=SchedulerOptions(spare_victims=False))
    story.submit_running("big", "B", 4)
    story.submit_running("small", "B", 2)
    story.submit("lender", "L", 4)
    assert [it[0] for it in story.preempted] == ["small", "big"]


def test_in_share_victims_are_spared_unless_told_otherwise() -> None:
    for told, victims in ((True, ["big"]), (False, ["small", "big"])):
        story = Story(3, reserve("A", 3, in_share=True), options=SchedulerOptions(spare_victims=told))
        story.submit_running("big", "A", 2, priority=1)
        story.submit_running("small", "A", 1, priority=1)
        story.submit("high", "A", 2, priority=2)
        assert [it[0] for it in story.preempted] == victims


def test_victims_are_spared_from_the_last_to_the_first() -> None:
    story = borrowers(2, 1, 1, order=VictimOrder.KUEUE)
    story.submit("lender", "L", 3)
    assert [it[0] for it in story.preempted] == ["1/2", "2/0"], "1/1 can be spared, and so could 1/2"


# What for: reclaim_for_environment, where limits add up to more than the environment


def test_an_entitled_head_reclaims_for_the_environment_unless_told_otherwise() -> None:
    for told, victims in ((True, ["a3"]), (False, [])):
        story = Story(3, borrow("A", 2), borrow("B", 2), options=SchedulerOptions(reclaim_for_environment=told))
        for job in ("a1", "a2", "a3"):
            story.submit_running(job, "A")
        story.submit("b", "B")
        assert [it[0] for it in story.preempted] == victims, "B may lend one and use one, but there is no fourth"
        story.end("a1")
        assert "b" in story.dispatched + story.nominated


def test_who_does_not_reclaim_for_the_environment_reclaims_for_the_ledger() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1), options=SchedulerOptions(reclaim_for_environment=False))
    story.submit_running("own", "B")
    story.submit_running("borrower", "B")
    story.submit("lender", "L")
    assert story.preempted == [("borrower", "lender", "cross_share")]


def test_who_does_not_reclaim_for_the_environment_waits_if_that_lacks_more_than_the_ledger() -> None:
    for told, victims in ((True, ["a"]), (False, [])):
        story = Story(3, borrow("A", 2), borrow("B", 2), options=SchedulerOptions(reclaim_for_environment=told))
        story.submit_running("a", "A", 3)
        story.submit("b", "B", 2)
        assert [it[0] for it in story.preempted] == victims, "the ledger lacks 1, the environment 2"


def test_who_does_not_reclaim_for_the_environment_waits_if_that_lacks_one_of_several_types() -> None:
    for told, victims in ((True, {"g", "p"}), (False, set())):
        options = SchedulerOptions(reclaim_for_environment=told)
        story = Story({G: 2, P: 2}, borrow("A", {G: 1, P: 1}), borrow("B", {G: 1, P: 2}), options=options)
        story.submit_running("g", "A", {G: 2})
        story.submit_running("p", "A", {P: 2})
        story.submit("b", "B", {G: 1, P: 1})
        assert {it[0] for it in story.preempted} == victims, "one that the ledger lacks, one that it does not"
