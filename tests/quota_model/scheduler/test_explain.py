"""Why a job waits, and what a change would do: in terms of the design."""

from __future__ import annotations

import pytest

from quota_model.design import State
from quota_model.scheduler import JobSubmitted, SchedulerError, SchedulerOptions, ShareReplaced, Wait
from tests.quota_model.scheduler.story import G, Story, borrow, lend, reserve


def test_own_limit_full() -> None:
    story = Story(2, reserve("A", 1), lend("B", 1))
    story.submit("runs", "A")
    story.submit("waits", "A")
    explanation = story.scheduler.explain("waits")
    assert explanation.wait is Wait.OWN_LIMIT
    assert explanation.sentence == f"A holds 1 of its 1 x {G}, and waits asks for 1; RESERVE does not borrow"
    assert explanation.jobs == ("runs",)


def test_borrow_limit_reached() -> None:
    story = Story(4, borrow("A", 1, 100), lend("B", 3))
    story.submit("two", "A", 2)
    story.submit("waits", "A")
    explanation = story.scheduler.explain("waits")
    assert explanation.wait is Wait.BORROW_LIMIT
    assert "more than its limit and borrow limit allow together, 2" in str(explanation)


def test_nothing_lendable_names_who_uses_it() -> None:
    story = Story(4, borrow("A", 1), borrow("B", 1), reserve("C", 1), lend("L", 1))
    story.submit("b", "B", 2)
    story.submit("a", "A")
    story.submit("more", "A")
    explanation = story.scheduler.explain("more")
    assert explanation.wait is Wait.NOTHING_LENDABLE
    assert explanation.sentence == (
        f"more needs to borrow 1 x {G}, and 0 are left to lend; borrowed by B 1; kept idle by C 1"
    )


def test_environment_full_although_entitled() -> None:
    story = Story(1, lend("A", 1), lend("B", 1))
    story.submit("a", "A")
    story.submit("b", "B")
    explanation = story.scheduler.explain("b")
    assert explanation.wait is Wait.ENVIRONMENT_FULL
    assert explanation.sentence == (
        f"1 of the environment's 1 x {G} are used; b asks for 1 and nothing that it could take back covers it"
    )


def test_behind_which_head() -> None:
    story = Story(1, reserve("A", 1))
    for job in ("runs", "head", "behind", "last"):
        story.submit(job, "A")
    explanation = story.scheduler.explain("last")
    assert explanation.wait is Wait.BEHIND
    assert explanation.sentence.startswith("last is number 3 in A, whose head is head: A holds 1 of its 1")
    assert explanation.jobs == ("head", "behind")


def test_share_disabled_if_it_does_not_dispatch() -> None:
    story = Story(1, reserve("A", 1), options=SchedulerOptions(disabled_shares_dispatch=False))
    for job in ("runs", "waits", "behind"):
        story.submit(job, "A")
    story.replace(reserve("A", 1, state=State.DISABLED))
    explanation = story.scheduler.explain("waits")
    assert explanation.wait is Wait.SHARE_DISABLED
    assert str(explanation) == "A is DISABLED, and jobs that wait in it are not placed; enable the share"
    assert "whose head is waits: A is DISABLED" in story.scheduler.explain("behind").sentence


def test_environment_full_for_who_does_not_reclaim_for_it() -> None:
    options = SchedulerOptions(reclaim_for_environment=False)
    story = Story(3, borrow("A", 2), borrow("B", 2), options=options)
    story.submit("a", "A", 3)
    story.submit("b", "B")
    explanation = story.scheduler.explain("b")
    assert explanation.wait is Wait.ENVIRONMENT_FULL
    assert explanation.sentence.endswith("b asks for 1 and nothing that it could take back covers it")


def test_victims_that_are_stopping() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit("own", "B")
    story.submit("victim", "B")
    story.submit("lender", "L")
    assert story.scheduler.explain("lender").sentence == "lender has its quota and waits for victim to stop"
    assert story.scheduler.explain("victim").sentence == "victim is being stopped to make room for lender"


def test_can_never_run_and_why() -> None:
    story = Story(4, borrow("A", 1, 100), lend("B", 3))
    story.submit("three", "A", 3)
    explanation = story.scheduler.explain("three")
    assert explanation.wait is Wait.NEVER_FITS
    assert "the environment has 4, A owns 1 and can use 2 with all it may borrow" in explanation.sentence
    assert "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED" in explanation.sentence


def test_a_job_that_runs_does_not_wait() -> None:
    story = Story(1, reserve("A", 1))
    story.submit("runs", "A")
    assert story.scheduler.explain("runs").wait is Wait.PLACED


def test_before_the_pass_nothing_holds_it_back() -> None:
    story = Story(1, reserve("A", 1))
    story.scheduler.apply(JobSubmitted(0, "new", "A", {G: 1}))
    assert story.scheduler.explain("new").wait is Wait.FITS


def test_fails_to_explain_a_job_there_is_not() -> None:
    with pytest.raises(SchedulerError, match="there is no job 'nobody'"):
        Story(1, reserve("A", 1)).scheduler.explain("nobody")


def test_preview_of_a_submission_says_what_it_would_start_and_stop_without_doing_it() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit_running("own", "B")
    story.submit_running("borrower", "B")
    before = list(story.scheduler.jobs())
    preview = story.scheduler.preview(story.now, [JobSubmitted(story.now, "lender", "L", {G: 1})])
    assert (preview.starts, preview.stops, preview.ends) == (("lender",), ("borrower",), ())
    assert list(story.scheduler.jobs()) == before
    assert story.submit("lender", "L") == preview.decisions


def test_preview_of_a_change_says_what_it_would_stop() -> None:
    story = Story(3, borrow("A", 1), reserve("R", 2))
    story.submit_running("own", "A")
    story.submit_running("r", "R", 2)
    story.submit("waits", "A")
    story.submit("r2", "R")
    share = reserve("R", 1)
    assert story.scheduler.preview(story.now, [ShareReplaced(story.now, share)]).stops == ()
    preview = story.scheduler.preview(story.now, [ShareReplaced(story.now, lend("R", 3))])
    assert preview.stops == ()


def test_a_copy_goes_its_own_way() -> None:
    story = Story(1, reserve("A", 1))
    story.submit("runs", "A")
    other = story.scheduler.copy()
    story.end("runs")
    assert [job.job_id for job in other.jobs()] == ["runs"]
