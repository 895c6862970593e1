"""Which events the rules of a queue match, evaluated against the events of AWS's guide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk.interfaces import aws_batch as refs

from quota_constructs import (
    ITrainingJobQueue,
    JobQueueEvents,
    QuotaConstructsError,
    QuotaManagedQueue,
    QuotaShare,
    ResourceSharing,
    ServiceJobStatus,
    TrainingJobQueue,
)
from tests.event_patterns import matches
from tests.iam.templates import resolved
from tests.quota_constructs.batch_events import (
    GUIDE_QUEUE,
    PREEMPTION_COMPLETED,
    PREEMPTION_STARTED,
    QUEUE_BLOCKED,
    SAMPLES,
    STATE_CHANGE,
    enriched,
    of_queue,
)
from tests.synthesis import LIMITS, QUEUE_ARN, SHARE_ARN, template_of

OTHER_QUEUE = f"{QUEUE_ARN}-2"


@pytest.fixture
def queue(stack: Stack) -> ITrainingJobQueue:
    return TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)


@pytest.fixture
def vision(stack: Stack) -> refs.IQuotaShareRef:
    return QuotaShare.from_quota_share_arn(stack, "Vision", SHARE_ARN)


def rule_of(stack: Stack) -> dict[str, Any]:
    """Return the properties of the only rule."""
    (rule,) = [r for r in template_of(stack)["Resources"].values() if r["Type"] == "AWS::Events::Rule"]
    properties: dict[str, Any] = rule["Properties"]
    return properties


def pattern_of(stack: Stack) -> dict[str, Any]:
    """Return the pattern of the only rule, as CloudFormation would deploy it."""
    pattern: dict[str, Any] = resolved(template_of(stack), rule_of(stack)["EventPattern"])
    return pattern


class TestJobStateChange:
    def test_matches_the_guides_event_when_the_queue_is_ours(self, stack: Stack, queue: ITrainingJobQueue) -> None:
        queue.on_job_state_change("Rule")

        assert matches(pattern_of(stack), of_queue(STATE_CHANGE, QUEUE_ARN))
        assert not matches(pattern_of(stack), STATE_CHANGE)

    def test_is_about_any_status_by_default(self, stack: Stack, queue: ITrainingJobQueue) -> None:
        queue.on_job_state_change("Rule")

        assert all(matches(pattern_of(stack), of_queue(STATE_CHANGE, QUEUE_ARN, status=s)) for s in ServiceJobStatus)

    def test_can_be_about_some_statuses(self, stack: Stack, queue: ITrainingJobQueue) -> None:
        queue.on_job_state_change("Rule", statuses=[ServiceJobStatus.FAILED, "SUCCEEDED"])

        told = [s for s in ServiceJobStatus if matches(pattern_of(stack), of_queue(STATE_CHANGE, QUEUE_ARN, status=s))]
        assert told == [ServiceJobStatus.SUCCEEDED, ServiceJobStatus.FAILED]

    @pytest.mark.parametrize("statuses", [["FAIL"], ["failed"], ["SUBMITTED"], "FAILED"])
    def test_fails_for_a_status_that_no_event_has(self, queue: ITrainingJobQueue, statuses: Any) -> None:
        with pytest.raises(QuotaConstructsError, match=r"would match nothing; use RUNNABLE, .*, FAILED$"):
            queue.on_job_state_change("Rule", statuses=statuses)

    def test_a_status_known_at_deployment_is_taken(self, stack: Stack, queue: ITrainingJobQueue) -> None:
        queue.on_job_state_change("Rule", statuses=[CfnParameter(stack, "Status").value_as_string])

        assert rule_of(stack)["EventPattern"]["detail"]["status"] == [{"Ref": "Status"}]

    def test_can_be_about_some_shares(
        self, stack: Stack, queue: ITrainingJobQueue, vision: refs.IQuotaShareRef
    ) -> None:
        queue.on_job_state_change("Rule", quota_shares=[vision])

        assert matches(pattern_of(stack), of_queue(STATE_CHANGE, QUEUE_ARN, "vision"))
        assert not matches(pattern_of(stack), of_queue(STATE_CHANGE, QUEUE_ARN, "speech"))
        assert not matches(pattern_of(stack), of_queue(STATE_CHANGE, OTHER_QUEUE, "vision"))


class TestQueueBlocked:
    def test_matches_the_guides_event_when_the_queue_is_ours(self, stack: Stack, queue: ITrainingJobQueue) -> None:
        queue.on_queue_blocked("Rule")

        assert matches(pattern_of(stack), of_queue(QUEUE_BLOCKED, QUEUE_ARN))
        assert not matches(pattern_of(stack), QUEUE_BLOCKED)

    def test_can_be_about_some_shares(
        self, stack: Stack, queue: ITrainingJobQueue, vision: refs.IQuotaShareRef
    ) -> None:
        queue.on_queue_blocked("Rule", quota_shares=[vision])

        assert matches(pattern_of(stack), of_queue(QUEUE_BLOCKED, QUEUE_ARN, "vision"))
        assert not matches(pattern_of(stack), of_queue(QUEUE_BLOCKED, QUEUE_ARN, "speech"))

    def test_can_be_narrowed_by_a_pattern_of_ones_own(self, stack: Stack, queue: ITrainingJobQueue) -> None:
        reason = events.EventPattern(detail={"statusReason": [{"prefix": "MISCONFIGURATION:"}]})
        queue.on_queue_blocked("Rule", event_pattern=reason)

        blocked = of_queue(QUEUE_BLOCKED, QUEUE_ARN)
        misconfigured = of_queue(
            QUEUE_BLOCKED,
            QUEUE_ARN,
            statusReason="MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share "
            "capacity limits.",
        )
        assert matches(pattern_of(stack), misconfigured)
        assert not matches(pattern_of(stack), blocked)
        assert not matches(pattern_of(stack), misconfigured | {"detail": misconfigured["detail"] | {"jobQueue": "x"}})


PREEMPTIONS: dict[str, tuple[Callable[..., events.Rule], dict[str, Any]]] = {
    "started": (JobQueueEvents.on_preemption_started, PREEMPTION_STARTED),
    "completed": (JobQueueEvents.on_preemption_completed, PREEMPTION_COMPLETED),
}


@pytest.mark.parametrize(("define", "event"), PREEMPTIONS.values(), ids=PREEMPTIONS.keys())
class TestPreemption:
    def test_matches_the_guides_event_of_any_queue_as_it_names_none(
        self, stack: Stack, queue: ITrainingJobQueue, define: Callable[..., events.Rule], event: dict[str, Any]
    ) -> None:
        define(JobQueueEvents.from_job_queue(queue), "Rule")

        assert matches(pattern_of(stack), event)

    def test_does_not_match_what_an_enricher_sends(
        self, stack: Stack, queue: ITrainingJobQueue, define: Callable[..., events.Rule], event: dict[str, Any]
    ) -> None:
        define(JobQueueEvents.from_job_queue(queue), "Rule")

        assert not matches(pattern_of(stack), enriched(event, QUEUE_ARN, "vision"))

    def test_enriched_is_about_the_queue_alone(
        self, stack: Stack, queue: ITrainingJobQueue, define: Callable[..., events.Rule], event: dict[str, Any]
    ) -> None:
        define(JobQueueEvents.from_job_queue(queue), "Rule", enriched=True)

        assert matches(pattern_of(stack), enriched(event, QUEUE_ARN, "speech"))
        assert not matches(pattern_of(stack), enriched(event, OTHER_QUEUE, "speech"))
        assert not matches(pattern_of(stack), event)

    def test_enriched_can_be_about_some_shares(
        self,
        stack: Stack,
        queue: ITrainingJobQueue,
        vision: refs.IQuotaShareRef,
        define: Callable[..., events.Rule],
        event: dict[str, Any],
    ) -> None:
        define(JobQueueEvents.from_job_queue(queue), "Rule", enriched=True, quota_shares=[vision])

        assert matches(pattern_of(stack), enriched(event, QUEUE_ARN, "vision"))
        assert not matches(pattern_of(stack), enriched(event, QUEUE_ARN, "speech"))

    def test_fails_for_shares_that_awss_event_does_not_name(
        self,
        stack: Stack,
        queue: ITrainingJobQueue,
        vision: refs.IQuotaShareRef,
        define: Callable[..., events.Rule],
        event: dict[str, Any],
    ) -> None:
        assert "quotaShareName" not in event["detail"]
        with pytest.raises(QuotaConstructsError, match="add a PreemptionEnricher for the queue and give enriched=True"):
            define(JobQueueEvents.from_job_queue(queue), "Rule", quota_shares=[vision])

        assert "Resources" not in template_of(stack)


RULES: dict[str, tuple[Callable[[ITrainingJobQueue], events.Rule], dict[str, Any]]] = {
    "state change": (lambda queue: queue.on_job_state_change("Rule"), STATE_CHANGE),
    "queue blocked": (lambda queue: queue.on_queue_blocked("Rule"), QUEUE_BLOCKED),
    "preemption started": (lambda queue: queue.on_preemption_started("Rule"), PREEMPTION_STARTED),
    "preemption completed": (lambda queue: queue.on_preemption_completed("Rule"), PREEMPTION_COMPLETED),
}


@pytest.mark.parametrize(("define", "own"), RULES.values(), ids=RULES.keys())
class TestEveryRule:
    def test_matches_its_own_event_and_no_other(
        self,
        stack: Stack,
        queue: ITrainingJobQueue,
        define: Callable[[ITrainingJobQueue], events.Rule],
        own: dict[str, Any],
    ) -> None:
        define(queue)

        matched = [event for event in SAMPLES if matches(pattern_of(stack), of_queue(event, QUEUE_ARN))]
        assert matched == [own]

    def test_does_not_match_what_another_source_makes_up(
        self,
        stack: Stack,
        queue: ITrainingJobQueue,
        define: Callable[[ITrainingJobQueue], events.Rule],
        own: dict[str, Any],
    ) -> None:
        define(queue)

        assert not matches(pattern_of(stack), of_queue(own, QUEUE_ARN) | {"source": "custom.batch"})


class TestOptions:
    """What upstream's ``on_...`` methods take."""

    def test_any_target_is_taken(self, stack: Stack, queue: ITrainingJobQueue) -> None:
        queue.on_queue_blocked("Rule", target=targets.SqsQueue(sqs.Queue(stack, "Target")))

        assert len(rule_of(stack)["Targets"]) == 1

    def test_targets_can_be_added_later(self, stack: Stack, queue: ITrainingJobQueue) -> None:
        rule = queue.on_queue_blocked("Rule")
        rule.add_target(targets.SnsTopic(sns.Topic(stack, "One")))
        rule.add_target(targets.SnsTopic(sns.Topic(stack, "Two")))

        assert len(rule_of(stack)["Targets"]) == 2

    def test_name_and_description_are_the_rules(self, stack: Stack, queue: ITrainingJobQueue) -> None:
        queue.on_queue_blocked("Rule", rule_name="gpus-blocked", description="A job blocks the queue")

        rule = rule_of(stack)
        assert (rule["Name"], rule["Description"]) == ("gpus-blocked", "A job blocks the queue")

    def test_the_rule_can_live_in_another_stack(self, app: App, stack: Stack, queue: ITrainingJobQueue) -> None:
        other = Stack(app, "Other")
        queue.on_queue_blocked("Rule", cross_stack_scope=other)

        assert "Resources" not in template_of(stack)
        assert len(template_of(other)["Resources"]) == 1

    @pytest.mark.parametrize(
        ("env", "kind"),
        [
            (Environment(account="111122223333", region="us-east-1"), "Region eu-west-1"),
            (Environment(account="444455556666", region="eu-west-1"), "account 111122223333"),
        ],
    )
    def test_fails_where_no_event_would_come(self, app: App, env: Environment, kind: str) -> None:
        elsewhere = Stack(app, "Elsewhere", env=env)
        queue = TrainingJobQueue.from_job_queue_arn(elsewhere, "Queue", QUEUE_ARN)

        with pytest.raises(QuotaConstructsError, match=f"the queue is in {kind}.*define the rule in a stack of that"):
            queue.on_queue_blocked("Rule")
        assert "Resources" not in template_of(elsewhere)

    def test_fails_for_the_name_of_a_share(self, queue: ITrainingJobQueue) -> None:
        with pytest.raises(
            QuotaConstructsError, match="item of quota_shares 'vision' is not a quota share; give a Quo"
        ):
            queue.on_queue_blocked("Rule", quota_shares=cast("Any", ["vision"]))

    def test_fails_for_a_share_that_is_in_no_list(self, queue: ITrainingJobQueue, vision: Any) -> None:
        with pytest.raises(QuotaConstructsError, match="is not a list; give one of quota shares"):
            queue.on_queue_blocked("Rule", quota_shares=vision)

    def test_fails_for_a_share_that_is_known_to_be_of_another_queue(self, stack: Stack, vision: Any) -> None:
        other = TrainingJobQueue.from_job_queue_arn(stack, "Other", OTHER_QUEUE)

        with pytest.raises(QuotaConstructsError, match=r"not one of job queue .*-2', so the rule would match nothing"):
            other.on_queue_blocked("Rule", quota_shares=[vision])

    def test_fails_for_what_is_no_queue(self) -> None:
        with pytest.raises(QuotaConstructsError, match="job_queue 'gpus' is not a job queue; give a TrainingJobQueue"):
            JobQueueEvents.from_job_queue(cast("Any", "gpus"))

    def test_fails_for_an_option_that_does_not_exist(self, queue: ITrainingJobQueue) -> None:
        with pytest.raises(TypeError, match="targets"):
            queue.on_queue_blocked("Rule", targets=[])  # type: ignore[call-arg]


class TestQueues:
    """Rules are made for queues of every kind."""

    def test_our_queue_and_shares_are_named_by_reference(self, stack: Stack) -> None:
        queue = QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS, job_queue_name="gpus")
        share = queue.add_quota_share("vision", capacity_limits=LIMITS, resource_sharing=ResourceSharing.reserve())
        queue.job_queue.on_job_state_change("Rule", quota_shares=[share])

        ours = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus"
        assert matches(pattern_of(stack), of_queue(STATE_CHANGE, ours, "vision"))
        assert not matches(pattern_of(stack), of_queue(STATE_CHANGE, ours, "speech"))
        assert not matches(pattern_of(stack), of_queue(STATE_CHANGE, GUIDE_QUEUE, "vision"))

    def test_an_l1_is_taken(self, stack: Stack) -> None:
        queue = batch.CfnJobQueue(stack, "Queue", job_queue_name="gpus", priority=1)
        JobQueueEvents.from_job_queue(queue).on_job_state_change("Rule")

        ours = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus"
        assert matches(pattern_of(stack), of_queue(STATE_CHANGE, ours))

    def test_an_upstream_queue_is_taken(self, stack: Stack) -> None:
        queue = batch.JobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
        JobQueueEvents.from_job_queue(queue).on_job_state_change("Rule")

        assert matches(pattern_of(stack), of_queue(STATE_CHANGE, QUEUE_ARN))

    def test_a_queue_known_at_deployment_is_taken(self, stack: Stack) -> None:
        arn = CfnParameter(stack, "Arn", default=QUEUE_ARN).value_as_string
        TrainingJobQueue.from_job_queue_arn(stack, "Queue", arn).on_job_state_change("Rule")

        assert matches(pattern_of(stack), of_queue(STATE_CHANGE, QUEUE_ARN))
