"""What AWS documents about scheduling on quota shares, statement by statement.

Sources: AWS Batch User Guide (quota management, quota shares, preemption, service jobs stuck in RUNNABLE) and the
API reference.
"""

from __future__ import annotations

import pytest

from quota_model.design import State
from quota_model.scheduler import (
    Block,
    Dispatch,
    Preempt,
    Requeue,
    RequeueCause,
    SchedulerError,
    Unblock,
    Wait,
    reasons,
)
from tests.quota_model.scheduler.story import G, P, Story, borrow, lend, reserve


def test_each_share_is_a_queue_of_its_own() -> None:
    story = Story(2, reserve("A", 1), reserve("B", 1))
    story.submit("a1", "A")
    story.submit("a2", "A")
    story.submit("b", "B")
    assert story.dispatched == ["a1", "b"], "what waits in A does not hold up B"


def test_higher_priority_goes_first_within_a_share() -> None:
    story = Story(1, reserve("A", 1))
    story.submit("now", "A")
    story.submit("low", "A", priority=1)
    story.submit("high", "A", priority=2)
    story.end("now")
    assert story.dispatched == ["high"]


def test_equal_priorities_go_in_order_of_submission() -> None:
    story = Story(1, reserve("A", 1))
    for job in ("now", "first", "second"):
        story.submit(job, "A")
    story.end("now")
    assert story.dispatched == ["first"]


def test_raising_the_priority_of_a_waiting_job_moves_it_ahead() -> None:
    story = Story(1, reserve("A", 1))
    for job in ("now", "first", "second"):
        story.submit(job, "A")
    story.priority("second", 5)
    story.end("now")
    assert story.dispatched == ["second"]


def test_reserve_neither_lends_nor_borrows() -> None:
    story = Story(4, reserve("R", 2), borrow("B", 1), lend("L", 1))
    for index in range(3):
        story.submit(f"b{index}", "B")
    assert story.used("B") == 2, "its own and what L lends, nothing of R"
    for index in range(3):
        story.submit(f"r{index}", "R")
    assert story.used("R") == 2


def test_lend_lends_and_does_not_borrow() -> None:
    story = Story(4, lend("L", 1), borrow("B", 3))
    for index in range(2):
        story.submit(f"l{index}", "L")
    assert story.used("L") == 1
    story.end("l0")
    story.end("l1")
    story.submit("wide", "B", 4)
    assert story.borrowed("B") == story.lent("L") == 1


def test_lend_and_borrow_does_both() -> None:
    story = Story(2, borrow("A", 1), borrow("B", 1))
    story.submit("a", "A", 2)
    assert (story.borrowed("A"), story.lent("B")) == (1, 1)
    story.end("a")
    story.submit("b", "B", 2)
    assert (story.borrowed("B"), story.lent("A")) == (1, 1)


def test_a_limit_is_what_a_share_uses_without_borrowing() -> None:
    story = Story(3, borrow("A", 2), lend("B", 1))
    story.submit("a", "A", 2)
    assert story.borrowed("A") == 0
    story.submit("more", "A", 1)
    assert story.borrowed("A") == 1


def test_the_borrow_limit_is_a_percentage_of_each_own_limit() -> None:
    story = Story({G: 20, P: 20}, borrow("A", {G: 2, P: 4}, 100), lend("B", {G: 18, P: 16}))
    story.submit("g", "A", {G: 4})
    story.submit("p", "A", {P: 8})
    assert story.dispatched == ["g", "p"]
    story.submit("one more", "A", {G: 1})
    assert story.scheduler.explain("one more").wait is Wait.BORROW_LIMIT


@pytest.mark.parametrize("borrow_limit", [None, -1])
def test_no_borrow_limit_is_any_number(borrow_limit: int | None) -> None:
    story = Story(9, borrow("A", 1, borrow_limit), lend("B", 8))
    story.submit("wide", "A", 9)
    assert story.borrowed("A") == 8


def test_idle_capacity_goes_to_borrowers_first_in_first_out() -> None:
    story = Story(4, lend("L", 2), borrow("A", 1), borrow("B", 1))
    for job, share in (("a", "A"), ("b", "B"), ("l", "L")):
        story.submit(job, share, 2 if share == "L" else 1)
    story.submit("b2", "B")
    story.submit("a2", "A")
    story.submit("b3", "B")
    story.end("l")
    assert story.dispatched == ["a", "b", "b2", "a2"]


def test_a_job_needs_all_its_instances_at_once() -> None:
    story = Story(4, reserve("A", 4))
    story.submit("one", "A", 1)
    story.submit("four", "A", 4)
    assert story.waiting == ["four"]
    assert story.used("A") == 1


@pytest.mark.parametrize(
    ("request_", "share", "reason"),
    [
        ({G: 11}, reserve("A", 10), reasons.ENVIRONMENT_MAX),
        ({P: 1}, reserve("A", 10), reasons.ENVIRONMENT_MAX),
        ({G: 6}, reserve("A", 5), reasons.SHARE_LIMIT),
        ({G: 6}, lend("A", 5), reasons.SHARE_LIMIT),
        ({G: 5}, borrow("A", 2, 100), reasons.BORROW_LIMIT),
        ({G: 9}, borrow("A", 4, 200), reasons.BORROWABLE),
    ],
)
def test_a_head_that_can_never_run_says_so_in_aws_words(request_: dict[str, int], share: object, reason: str) -> None:
    story = Story(10, share, lend("B", 4))  # type: ignore[arg-type]
    story.submit("big", "A", request_)
    assert story.blocked == {"big": reason}
    assert story.scheduler.blocked_reason("big") == reason
    assert story.scheduler.explain("big").wait is Wait.NEVER_FITS


def test_the_reason_comes_when_the_job_reaches_the_front() -> None:
    story = Story(2, reserve("A", 1), reserve("B", 1))
    story.submit("now", "A")
    story.submit("next", "A")
    story.submit("big", "A", 2)
    assert story.blocked == {}
    decisions = story.end("now")
    assert decisions[-1] == Block(3000, "big", "A", reasons.SHARE_LIMIT)


def test_the_reason_compares_with_limits_and_not_with_usage() -> None:
    story = Story(10, borrow("A", 5), lend("B", 5))
    story.submit("b", "B", 5)
    story.submit("ten", "A", 10)
    assert story.blocked == {}
    assert story.waiting == ["ten"]


def test_a_blocked_head_blocks_the_jobs_behind_it() -> None:
    story = Story(2, reserve("A", 1), reserve("B", 1))
    story.submit("big", "A", 2)
    story.submit("small", "A")
    assert story.waiting == ["big", "small"]
    assert story.scheduler.explain("small").jobs == ("big",)


def test_a_time_limit_ends_the_head_and_lets_the_next_advance() -> None:
    story = Story(2, reserve("A", 1), reserve("B", 1))
    story.submit("big", "A", 2)
    story.submit("small", "A")
    story.expire("big", reasons.SHARE_LIMIT)
    assert story.failed == {"big": f"Terminated by JobStateTimeLimit action due to reason: {reasons.SHARE_LIMIT}"}
    assert story.dispatched == ["small"]


def test_a_raised_limit_unblocks_the_head() -> None:
    story = Story(2, reserve("A", 1))
    story.submit("two", "A", 2)
    decisions = story.replace(reserve("A", 2))
    assert [type(it) for it in decisions] == [Unblock, Dispatch]


def test_capacity_counts_from_dispatch() -> None:
    story = Story(1, reserve("A", 1))
    story.submit("scheduled", "A")
    story.submit("next", "A")
    assert (story.used("A"), story.waiting) == (1, ["next"])


@pytest.mark.parametrize("running", [False, True])
def test_cross_share_preemption_is_always_on_and_takes_jobs_in_any_dispatched_status(running: bool) -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit("own", "B")
    story.submit("borrower", "B")
    if running:
        story.start("own", "borrower")
    story.submit("lender", "L")
    assert story.preempted == [("borrower", "lender", "cross_share")]


def test_cross_share_preemption_needs_no_higher_priority() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit("own", "B", priority=9)
    story.submit("borrower", "B", priority=8)
    story.submit("lender", "L", priority=0)
    assert [it[0] for it in story.preempted] == ["borrower"]


def test_no_demand_no_preemption() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit("wide", "B", 2)
    story.submit("more", "B", 1)
    assert story.preempted == []


def test_in_share_preemption_is_opt_in() -> None:
    for in_share, victims in ((False, []), (True, ["low"])):
        story = Story(1, reserve("A", 1, in_share=in_share))
        story.submit("low", "A", priority=1)
        story.submit("high", "A", priority=2)
        assert [it[0] for it in story.preempted] == victims


def test_in_share_preemption_takes_strictly_lower_priorities_of_the_same_share_alone() -> None:
    story = Story(2, reserve("A", 1, in_share=True), reserve("B", 1))
    story.submit("other", "B", priority=0)
    story.submit("equal", "A", priority=2)
    story.submit("waits", "A", priority=2)
    assert story.preempted == []
    story.submit("high", "A", priority=3)
    assert story.preempted == [("equal", "high", "in_share")]


def test_in_share_preemption_only_once_the_share_is_full() -> None:
    story = Story(2, reserve("A", 2, in_share=True))
    story.submit("low", "A", priority=1)
    story.submit("high", "A", priority=2)
    assert story.dispatched == ["low", "high"]
    assert story.preempted == []


def test_lowering_a_running_jobs_priority_makes_it_the_likelier_victim() -> None:
    for lowered in ("first", "second"):
        story = Story(4, lend("L", 2), borrow("B", 2))
        for job in ("own", "too", "first", "second"):
            story.submit_running(job, "B", priority=5)
        story.priority(lowered, 4)
        story.submit("lender", "L")
        assert [it[0] for it in story.preempted] == [lowered]


def test_raising_a_waiting_jobs_priority_lets_it_preempt_in_its_share() -> None:
    story = Story(1, reserve("A", 1, in_share=True))
    story.submit("runs", "A", priority=2)
    story.submit("waits", "A", priority=2)
    assert story.preempted == []
    story.priority("waits", 3)
    assert story.preempted == [("runs", "waits", "in_share")]


@pytest.mark.parametrize("make", [reserve, lend])
def test_a_lowered_share_limit_makes_jobs_eligible_and_stops_them_on_demand_only(make: object) -> None:
    story = Story(3, make("A", 2), lend("B", 1))  # type: ignore[operator]
    story.submit_running("a1", "A")
    story.submit_running("a2", "A")
    assert story.replace(make("A", 1)) == ()  # type: ignore[operator]
    story.replace(lend("B", 2))
    assert story.preempted == []
    story.submit("b1", "B")
    assert story.preempted == [], "one is free"
    story.submit("b2", "B")
    assert story.preempted == [("a2", "b2", "lowered_limit")]


def test_a_lowered_environment_stops_nothing_and_bounds_what_is_new() -> None:
    story = Story(4, reserve("A", 4))
    for index in range(3):
        story.submit_running(f"a{index}", "A")
    assert story.set_environment(2) == ()
    story.submit("new", "A")
    assert story.waiting == ["new"]
    story.end("a0")
    assert story.waiting == ["new"]
    story.end("a1")
    assert story.dispatched == ["a2", "new"]


def test_a_disabled_share_takes_no_new_jobs_and_lets_the_old_ones_finish() -> None:
    story = Story(1, reserve("A", 1))
    story.submit("runs", "A")
    story.submit("queued", "A")
    story.replace(reserve("A", 1, state=State.DISABLED))
    with pytest.raises(SchedulerError, match="quota share 'A' is DISABLED"):
        story.submit("new", "A")
    story.end("runs")
    assert story.dispatched == ["queued"]


def test_a_disabled_environment_has_nothing_new_placed_in_it() -> None:
    story = Story(2, reserve("A", 2))
    story.submit("runs", "A")
    story.set_environment(2, State.DISABLED)
    story.submit("waits", "A")
    assert story.dispatched == ["runs"]
    assert story.scheduler.explain("waits").wait is Wait.ENVIRONMENT_DISABLED
    story.set_environment(2)
    assert story.dispatched == ["runs", "waits"]


def _preempt(story: Story, round_: int) -> None:
    story.submit(f"lender{round_}", "L")
    story.stopped("victim")
    story.end(f"lender{round_}")


@pytest.mark.parametrize(("retries", "survived"), [(0, 0), (1, 1), (3, 3), (None, 5)])
def test_preemption_retries_end_a_job_with_the_preemption_after(retries: int | None, survived: int) -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit("own", "B")
    story.submit("victim", "B", retries=retries)
    for round_ in range(survived):
        _preempt(story, round_)
    assert "victim" in story.dispatched
    if retries is not None:
        story.submit("last", "L")
        story.stopped("victim")
        assert story.failed == {"victim": reasons.RETRIES_EXHAUSTED}


def test_a_preempted_job_returns_to_runnable_when_its_stop_completes() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit("own", "B")
    story.submit("victim", "B")
    story.submit("lender", "L")
    assert story.scheduler.job("victim").status == "SCHEDULED", "its old status until it has stopped"
    requeue, dispatch = story.stopped("victim")
    assert isinstance(requeue, Requeue)
    assert (requeue.cause, requeue.by) == (RequeueCause.PREEMPTED, "lender")
    assert isinstance(dispatch, Dispatch)
    assert story.scheduler.job("victim").status == "RUNNABLE"


def test_terminating_a_waiting_job_fails_it_at_once() -> None:
    story = Story(1, reserve("A", 1))
    story.submit("runs", "A")
    story.submit("waits", "A")
    story.terminate("waits")
    assert list(story.failed) == ["waits"]


def test_terminating_a_running_job_fails_it_when_it_has_stopped() -> None:
    story = Story(1, reserve("A", 1))
    story.submit_running("runs", "A")
    story.submit("next", "A")
    assert story.terminate("runs") == ()
    assert story.used("A") == 1
    story.stopped("runs")
    assert list(story.failed) == ["runs"]
    assert story.dispatched == ["next"]


def test_the_front_of_each_share_is_its_head() -> None:
    story = Story(2, reserve("A", 1), reserve("B", 1))
    for job in ("a1", "a2", "a3"):
        story.submit(job, "A")
    fronts = story.scheduler.front_of_quota_shares()
    assert [(front.job_id, front.since) for front in fronts["A"]] == [("a2", 1000)]
    assert fronts["B"] == ()


def test_the_front_of_the_queue_merges_the_shares_with_entitled_heads_first() -> None:
    story = Story(3, reserve("A", 1), lend("B", 2))
    story.set_environment(3, State.DISABLED)
    for job, share in (("a1", "A"), ("a2", "A"), ("b1", "B"), ("b2", "B"), ("b3", "B")):
        story.submit(job, share)
    assert [front.job_id for front in story.scheduler.front_of_queue()] == ["a1", "b1", "b2", "a2", "b3"]
    assert len(story.scheduler.front_of_queue(2)) == 2


def test_a_deleted_share_ends_its_jobs() -> None:
    story = Story(2, reserve("A", 1), lend("B", 1))
    story.submit_running("runs", "A")
    story.submit("waits", "A")
    decisions = story.remove("A")
    assert [(type(it).__name__, it.job_id) for it in decisions] == [("Stop", "runs"), ("Fail", "waits")]
    story.stopped("runs")
    assert list(story.failed) == ["waits", "runs"]
    assert [line.share for line in story.scheduler.usage()] == ["B"]


def test_preempt_is_told_once_per_victim() -> None:
    story = Story(3, lend("L", 2), borrow("B", 1))
    for job in ("own", "first", "second"):
        story.submit_running(job, "B")
    decisions = story.submit("lender", "L", 2)
    assert [it.job_id for it in decisions if isinstance(it, Preempt)] == ["second", "first"]
