"""Events that make no sense are refused in a sentence, and change nothing."""

from __future__ import annotations

import pytest

from quota_model.design import (
    UNKNOWN,
    CapacityLimits,
    DesignError,
    QuotaQueue,
    QuotaShare,
    ResourceSharing,
    State,
)
from quota_model.scheduler import (
    Event,
    JobEnded,
    JobRetried,
    JobStarted,
    JobSubmitted,
    JobTerminated,
    PriorityChanged,
    QueueStateChanged,
    Scheduler,
    SchedulerError,
    ShareAdded,
    ShareRemoved,
    ShareReplaced,
    StopCompleted,
    TimeLimitExpired,
)
from tests.quota_model.scheduler.story import G, Story, borrow, environment, lend, reserve


@pytest.fixture
def story() -> Story:
    story = Story(1, reserve("A", 1))
    story.submit("runs", "A")
    story.submit("waits", "A")
    return story


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (JobSubmitted(9000, "new", "B", {G: 1}), "the queue has no quota share 'B'; it has A"),
        (JobSubmitted(9000, "runs", "A", {G: 1}), "job 'runs' was submitted already"),
        (JobSubmitted(9000, "new", "A", {}), "asks for no instances"),
        (JobSubmitted(9000, "new", "A", {G: 0}), f"asks for 0 of {G}"),
        (JobSubmitted(9000, "new", "A", {G: -1}), f"asks for -1 of {G}"),
        (JobSubmitted(9000, "new", "A", {G: 1}, 10_000), "priority 10000 is out of range; give 0 to 9999"),
        (JobSubmitted(9000, "new", "A", {G: 1}, 1, -1), "-1 preemption retries"),
        (JobStarted(9000, "waits"), "job 'waits' is waiting and cannot start"),
        (JobEnded(9000, "waits"), "job 'waits' is waiting and cannot end"),
        (JobEnded(9000, "nobody"), "there is no job 'nobody'"),
        (JobRetried(9000, "waits"), "job 'waits' is waiting and cannot be retried"),
        (StopCompleted(9000, "runs"), "job 'runs' was not told to stop"),
        (StopCompleted(9000, "waits"), "job 'waits' is waiting and cannot have stopped"),
        (JobTerminated(9000, "nobody"), "there is no job 'nobody'"),
        (TimeLimitExpired(9000, "runs", "reason"), "job 'runs' is dispatched"),
        (PriorityChanged(9000, "runs", -1), "priority -1 is out of range"),
        (ShareAdded(9000, reserve("A", 1)), "has a quota share 'A' already"),
        (ShareReplaced(9000, reserve("B", 1)), "the queue has no quota share 'B'"),
        (ShareRemoved(9000, "B"), "the queue has no quota share 'B'"),
        (JobStarted(0, "runs"), "is earlier than 1000"),
    ],
)
def test_fails_and_changes_nothing(story: Story, event: Event, message: str) -> None:
    before = list(story.scheduler.jobs()), story.scheduler.usage(), story.scheduler.design
    with pytest.raises(ValueError, match=message) as raised:
        story.scheduler.apply(event)
    assert isinstance(raised.value, SchedulerError | DesignError)
    assert (list(story.scheduler.jobs()), story.scheduler.usage(), story.scheduler.design) == before
    assert story.scheduler.run_pass(story.now) == (), "not even the time moved on"


def test_fails_when_a_disabled_queue_gets_a_job(story: Story) -> None:
    story.happen(QueueStateChanged(story.now, State.DISABLED))
    with pytest.raises(SchedulerError, match="the job queue is DISABLED"):
        story.submit("new", "A")
    assert story.scheduler.design.state is State.DISABLED


def test_fails_when_a_terminated_job_is_to_be_retried(story: Story) -> None:
    story.terminate("runs")
    with pytest.raises(SchedulerError, match="is being terminated and cannot be retried"):
        story.retry("runs")


def test_fails_when_a_pass_is_in_the_past(story: Story) -> None:
    with pytest.raises(SchedulerError, match="a pass at 0 is earlier than 1000"):
        story.scheduler.run_pass(0)


def test_fails_when_an_instant_has_events_of_another(story: Story) -> None:
    with pytest.raises(SchedulerError, match="does not happen at 5000"):
        story.scheduler.advance(5000, [JobStarted(4000, "runs")])


def test_a_victim_that_ends_within_its_stop_has_stopped_and_not_ended() -> None:
    story = Story(2, lend("L", 1), borrow("B", 1))
    story.submit("own", "B")
    story.submit("victim", "B")
    story.submit("lender", "L")
    with pytest.raises(SchedulerError, match="job 'victim' is stopping and cannot end"):
        story.end("victim")


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (QuotaShare(UNKNOWN, CapacityLimits.of({G: 1}), ResourceSharing.reserve()), "name is known only at deployment"),
        (QuotaShare("A", CapacityLimits.of({G: 1.5}), ResourceSharing.reserve()), "is not a whole number"),
        (QuotaShare("A", CapacityLimits.of({G: 1}), ResourceSharing(UNKNOWN)), "resource sharing is known only"),
        (reserve("A", 1, in_share=UNKNOWN), "in-share preemption is known only"),  # type: ignore[arg-type]
        (reserve("A", 1, state=UNKNOWN), "state is known only"),  # type: ignore[arg-type]
        (borrow("A", 1, -2), "borrow limit -2 is not a percentage"),
    ],
)
def test_fails_when_a_design_cannot_be_computed_with(share: QuotaShare, message: str) -> None:
    with pytest.raises(DesignError, match=message):
        Scheduler(QuotaQueue(environment(1), (share,)))


def test_an_instant_applies_ends_then_configuration_then_priorities_then_submissions(story: Story) -> None:
    now = story.now
    decisions = story.happen(
        JobSubmitted(now, "later", "B", {G: 1}),
        PriorityChanged(now, "waits", 5),
        ShareAdded(now, lend("B", 1)),
        JobEnded(now, "runs"),
    )
    assert [it.job_id for it in decisions] == ["waits"]
    assert story.waiting == ["later"]


def test_a_share_added_again_after_its_deletion_is_a_new_one() -> None:
    story = Story(2, lend("A", 1), lend("B", 1))
    story.submit_running("old", "A")
    story.remove("A")
    story.happen(ShareAdded(story.now, lend("A", 1)))
    story.submit("new", "A")
    assert "new" in story.dispatched, "the old one still stops, and its machine is not needed"
