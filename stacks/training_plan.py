"""Three teams' quota shares on capacity that a SageMaker training plan reserves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from aws_cdk import CfnOutput, Stack, Validations
from constructs import Construct, Node

from quota_constructs import QuotaManagedQueue, ResourceSharing, TrainingPlan
from stacks.outputs import output_what_submitting_needs

EXAMPLE_PLAN_ARN: Final = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/example-plan"
"""Stands for a plan until context names one: the account is the one that AWS's documents use for examples."""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """Which plan the stack is for.

    Context gives it (``cdk.json``, ``cdk.context.json`` or ``cdk synth -c trainingPlanArn=...``):
    ``trainingPlanArn``, ``trainingPlanInstanceType`` and ``trainingPlanInstanceCount``, as
    ``aws sagemaker describe-training-plan`` shows them.
    """

    arn: str = EXAMPLE_PLAN_ARN
    instance_type: str = "ml.p5.48xlarge"
    instance_count: int = 8

    MIN_INSTANCES: ClassVar[int] = 3

    @classmethod
    def from_context(cls, node: Node) -> Self:
        """Read the plan from a construct's context; what it leaves out is the example's.

        :raises ValueError: if the count is not a whole number, or not enough for three shares.
        """
        defaults = cls()
        count = node.try_get_context("trainingPlanInstanceCount")
        return cls(
            node.try_get_context("trainingPlanArn") or defaults.arn,
            node.try_get_context("trainingPlanInstanceType") or defaults.instance_type,
            defaults.instance_count if count is None else cls._count_of(count),
        )

    @classmethod
    def _count_of(cls, value: object) -> int:
        text = str(value)
        if not text.isdecimal() or int(text) < cls.MIN_INSTANCES:
            raise ValueError(
                f"context value trainingPlanInstanceCount {value!r} cannot be divided among three shares; "
                f"give a whole number of at least {cls.MIN_INSTANCES}"
            )
        return int(text)


class TrainingPlanStack(Stack):
    """Half of a plan for pretraining, a quarter each for fine-tuning and research.

    Pretraining keeps its half even when it is idle; fine-tuning lends what it does not use; research lends and
    borrows. Every job must carry the plan's ARN, which is among the outputs: without it, SageMaker runs the job on
    demand, at its price.

    :param plan: which plan; what context says by default, see :class:`PlanSettings`.
    """

    def __init__(self, scope: Construct, id: str, *, plan: PlanSettings | None = None, **kwargs: Any) -> None:
        super().__init__(scope, id, description="GPU quotas for three teams on a SageMaker training plan", **kwargs)
        plan = plan or PlanSettings.from_context(self.node)
        if plan.arn == EXAMPLE_PLAN_ARN:
            Validations.of(self).add_warning(
                "quota-constructs:training-plan-is-an-example",
                "the training plan is an example and names no real one; "
                "give your plan's ARN in context, as cdk synth -c trainingPlanArn=<ARN>",
            )

        training_plan = TrainingPlan.from_training_plan_attributes(
            self, "Plan", training_plan_arn=plan.arn, instance_counts={plan.instance_type: plan.instance_count}
        )
        gpus = QuotaManagedQueue.for_training_plan(self, "Gpus", training_plan=training_plan)
        pretraining = plan.instance_count // 2
        fine_tuning = (plan.instance_count - pretraining) // 2
        research = plan.instance_count - pretraining - fine_tuning
        gpus.add_quota_share(
            "Pretraining",
            quota_share_name="pretraining",
            capacity_limits={plan.instance_type: pretraining},
            resource_sharing=ResourceSharing.reserve(),
        )
        gpus.add_quota_share(
            "FineTuning",
            quota_share_name="fine-tuning",
            capacity_limits={plan.instance_type: fine_tuning},
            resource_sharing=ResourceSharing.lend(),
        )
        gpus.add_quota_share(
            "Research",
            quota_share_name="research",
            capacity_limits={plan.instance_type: research},
            resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=100),
            in_share_preemption=True,
        )
        output_what_submitting_needs(self, gpus, plan.instance_type)
        CfnOutput(
            self,
            "TrainingPlanArn",
            value=training_plan.training_plan_arn,
            description="ResourceConfig.TrainingPlanArn, which every job's payload must carry",
        )
