from __future__ import annotations

from typing import Any

import botocore.session
import pytest
from aws_cdk import Acknowledgment, App, Validations
from botocore.model import StringShape
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from stacks.training_plan import EXAMPLE_PLAN_ARN, PlanSettings, TrainingPlanStack
from tests.stacks.conftest import Synth
from tests.synthesis import warnings_of

PLAN = {"trainingPlanArn": "arn:aws:sagemaker:us-west-2:444455556666:training-plan/spring"}


def limits_of(template: dict[str, Any], kind: str) -> list[tuple[str, int]]:
    resources = [each for each in template["Resources"].values() if each["Type"] == f"AWS::Batch::{kind}"]
    return [
        (limit["CapacityUnit"], limit["MaxCapacity"])
        for each in resources
        for limit in each["Properties"]["CapacityLimits"]
    ]


def test_is_what_it_was(template_of_stack: Synth, snapshot: SnapshotAssertion) -> None:
    assert template_of_stack(TrainingPlanStack, PLAN) == snapshot(extension_class=JSONSnapshotExtension)


def test_its_example_is_of_a_type_that_plans_can_reserve() -> None:
    model = botocore.session.get_session().get_service_model("sagemaker")
    reservable, trainable = (model.shape_for(name) for name in ("ReservedCapacityInstanceType", "TrainingInstanceType"))

    assert isinstance(reservable, StringShape)
    assert isinstance(trainable, StringShape)
    assert PlanSettings().instance_type in reservable.enum
    assert PlanSettings().instance_type in trainable.enum


@pytest.mark.parametrize(
    ("count", "shares"),
    [(3, [1, 1, 1]), (4, [2, 1, 1]), (7, [3, 2, 2]), (8, [4, 2, 2]), (9, [4, 2, 3]), (256, [128, 64, 64])],
)
@pytest.mark.parametrize("kind", [int, str])  # cdk.json has numbers, the command line gives texts
def test_three_teams_divide_the_plan(template_of_stack: Synth, count: int, shares: list[int], kind: type) -> None:
    context = PLAN | {"trainingPlanInstanceType": "ml.p5en.48xlarge", "trainingPlanInstanceCount": kind(count)}
    template = template_of_stack(TrainingPlanStack, context)

    assert limits_of(template, "ServiceEnvironment") == [("ml.p5en.48xlarge", count)]
    assert limits_of(template, "QuotaShare") == [("ml.p5en.48xlarge", share) for share in shares]


@pytest.mark.parametrize("count", ["2", "0", "-3", "8.5", "many", "", 2, 8.5], ids=repr)
def test_fails_on_a_count_that_three_shares_cannot_divide(template_of_stack: Synth, count: object) -> None:
    with pytest.raises(ValueError, match=f"trainingPlanInstanceCount {count!r} cannot be divided among three shares"):
        template_of_stack(TrainingPlanStack, PLAN | {"trainingPlanInstanceCount": count})


def test_fails_on_an_arn_that_is_no_plans(template_of_stack: Synth) -> None:
    with pytest.raises(ValueError, match="'spring' is not the ARN of a training plan"):
        template_of_stack(TrainingPlanStack, {"trainingPlanArn": "spring"})


def test_outputs_the_plan_that_every_jobs_payload_must_carry(template_of_stack: Synth) -> None:
    outputs = template_of_stack(TrainingPlanStack, PLAN)["Outputs"]

    assert outputs["TrainingPlanArn"]["Value"] == PLAN["trainingPlanArn"]
    assert "payload must carry" in outputs["TrainingPlanArn"]["Description"]
    assert set(outputs) - {"TrainingPlanArn"} == {
        "JobQueueName",
        "JobQueueArn",
        "PretrainingQuotaShareName",
        "FineTuningQuotaShareName",
        "ResearchQuotaShareName",
        "InstanceType",
    }


def test_warns_that_the_example_names_no_real_plan(app: App) -> None:
    TrainingPlanStack(app, "TrainingPlan")

    ((path, text),) = warnings_of(app)
    assert path == "/TrainingPlan"
    assert "is an example and names no real one; give your plan's ARN in context" in text


def test_the_warning_can_be_acknowledged(app: App) -> None:
    stack = TrainingPlanStack(app, "TrainingPlan")
    Validations.of(stack).acknowledge(
        Acknowledgment(id="quota-constructs:training-plan-is-an-example", reason="only to look at")
    )

    assert warnings_of(app) == []


def test_has_nothing_to_warn_of_with_a_real_plan(app: App) -> None:
    TrainingPlanStack(app, "TrainingPlan", plan=PlanSettings(PLAN["trainingPlanArn"], instance_count=16))

    assert warnings_of(app) == []


def test_the_example_is_documented_as_one() -> None:
    # The account that AWS's documents use for examples.
    assert EXAMPLE_PLAN_ARN == "arn:aws:sagemaker:us-east-1:111122223333:training-plan/example-plan"
    assert PlanSettings().arn == EXAMPLE_PLAN_ARN
