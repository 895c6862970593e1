"""An organisation's defaults, given with CDK's property injectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk.assertions import Match, Template
from constructs import Construct

from quota_constructs import (
    JobStateTimeLimitAction,
    JobStateTimeLimitReason,
    QuotaManagedQueue,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    ResourceSharing,
    ServiceEnvironment,
    TrainingJobQueue,
)

UNIT = "ml.g5.xlarge"


@jsii.implements(cdk.IPropertyInjector)
class Defaults:
    """Gives properties to a class unless the caller gives them."""

    def __init__(self, construct: type, **defaults: object) -> None:
        self._id: str = construct.PROPERTY_INJECTION_ID  # type: ignore[attr-defined]
        self._defaults = defaults

    @property
    def construct_unique_id(self) -> str:
        return self._id

    def inject(self, original_props: Any, *, id: str, scope: Construct) -> Mapping[str, Any]:  # noqa: ARG002
        return {**self._defaults, **original_props}


def add_share(scope: Construct, **props: Any) -> QuotaShare:
    gpus = QuotaManagedQueue(scope, "Gpus", capacity_limits={UNIT: 1})
    return gpus.add_quota_share("Vision", capacity_limits={UNIT: 1}, resource_sharing=ResourceSharing.lend(), **props)


def test_an_apps_injector_gives_every_share_a_default() -> None:
    app = cdk.App(property_injectors=[Defaults(QuotaShare, tags={"cost-center": "4711"})])
    stack = cdk.Stack(app, "Gpus")

    QuotaShare(
        stack,
        "Vision",
        job_queue=TrainingJobQueue.from_job_queue_arn(
            stack, "Queue", "arn:aws:batch:eu-west-1:111122223333:job-queue/q"
        ),
        capacity_limits={UNIT: 1},
        resource_sharing=ResourceSharing.lend(),
    )

    Template.from_stack(stack).has_resource_properties("AWS::Batch::QuotaShare", {"Tags": {"cost-center": "4711"}})


def test_what_the_caller_gives_is_the_injectors_to_keep_or_change() -> None:
    app = cdk.App(property_injectors=[Defaults(QuotaShare, tags={"cost-center": "4711"})])
    stack = cdk.Stack(app, "Gpus")

    add_share(stack, tags={"cost-center": "1"})

    Template.from_stack(stack).has_resource_properties("AWS::Batch::QuotaShare", {"Tags": {"cost-center": "1"}})


def test_what_is_left_out_of_add_quota_share_is_the_injectors_to_give() -> None:
    app = cdk.App(property_injectors=[Defaults(QuotaShare, in_share_preemption=True)])
    stack = cdk.Stack(app, "Gpus")

    share = add_share(stack)

    assert share.design.in_share_preemption is True


def test_a_queue_inside_the_pattern_gets_its_time_limits() -> None:
    limit = JobStateTimeLimitAction(JobStateTimeLimitReason.INSUFFICIENT_INSTANCE_CAPACITY, cdk.Duration.hours(1))
    app = cdk.App(property_injectors=[Defaults(TrainingJobQueue, job_state_time_limit_actions=[limit])])
    stack = cdk.Stack(app, "Gpus")

    add_share(stack)

    Template.from_stack(stack).has_resource_properties(
        "AWS::Batch::JobQueue", {"JobStateTimeLimitActions": [Match.object_like({"MaxTimeSeconds": 3600})]}
    )


def test_the_nearest_injector_counts() -> None:
    app = cdk.App(property_injectors=[Defaults(ServiceEnvironment, tags={"level": "app"})])
    stack = cdk.Stack(app, "Gpus", property_injectors=[Defaults(ServiceEnvironment, tags={"level": "stack"})])

    ServiceEnvironment(stack, "Environment", capacity_limits={UNIT: 1})

    Template.from_stack(stack).has_resource_properties("AWS::Batch::ServiceEnvironment", {"Tags": {"level": "stack"}})


def test_an_injector_of_a_stage_does_not_reach_another() -> None:
    app = cdk.App()
    beta = cdk.Stage(app, "Beta", property_injectors=[Defaults(ServiceEnvironment, tags={"stage": "beta"})])
    prod = cdk.Stage(app, "Prod")
    stacks = [cdk.Stack(stage, "Gpus") for stage in (beta, prod)]
    for stack in stacks:
        ServiceEnvironment(stack, "Environment", capacity_limits={UNIT: 1})

    of_beta, of_prod = (Template.from_stack(stack) for stack in stacks)
    of_beta.has_resource_properties("AWS::Batch::ServiceEnvironment", {"Tags": {"stage": "beta"}})
    of_prod.has_resource_properties("AWS::Batch::ServiceEnvironment", {"Tags": Match.absent()})


def test_an_injector_can_give_what_is_mandatory() -> None:
    app = cdk.App(property_injectors=[Defaults(QuotaManagedQueue, capacity_limits={UNIT: 7})])
    stack = cdk.Stack(app, "Gpus")

    QuotaManagedQueue(stack, "Gpus")  # type: ignore[call-arg]

    Template.from_stack(stack).has_resource_properties(
        "AWS::Batch::ServiceEnvironment", {"CapacityLimits": [{"CapacityUnit": UNIT, "MaxCapacity": 7}]}
    )


def test_parts_of_a_queue_are_reached_too() -> None:
    app = cdk.App(
        property_injectors=[
            Defaults(QuotaShareSchedulingPolicy, tags={"owner": "platform"}),
            Defaults(TrainingJobQueue, tags={"owner": "platform"}),
        ]
    )
    stack = cdk.Stack(app, "Gpus")

    add_share(stack)

    template = Template.from_stack(stack)
    for resource_type in ("AWS::Batch::SchedulingPolicy", "AWS::Batch::JobQueue"):
        template.has_resource_properties(resource_type, {"Tags": {"owner": "platform"}})


def test_fails_if_what_is_injected_breaks_a_rule() -> None:
    app = cdk.App(property_injectors=[Defaults(QuotaShare, quota_share_name="no spaces")])
    stack = cdk.Stack(app, "Gpus")

    with pytest.raises(ValueError, match="no spaces"):
        add_share(stack)
