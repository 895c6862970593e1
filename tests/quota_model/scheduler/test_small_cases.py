"""The small cases of docs/scheduling-model.md. One instance type and no borrow limit, all jobs priority 1."""

from __future__ import annotations

import pytest

from quota_model.scheduler import Nominate, SchedulerOptions, VictimOrder, reasons
from tests.quota_model.scheduler.story import G, P, Story, borrow, lend, reserve


def test_the_ledger_decides_and_not_whether_machines_are_free() -> None:
    story = Story(5, reserve("R", 2), lend("L", 2), borrow("B", 1))
    for job in ("own", "first", "second"):
        story.submit_running(job, "B")
    assert story.borrowed("B") == 2
    story.submit("lender", "L")
    assert story.preempted == [("second", "lender", "cross_share")], "two machines look free, and are reserved"


def test_a_borrower_first_uses_up_its_own_limit_which_lowers_what_it_lends() -> None:
    story = Story(4, borrow("A", 2), borrow("B", 2))
    story.submit_running("wide", "A", 4)
    assert (story.borrowed("A"), story.lent("B"), story.lent("A")) == (2, 2, 0)
    story.end("wide")
    story.submit_running("b", "B", 3)
    story.submit("a", "A", 2)
    assert story.preempted == [("b", "a", "cross_share")]


def test_a_gang_across_the_line_is_stopped_whole() -> None:
    story = Story(4, borrow("A", 2), borrow("B", 2))
    story.submit_running("a", "A", 4)
    story.submit("a2", "A", 2)
    decisions = story.submit("b", "B", 1)
    assert story.preempted == [("a", "b", "cross_share")]
    assert decisions[0].short == ((G, 1),)  # type: ignore[union-attr]
    assert decisions[0].holds == ((G, 4),)  # type: ignore[union-attr]
    assert story.nominated == ["a2", "b"], "a2 has its quota at once, and waits for machines"
    without_victims = [it for it in decisions if isinstance(it, Nominate) and it.job_id == "a2"]
    assert without_victims[0].waits_for == ()
    story.stopped("a")
    assert story.dispatched == ["a2", "b"]
    assert [front.job_id for front in story.scheduler.front_of_quota_shares()["A"]] == ["a"]


@pytest.mark.parametrize(("order", "victim"), [(VictimOrder.KUEUE, "y"), (VictimOrder.LEAST_OVERRECLAIM, "x")])
def test_order_beats_overshoot_unless_told_otherwise(order: VictimOrder, victim: str) -> None:
    story = Story(6, lend("L", 4), borrow("B1", 1), borrow("B2", 1), options=SchedulerOptions(victim_order=order))
    story.submit_running("x", "B1", 2)
    story.submit_running("y", "B2", 3)
    decisions = story.submit("lender", "L", 2)
    assert [it[0] for it in story.preempted] == [victim]
    assert decisions[0].short == ((G, 1),)  # type: ignore[union-attr]


def test_a_job_of_several_types_borrows_the_one_it_exceeds() -> None:
    two_and_one = {G: 2, P: 1}
    story = Story({G: 4, P: 2}, borrow("A", two_and_one, 100), lend("B", two_and_one))
    story.submit_running("mixed", "A", {G: 2, P: 2})
    assert (story.borrowed("A", G), story.borrowed("A", P)) == (0, 1)
    story.submit("g", "B", {G: 1})
    assert story.preempted == [], "no ml.g5.xlarge is short"
    story.submit("p", "B", {P: 1})
    assert story.preempted == [("mixed", "p", "cross_share")]


def test_limits_above_the_environment_reclaim_for_what_it_lacks_too() -> None:
    story = Story(3, borrow("A", 2), borrow("B", 2))
    for job in ("first", "second", "third"):
        story.submit_running(job, "A")
    story.submit("b1", "B")
    assert story.preempted == [("third", "b1", "cross_share")]
    story.stopped("third")
    story.submit("b2", "B")
    assert story.waiting == ["third", "b2"], "b2 is entitled, but nobody borrows"
    assert len(story.preempted) == 1


def test_aws_borrow_limits_bound_what_runs() -> None:
    story = Story(16, borrow("C", 2, 100), lend("D", 14))
    story.submit("four", "C", 4)
    assert story.dispatched == ["four"]
    story.end("four")
    story.submit("five", "C", 5)
    assert story.blocked == {"five": reasons.BORROW_LIMIT}


def test_aws_borrowable_capacity_is_what_others_lend() -> None:
    story = Story(16, borrow("A", 4, 200), borrow("B", 4, 200))
    story.submit("eight", "A", 8)
    assert story.dispatched == ["eight"]
    story.end("eight")
    story.submit("ten", "A", 10)
    story.submit("thirteen", "B", 13)
    assert story.blocked == {"ten": reasons.BORROWABLE, "thirteen": reasons.BORROW_LIMIT}
