"""What the model chooses where AWS is silent: what a snapshot shows first, and which of several reasons."""

from __future__ import annotations

import pytest

from quota_model.design import QuotaShare, State
from quota_model.scheduler import Decision, FrontOrder, SchedulerOptions, reasons
from tests.quota_model.scheduler.story import Story, borrow, lend, reserve

# front_of_queue_order


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        (FrontOrder.ENTITLED, ["a2", "b2", "b1", "a1"]),
        (FrontOrder.SUBMITTED, ["a2", "a1", "b2", "b1"]),
        (FrontOrder.PRIORITY, ["b2", "a2", "b1", "a1"]),
    ],
)
def test_the_front_of_the_queue_merges_the_shares_by_entitlement_submission_or_priority(
    order: FrontOrder, shown: list[str]
) -> None:
    story = Story(3, reserve("A", 1), lend("B", 2), options=SchedulerOptions(front_of_queue_order=order))
    story.set_environment(3, State.DISABLED)
    for job, priority in (("a1", 1), ("a2", 5), ("b1", 3), ("b2", 9)):
        story.submit(job, job[0].upper(), priority=priority)
    assert [front.job_id for front in story.scheduler.front_of_queue()] == shown


def test_equal_priorities_are_shown_by_submission() -> None:
    options = SchedulerOptions(front_of_queue_order=FrontOrder.PRIORITY)
    story = Story(2, reserve("A", 1), reserve("B", 1), options=options)
    story.set_environment(2, State.DISABLED)
    for job in ("b1", "a1", "b2", "a2"):
        story.submit(job, job[0].upper())
    assert [front.job_id for front in story.scheduler.front_of_queue()] == ["b1", "a1", "b2", "a2"]


def test_what_is_shown_at_the_front_decides_nothing() -> None:
    def decisions(order: FrontOrder) -> list[Decision]:
        story = Story(3, reserve("A", 1), lend("B", 2), options=SchedulerOptions(front_of_queue_order=order))
        story.set_environment(3, State.DISABLED)
        for job, priority in (("a1", 1), ("a2", 5), ("b1", 3), ("b2", 9)):
            story.submit(job, job[0].upper(), priority=priority)
        story.set_environment(3)
        return story.decisions

    assert decisions(FrontOrder.SUBMITTED) == decisions(FrontOrder.PRIORITY) == decisions(FrontOrder.ENTITLED)


# environment_reason_first


@pytest.mark.parametrize(
    ("share", "instances", "of_the_share"),
    [
        (reserve("A", 4), 10, reasons.SHARE_LIMIT),
        (lend("A", 4), 10, reasons.SHARE_LIMIT),
        (borrow("A", 4, 100), 10, reasons.BORROW_LIMIT),
        (borrow("A", 4, 200), 10, reasons.BORROWABLE),
        (borrow("A", 4, 200), 13, reasons.BORROW_LIMIT),
    ],
)
def test_a_job_too_large_for_environment_and_share_is_told_of_the_environment_unless_told_otherwise(
    share: QuotaShare, instances: int, of_the_share: str
) -> None:
    for told, reason in ((True, reasons.ENVIRONMENT_MAX), (False, of_the_share)):
        story = Story(8, share, lend("B", 4), options=SchedulerOptions(environment_reason_first=told))
        story.submit("big", "A", instances)
        assert story.blocked == {"big": reason}
        assert reason in story.scheduler.explain("big").sentence


def test_a_job_too_large_for_the_environment_alone_is_told_so_in_any_case() -> None:
    story = Story(8, borrow("A", 6), lend("B", 6), options=SchedulerOptions(environment_reason_first=False))
    story.submit("big", "A", 9)
    assert story.blocked == {"big": reasons.ENVIRONMENT_MAX}
