"""The scheduling policy that makes a job queue quota-managed."""

from __future__ import annotations

from collections.abc import Mapping
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
from quota_constructs._places import note_defined
from quota_constructs._tokens import is_token, known_name
from quota_model import design as model
from quota_model.design import UNKNOWN, SchedulingPolicyKind, Unknown
from quota_model.rules import check_scheduling_policy

__all__ = ["IQuotaShareSchedulingPolicy", "QuotaShareSchedulingPolicy"]


class IQuotaShareSchedulingPolicy(refs.ISchedulingPolicyRef, Protocol):
    """A quota-share scheduling policy, defined here or imported."""

    @property
    def scheduling_policy_arn(self) -> str:
        """The ARN of the policy."""
        ...

    @property
    def scheduling_policy_name(self) -> str:
        """The name of the policy."""
        ...


@jsii.implements(refs.ISchedulingPolicyRef)
class _QuotaShareSchedulingPolicyBase(Resource):
    _identity: Identity

    @property
    def scheduling_policy_arn(self) -> str:
        """The ARN of the policy."""
        return self._identity.arn

    @property
    def scheduling_policy_name(self) -> str:
        """The name of the policy."""
        return self._identity.name

    @property
    def scheduling_policy_ref(self) -> refs.SchedulingPolicyReference:
        """The reference that upstream constructs ask for."""
        return refs.SchedulingPolicyReference(scheduling_policy_arn=self.scheduling_policy_arn)


class _ImportedPolicy(_QuotaShareSchedulingPolicyBase):
    def __init__(self, scope: Construct, id: str, arn: str) -> None:
        self._identity = ImportedIdentity.of(arn, "batch", "scheduling-policy")
        super().__init__(scope, id, environment_from_arn=arn)


class QuotaShareSchedulingPolicy(_QuotaShareSchedulingPolicyBase):
    """Define a scheduling policy of the quota-share kind (``AWS::Batch::SchedulingPolicy``).

    It is the sibling of upstream's ``FairshareSchedulingPolicy``. It holds nothing of the quotas themselves, those
    are the queue's quota shares, so one policy can serve several queues. Idle capacity goes to borrowers in FIFO
    order, the only strategy that AWS has.

    The kind of a policy is permanent: a fair-share policy can never be turned into one of these, nor back.

    Example::

        policy = QuotaShareSchedulingPolicy(self, "Policy")
        queue = TrainingJobQueue(self, "Queue", scheduling_policy=policy, service_environment=environment)

    :param scope: where the policy is defined.
    :param id: its id in that scope.
    :param scheduling_policy_name: 1 to 128 letters, digits, hyphens and underscores; CloudFormation generates a
        name by default. Changing it replaces the policy.
    :param tags: tags of the policy; none by default, and ``Tags.of`` reaches it too. Changing them updates it in place.
    :raises RefusedDesignError: if the name is not one that AWS accepts.
    """

    PROPERTY_INJECTION_ID: ClassVar[str] = "quota_constructs.QuotaShareSchedulingPolicy"
    """What a property injector names to give defaults to this class."""

    @classmethod
    def from_scheduling_policy_arn(
        cls, scope: Construct, id: str, scheduling_policy_arn: str
    ) -> IQuotaShareSchedulingPolicy:
        """Import a policy that exists; that it is of the quota-share kind cannot be seen from its ARN.

        :param scheduling_policy_arn: its ARN, literal or a token; account and region are taken from it.
        :raises MalformedArnError: if the ARN is literal and not one of a scheduling policy.
        """
        return _ImportedPolicy(scope, id, scheduling_policy_arn)

    @property_injectable
    @whole_or_not_at_all
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        scheduling_policy_name: str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        self._design = model.SchedulingPolicy(name=known_name(scheduling_policy_name))
        warnings = refuse_errors(check_scheduling_policy(self._design))
        super().__init__(scope, id, physical_name=scheduling_policy_name)
        note_defined(scope, self)
        self._resource = batch.CfnSchedulingPolicy(
            self,
            "Resource",
            name=self._physical_name if is_token(scheduling_policy_name) else scheduling_policy_name,
            # CloudFormation's schema lets the strategy out, the API requires it.
            quota_share_policy={"idleResourceAssignmentStrategy": "FIFO"},
            tags=tags,
        )
        self._identity = DefinedIdentity(
            self, scheduling_policy_name, lambda: self._resource.attr_arn, "scheduling-policy"
        )
        add_warnings(self, warnings)

    @property
    def design(self) -> model.SchedulingPolicy:
        """The policy as the rule catalogue sees it."""
        return self._design


def policy_design(policy: refs.ISchedulingPolicyRef) -> model.SchedulingPolicy:
    """Return what is known of any scheduling policy: ours, upstream's fair-share policy, or an L1."""
    if isinstance(policy, QuotaShareSchedulingPolicy):
        return policy.design
    return model.SchedulingPolicy(_kind_of(policy), UNKNOWN)


def _kind_of(policy: refs.ISchedulingPolicyRef) -> SchedulingPolicyKind | Unknown:
    if isinstance(policy, batch.CfnSchedulingPolicy):
        if policy.fairshare_policy is not None:
            return SchedulingPolicyKind.FAIR_SHARE
        return SchedulingPolicyKind.NONE if policy.quota_share_policy is None else SchedulingPolicyKind.QUOTA_SHARE
    # Upstream's interface of fair-share policies, which its imported ones implement too, is told by its members.
    return SchedulingPolicyKind.FAIR_SHARE if hasattr(policy, "share_decay") else UNKNOWN
