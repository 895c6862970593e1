"""One team's part of a job queue's capacity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Protocol

import jsii
from aws_cdk import PhysicalName, Resource
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ssm as ssm
from aws_cdk.interfaces import aws_batch as refs
from constructs import Construct

from quota_constructs._arns import names_in_arn, queue_arn_of
from quota_constructs._construction import expect, expect_a_queue, whole_or_not_at_all
from quota_constructs._findings import add_warnings, refuse_errors
from quota_constructs._identity import DefinedIdentity, Identity, ImportedIdentity
from quota_constructs._injection import property_injectable
from quota_constructs._limits import known_limits, rendered_limits
from quota_constructs._lookup import job_queue_arn_of, look_up_quota_share
from quota_constructs._parameters import QUOTA_SHARE_ARN, publish_arn, published_arn
from quota_constructs._places import refuse_parts_elsewhere
from quota_constructs._tokens import is_token, known_choice, known_sharing, known_text
from quota_constructs.errors import QuotaConstructsError
from quota_constructs.job_queue import TrainingJobQueue, _TrainingJobQueueBase
from quota_constructs.quota_share_grants import QuotaShareGrants
from quota_model import design as model
from quota_model.design import ResourceSharing, State
from quota_model.rules import check_quota_share

__all__ = ["ILookedUpQuotaShare", "IQuotaShare", "QuotaShare"]


class IQuotaShare(refs.IQuotaShareRef, Protocol):
    """A quota share, defined here or imported."""

    @property
    def quota_share_arn(self) -> str:
        """The ARN of the share."""
        ...

    @property
    def quota_share_name(self) -> str:
        """The name of the share, which is unique in its queue."""
        ...

    @property
    def job_queue_arn(self) -> str:
        """The ARN of the queue that the share belongs to."""
        ...

    @property
    def grants(self) -> QuotaShareGrants:
        """Who may use the share: ``share.grants.submit(role)``."""
        ...

    def publish(self, parameter_prefix: str) -> ssm.IStringParameter:
        """Publish the share to other stacks: ``share.publish("/gpus/vision")``."""
        ...


class ILookedUpQuotaShare(IQuotaShare, Protocol):
    """A quota share that exists, with what is known of it."""

    @property
    def design(self) -> model.QuotaShare:
        """The share as looked up; all but its name is unknown until the CDK CLI has done so."""
        ...


@jsii.implements(refs.IQuotaShareRef)
class _QuotaShareBase(Resource):
    _identity: Identity
    _queue_arn: str

    @property
    def quota_share_arn(self) -> str:
        """The ARN of the share."""
        return self._identity.arn

    @property
    def quota_share_name(self) -> str:
        """The name of the share, which is unique in its queue: what a job names when it is submitted."""
        return self._identity.name

    @property
    def job_queue_arn(self) -> str:
        """The ARN of the queue that the share belongs to."""
        return self._queue_arn

    @cached_property
    def grants(self) -> QuotaShareGrants:
        """Who may use the share: ``share.grants.submit(role)``."""
        return QuotaShareGrants(self, self.job_queue_arn)

    @property
    def quota_share_ref(self) -> refs.QuotaShareReference:
        """The reference that upstream constructs ask for."""
        return refs.QuotaShareReference(quota_share_arn=self.quota_share_arn)

    def publish(self, parameter_prefix: str) -> ssm.IStringParameter:
        """Publish the share to other stacks: its ARN in the SSM parameter ``<parameter_prefix>/quota-share-arn``.

        They import it with :meth:`QuotaShare.from_parameters`, in the same account and Region. The ARN names the
        queue too, so there is nothing else to publish.

        :param parameter_prefix: literal, such as ``/gpus/vision``. Changing it moves the parameter, and stacks that
            read the old one cannot be deployed until they are told: publish under both, move the readers, drop the
            old one.
        :raises QuotaConstructsError: if Systems Manager would refuse the prefix.
        """
        return publish_arn(self, parameter_prefix, QUOTA_SHARE_ARN, self.quota_share_arn)


class _ImportedQuotaShare(_QuotaShareBase):
    def __init__(
        self, scope: Construct, id: str, arn: str, name: str, queue_arn: str, *, is_elsewhere: bool = True
    ) -> None:
        self._identity, self._queue_arn = ImportedIdentity(arn, name), queue_arn
        super().__init__(scope, id, environment_from_arn=arn if is_elsewhere else None)

    @classmethod
    def of(cls, scope: Construct, id: str, arn: str, *, is_elsewhere: bool = True) -> _ImportedQuotaShare:
        """Import by ARN; ``is_elsewhere`` says that account and Region are the ARN's, perhaps not the stack's."""
        _, name = names_in_arn(arn, "batch", "job-queue", "quota-share")
        return cls(scope, id, arn, name, queue_arn_of(arn), is_elsewhere=is_elsewhere)


class _LookedUpQuotaShare(_ImportedQuotaShare):
    def __init__(self, scope: Construct, id: str, arn: str, name: str, queue_arn: str) -> None:
        super().__init__(scope, id, arn, name, queue_arn)
        self._design = look_up_quota_share(self, arn)

    @property
    def design(self) -> model.QuotaShare:
        return self._design


class QuotaShare(_QuotaShareBase):
    """Define a quota share: one team's, project's or kind of work's part of a queue (``AWS::Batch::QuotaShare``).

    Example::

        QuotaShare(
            self,
            "Vision",
            job_queue=queue,
            capacity_limits={"ml.p5.48xlarge": 4},
            resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=100),
            in_share_preemption=True,
        )

    :param scope: where the share is defined: the queue's stack, or another team's.
    :param id: its id in that scope.
    :param job_queue: the queue it is a part of, of any kind: ours, an L1, or imported. Changing it replaces the share.
    :param capacity_limits: what the share may use without borrowing: instances by instance type, 1 to 5 types; types
        and numbers may be tokens. Changing them updates the share in place, and running jobs above lower limits may
        then be preempted, when other jobs need their place.
    :param resource_sharing: what happens to capacity that is idle: ``ResourceSharing.reserve()``, ``.lend()`` or
        ``.lend_and_borrow(borrow_limit=...)``. Changing it updates the share in place.
    :param in_share_preemption: whether a waiting job stops running jobs of a lower priority in the same share; not by
        default. Taking lent capacity back from other shares is always on. Changing it updates the share in place.
    :param quota_share_name: 1 to 128 letters, digits, hyphens and underscores, unique in the queue; the construct's
        id by default, since CloudFormation generates none. Changing it replaces the share and ends its jobs.
    :param state: ``State.DISABLED`` takes no new jobs, those already submitted can finish; AWS enables it by default.
        Changing it updates the share in place.
    :param tags: tags of the share; none by default, and ``Tags.of`` reaches it too. Changing them updates it in place.
    :raises RefusedDesignError: if AWS would refuse the name, the limits or the borrow limit.
    :raises QuotaConstructsError: if a value has another type, or the queue is known to be in another account or Region.
    """

    PROPERTY_INJECTION_ID: ClassVar[str] = "quota_constructs.QuotaShare"
    """What a property injector names to give defaults to this class."""

    @classmethod
    def from_quota_share_arn(cls, scope: Construct, id: str, quota_share_arn: str) -> IQuotaShare:
        """Import a share that exists.

        :param quota_share_arn: its ARN, literal or a token; account and region are taken from it.
        :raises MalformedArnError: if the ARN is literal and not one of a quota share.
        """
        return _ImportedQuotaShare.of(scope, id, quota_share_arn)

    @classmethod
    def from_parameters(cls, scope: Construct, id: str, parameter_prefix: str) -> IQuotaShare:
        """Import a share that another stack publishes with :meth:`publish`, in the same account and Region.

        CloudFormation reads the ARN at each deployment, which fails if nothing is published.

        :param parameter_prefix: what the publisher gave.
        :raises QuotaConstructsError: if Systems Manager would refuse the prefix.
        """
        arn = published_arn(scope, parameter_prefix, QUOTA_SHARE_ARN)
        return _ImportedQuotaShare.of(scope, id, arn, is_elsewhere=False)

    @classmethod
    def from_lookup(
        cls, scope: Construct, id: str, *, job_queue_name: str, quota_share_name: str
    ) -> ILookedUpQuotaShare:
        """Import a share that exists, with its limits as they are.

        The CDK CLI looks it up in the account and Region of the stack when it synthesizes, and fails if there is no
        such share. The answer is kept in ``cdk.context.json``, so later changes of the share show only after
        ``cdk context --reset``. To add a share of your own, look up the queue instead:
        :meth:`TrainingJobQueue.from_lookup`.

        :param job_queue_name: the name of its queue, literal.
        :param quota_share_name: its name, literal.
        :raises QuotaConstructsError: if the stack's account or Region or a name is not known at synthesis.
        """
        expect(
            isinstance(quota_share_name, str), "quota_share_name", quota_share_name, "a text", "give the share's name"
        )
        if is_token(quota_share_name):
            raise QuotaConstructsError("quota_share_name is a token, which cannot be looked up; give a literal name")
        queue_arn = job_queue_arn_of(scope, f"quota share {quota_share_name!r}", job_queue_name)
        arn = f"{queue_arn}/quota-share/{quota_share_name}"
        return _LookedUpQuotaShare(scope, id, arn, quota_share_name, queue_arn)

    @classmethod
    def from_quota_share_attributes(
        cls, scope: Construct, id: str, *, job_queue: refs.IJobQueueRef, quota_share_name: str
    ) -> IQuotaShare:
        """Import a share that exists by its name and its queue.

        :param job_queue: its queue, imported or not; account and region are taken from the queue's ARN.
        :param quota_share_name: its name, literal or a token.
        """
        queue_arn = job_queue.job_queue_ref.job_queue_arn
        arn = f"{queue_arn}/quota-share/{quota_share_name}"
        return _ImportedQuotaShare(scope, id, arn, quota_share_name, queue_arn)

    @property_injectable
    @whole_or_not_at_all
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job_queue: refs.IJobQueueRef,
        capacity_limits: Mapping[str, float],
        resource_sharing: ResourceSharing,
        in_share_preemption: bool | None = None,
        quota_share_name: str | None = None,
        state: State | str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        expect_a_queue("job_queue", job_queue)
        _expect_a_boolean(in_share_preemption)
        name = id if quota_share_name is None else quota_share_name
        _refuse_a_name_that_may_stay_out(name)
        self._design = model.QuotaShare(
            known_text(name),
            known_limits(capacity_limits),
            known_sharing(resource_sharing),
            bool(in_share_preemption),
            known_choice(state, State.ENABLED, "state"),
        )
        warnings = refuse_errors(check_quota_share(self._design))
        refuse_parts_elsewhere(scope, "its quota share", job_queue, "the job queue")
        self._queue_arn = _arn_of_queue(job_queue)
        super().__init__(scope, id, physical_name=name)
        self._resource = batch.CfnQuotaShare(
            self,
            "Resource",
            quota_share_name=name,
            # The ARN, not the name: CloudFormation then deletes the share before its queue.
            job_queue=self._queue_arn,
            capacity_limits=rendered_limits(capacity_limits),
            resource_sharing_configuration=_rendered_sharing(resource_sharing),
            preemption_configuration={"inSharePreemption": "ENABLED" if in_share_preemption else "DISABLED"},
            state=state,
            tags=tags,
        )
        self._identity = DefinedIdentity(
            self,
            name,
            lambda: self._resource.attr_quota_share_arn,
            "job-queue",
            "quota-share",
            parent_name=lambda: _name_of_queue(job_queue, self._queue_arn),
        )
        add_warnings(self, warnings)
        if isinstance(job_queue, _TrainingJobQueueBase):
            job_queue._add_quota_share(self)

    @property
    def design(self) -> model.QuotaShare:
        """The share as the rule catalogue sees it; what is a token is unknown there."""
        return self._design

    def _create_after(self, other: QuotaShare) -> None:
        """Let CloudFormation create this share only when another of the same stack exists."""
        self._resource.add_resource_dependency(other._resource)


def _expect_a_boolean(in_share_preemption: object) -> None:
    # Anything else would be true in Python, "DISABLED" and every token included.
    expect(
        in_share_preemption in (True, False, None),
        "in_share_preemption",
        in_share_preemption,
        "True or False",
        "give one of them; what only a deployment knows goes to the L1, which is node.default_child",
    )


def _refuse_a_name_that_may_stay_out(name: str) -> None:
    if is_token(name) and name == PhysicalName.GENERATE_IF_NEEDED:
        raise QuotaConstructsError(
            "quota_share_name is PhysicalName.GENERATE_IF_NEEDED, and CloudFormation always needs one; give a name, or "
            "leave it out for the construct's id"
        )


def _arn_of_queue(queue: refs.IJobQueueRef) -> str:
    # Asking ours directly spares a trip through jsii's reference structure for every share.
    return queue.job_queue_arn if isinstance(queue, TrainingJobQueue) else queue.job_queue_ref.job_queue_arn


def _name_of_queue(queue: refs.IJobQueueRef, arn: str) -> str:
    if isinstance(queue, TrainingJobQueue):
        return queue.job_queue_name  # Resolves to a plain name where a token of the ARN cannot.
    (name,) = names_in_arn(arn, "batch", "job-queue")
    return name


def _rendered_sharing(sharing: ResourceSharing) -> dict[str, object]:
    rendered: dict[str, object] = {"strategy": sharing.strategy}
    if sharing.borrow_limit is not None:  # 0 is a limit.
        rendered["borrowLimit"] = sharing.borrow_limit
    return rendered
