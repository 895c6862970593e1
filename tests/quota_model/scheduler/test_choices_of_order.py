"""What the model chooses where AWS is silent: in which order the heads of all shares are looked at."""

from __future__ import annotations

import pytest

from quota_model.scheduler import (
    Dispatch,
    HeadOfLine,
    JobEnded,
    PriorityChanged,
    SchedulerOptions,
    StopCompleted,
    VisitOrder,
)
from tests.quota_model.scheduler.story import Story, borrow, lend, reserve


def test_entitled_heads_come_before_borrowers_that_wait_longer() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    for job, share in (("b1", "B"), ("l1", "L"), ("b2", "B"), ("l2", "L")):
        story.submit(job, share)
    story.end("l1")
    assert story.dispatched == ["b1", "l2"]
    assert story.preempted == []


def test_heads_of_the_same_rule_are_visited_by_sequence() -> None:
    story = Story(3, lend("L", 1), borrow("A", 1), borrow("B", 1))
    for job, share in (("a1", "A"), ("b1", "B"), ("l1", "L"), ("b2", "B"), ("a2", "A")):
        story.submit(job, share)
    story.end("l1")
    assert story.dispatched == ["a1", "b1", "b2"]


def test_a_borrower_that_does_not_fit_does_not_stop_the_next_share() -> None:
    story = Story(4, lend("L", 2), borrow("A", 1), borrow("B", 1))
    for job, share, request in (("a", "A", 1), ("b", "B", 1), ("l", "L", 1), ("wide", "A", 2), ("slim", "B", 1)):
        story.submit(job, share, request)
    assert story.dispatched == ["a", "b", "l", "slim"]
    assert story.waiting == ["wide"]


def full(options: SchedulerOptions, lent: int = 1) -> Story:
    """A and B run a job of their own each, and L, from which both would borrow, uses all it has."""
    story = Story(lent + 2, lend("L", lent), borrow("A", 1), borrow("B", 1), options=options)
    story.submit("a", "A")
    story.submit("b", "B")
    for index in range(lent):
        story.submit(f"l{index}", "L")
    return story


@pytest.mark.parametrize(
    ("order", "started"),
    [
        (VisitOrder.SUBMITTED, ["a2", "a3", "a4", "b2"]),
        (VisitOrder.AT_HEAD, ["a2", "b2", "a3", "a4"]),
        (VisitOrder.ROUND_ROBIN, ["a2", "b2", "a3", "b3"]),
    ],
)
def test_a_freed_pool_goes_out_by_submission_by_time_at_the_head_or_in_turn(
    order: VisitOrder, started: list[str]
) -> None:
    story = full(SchedulerOptions(visit_order=order), lent=4)
    for job in ("a2", "a3", "a4", "b2", "b3"):
        story.submit(job, job[0].upper())
    decisions = story.end("l0", "l1", "l2", "l3")
    assert [it.job_id for it in decisions if isinstance(it, Dispatch)] == started


@pytest.mark.parametrize(
    ("order", "second"), [(VisitOrder.SUBMITTED, "a2"), (VisitOrder.AT_HEAD, "b1"), (VisitOrder.ROUND_ROBIN, "b1")]
)
def test_the_order_of_visits_holds_for_entitled_heads(order: VisitOrder, second: str) -> None:
    story = Story(2, reserve("A", 2), reserve("B", 2), options=SchedulerOptions(visit_order=order))
    story.submit("all", "A", 2)
    for job in ("a1", "a2", "b1"):
        story.submit(job, job[0].upper())
    story.end("all")
    assert story.dispatched == ["a1", second]


@pytest.mark.parametrize(
    ("order", "victims"),
    [(VisitOrder.SUBMITTED, ["a", "b"]), (VisitOrder.AT_HEAD, ["b", "a"]), (VisitOrder.ROUND_ROBIN, ["a", "b"])],
)
def test_the_order_of_visits_holds_for_in_share_preemption(order: VisitOrder, victims: list[str]) -> None:
    shares = [reserve("A", 1, in_share=True), reserve("B", 1, in_share=True)]
    story = Story(2, *shares, options=SchedulerOptions(visit_order=order))
    for job in ("a", "b", "ahead", "a2", "b2"):
        story.submit(job, job[0].upper())
    story.terminate("ahead")
    story.happen(PriorityChanged(story.now, "a2", 2), PriorityChanged(story.now, "b2", 2))
    assert [it[0] for it in story.preempted] == victims


@pytest.mark.parametrize(
    ("order", "then"), [(VisitOrder.SUBMITTED, "a3"), (VisitOrder.AT_HEAD, "b2"), (VisitOrder.ROUND_ROBIN, "a3")]
)
def test_time_at_the_head_counts_from_when_the_job_ahead_is_gone(order: VisitOrder, then: str) -> None:
    story = full(SchedulerOptions(visit_order=order))
    for job in ("a2", "a3", "b2"):
        story.submit(job, job[0].upper())
    story.terminate("a2")
    story.end("l0")
    assert story.dispatched == ["a", "b", then]


@pytest.mark.parametrize(("order", "then"), [(VisitOrder.SUBMITTED, "a2"), (VisitOrder.AT_HEAD, "b2")])
def test_time_at_the_head_starts_anew_for_a_job_that_was_overtaken(order: VisitOrder, then: str) -> None:
    story = full(SchedulerOptions(visit_order=order))
    story.submit("a2", "A")
    story.submit("b2", "B")
    story.submit("urgent", "A", priority=5)
    story.terminate("urgent")
    story.end("l0")
    assert story.dispatched == ["a", "b", then]


@pytest.mark.parametrize(("order", "then"), [(VisitOrder.SUBMITTED, "a2"), (VisitOrder.AT_HEAD, "b2")])
def test_time_at_the_head_starts_anew_for_a_preempted_job(order: VisitOrder, then: str) -> None:
    story = full(SchedulerOptions(visit_order=order))
    story.end("l0")
    story.submit("a2", "A")
    story.submit("b2", "B")
    story.submit("l1", "L")
    story.stopped("a2")
    assert story.waiting == ["a2", "b2"]
    story.end("l1")
    assert story.dispatched == ["a", "b", then]


def test_who_is_a_head_is_asked_when_a_pass_begins_and_not_at_each_event() -> None:
    story = full(SchedulerOptions(visit_order=VisitOrder.AT_HEAD))
    for job in ("a2", "a3", "b2"):
        story.submit(job, job[0].upper())
    story.happen(PriorityChanged(story.now, "a3", 5), PriorityChanged(story.now, "a3", 1))
    story.end("l0")
    assert story.dispatched == ["a", "b", "a2"], "for no pass was a3 ahead of it"


def test_turns_begin_anew_with_each_pass() -> None:
    story = full(SchedulerOptions(visit_order=VisitOrder.ROUND_ROBIN), lent=2)
    for job in ("a2", "a3", "b2"):
        story.submit(job, job[0].upper())
    story.end("l0")
    story.end("l1")
    assert story.dispatched == ["a", "b", "a2", "a3"]


@pytest.mark.parametrize(("order", "then"), [(VisitOrder.SUBMITTED, "a3"), (VisitOrder.ROUND_ROBIN, "b2")])
def test_what_was_placed_as_entitled_is_a_turn_too(order: VisitOrder, then: str) -> None:
    story = full(SchedulerOptions(visit_order=order))
    for job in ("a2", "a3", "b2"):
        story.submit(job, job[0].upper())
    story.end("a", "l0")
    assert story.dispatched == ["b", "a2", then]


def test_the_start_of_a_nominated_job_is_no_turn() -> None:
    options = SchedulerOptions(visit_order=VisitOrder.ROUND_ROBIN)
    story = Story(4, lend("L", 2), borrow("A", 1), borrow("B", 1), options=options)
    story.submit("b", "B")
    story.submit("borrower", "B", retries=0)
    for job in ("l1", "l2", "a", "a2", "b2"):
        story.submit(job, job[0].upper())
    assert story.nominated == ["a"]
    story.happen(StopCompleted(story.now, "borrower"), JobEnded(story.now, "l1"))
    assert story.dispatched == ["b", "l2", "a", "a2"]


@pytest.mark.parametrize(
    ("order", "then"), [(VisitOrder.SUBMITTED, "small"), (VisitOrder.AT_HEAD, "small"), (VisitOrder.ROUND_ROBIN, "b2")]
)
def test_with_best_effort_turns_go_to_first_heads_before_second_ones(order: VisitOrder, then: str) -> None:
    story = full(SchedulerOptions(head_of_line=HeadOfLine.BEST_EFFORT, visit_order=order), lent=2)
    story.submit("big", "A", 2)
    story.submit("small", "A", 1)
    story.submit("b2", "B", 1)
    story.end("l0")
    assert story.dispatched == ["a", "b", "l1", then]


def test_best_effort_visits_nobody_before_a_job_that_its_share_ranks_higher() -> None:
    for order in VisitOrder:
        options = SchedulerOptions(head_of_line=HeadOfLine.BEST_EFFORT, visit_order=order)
        story = Story(2, reserve("A", 2), options=options)
        story.submit("runs", "A", 2)
        story.submit("small", "A", 1, priority=1)
        story.submit("big", "A", 2, priority=2)
        story.end("runs")
        assert story.dispatched == ["big"], order


def test_time_is_what_the_caller_says_and_an_idle_second_changes_nothing() -> None:
    story = Story(1, reserve("A", 1))
    story.submit("runs", "A")
    story.submit("waits", "A")
    story.now += 10**9
    assert story.happen() == ()
