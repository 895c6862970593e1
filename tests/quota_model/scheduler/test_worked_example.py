"""AWS's own example: the three-quota notebook of the SageMaker Python SDK, step by step."""

from __future__ import annotations

import pytest

from quota_model.scheduler import Wait
from quota_model.scheduler.reasons import CROSS_SHARE_PREEMPTED
from tests.quota_model.scheduler.story import Story, borrow, lend, reserve


@pytest.fixture
def story() -> Story:
    story = Story(3, borrow("QS1", 1, 200, in_share=True), lend("QS2", 1), reserve("QS3", 1))
    story.submit_running("high", "QS1", priority=3)
    story.submit_running("med", "QS1", priority=2)
    story.submit("low", "QS1", priority=1)
    return story


def test_high_runs_on_its_own_instance_and_med_borrows(story: Story) -> None:
    assert story.dispatched == ["high", "med"]
    assert (story.used("QS1"), story.borrowed("QS1"), story.lent("QS2")) == (2, 1, 1)


def test_low_waits_since_a_reserve_share_is_not_lendable(story: Story) -> None:
    assert story.waiting == ["low"]
    explanation = story.scheduler.explain("low")
    assert explanation.wait is Wait.NOTHING_LENDABLE
    assert "kept idle by QS3 1" in explanation.sentence


def test_the_lender_takes_its_instance_back_from_the_borrower(story: Story) -> None:
    story.submit("urgent", "QS2", priority=1)
    assert story.preempted == [("med", "urgent", "cross_share")]
    assert story.stopping == ["med"]
    assert story.nominated == ["urgent"]
    story.stopped("med")
    assert story.dispatched == ["high", "urgent"]
    assert story.waiting == ["med", "low"]


def test_the_preemption_says_why(story: Story) -> None:
    preemption, nomination = story.submit("urgent", "QS2", priority=1)
    assert preemption.borrowed == preemption.short == preemption.holds == (("ml.g5.xlarge", 1),)  # type: ignore[union-attr]
    assert preemption.status_reason == CROSS_SHARE_PREEMPTED  # type: ignore[union-attr]
    assert nomination.waits_for == ("med",)  # type: ignore[union-attr]


def test_raising_low_preempts_high_in_its_share(story: Story) -> None:
    story.submit("urgent", "QS2", priority=1)
    story.stopped("med")
    story.priority("low", 4)
    assert story.preempted[1:] == [("high", "low", "in_share")]
    story.stopped("high")
    assert story.dispatched == ["low", "urgent"] or story.dispatched == ["urgent", "low"]
    assert story.waiting == ["high", "med"]
