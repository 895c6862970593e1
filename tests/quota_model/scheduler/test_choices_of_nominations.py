"""What the model chooses where AWS is silent: jobs that have their quota and wait for machines."""

from __future__ import annotations

import pytest

from quota_model.scheduler import Dispatch, Nominate, Preempt, Requeue, RequeueCause, SchedulerOptions
from tests.quota_model.scheduler.story import Story, borrow, lend, reserve

# The quota moves at the decision


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


def test_a_nominated_job_waits_for_its_victims_even_if_machines_are_idle() -> None:
    story = Story(5, lend("L", 2), borrow("B", 1), reserve("R", 2))
    for job in ("own", "first", "second"):
        story.submit_running(job, "B")
    story.submit("lender", "L", 2)
    story.stopped("first")
    assert story.nominated == ["lender"], "two machines are idle, and reserved"


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


def test_the_machines_of_others_are_kept_for_earlier_nominations_too() -> None:
    story = Story(6, borrow("A", 2), borrow("B", 2), reserve("R", 2))
    story.submit_running("a", "A", 4)
    story.submit("r", "R")
    story.submit("b", "B")
    story.submit("b2", "B")
    assert "b2" in story.dispatched, "R leaves a machine idle, and b waits for those of a"
    story.submit("a2", "A", 2)
    story.submit("r2", "R")
    story.end("r")
    assert story.nominated == ["b", "a2", "r2"], "a2 was decided before r2, and one machine is not enough for it"
    story.submit("r3", "R")
    assert story.nominated == ["b", "a2", "r2", "r3"]
    story.stopped("a")
    assert story.nominated == []


# While victims stop: start_on_free_machines


def test_a_preemptor_starts_on_idle_machines_if_told_so_and_their_owner_waits_for_the_victims() -> None:
    options = SchedulerOptions(start_on_free_machines=True)
    story = Story(5, lend("L", 2), borrow("B", 1), reserve("R", 2), options=options)
    for job in ("own", "first", "second"):
        story.submit_running(job, "B")
    decisions = story.submit("lender", "L", 2)
    assert [type(it).__name__ for it in decisions] == ["Preempt", "Preempt", "Dispatch"]
    assert story.stopping == ["first", "second"]
    assert story.scheduler.job("first").stopping_for is None, "nobody waits for it"
    assert story.scheduler.explain("first").sentence == "first is being stopped"
    story.submit("owner", "R", 2)
    assert story.nominated == ["owner"], "R has the quota; lender runs where owner would"
    assert "waits for machines that stopping jobs still hold" in story.scheduler.explain("owner").sentence
    story.stopped("first")
    assert story.nominated == ["owner"]
    story.stopped("second")
    assert story.dispatched == ["own", "lender", "owner"]
    assert story.waiting == ["first", "second"]


def test_an_in_share_preemptor_starts_on_idle_machines_of_others_if_told_so() -> None:
    for told, nominated in ((True, ["owner"]), (False, ["high", "owner"])):
        options = SchedulerOptions(start_on_free_machines=told)
        story = Story(2, reserve("A", 1, in_share=True), reserve("R", 1), options=options)
        story.submit_running("low", "A", priority=1)
        story.submit("high", "A", priority=2)
        assert ("high" in story.dispatched) is told
        story.submit("owner", "R")
        assert story.nominated == [job for job in nominated if told or job == "high"]
        assert ("owner" in story.dispatched) is not told, "there are two machines, and low still holds one"
        story.stopped("low")
        assert story.dispatched == ["high", "owner"]


@pytest.mark.parametrize("told", [True, False])
def test_a_preemptor_starts_before_its_last_victim_has_stopped_if_told_so(told: bool) -> None:
    options = SchedulerOptions(start_on_free_machines=told)
    story = Story(4, lend("L", 2), borrow("B", 1), reserve("R", 1), options=options)
    for job in ("own", "first", "second"):
        story.submit_running(job, "B")
    story.submit("lender", "L", 2)
    assert story.nominated == ["lender"], "one machine is idle, and it needs two"
    story.stopped("first")
    assert ("lender" in story.dispatched) is told
    assert story.stopping == ["second"], "a stop is never undone"
    story.submit("owner", "R")
    assert ("owner" in story.dispatched) is not told
    story.stopped("second")
    assert story.dispatched == ["own", "lender", "owner"]


def test_who_starts_on_free_machines_leaves_what_earlier_nominations_claim() -> None:
    options = SchedulerOptions(start_on_free_machines=True)
    story = Story(7, lend("L", 3), lend("M", 1), borrow("B", 2), reserve("R", 1), options=options)
    story.submit_running("own", "B", 2, priority=9)
    for job in ("b1", "b2", "b3", "b4"):
        story.submit_running(job, "B")
    story.submit("lender", "L", 3)
    assert story.stopping == ["b2", "b3", "b4"]
    story.stopped("b4")
    assert story.nominated == ["lender"], "two machines are free, and it needs three"
    story.submit("m", "M")
    assert "m" in story.dispatched, "lender claims but one of them"
    assert story.stopping == ["b1", "b2", "b3"]
    story.submit("owner", "R")
    assert story.nominated == ["lender", "owner"], "the last free one is lender's"
    story.stopped("b1")
    assert "owner" in story.dispatched
    story.stopped("b2", "b3")
    assert "lender" in story.dispatched


# Losing it again: nominated_jobs_can_be_victims


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


@pytest.mark.parametrize("running", [True, False])
def test_nominated_victims_go_before_dispatched_ones(running: bool) -> None:
    story = Story(6, lend("L", 4), borrow("B1", 1, in_share=True), borrow("B2", 1))
    story.submit_running("own1", "B1", priority=9)
    story.submit_running("own2", "B2", priority=9)
    story.submit_running("low", "B1", 2, priority=1)
    story.submit("other", "B2", 2, priority=0)
    if running:
        story.start("other")
    story.submit("high", "B1", 2, priority=5)
    assert story.nominated == ["high"]
    story.submit("lender", "L", 1)
    assert story.waiting == ["high"], "it loses nothing, whatever its priority"


def test_a_nominated_job_is_no_cross_share_victim_if_told_so_until_it_has_started() -> None:
    options = SchedulerOptions(nominated_jobs_can_be_victims=False)
    story = Story(3, lend("L", 1), lend("M", 1), borrow("B", 1, in_share=True), options=options)
    story.submit_running("own", "B", priority=5)
    story.submit_running("low", "B", 2, priority=1)
    story.submit("high", "B", 2, priority=3)
    assert story.submit("lender", "L") == ()
    assert story.nominated == ["high"]
    story.stopped("low")
    assert story.preempted == [("low", "high", "in_share"), ("high", "lender", "cross_share")]


def test_a_nominated_job_is_passed_over_for_those_that_run_if_told_so() -> None:
    for told, victims in ((True, []), (False, ["other"])):
        options = SchedulerOptions(nominated_jobs_can_be_victims=told)
        story = Story(6, lend("L", 4), borrow("B1", 1, in_share=True), borrow("B2", 1), options=options)
        story.submit_running("own1", "B1", priority=9)
        story.submit_running("own2", "B2", priority=9)
        story.submit_running("low", "B1", 2, priority=1)
        story.submit_running("other", "B2", 2, priority=9)
        story.submit("high", "B1", 2, priority=5)
        decisions = story.submit("lender", "L", 1)
        assert [it.job_id for it in decisions if isinstance(it, Preempt)] == victims


def test_a_nominated_job_is_no_in_share_victim_if_told_so_until_it_has_started() -> None:
    for told, nominated in ((True, "high"), (False, "mid")):
        options = SchedulerOptions(nominated_jobs_can_be_victims=told)
        story = Story(2, reserve("A", 2, in_share=True), options=options)
        story.submit_running("low", "A", 2, priority=1)
        story.submit("mid", "A", 2, priority=2)
        story.submit("high", "A", 2, priority=3)
        assert story.nominated == [nominated]
        assert story.preempted == [("low", "mid", "in_share")]
        story.stopped("low")
        assert story.preempted[1:] == ([] if told else [("mid", "high", "in_share")])


def test_a_nominated_job_is_not_counted_on_by_in_share_preemption_if_told_so() -> None:
    for told, victims in ((True, ["b0", "low"]), (False, ["b0"])):
        options = SchedulerOptions(nominated_jobs_can_be_victims=told)
        story = Story(4, borrow("A", 2, in_share=True), borrow("B", 2, in_share=True), options=options)
        story.submit_running("low", "A", priority=1)
        story.submit_running("b1", "B", 2, priority=9)
        story.submit_running("b0", "B", priority=1)
        story.submit("b2", "B", priority=5)
        assert story.nominated == ["b2"]
        story.submit("high", "A", 2, priority=2)
        assert [it[0] for it in story.preempted] == victims, "without b2's part, low is not enough"
