"""The capacity that the quota shares of one job queue divide."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Protocol

import jsii
from aws_cdk import Resource
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces import aws_batch as refs
from constructs import Construct

from quota_constructs._construction import whole_or_not_at_all
from quota_constructs._findings import add_warnings, refuse_errors
from quota_constructs._identity import DefinedIdentity, Identity, ImportedIdentity
from quota_constructs._injection import property_injectable
from quota_constructs._limits import known_limits, limits_of_resource, rendered_limits
from quota_constructs._places import note_defined
from quota_constructs._tokens import is_token, known_choice, known_name
from quota_constructs.service_environment_grants import ServiceEnvironmentGrants
from quota_model import design as model
from quota_model.design import UNKNOWN, State
from quota_model.rules import Finding, check_service_environment

__all__ = ["IServiceEnvironment", "ServiceEnvironment"]


class IServiceEnvironment(refs.IServiceEnvironmentRef, Protocol):
    """A service environment, defined here or imported."""

    @property
    def service_environment_arn(self) -> str:
        """The ARN of the environment."""
        ...

    @property
    def service_environment_name(self) -> str:
        """The name of the environment."""
        ...

    @property
    def grants(self) -> ServiceEnvironmentGrants:
        """Who may change the environment: ``environment.grants.administer(role)``."""
        ...


@jsii.implements(refs.IServiceEnvironmentRef)
class _ServiceEnvironmentBase(Resource):
    _identity: Identity

    @property
    def service_environment_arn(self) -> str:
        """The ARN of the environment."""
        return self._identity.arn

    @property
    def service_environment_name(self) -> str:
        """The name of the environment."""
        return self._identity.name

    @cached_property
    def grants(self) -> ServiceEnvironmentGrants:
        """Who may change the environment: ``environment.grants.administer(role)``."""
        return ServiceEnvironmentGrants.from_service_environment(self)

    @property
    def service_environment_ref(self) -> refs.ServiceEnvironmentReference:
        """The reference that upstream constructs ask for."""
        return refs.ServiceEnvironmentReference(service_environment_arn=self.service_environment_arn)


class _ImportedEnvironment(_ServiceEnvironmentBase):
    def __init__(self, scope: Construct, id: str, arn: str) -> None:
        self._identity = ImportedIdentity.of(arn, "batch", "service-environment")
        super().__init__(scope, id, environment_from_arn=arn)


class ServiceEnvironment(_ServiceEnvironmentBase):
    """Define the capacity of a quota-managed job queue (``AWS::Batch::ServiceEnvironment``).

    Its limits are numbers that you set, by SageMaker Training instance type; they reserve no machines. AWS lets a
    quota-managed environment serve one queue alone, and that queue have this environment alone.

    Creating the first one in an account creates Batch's service-linked role for SageMaker, so whoever deploys it
    needs ``iam:CreateServiceLinkedRole``.

    Example::

        environment = ServiceEnvironment(self, "Environment", capacity_limits={"ml.p5.48xlarge": 8})

    :param scope: where the environment is defined.
    :param id: its id in that scope.
    :param capacity_limits: instances by instance type, 1 to 5 types; types and numbers may be tokens. Changing them
        updates the environment in place. Lower limits stop no running job: they bind what is dispatched from then on.
    :param service_environment_name: 1 to 128 letters, digits, hyphens and underscores; CloudFormation generates a
        name by default. Changing it replaces the environment, which AWS refuses while a queue is attached.
    :param state: ``State.DISABLED`` places no new job in it; AWS enables it by default. Changing it updates it in place.
    :param tags: tags of the environment; none by default, and ``Tags.of`` reaches it too. Changing them updates it
        in place.
    :raises RefusedDesignError: if AWS would refuse the name or the limits.
    """

    PROPERTY_INJECTION_ID: ClassVar[str] = "quota_constructs.ServiceEnvironment"
    """What a property injector names to give defaults to this class."""

    @classmethod
    def from_service_environment_arn(
        cls, scope: Construct, id: str, service_environment_arn: str
    ) -> IServiceEnvironment:
        """Import an environment that exists; its limits are not known then.

        :param service_environment_arn: its ARN, literal or a token; account and region are taken from it.
        :raises MalformedArnError: if the ARN is literal and not one of a service environment.
        """
        return _ImportedEnvironment(scope, id, service_environment_arn)

    @property_injectable
    @whole_or_not_at_all
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        capacity_limits: Mapping[str, float],
        service_environment_name: str | None = None,
        state: State | str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        self._design = model.ServiceEnvironment(
            known_limits(capacity_limits),
            known_name(service_environment_name),
            known_choice(state, State.ENABLED, "state"),
        )
        warnings = refuse_errors(check_service_environment(self._design))
        super().__init__(scope, id, physical_name=service_environment_name)
        note_defined(scope, self)
        self._resource = batch.CfnServiceEnvironment(
            self,
            "Resource",
            service_environment_type="SAGEMAKER_TRAINING",
            service_environment_name=(
                self._physical_name if is_token(service_environment_name) else service_environment_name
            ),
            capacity_limits=rendered_limits(capacity_limits),
            state=state,
            tags=tags,
        )
        self._identity = DefinedIdentity(
            self, service_environment_name, lambda: self._resource.attr_service_environment_arn, "service-environment"
        )
        add_warnings(self, warnings)

    @property
    def design(self) -> model.ServiceEnvironment:
        """The environment as the rule catalogue sees it; what is a token is unknown there."""
        return self._design


def environment_design(environment: refs.IServiceEnvironmentRef) -> model.ServiceEnvironment:
    """Return what is known of any service environment: ours, an L1, or an imported one."""
    if isinstance(environment, ServiceEnvironment):
        return environment.design
    if isinstance(environment, batch.CfnServiceEnvironment):
        return model.ServiceEnvironment(limits_of_resource(environment.capacity_limits), UNKNOWN)
    return model.ServiceEnvironment(model.CapacityLimits((model.CapacityLimit(UNKNOWN, UNKNOWN),)), UNKNOWN)


def environment_findings(environment: refs.IServiceEnvironmentRef) -> tuple[Finding, ...]:
    """Judge an environment that a quota-managed queue is given; ours was judged when it was defined."""
    return (
        ()
        if isinstance(environment, ServiceEnvironment)
        else check_service_environment(environment_design(environment))
    )
