"""GPU capacity that is reserved already: a SageMaker training plan."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from aws_cdk import Resource
from constructs import Construct, IConstruct

from quota_constructs._identity import ImportedIdentity
from quota_constructs._limits import expect_numbers_by_instance_type

__all__ = ["ITrainingPlan", "TrainingPlan"]


class ITrainingPlan(IConstruct, Protocol):
    """A SageMaker training plan."""

    @property
    def training_plan_arn(self) -> str:
        """The ARN of the plan."""
        ...

    @property
    def training_plan_name(self) -> str:
        """The name of the plan."""
        ...

    @property
    def instance_counts(self) -> Mapping[str, float]:
        """The instances that the plan reserves, by instance type."""
        ...


class TrainingPlan(Resource):
    """A SageMaker training plan that exists.

    CloudFormation has no resource for it, since a plan is bought with
    ``aws sagemaker create-training-plan``: import it with :meth:`from_training_plan_attributes`.

    No Batch resource refers to a plan. Its counts become the limits of the service environment
    (:meth:`QuotaManagedQueue.for_training_plan`), and every job must carry the ARN in its payload, as
    ``ResourceConfig.TrainingPlanArn``: Batch neither adds nor checks it. A job that runs without it runs, and is
    paid, on demand.
    """

    @classmethod
    def from_training_plan_attributes(
        cls, scope: Construct, id: str, *, training_plan_arn: str, instance_counts: Mapping[str, float]
    ) -> ITrainingPlan:
        """Import a plan.

        :param training_plan_arn: its ARN, literal or a token; account and region are taken from it.
        :param instance_counts: the instances it reserves, by instance type, as
            ``aws sagemaker describe-training-plan`` shows them; types and counts may be tokens.
        :raises MalformedArnError: if the ARN is literal and not one of a training plan.
        """
        return cls(scope, id, training_plan_arn=training_plan_arn, instance_counts=instance_counts)

    def __init__(
        self, scope: Construct, id: str, *, training_plan_arn: str, instance_counts: Mapping[str, float]
    ) -> None:
        self._identity = ImportedIdentity.of(training_plan_arn, "sagemaker", "training-plan")
        expect_numbers_by_instance_type("instance_counts", instance_counts)
        self._instance_counts = MappingProxyType(dict(instance_counts))
        super().__init__(scope, id, environment_from_arn=training_plan_arn)

    @property
    def training_plan_arn(self) -> str:
        """The ARN of the plan, which every job's payload must carry."""
        return self._identity.arn

    @property
    def training_plan_name(self) -> str:
        """The name of the plan."""
        return self._identity.name

    @property
    def instance_counts(self) -> Mapping[str, float]:
        """The instances that the plan reserves, by instance type."""
        return self._instance_counts
