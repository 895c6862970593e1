"""The job queue that SageMaker Training jobs are submitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol, Unpack
from weakref import WeakKeyDictionary

import constructs
import jsii
from aws_cdk import Resource
from aws_cdk import aws_batch as batch
from aws_cdk import aws_events as events
from aws_cdk import aws_ssm as ssm
from aws_cdk.interfaces import aws_batch as refs
from constructs import Construct

from quota_constructs._construction import expect, whole_or_not_at_all
from quota_constructs._findings import add_warnings, refuse_errors
from quota_constructs._identity import DefinedIdentity, Identity, ImportedIdentity
from quota_constructs._injection import property_injectable
from quota_constructs._lookup import job_queue_arn_of, look_up_job_queue
from quota_constructs._parameters import JOB_QUEUE_ARN, publish_arn, published_arn
from quota_constructs._places import note_defined, refuse_parts_elsewhere
from quota_constructs._tokens import is_token, known_choice, known_name, known_number
from quota_constructs.errors import RefusedDesignError
from quota_constructs.events import (
    JobQueueEvents,
    PreemptionRuleOptions,
    ShareRuleOptions,
    StateChangeRuleOptions,
)
from quota_constructs.job_queue_grants import JobQueueGrants
from quota_constructs.scheduling_policy import policy_design
from quota_constructs.service_environment import environment_design, environment_findings
from quota_constructs.time_limits import JobStateTimeLimitAction, rendered_time_limits, time_limits_design
from quota_model import design as model
from quota_model.design import State
from quota_model.rules import (
    check_job_queue,
    check_quota_share_in_queue,
    check_service_environment_use,
    check_whole_queue,
)

if TYPE_CHECKING:
    from quota_constructs.quota_share import QuotaShare

__all__ = ["ILookedUpTrainingJobQueue", "ITrainingJobQueue", "TrainingJobQueue"]

_queues_of_environments: WeakKeyDictionary[refs.IServiceEnvironmentRef, int] = WeakKeyDictionary()
"""How many queues refer to an environment, which may be of any class."""


class ITrainingJobQueue(refs.IJobQueueRef, Protocol):
    """A job queue for SageMaker Training jobs, defined here or imported."""

    @property
    def job_queue_arn(self) -> str:
        """The ARN of the queue."""
        ...

    @property
    def job_queue_name(self) -> str:
        """The name of the queue."""
        ...

    @property
    def grants(self) -> JobQueueGrants:
        """Who may look at the queue, and run it: ``queue.grants.view(role)``."""
        ...

    def on_job_state_change(self, id: str, **options: Unpack[StateChangeRuleOptions]) -> events.Rule:
        """Define a rule for jobs of this queue that change their status."""
        ...

    def on_queue_blocked(self, id: str, **options: Unpack[ShareRuleOptions]) -> events.Rule:
        """Define a rule for jobs of this queue that are stuck at the head."""
        ...

    def on_preemption_started(self, id: str, **options: Unpack[PreemptionRuleOptions]) -> events.Rule:
        """Define a rule for jobs that begin to be preempted."""
        ...

    def on_preemption_completed(self, id: str, **options: Unpack[PreemptionRuleOptions]) -> events.Rule:
        """Define a rule for jobs that have been preempted."""
        ...

    def publish(self, parameter_prefix: str) -> ssm.IStringParameter:
        """Publish the queue to other stacks: ``queue.publish("/gpus")``."""
        ...


class ILookedUpTrainingJobQueue(ITrainingJobQueue, Protocol):
    """A job queue that exists, with what is known of it."""

    @property
    def design(self) -> model.QuotaQueue:
        """The queue with its environment and shares as looked up, and the shares that this app defines for it."""
        ...


@jsii.implements(refs.IJobQueueRef)
class _TrainingJobQueueBase(Resource):
    _identity: Identity

    @property
    def job_queue_arn(self) -> str:
        """The ARN of the queue."""
        return self._identity.arn

    @property
    def job_queue_name(self) -> str:
        """The name of the queue."""
        return self._identity.name

    @cached_property
    def grants(self) -> JobQueueGrants:
        """Who may look at the queue, and run it: ``queue.grants.view(role)``."""
        return JobQueueGrants.from_job_queue(self)

    def on_job_state_change(self, id: str, **options: Unpack[StateChangeRuleOptions]) -> events.Rule:
        """Define a rule for jobs of this queue that change their status: see :meth:`JobQueueEvents.on_job_state_change`."""
        return JobQueueEvents.from_job_queue(self).on_job_state_change(id, **options)

    def on_queue_blocked(self, id: str, **options: Unpack[ShareRuleOptions]) -> events.Rule:
        """Define a rule for jobs of this queue stuck at the head: see :meth:`JobQueueEvents.on_queue_blocked`."""
        return JobQueueEvents.from_job_queue(self).on_queue_blocked(id, **options)

    def on_preemption_started(self, id: str, **options: Unpack[PreemptionRuleOptions]) -> events.Rule:
        """Define a rule for jobs that begin to be preempted, of **all** queues unless ``enriched``.

        See :meth:`JobQueueEvents.on_preemption_started`.
        """
        return JobQueueEvents.from_job_queue(self).on_preemption_started(id, **options)

    def on_preemption_completed(self, id: str, **options: Unpack[PreemptionRuleOptions]) -> events.Rule:
        """Define a rule for jobs that have been preempted, of **all** queues unless ``enriched``.

        See :meth:`JobQueueEvents.on_preemption_completed`.
        """
        return JobQueueEvents.from_job_queue(self).on_preemption_completed(id, **options)

    @property
    def job_queue_ref(self) -> refs.JobQueueReference:
        """The reference that upstream constructs ask for."""
        return refs.JobQueueReference(job_queue_arn=self.job_queue_arn)

    def publish(self, parameter_prefix: str) -> ssm.IStringParameter:
        """Publish the queue to other stacks: its ARN in the SSM parameter ``<parameter_prefix>/job-queue-arn``.

        They import it with :meth:`TrainingJobQueue.from_parameters`, in the same account and Region.

        :param parameter_prefix: literal, such as ``/gpus``. Changing it moves the parameter, and stacks that read the
            old one cannot be deployed until they are told: publish under both, move the readers, drop the old one.
        :raises QuotaConstructsError: if Systems Manager would refuse the prefix.
        """
        return publish_arn(self, parameter_prefix, JOB_QUEUE_ARN, self.job_queue_arn)

    def _add_quota_share(self, share: QuotaShare) -> None:
        """Take note of a share that is defined for this queue; of an imported one too little is known to judge it."""


class _ImportedQueue(_TrainingJobQueueBase):
    def __init__(self, scope: Construct, id: str, arn: str, *, is_elsewhere: bool = True) -> None:
        self._identity = ImportedIdentity.of(arn, "batch", "job-queue")
        super().__init__(scope, id, environment_from_arn=arn if is_elsewhere else None)


class _LookedUpQueue(_ImportedQueue):
    def __init__(self, scope: Construct, id: str, arn: str) -> None:
        super().__init__(scope, id, arn)
        self._found = look_up_job_queue(self, arn)
        self._defined_shares: list[QuotaShare] = []

    @property
    def design(self) -> model.QuotaQueue:
        # A share that exists and is defined here is one and the same: names are unique in a queue.
        defined = [share.design for share in self._defined_shares]
        names = {share.name for share in defined}
        others = [share for share in self._found.design.quota_shares if share.name not in names]
        return replace(self._found.design, quota_shares=(*others, *defined))

    def _add_quota_share(self, share: QuotaShare) -> None:
        if self._found.complete and not self._defined_shares:  # A queue that is only read is not ours to judge.
            self.node.add_validation(_WholeQueueValidation(self))
        self._defined_shares.append(share)


class TrainingJobQueue(_TrainingJobQueueBase):
    """Define a quota-managed job queue for SageMaker Training jobs (``AWS::Batch::JobQueue``).

    Jobs are submitted to one of its quota shares: see :class:`~quota_constructs.QuotaShare`. When the app is
    synthesized, the queue is judged with its environment and all its shares, those that other stacks of the app add
    included: errors stop the synthesis, warnings appear on the share that they are about, or else on the queue.

    Example::

        policy = QuotaShareSchedulingPolicy(self, "Policy")
        environment = ServiceEnvironment(self, "Environment", capacity_limits={"ml.p5.48xlarge": 8})
        queue = TrainingJobQueue(self, "Queue", scheduling_policy=policy, service_environment=environment)

    :param scope: where the queue is defined.
    :param id: its id in that scope.
    :param scheduling_policy: a policy of the quota-share kind. It is mandatory: AWS adds no policy to a queue that
        exists, and takes none away. Changing it to another one of the kind updates the queue in place.
    :param service_environment: the capacity that the queue's shares divide, whose units are instance types. AWS lets
        it serve this queue alone. Changing it updates the queue in place.
    :param job_queue_name: 1 to 128 letters, digits, hyphens and underscores; CloudFormation generates a name by
        default. Changing it replaces the queue, its shares and the jobs in them.
    :param priority: 0 to 1000; 1 by default, since CloudFormation requires one. It orders queues that share an
        environment, which quota-managed ones never do, so it has no effect. Changing it updates the queue in place.
    :param state: ``State.DISABLED`` takes no new jobs, those already in the queue can finish; AWS enables it by
        default. Changing it updates the queue in place.
    :param job_state_time_limit_actions: what to do with jobs that are stuck at the head; by default they stay and
        block those behind them. Changing them updates the queue in place.
    :param tags: tags of the queue; none by default, and ``Tags.of`` reaches it too. Changing them updates it in place.
    :raises RefusedDesignError: if AWS would refuse the name, the policy's kind, the priority or a time limit, or an L1
        environment cannot be quota-managed.
    :raises QuotaConstructsError: if a value has another type, or the policy or the environment is known to be in another
        account or Region.
    """

    PROPERTY_INJECTION_ID: ClassVar[str] = "quota_constructs.TrainingJobQueue"
    """What a property injector names to give defaults to this class."""

    @classmethod
    def from_job_queue_arn(cls, scope: Construct, id: str, job_queue_arn: str) -> ITrainingJobQueue:
        """Import a queue that exists; what its environment and other shares are is not known then.

        :param job_queue_arn: its ARN, literal or a token; account and region are taken from it.
        :raises MalformedArnError: if the ARN is literal and not one of a job queue.
        """
        return _ImportedQueue(scope, id, job_queue_arn)

    @classmethod
    def from_parameters(cls, scope: Construct, id: str, parameter_prefix: str) -> ITrainingJobQueue:
        """Import a queue that another stack publishes with :meth:`publish`, in the same account and Region.

        CloudFormation reads the ARN at each deployment, which fails if nothing is published.

        :param parameter_prefix: what the publisher gave.
        :raises QuotaConstructsError: if Systems Manager would refuse the prefix.
        """
        return _ImportedQueue(scope, id, published_arn(scope, parameter_prefix, JOB_QUEUE_ARN), is_elsewhere=False)

    @classmethod
    def from_lookup(cls, scope: Construct, id: str, *, job_queue_name: str) -> ILookedUpTrainingJobQueue:
        """Import a queue with what exists of it, so that shares that are added to it here are judged with all others.

        The CDK CLI looks it up in the account and Region of the stack when it synthesizes: the environment's limits,
        and every share. The answers are kept in ``cdk.context.json``, so later changes of the queue show only after
        ``cdk context --reset``. The queue must exist.

        :param job_queue_name: its name, literal.
        :raises QuotaConstructsError: if the stack's account or Region or the name is not known at synthesis.
        """
        return _LookedUpQueue(scope, id, job_queue_arn_of(scope, f"job queue {job_queue_name!r}", job_queue_name))

    @property_injectable
    @whole_or_not_at_all
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        scheduling_policy: refs.ISchedulingPolicyRef,
        service_environment: refs.IServiceEnvironmentRef,
        job_queue_name: str | None = None,
        priority: float = 1,
        state: State | str | None = None,
        job_state_time_limit_actions: Sequence[JobStateTimeLimitAction] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        expect(
            hasattr(scheduling_policy, "scheduling_policy_ref"),
            "scheduling_policy",
            scheduling_policy,
            "a scheduling policy",
            "give a QuotaShareSchedulingPolicy, defined or imported",
        )
        expect(
            hasattr(service_environment, "service_environment_ref"),
            "service_environment",
            service_environment,
            "a service environment",
            "give a ServiceEnvironment, defined or imported",
        )
        self._own_design = model.QuotaQueue(
            service_environment=environment_design(service_environment),
            name=known_name(job_queue_name),
            scheduling_policy=policy_design(scheduling_policy),
            priority=known_number(priority),
            state=known_choice(state, State.ENABLED, "state"),
            job_state_time_limit_actions=time_limits_design(job_state_time_limit_actions or ()),
        )
        queues = _queues_of_environments.get(service_environment, 0) + 1
        warnings = refuse_errors(
            (
                *check_job_queue(self._own_design),
                *environment_findings(service_environment),
                *check_service_environment_use(self._own_design.service_environment, queues),
            )
        )
        refuse_parts_elsewhere(scope, "its job queue", scheduling_policy, "the scheduling policy")
        refuse_parts_elsewhere(scope, "its job queue", service_environment, "the service environment")
        super().__init__(scope, id, physical_name=job_queue_name)
        note_defined(scope, self)
        self._defined_shares: list[QuotaShare] = []
        self._resource = batch.CfnJobQueue(
            self,
            "Resource",
            job_queue_type="SAGEMAKER_TRAINING",
            job_queue_name=self._physical_name if is_token(job_queue_name) else job_queue_name,
            priority=priority,
            # ARNs, not names: CloudFormation then deletes the queue before what it refers to.
            scheduling_policy_arn=scheduling_policy.scheduling_policy_ref.scheduling_policy_arn,
            service_environment_order=[
                {
                    "order": 1,
                    "serviceEnvironment": service_environment.service_environment_ref.service_environment_arn,
                }
            ],
            state=state,
            job_state_time_limit_actions=rendered_time_limits(job_state_time_limit_actions or ()),
            tags=tags,
        )
        self._identity = DefinedIdentity(self, job_queue_name, lambda: self._resource.attr_job_queue_arn, "job-queue")
        add_warnings(self, warnings)
        self.node.add_validation(_WholeQueueValidation(self))
        _queues_of_environments[service_environment] = queues

    @property
    def design(self) -> model.QuotaQueue:
        """The queue with its environment and its shares so far, as the rule catalogue sees it.

        What is a token is unknown there, and so are shares that are defined elsewhere.
        """
        return replace(self._own_design, quota_shares=tuple(share.design for share in self._defined_shares))

    def _add_quota_share(self, share: QuotaShare) -> None:
        self._defined_shares.append(share)


@jsii.implements(constructs.IValidation)
class _WholeQueueValidation:
    """Judges a queue once all its shares are known: CDK asks for it while it synthesizes the app."""

    def __init__(self, queue: TrainingJobQueue | _LookedUpQueue) -> None:
        self._queue = queue

    def validate(self) -> list[str]:
        queue = self._queue.design
        try:
            warnings = refuse_errors(check_whole_queue(queue))
        except RefusedDesignError as refused:
            return str(refused).splitlines()
        # What is about one share appears there, where it can be acknowledged for this share alone.
        for share in self._queue._defined_shares if warnings else ():
            of_share = check_quota_share_in_queue(share.design, queue)
            add_warnings(share, of_share)
            warnings = tuple(warning for warning in warnings if warning not in of_share)
        add_warnings(self._queue, warnings)
        return []
