"""What only a complete queue shows: judged while the app is synthesized."""

from __future__ import annotations

import jsii
import pytest
from aws_cdk import Acknowledgment, App, Aspects, IAspect, NestedStack, Stack, Stage, Validations
from aws_cdk import aws_batch as batch
from constructs import IConstruct

from quota_constructs import (
    QuotaManagedQueue,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    ResourceSharing,
    ServiceEnvironment,
    TrainingJobQueue,
)
from tests.synthesis import LIMITS, warnings_of

BORROWS = ResourceSharing.lend_and_borrow(borrow_limit=100)


@pytest.fixture
def gpus(stack: Stack) -> QuotaManagedQueue:
    return QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 2})


def add(gpus: QuotaManagedQueue, *ids: str, sharing: ResourceSharing | None = None) -> None:
    for id in ids:
        gpus.add_quota_share(id, capacity_limits=LIMITS, resource_sharing=sharing or ResourceSharing.lend())


def rules_of(root: Stage) -> list[str]:
    return [text.rpartition("quota-constructs:")[2].rstrip("]") for _, text in warnings_of(root)]


def test_warns_of_nothing_when_the_shares_divide_the_environment(app: App, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One", "Two")

    assert warnings_of(app) == []


def test_warns_of_nothing_while_a_queue_has_no_share(app: App, gpus: QuotaManagedQueue) -> None:
    assert warnings_of(app) == []


def test_warns_on_the_queue_with_the_rule_and_what_to_change(app: App, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One")

    ((path, text),) = warnings_of(app)
    assert path == "/Stack/Gpus/JobQueue"
    assert "no share owns 1 of the environment's 2 ml.g5.xlarge" in text
    assert "raise a share's limit, or lower the environment's" in text
    assert text.endswith("quota-constructs:environment-capacity-unowned]")


def test_counts_shares_that_are_added_after_the_queue_was_looked_at(app: App, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One")
    assert len(gpus.job_queue.design.quota_shares) == 1
    add(gpus, "Two")

    assert warnings_of(app) == []


def test_counts_shares_that_another_stack_adds(app: App, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One")
    team = Stack(app, "Team")
    QuotaShare(team, "Two", job_queue=gpus.job_queue, capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend())

    assert warnings_of(app) == []


def test_counts_shares_of_a_nested_stack(app: App, stack: Stack, gpus: QuotaManagedQueue) -> None:
    nested = NestedStack(stack, "Team")
    for id in ("One", "Two"):
        QuotaShare(
            nested, id, job_queue=gpus.job_queue, capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend()
        )

    assert len(gpus.job_queue.design.quota_shares) == 2
    assert warnings_of(app) == []


def test_counts_shares_that_an_aspect_adds(app: App, stack: Stack, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One")
    Aspects.of(stack).add(AddTwo(gpus))

    assert warnings_of(app) == []


@jsii.implements(IAspect)
class AddTwo:
    def __init__(self, gpus: QuotaManagedQueue) -> None:
        self._gpus = gpus

    def visit(self, node: IConstruct) -> None:
        if node is self._gpus:
            add(self._gpus, "Two")


def test_synthesizing_again_adds_no_warning(app: App, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One")

    once = warnings_of(app)
    app.synth(force=True)
    assert warnings_of(app) == once


def test_fails_on_a_share_of_another_stack_that_the_environment_cannot_serve(app: App, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One", "Two")
    QuotaShare(
        Stack(app, "Team"),
        "Three",
        job_queue=gpus.job_queue,
        capacity_limits={"ml.p5.48xlarge": 1},
        resource_sharing=ResourceSharing.lend(),
    )

    with pytest.raises(RuntimeError) as refused:
        app.synth()
    assert (
        "[Stack/Gpus/JobQueue] quota-constructs:share-unit-not-in-environment: quota share 'Three': "
        "the service environment has no capacity limit for ml.p5.48xlarge" in str(refused.value)
    )


def test_fails_on_two_shares_of_one_name(app: App, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One")
    gpus.add_quota_share("Two", quota_share_name="One", capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend())

    with pytest.raises(RuntimeError, match="quota-constructs:quota-share-name-duplicate: job queue: 2 quota shares"):
        app.synth()


def test_accepts_20_shares(app: App, stack: Stack) -> None:
    add(QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 20}), *(f"Share{n}" for n in range(20)))

    assert warnings_of(app) == []


def test_fails_on_21_shares(app: App, stack: Stack) -> None:
    add(QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 21}), *(f"Share{n}" for n in range(21)))

    with pytest.raises(RuntimeError, match="quota-constructs:too-many-quota-shares: job queue: it has 21"):
        app.synth()


def test_fails_with_every_mistake_of_the_queue_at_once(app: App, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One")
    for id in ("Two", "Three"):
        gpus.add_quota_share(
            id,
            quota_share_name="One",
            capacity_limits={"ml.p5.48xlarge": 1},
            resource_sharing=ResourceSharing.lend(),
        )

    with pytest.raises(RuntimeError) as refused:
        app.synth()
    assert str(refused.value).count("quota-constructs:share-unit-not-in-environment") == 2
    assert str(refused.value).count("quota-constructs:quota-share-name-duplicate") == 1


@pytest.mark.parametrize("prefix", ["", "annotation::", "Annotation::"])
@pytest.mark.parametrize("where", ["app", "stack", "pattern", "share"])
def test_a_warning_can_be_acknowledged(app: App, gpus: QuotaManagedQueue, prefix: str, where: str) -> None:
    add(gpus, "One", sharing=ResourceSharing.reserve())
    add(gpus, "Two", sharing=BORROWS)
    scope = {"app": app, "stack": Stack.of(gpus), "pattern": gpus, "share": gpus.quota_shares[1]}[where]
    rule = f"{prefix}quota-constructs:nobody-lends"
    Validations.of(scope).acknowledge(Acknowledgment(id=rule, reason="a lender joins next month"))

    assert warnings_of(app) == []


def test_a_warning_about_one_share_can_be_acknowledged_for_it_alone(app: App, gpus: QuotaManagedQueue) -> None:
    for id in ("One", "Two"):
        gpus.add_quota_share(id, capacity_limits={"ml.g5.xlarge": 3}, resource_sharing=ResourceSharing.lend())
    rule = Acknowledgment(id="quota-constructs:share-limit-exceeds-environment", reason="the environment grows soon")
    Validations.of(gpus.quota_shares[0]).acknowledge(rule)

    assert [path for path, text in warnings_of(app) if "is more than the environment's" in text] == ["/Stack/Gpus/Two"]


def test_a_warning_can_be_acknowledged_before_there_is_anything_to_warn_of(app: App, stack: Stack) -> None:
    acknowledgment = Acknowledgment(id="quota-constructs:instance-type-unknown", reason="it is new")
    Validations.of(app).acknowledge(acknowledgment)
    ServiceEnvironment(stack, "Environment", capacity_limits={"ml.g55.xlarge": 1})

    assert warnings_of(app) == []


def test_acknowledging_one_rule_leaves_the_others(app: App, gpus: QuotaManagedQueue) -> None:
    add(gpus, "One", sharing=BORROWS)
    Validations.of(app).acknowledge(Acknowledgment(id="quota-constructs:nobody-lends", reason="later"))

    assert rules_of(app) == ["environment-capacity-unowned"]


def test_each_finding_is_reported_once(app: App, gpus: QuotaManagedQueue) -> None:
    sharing = ResourceSharing.lend_and_borrow(borrow_limit=10)
    gpus.add_quota_share("One", capacity_limits={"ml.g5.xlarge": 3}, resource_sharing=sharing)

    # The share's own, found when it is made; then what the queue shows of the share, and of itself.
    places = [path.rpartition("/")[2] for path, _ in warnings_of(app)]
    assert sorted(zip(places, rules_of(app), strict=True)) == [
        ("JobQueue", "limits-exceed-environment"),
        ("One", "borrow-limit-rounds-to-nothing"),
        ("One", "nobody-lends"),
        ("One", "share-limit-exceeds-environment"),
    ]


def test_warns_of_an_instance_type_that_sagemaker_is_not_known_to_accept(app: App, stack: Stack) -> None:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g55.xlarge": 1})
    gpus.add_quota_share(
        "One", capacity_limits={"ml.g55.xlarge": 1}, resource_sharing=ResourceSharing.lend(), quota_share_name="one"
    )

    assert sorted(path for path, text in warnings_of(app) if "'ml.g55.xlarge' is not" in text) == [
        "/Stack/Gpus/One",
        "/Stack/Gpus/ServiceEnvironment",
    ]


def test_knows_the_limits_of_an_l1_environment(app: App, stack: Stack) -> None:
    limit = batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit="ml.g5.xlarge", max_capacity=2)
    environment = batch.CfnServiceEnvironment(
        stack, "Environment", service_environment_type="SAGEMAKER_TRAINING", capacity_limits=[limit]
    )
    queue_with(stack, environment)

    assert rules_of(app) == ["environment-capacity-unowned"]


def test_judges_nothing_against_an_environment_that_it_does_not_know(app: App, stack: Stack) -> None:
    arn = "arn:aws:batch:eu-west-1:111122223333:service-environment/gpus"
    queue_with(stack, ServiceEnvironment.from_service_environment_arn(stack, "Environment", arn))

    assert warnings_of(app) == []


def queue_with(stack: Stack, environment: object) -> None:
    queue = TrainingJobQueue(
        stack,
        "Queue",
        scheduling_policy=QuotaShareSchedulingPolicy(stack, "Policy"),
        service_environment=environment,  # type: ignore[arg-type]
    )
    QuotaShare(stack, "One", job_queue=queue, capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend())


def test_works_within_a_stage(app: App) -> None:
    stage = Stage(app, "Prod")
    add(QuotaManagedQueue(Stack(stage, "Stack"), "Gpus", capacity_limits={"ml.g5.xlarge": 2}), "One")

    assert rules_of(stage) == ["environment-capacity-unowned"]
