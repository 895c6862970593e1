"""What the model chooses where AWS is silent: which waiting jobs of a share are looked at."""

from __future__ import annotations

from quota_model.design import State
from quota_model.scheduler import HeadOfLine, SchedulerOptions, reasons
from tests.quota_model.scheduler.story import G, P, Story, borrow, lend, reserve

# Which jobs of a share: head_of_line, returned_jobs_keep_their_place


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


def test_a_job_of_several_types_does_not_pass_the_head_of_one_of_them() -> None:
    options = SchedulerOptions(head_of_line=HeadOfLine.PER_UNIT)
    story = Story({G: 2, P: 1}, reserve("A", {G: 2, P: 1}), options=options)
    story.submit("g1", "A", {G: 1})
    story.submit("g2", "A", {G: 2})
    story.submit("both", "A", {G: 1, P: 1})
    assert story.waiting == ["g2", "both"]


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


def test_a_returned_job_keeps_its_place_unless_told_otherwise() -> None:
    for keeps, then in ((True, "a1"), (False, "a2")):
        options = SchedulerOptions(returned_jobs_keep_their_place=keeps)
        story = Story(1, reserve("A", 1), options=options)
        story.submit("a1", "A")
        story.submit("a2", "A")
        story.retry("a1")
        assert story.dispatched == [then]


# Jobs of disabled shares: disabled_shares_dispatch


def test_a_disabled_share_reclaims_for_its_queued_jobs() -> None:
    story = Story(2, borrow("A", 1), lend("B", 1))
    story.submit("b", "B")
    story.submit("b2", "B")
    story.replace(lend("B", 1, state=State.DISABLED))
    story.submit("a1", "A")
    story.terminate("b")
    story.stopped("b")
    assert story.dispatched == ["b2", "a1"]


def test_queued_jobs_of_a_disabled_share_are_placed_unless_told_otherwise() -> None:
    for told in (True, False):
        story = Story(1, reserve("A", 1), options=SchedulerOptions(disabled_shares_dispatch=told))
        story.submit("runs", "A")
        story.submit("queued", "A")
        story.replace(reserve("A", 1, state=State.DISABLED))
        story.end("runs")
        assert ("queued" in story.dispatched) is told
        shown = [(front.job_id, front.since) for front in story.scheduler.front_of_quota_shares()["A"]]
        assert shown == ([] if told else [("queued", 1000)]), "it stays the head"
        story.replace(reserve("A", 1))
        assert "queued" in story.dispatched


def test_a_disabled_share_that_does_not_dispatch_takes_back_what_it_lent_once_enabled() -> None:
    story = Story(2, borrow("A", 1), lend("B", 1), options=SchedulerOptions(disabled_shares_dispatch=False))
    story.submit("b", "B")
    story.submit("b2", "B")
    story.replace(lend("B", 1, state=State.DISABLED))
    story.submit("a", "A")
    story.submit("a2", "A")
    story.end("b")
    assert story.dispatched == ["a", "a2"]
    assert story.preempted == []
    story.replace(lend("B", 1))
    assert story.preempted == [("a2", "b2", "cross_share")]


def test_a_disabled_share_borrows_unless_it_does_not_dispatch() -> None:
    for told, then in ((True, "a2"), (False, "b2")):
        options = SchedulerOptions(disabled_shares_dispatch=told)
        story = Story(3, lend("L", 1), borrow("A", 1), borrow("B", 1), options=options)
        for job in ("a", "b", "l", "a2", "b2"):
            story.submit(job, job[0].upper())
        story.replace(borrow("A", 1, state=State.DISABLED))
        story.end("l")
        assert story.dispatched == ["a", "b", then]


def test_a_disabled_share_preempts_in_share_unless_it_does_not_dispatch() -> None:
    for told in (True, False):
        options = SchedulerOptions(disabled_shares_dispatch=told)
        story = Story(1, reserve("A", 1, in_share=True), options=options)
        story.submit("runs", "A")
        story.submit("waits", "A")
        story.replace(reserve("A", 1, in_share=True, state=State.DISABLED))
        story.priority("waits", 2)
        assert bool(story.preempted) is told
        story.replace(reserve("A", 1, in_share=True))
        assert story.preempted == [("runs", "waits", "in_share")]


def test_a_nominated_job_of_a_disabled_share_goes_on() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1), options=SchedulerOptions(disabled_shares_dispatch=False))
    story.submit("own", "B")
    story.submit("victim", "B")
    story.submit("lender", "L")
    story.replace(lend("L", 1, state=State.DISABLED))
    assert story.nominated == ["lender"]
    story.stopped("victim")
    assert story.dispatched == ["own", "lender"]


def test_a_head_of_a_disabled_share_that_can_never_run_still_says_so() -> None:
    story = Story(2, reserve("A", 1), options=SchedulerOptions(disabled_shares_dispatch=False))
    story.submit("runs", "A")
    story.submit("next", "A")
    story.submit("big", "A", 2)
    story.replace(reserve("A", 1, state=State.DISABLED))
    story.terminate("next")
    assert story.blocked == {"big": reasons.SHARE_LIMIT}
