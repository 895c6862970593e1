"""What the model chooses where AWS is silent: what a changed configuration does to jobs that were placed before."""

from __future__ import annotations

import pytest

from quota_model.scheduler import Block, Requeue, RequeueCause, SchedulerOptions, reasons
from tests.quota_model.scheduler.story import G, P, Story, borrow, lend, reserve

# More is borrowed than lent: heads_pay_off_debts


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


def test_a_debt_that_was_paid_back_does_not_come_back() -> None:
    story = Story(4, lend("L", 3), borrow("B", 1))
    for job in ("own", "b1", "b2"):
        story.submit_running(job, "B")
    story.replace(lend("L", 1))
    story.end("b2")
    story.submit("b3", "B")
    assert story.waiting == ["b3"]
    story.submit("lender", "L")
    assert story.preempted == [("b1", "lender", "cross_share")]


def in_debt(told: bool, *, in_share: bool = False) -> Story:
    """B runs a job of its own and borrows 2 from L, whose limit was lowered to 1 since; R's instance is idle."""
    options = SchedulerOptions(heads_pay_off_debts=told)
    story = Story(5, lend("L", 3), borrow("B", 1, in_share=in_share), reserve("R", 1), options=options)
    story.submit_running("own", "B", priority=9)
    story.submit_running("b1", "B")
    story.submit_running("b2", "B")
    assert story.replace(lend("L", 1)) == (), "a debt is not paid off by itself"
    return story


@pytest.mark.parametrize(("told", "victims"), [(False, ["b2"]), (True, ["b2", "b1"])])
def test_an_entitled_head_reclaims_what_it_lacks_itself_or_the_whole_debt(told: bool, victims: list[str]) -> None:
    story = in_debt(told)
    story.submit("lender", "L")
    assert [it[0] for it in story.preempted] == victims


@pytest.mark.parametrize(("told", "victims"), [(False, []), (True, ["b2"])])
def test_the_head_of_a_reserve_share_pays_off_a_debt_of_others_only_if_told_so(told: bool, victims: list[str]) -> None:
    story = in_debt(told)
    story.submit("r", "R")
    assert [it[0] for it in story.preempted] == victims
    assert story.nominated == (["r"] if told else [])
    assert story.borrowed("B") == (1 if told else 2)


def test_a_debt_is_paid_off_once() -> None:
    story = in_debt(True)
    story.submit("r", "R")
    story.stopped("b2")
    story.submit("lender", "L")
    assert [it[0] for it in story.preempted] == ["b2", "b1"], "b1 borrowed what L may lend, until L needs it"


@pytest.mark.parametrize(("told", "victims"), [(False, ["b2"]), (True, ["b2", "b1"])])
def test_in_share_preemption_goes_on_until_a_debt_is_paid_off_only_if_told_so(told: bool, victims: list[str]) -> None:
    story = in_debt(told, in_share=True)
    story.submit("high", "B", priority=5)
    assert [it[0] for it in story.preempted] == victims


def test_a_debt_of_one_instance_type_is_no_matter_of_another() -> None:
    options = SchedulerOptions(heads_pay_off_debts=True)
    shares = [lend("L", {G: 2}), borrow("B", {G: 1}), reserve("R", {G: 1, P: 1})]
    story = Story({G: 4, P: 1}, *shares, options=options)
    story.submit_running("b", "B", 3)
    story.replace(lend("L", {G: 1}))
    story.submit("p", "R", {P: 1})
    assert story.preempted == []
    assert "p" in story.dispatched


# Nominated under the old configuration: changes_withdraw_nominations


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


def test_a_changed_configuration_leaves_nominations_alone_if_told_so() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1), options=SchedulerOptions(changes_withdraw_nominations=False))
    story.submit_running("own", "B")
    story.submit_running("victim", "B")
    story.submit("lender", "L")
    assert story.set_environment(3) == ()
    assert story.nominated == ["lender"], "a third machine is free, and it waits for its victim all the same"
    story.stopped("victim")
    assert "lender" in story.dispatched


def test_a_nominated_job_keeps_its_quota_above_a_lowered_limit_if_told_so() -> None:
    for told, nominated in ((True, ["l1"]), (False, ["l1", "l2"])):
        options = SchedulerOptions(changes_withdraw_nominations=told)
        story = Story(3, lend("L", 2), borrow("B", 1), options=options)
        for job in ("own", "first", "second"):
            story.submit_running(job, "B")
        story.submit("l1", "L")
        story.submit("l2", "L")
        story.replace(lend("L", 1))
        assert story.nominated == nominated
        story.stopped("first", "second")
        assert story.dispatched == ["own", *nominated]
        assert story.borrowed("L") == len(nominated) - 1


def test_a_nominated_job_that_can_never_run_any_more_waits_again_in_any_case() -> None:
    options = SchedulerOptions(changes_withdraw_nominations=False)
    story = Story(4, lend("L", 2), lend("M", 1), borrow("B", 1), options=options)
    for job in ("own", "b1", "b2", "b3"):
        story.submit_running(job, "B")
    story.submit("two", "L", 2)
    story.submit("one", "M")
    assert story.nominated == ["two", "one"]
    now = story.now
    assert story.replace(lend("L", 1)) == (
        Requeue(now, "two", "L", RequeueCause.NOMINATION_WITHDRAWN, None),
        Block(now, "two", "L", reasons.SHARE_LIMIT),
    )
    assert story.nominated == ["one"]
    assert story.stopping == ["b1", "b2", "b3"], "a stop is never undone"
    story.stopped("b1", "b2", "b3")
    assert "one" in story.dispatched
    assert "two" in story.waiting


def test_a_nominated_job_keeps_its_quota_in_a_smaller_environment_if_told_so() -> None:
    for told in (True, False):
        options = SchedulerOptions(changes_withdraw_nominations=told)
        story = Story(2, lend("L", 1), borrow("B", 1), options=options)
        story.submit_running("own", "B")
        story.submit_running("victim", "B")
        story.submit("lender", "L")
        story.set_environment(1)
        assert ("lender" in story.nominated) is not told
        story.stopped("victim")
        assert story.used("L") == (0 if told else 1)
        assert story.dispatched == ["own"], "there is no machine for it yet"
        story.end("own")
        assert story.dispatched == (["victim"] if told else ["lender"]), "of those that wait, victim came first"


def test_a_deleted_share_leaves_the_nominations_of_others_alone_if_told_so() -> None:
    for told, again in ((True, ["m"]), (False, [])):
        options = SchedulerOptions(changes_withdraw_nominations=told)
        story = Story(3, lend("L", 1), lend("M", 1), borrow("B", 1), options=options)
        for job in ("own", "first", "second"):
            story.submit_running(job, "B")
        story.submit("l", "L")
        story.submit("m", "M")
        decisions = story.remove("L")
        assert [it.job_id for it in decisions if isinstance(it, Requeue)] == again
        assert list(story.failed) == ["l"]
        assert story.nominated == ["m"]
