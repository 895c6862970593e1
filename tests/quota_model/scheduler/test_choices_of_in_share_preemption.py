"""What the model chooses where AWS is silent: how far a share with in-share preemption goes."""

from __future__ import annotations

import pytest

from quota_model.scheduler import OwnCapacityOrder, SchedulerOptions, VictimOrder
from tests.quota_model.scheduler.story import Story, borrow, lend, reserve

# Whom it stops


def test_in_share_victims_have_strictly_lower_priority_in_every_order() -> None:
    for order in VictimOrder:
        story = Story(2, reserve("A", 2, in_share=True), options=SchedulerOptions(victim_order=order))
        story.submit_running("equal", "A", priority=2)
        story.submit_running("low", "A", priority=1)
        story.submit("high", "A", priority=2)
        assert story.preempted == [("low", "high", "in_share")]


@pytest.mark.parametrize("order", OwnCapacityOrder)
def test_in_share_preemption_passes_over_equal_and_higher_priorities_whoever_has_the_own_part(
    order: OwnCapacityOrder,
) -> None:
    story = Story(4, reserve("A", 4, in_share=True), options=SchedulerOptions(own_capacity_order=order))
    for job, priority in (("low1", 1), ("higher", 9), ("low2", 1), ("equal", 5)):
        story.submit_running(job, "A", priority=priority)
    story.submit("high", "A", 2, priority=5)
    assert story.preempted == [("low2", "high", "in_share"), ("low1", "high", "in_share")]


@pytest.mark.parametrize("order", OwnCapacityOrder)
def test_in_share_preemption_finds_enough_of_lower_priority_or_stops_nobody(order: OwnCapacityOrder) -> None:
    story = Story(3, reserve("A", 3, in_share=True), options=SchedulerOptions(own_capacity_order=order))
    for job, priority in (("low", 1), ("higher", 9), ("equal", 5)):
        story.submit_running(job, "A", priority=priority)
    story.submit("high", "A", 2, priority=5)
    assert story.preempted == []


def test_what_can_never_run_does_not_take_the_place_of_others_either() -> None:
    story = Story(6, borrow("B", 1, in_share=True), lend("L", 5))
    story.submit_running("own", "B", priority=9)
    story.submit_running("low", "B", 4, priority=1)
    story.replace(lend("L", 1))
    story.submit("high", "B", 4, priority=2)
    assert list(story.blocked) == ["high"], "it would only keep up the debt that low has now"
    assert story.preempted == []


# May it leave the share borrowing: in_share_preemption_borrows


def test_in_share_preemption_may_end_above_the_own_limit_within_the_borrow_limit() -> None:
    story = Story(4, borrow("A", 1, 100, in_share=True), lend("B", 3))
    story.submit_running("low1", "A", priority=1)
    story.submit_running("low2", "A", priority=1)
    story.submit("high", "A", 2, priority=2)
    assert sorted(it[0] for it in story.preempted) == ["low1", "low2"]


def test_in_share_preemption_leaves_no_share_borrowing_if_told_so() -> None:
    for told, victims in ((True, ["low2", "low1"]), (False, [])):
        options = SchedulerOptions(in_share_preemption_borrows=told)
        story = Story(4, borrow("A", 1, 100, in_share=True), lend("B", 3), options=options)
        story.submit_running("low1", "A", priority=1)
        story.submit_running("low2", "A", priority=1)
        story.submit("high", "A", 2, priority=2)
        assert [it[0] for it in story.preempted] == victims, "two are more than A's own"


def test_in_share_preemption_that_may_not_borrow_stops_what_borrows_now() -> None:
    for told, victims in ((True, ["low3"]), (False, ["low3", "low2"])):
        options = SchedulerOptions(in_share_preemption_borrows=told)
        story = Story(3, borrow("A", 2, in_share=True), lend("L", 1), options=options)
        for job in ("low1", "low2", "low3"):
            story.submit_running(job, "A", priority=1)
        story.submit("high", "A", priority=2)
        assert [it[0] for it in story.preempted] == victims


def test_in_share_preemption_that_may_not_borrow_needs_what_exceeds_the_own_limit() -> None:
    for told, victims in ((True, ["one2"]), (False, ["two", "one2"])):
        options = SchedulerOptions(victim_order=VictimOrder.LEAST_OVERRECLAIM, in_share_preemption_borrows=told)
        story = Story(4, borrow("A", 2, in_share=True), lend("L", 2), options=options)
        for job, request in (("two", 2), ("one1", 1), ("one2", 1)):
            story.submit_running(job, "A", request, priority=1)
        story.submit("high", "A", priority=2)
        assert [it[0] for it in story.preempted] == victims, "three are too many, and two covers most of them"


# May it take from other shares as well: in_share_preemption_reclaims


def test_in_share_preemption_reclaims_what_is_left_from_other_shares() -> None:
    story = Story(4, borrow("A", 2, in_share=True), borrow("B", 2))
    story.submit_running("low", "A", priority=1)
    story.submit_running("b1", "B", 2)
    story.submit_running("b2", "B", 1)
    story.submit("high", "A", 2, priority=2)
    assert story.preempted == [("low", "high", "in_share"), ("b2", "high", "cross_share")]


def test_in_share_preemption_alone_has_to_be_enough_if_told_so() -> None:
    story = Story(
        4, borrow("A", 2, in_share=True), borrow("B", 2), options=SchedulerOptions(in_share_preemption_reclaims=False)
    )
    story.submit_running("low", "A", priority=1)
    story.submit_running("b1", "B", 2)
    story.submit_running("b2", "B", 1)
    story.submit("high", "A", 2, priority=2)
    assert story.preempted == []
    assert story.waiting == ["high"]


def test_in_share_preemption_that_does_not_reclaim_takes_more_of_its_own() -> None:
    for told, second in ((True, ("b2", "high", "cross_share")), (False, ("low1", "high", "in_share"))):
        options = SchedulerOptions(in_share_preemption_reclaims=told)
        story = Story(5, borrow("A", 3, in_share=True), borrow("B", 2), options=options)
        for job, share, request in (("low1", "A", 1), ("low2", "A", 1), ("b1", "B", 2), ("b2", "B", 1)):
            story.submit_running(job, share, request)
        story.submit("high", "A", 2, priority=2)
        assert story.preempted == [("low2", "high", "in_share"), second]


def test_who_would_still_borrow_after_in_share_preemption_reclaims_nothing() -> None:
    story = Story(4, borrow("A", 1, in_share=True), borrow("B", 1), lend("L", 2))
    for job, share, request in (("low", "A", 1), ("b", "B", 1), ("borrower", "B", 2)):
        story.submit_running(job, share, request)
    story.submit("high", "A", 2, priority=2)
    assert story.preempted == []


def test_in_share_preemption_goes_on_to_the_own_limit_rather_than_borrow_and_reclaim() -> None:
    story = Story(4, borrow("A", 2, in_share=True), borrow("B", 1), lend("L", 1))
    story.submit("a1", "A")
    story.submit("a2", "A")
    story.submit("b", "B", 2)
    story.submit("high", "A", 2, priority=5)
    assert story.preempted == [("a2", "high", "in_share"), ("a1", "high", "in_share")]


# Where limits add up to more than the environment: reclaim_for_environment


def test_in_share_victims_make_room_in_the_environment_as_well() -> None:
    for told in (True, False):
        options = SchedulerOptions(reclaim_for_environment=told)
        story = Story(3, reserve("A", 2, in_share=True), reserve("B", 2), options=options)
        story.submit_running("low", "A", priority=1)
        story.submit_running("b", "B", 2)
        story.submit("high", "A", priority=2)
        assert story.preempted == [("low", "high", "in_share")]


def test_in_share_preemption_takes_more_of_its_own_rather_than_reclaim_for_the_environment_if_told_so() -> None:
    for told, second in ((True, ("b2", "high", "cross_share")), (False, ("low1", "high", "in_share"))):
        options = SchedulerOptions(reclaim_for_environment=told)
        story = Story(5, borrow("A", 4, in_share=True), borrow("B", 2), options=options)
        for job, share, request in (("low1", "A", 1), ("low2", "A", 1), ("b1", "B", 2), ("b2", "B", 1)):
            story.submit_running(job, share, request)
        story.submit("high", "A", 2, priority=2)
        assert story.preempted == [("low2", "high", "in_share"), second], "without low2, the ledger lacks nothing"
