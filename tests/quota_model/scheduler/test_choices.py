"""What the model infers or chooses where AWS is silent; each option, and the details of nominations and debts."""

from __future__ import annotations

import pytest

from quota_model.design import State
from quota_model.scheduler import (
    Dispatch,
    HeadOfLine,
    Nominate,
    Preempt,
    Requeue,
    RequeueCause,
    Rounding,
    SchedulerOptions,
    Tag,
    VictimOrder,
    Wait,
)
from tests.quota_model.scheduler.story import G, P, Story, borrow, lend, reserve


def test_options_print_themselves_with_their_tags() -> None:
    lines = {line.name: line for line in SchedulerOptions(victim_order=VictimOrder.OLDEST).lines()}
    assert lines["head_of_line"].is_default
    assert lines["head_of_line"].tag is Tag.INFERRED
    assert not lines["victim_order"].is_default
    assert "victim_order = oldest (chosen, not the default)" in str(SchedulerOptions(victim_order=VictimOrder.OLDEST))


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


def test_a_disabled_share_reclaims_for_its_queued_jobs() -> None:
    story = Story(2, borrow("A", 1), lend("B", 1))
    story.submit("b", "B")
    story.submit("b2", "B")
    story.replace(lend("B", 1, state=State.DISABLED))
    story.submit("a1", "A")
    story.terminate("b")
    story.stopped("b")
    assert story.dispatched == ["b2", "a1"]


def test_a_returned_job_keeps_its_place_unless_told_otherwise() -> None:
    for keeps, then in ((True, "a1"), (False, "a2")):
        options = SchedulerOptions(returned_jobs_keep_their_place=keeps)
        story = Story(1, reserve("A", 1), options=options)
        story.submit("a1", "A")
        story.submit("a2", "A")
        story.retry("a1")
        assert story.dispatched == [then]


def test_strict_heads_block_small_jobs_behind_big_ones() -> None:
    story = Story(3, reserve("A", 3))
    story.submit("two", "A", 2)
    story.submit("big", "A", 2)
    story.submit("small", "A", 1)
    assert story.waiting == ["big", "small"]


def test_per_unit_heads_block_only_their_instance_types() -> None:
    options = SchedulerOptions(head_of_line=HeadOfLine.PER_UNIT)
    story = Story({G: 1, P: 1}, reserve("A", {G: 1, P: 1}), options=options)
    story.submit("g1", "A", {G: 1})
    story.submit("g2", "A", {G: 1})
    story.submit("both", "A", {G: 1, P: 1})
    story.submit("p", "A", {P: 1})
    assert story.dispatched == ["g1"], "p is behind both, which does not head ml.g5.xlarge"
    story.terminate("both")
    assert story.dispatched == ["g1", "p"]


def test_best_effort_skips_what_does_not_fit_and_keeps_the_order_of_what_does() -> None:
    options = SchedulerOptions(head_of_line=HeadOfLine.BEST_EFFORT)
    story = Story(3, reserve("A", 3), options=options)
    story.submit("two", "A", 2)
    story.submit("big", "A", 2)
    story.submit("small", "A", 1)
    assert story.dispatched == ["two", "small"]
    story.submit("urgent", "A", 1, priority=2)
    story.end("small")
    assert story.dispatched == ["two", "urgent"]


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


def test_the_own_part_goes_to_higher_priority_then_to_the_earlier_decision() -> None:
    story = Story(3, lend("L", 2), borrow("B", 1))
    story.submit_running("first", "B", priority=1)
    story.submit_running("urgent", "B", priority=2)
    story.submit_running("last", "B", priority=1)
    story.submit("l1", "L")
    story.submit("l2", "L")
    assert [it[0] for it in story.preempted] == ["last", "first"], "urgent has the share's own instance"


def test_all_or_nothing_nobody_is_stopped_if_it_is_not_enough() -> None:
    story = Story(4, borrow("A", 3), borrow("B", 4))
    story.submit_running("b", "B", 2)
    story.submit_running("a1", "A", 2)
    story.submit("a2", "A", 1)
    assert story.preempted == []
    story.submit("b2", "B", 2)
    assert story.preempted == []


def test_spared_victims_are_let_go() -> None:
    story = Story(6, lend("L", 5), borrow("B", 1))
    story.submit_running("big", "B", 4)
    story.submit_running("small", "B", 2)
    story.submit("lender", "L", 4)
    assert [it[0] for it in story.preempted] == ["big"], "small came first, and can be spared once big goes"


def test_a_job_that_would_still_borrow_never_reclaims() -> None:
    story = Story(4, borrow("A", 2), borrow("B", 2))
    story.submit_running("b", "B", 2)
    story.submit_running("b2", "B", 2)
    story.submit("three", "A", 3)
    assert story.preempted == []
    assert story.scheduler.explain("three").wait in (Wait.NOTHING_LENDABLE, Wait.ENVIRONMENT_FULL)


def test_in_share_preemption_may_end_above_the_own_limit_within_the_borrow_limit() -> None:
    story = Story(4, borrow("A", 1, 100, in_share=True), lend("B", 3))
    story.submit_running("low1", "A", priority=1)
    story.submit_running("low2", "A", priority=1)
    story.submit("high", "A", 2, priority=2)
    assert sorted(it[0] for it in story.preempted) == ["low1", "low2"]


def test_in_share_preemption_reclaims_what_is_left_from_other_shares() -> None:
    story = Story(4, borrow("A", 2, in_share=True), borrow("B", 2))
    story.submit_running("low", "A", priority=1)
    story.submit_running("b1", "B", 2)
    story.submit_running("b2", "B", 1)
    story.submit("high", "A", 2, priority=2)
    assert story.preempted == [("low", "high", "in_share"), ("b2", "high", "cross_share")]


def test_nobody_slips_into_the_gap() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit_running("own", "B")
    story.submit_running("victim", "B")
    story.submit("lender", "L")
    story.submit("late", "B", priority=9)
    story.stopped("victim")
    assert story.dispatched == ["own", "lender"]


def test_a_nominated_job_waits_for_all_its_victims() -> None:
    story = Story(3, lend("L", 2), borrow("B", 1))
    for job in ("own", "first", "second"):
        story.submit_running(job, "B")
    story.submit("lender", "L", 2)
    story.stopped("first")
    assert story.nominated == ["lender"]
    assert story.scheduler.explain("lender").jobs == ("second",)
    story.stopped("second")
    assert "lender" in story.dispatched


def test_machines_freed_meanwhile_are_kept_for_earlier_nominations() -> None:
    story = Story(4, borrow("A", 2), borrow("B", 2))
    story.submit_running("a", "A", 4)
    story.submit("b", "B", 2)
    story.submit("a2", "A", 1)
    story.submit("a3", "A", 1)
    assert story.nominated == ["b", "a2", "a3"]
    assert (
        story.scheduler.explain("a2").sentence
        == "a2 has its quota and waits for machines that stopping jobs still hold"
    )
    dispatched = [it.job_id for it in story.stopped("a") if isinstance(it, Dispatch)]
    assert dispatched == ["b", "a2", "a3"]


def test_a_nominated_job_can_be_a_victim_at_no_loss_and_hands_its_stops_on() -> None:
    story = Story(3, lend("L", 1), lend("M", 1), borrow("B", 1, in_share=True))
    story.submit_running("own", "B", priority=5)
    story.submit_running("low", "B", 2, priority=1)
    story.submit("high", "B", 2, priority=3)
    assert story.nominated == ["high"]
    decisions = story.submit("lender", "L")
    assert isinstance(decisions[0], Requeue)
    assert (decisions[0].job_id, decisions[0].cause) == ("high", RequeueCause.NOMINATION_TAKEN)
    assert isinstance(decisions[1], Nominate)
    assert decisions[1].waits_for == ("low",)
    assert story.scheduler.job("high").preemptions == 0
    story.stopped("low")
    assert "lender" in story.dispatched


def test_a_changed_configuration_withdraws_nominations_and_stops_go_on() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit_running("own", "B")
    story.submit_running("victim", "B")
    story.submit("lender", "L")
    decisions = story.set_environment(3)
    assert [(type(it).__name__, getattr(it, "cause", None)) for it in decisions] == [
        ("Requeue", RequeueCause.NOMINATION_WITHDRAWN),
        ("Dispatch", None),
    ]
    assert story.stopping == ["victim"]
    story.stopped("victim")
    assert "victim" not in story.failed


def test_a_debt_is_not_reclaimed_by_itself_and_no_decision_increases_it() -> None:
    story = Story(4, lend("L", 3), borrow("B", 1))
    for job in ("own", "b1", "b2"):
        story.submit_running(job, "B")
    assert story.replace(lend("L", 1)) == ()
    story.submit("more", "B")
    assert story.waiting == ["more"], "there is a debt of 1 already"
    story.submit("lender", "L")
    assert [it[0] for it in story.preempted] == ["b2"], "it reclaims what it lacks itself"
    story.stopped("b2")
    assert story.borrowed("B") == 1


def test_time_is_what_the_caller_says_and_an_idle_second_changes_nothing() -> None:
    story = Story(1, reserve("A", 1))
    story.submit("runs", "A")
    story.submit("waits", "A")
    story.now += 10**9
    assert story.happen() == ()


def test_a_debt_that_was_paid_back_does_not_come_back() -> None:
    story = Story(4, lend("L", 3), borrow("B", 1))
    for job in ("own", "b1", "b2"):
        story.submit_running(job, "B")
    story.replace(lend("L", 1))
    story.end("b2")
    story.submit("b3", "B")
    assert story.waiting == ["b3"]


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


def test_a_job_of_several_types_does_not_pass_the_head_of_one_of_them() -> None:
    options = SchedulerOptions(head_of_line=HeadOfLine.PER_UNIT)
    story = Story({G: 2, P: 1}, reserve("A", {G: 2, P: 1}), options=options)
    story.submit("g1", "A", {G: 1})
    story.submit("g2", "A", {G: 2})
    story.submit("both", "A", {G: 1, P: 1})
    assert story.waiting == ["g2", "both"]


def test_best_effort_visits_nobody_before_a_job_that_its_share_ranks_higher() -> None:
    options = SchedulerOptions(head_of_line=HeadOfLine.BEST_EFFORT)
    story = Story(2, reserve("A", 2), options=options)
    story.submit("runs", "A", 2)
    story.submit("small", "A", 1, priority=1)
    story.submit("big", "A", 2, priority=2)
    story.end("runs")
    assert story.dispatched == ["big"]


def test_a_borrower_that_does_not_fit_does_not_stop_the_next_share() -> None:
    story = Story(4, lend("L", 2), borrow("A", 1), borrow("B", 1))
    for job, share, request in (("a", "A", 1), ("b", "B", 1), ("l", "L", 1), ("wide", "A", 2), ("slim", "B", 1)):
        story.submit(job, share, request)
    assert story.dispatched == ["a", "b", "l", "slim"]
    assert story.waiting == ["wide"]


def test_in_share_victims_have_strictly_lower_priority_in_every_order() -> None:
    for order in VictimOrder:
        story = Story(2, reserve("A", 2, in_share=True), options=SchedulerOptions(victim_order=order))
        story.submit_running("equal", "A", priority=2)
        story.submit_running("low", "A", priority=1)
        story.submit("high", "A", priority=2)
        assert story.preempted == [("low", "high", "in_share")]


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


def test_victims_are_spared_from_the_last_to_the_first() -> None:
    story = borrowers(2, 1, 1, order=VictimOrder.KUEUE)
    story.submit("lender", "L", 3)
    assert [it[0] for it in story.preempted] == ["1/2", "2/0"], "1/1 can be spared, and so could 1/2"


def test_nobody_is_stopped_if_all_candidates_are_not_enough() -> None:
    story = Story(4, borrow("A", 1), lend("B", 4))
    for job, share, request in (("own", "A", 1), ("borrower", "A", 1), ("b1", "B", 2)):
        story.submit_running(job, share, request)
    story.submit("b2", "B", 2)
    assert story.preempted == []
    assert story.waiting == ["b2"]


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


def test_what_can_never_run_does_not_take_the_place_of_others_either() -> None:
    story = Story(6, borrow("B", 1, in_share=True), lend("L", 5))
    story.submit_running("own", "B", priority=9)
    story.submit_running("low", "B", 4, priority=1)
    story.replace(lend("L", 1))
    story.submit("high", "B", 4, priority=2)
    assert list(story.blocked) == ["high"], "it would only keep up the debt that low has now"
    assert story.preempted == []


def test_a_nominated_job_waits_for_its_victims_even_if_machines_are_idle() -> None:
    story = Story(5, lend("L", 2), borrow("B", 1), reserve("R", 2))
    for job in ("own", "first", "second"):
        story.submit_running(job, "B")
    story.submit("lender", "L", 2)
    story.stopped("first")
    assert story.nominated == ["lender"], "two machines are idle, and reserved"


def test_nominated_victims_go_before_dispatched_ones() -> None:
    story = Story(6, lend("L", 4), borrow("B1", 1, in_share=True), borrow("B2", 1))
    story.submit_running("own1", "B1", priority=9)
    story.submit_running("own2", "B2", priority=9)
    story.submit_running("low", "B1", 2, priority=1)
    story.submit_running("other", "B2", 2, priority=0)
    story.submit("high", "B1", 2, priority=5)
    assert story.nominated == ["high"]
    story.submit("lender", "L", 1)
    assert story.waiting == ["high"], "it loses nothing, whatever its priority"
