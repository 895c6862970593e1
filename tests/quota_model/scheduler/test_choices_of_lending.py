"""What the model chooses where AWS is silent: what can be borrowed, and which of a share's jobs borrow."""

from __future__ import annotations

import pytest

from quota_model.design import State
from quota_model.scheduler import OwnCapacityOrder, Rounding, SchedulerOptions, Wait
from tests.quota_model.scheduler.story import G, P, Story, borrow, lend

# What can be borrowed


def test_capacity_that_no_share_owns_is_borrowed_only_if_told_so() -> None:
    for told in (False, True):
        story = Story(2, borrow("A", 1), options=SchedulerOptions(borrow_unowned_capacity=told))
        story.submit("own", "A")
        story.submit("more", "A")
        assert ("more" in story.dispatched) is told


def test_a_type_without_a_limit_is_not_borrowed_even_without_a_borrow_limit_unless_told_so() -> None:
    for told in (False, True):
        options = SchedulerOptions(borrow_without_limit=told)
        story = Story({G: 1, P: 1}, borrow("A", {G: 1}), lend("B", {P: 1}), options=options)
        story.submit("p", "A", {P: 1})
        assert ("p" in story.dispatched) is told
        assert ("p" in story.blocked) is not told


@pytest.mark.parametrize(("rounding", "runs"), [(Rounding.DOWN, False), (Rounding.UP, True)])
def test_a_borrow_limit_is_rounded_down_unless_told_otherwise(rounding: Rounding, runs: bool) -> None:
    story = Story(3, borrow("A", 1, 50), lend("B", 2), options=SchedulerOptions(borrow_limit_rounding=rounding))
    story.submit("two", "A", 2)
    assert ("two" in story.dispatched) is runs


def test_a_disabled_share_lends_unless_told_otherwise() -> None:
    for lends in (True, False):
        options = SchedulerOptions(disabled_shares_lend=lends)
        story = Story(2, borrow("A", 1), lend("B", 1, state=State.DISABLED), options=options)
        story.submit("wide", "A", 2)
        assert ("wide" in story.dispatched) is lends


def test_a_job_that_would_still_borrow_never_reclaims() -> None:
    story = Story(4, borrow("A", 2), borrow("B", 2))
    story.submit_running("b", "B", 2)
    story.submit_running("b2", "B", 2)
    story.submit("three", "A", 3)
    assert story.preempted == []
    assert story.scheduler.explain("three").wait in (Wait.NOTHING_LENDABLE, Wait.ENVIRONMENT_FULL)


# Which jobs borrow: own_capacity_order


@pytest.mark.parametrize(
    ("order", "victims", "owner"),
    [
        (OwnCapacityOrder.PRIORITY, ["last", "first"], "urgent"),
        (OwnCapacityOrder.DECISION, ["last", "urgent"], "first"),
    ],
)
def test_the_own_part_goes_to_higher_priority_then_to_the_earlier_decision(
    order: OwnCapacityOrder, victims: list[str], owner: str
) -> None:
    story = Story(3, lend("L", 2), borrow("B", 1), options=SchedulerOptions(own_capacity_order=order))
    story.submit_running("first", "B", priority=1)
    story.submit_running("urgent", "B", priority=2)
    story.submit_running("last", "B", priority=1)
    story.submit("l1", "L")
    story.submit("l2", "L")
    assert [it[0] for it in story.preempted] == victims, f"{owner} has the share's own instance"


@pytest.mark.parametrize(
    ("order", "victim"), [(OwnCapacityOrder.PRIORITY, "first"), (OwnCapacityOrder.DECISION, "second")]
)
def test_a_lowered_priority_makes_a_running_job_borrow_if_priority_decides(
    order: OwnCapacityOrder, victim: str
) -> None:
    story = Story(2, lend("L", 1), borrow("B", 1), options=SchedulerOptions(own_capacity_order=order))
    story.submit_running("first", "B", priority=5)
    story.submit_running("second", "B", priority=5)
    story.priority("first", 4)
    story.submit("lender", "L")
    assert [it[0] for it in story.preempted] == [victim]
