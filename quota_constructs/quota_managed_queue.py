"""A whole queue: the three resources that AWS ties one to one, and the shares that divide them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from aws_cdk.interfaces import aws_batch as refs
from constructs import Construct

from quota_constructs._construction import expect, whole_or_not_at_all
from quota_constructs._injection import inherit_injectors, property_injectable
from quota_constructs.job_queue import TrainingJobQueue
from quota_constructs.quota_share import QuotaShare
from quota_constructs.scheduling_policy import QuotaShareSchedulingPolicy
from quota_constructs.service_environment import ServiceEnvironment
from quota_constructs.time_limits import JobStateTimeLimitAction
from quota_constructs.training_plan import ITrainingPlan
from quota_model.design import ResourceSharing, State

__all__ = ["QuotaManagedQueue"]


class QuotaManagedQueue(Construct):
    """Define a job queue with its service environment and scheduling policy, and add quota shares to it.

    Example::

        gpus = QuotaManagedQueue(self, "Gpus", capacity_limits={"ml.g5.xlarge": 3})
        gpus.add_quota_share(
            "Background",
            capacity_limits={"ml.g5.xlarge": 1},
            resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
        )
        gpus.add_quota_share("Standard", capacity_limits={"ml.g5.xlarge": 2}, resource_sharing=ResourceSharing.lend())

    :param scope: where the queue is defined.
    :param id: its id in that scope.
    :param capacity_limits: the capacity that the shares divide: instances by instance type, 1 to 5 types. Changing
        them updates the environment in place.
    :param scheduling_policy: a policy to share with other queues; the queue gets one of its own by default.
    :param job_queue_name: the queue's name; CloudFormation generates one by default. Changing it replaces the queue.
    :param service_environment_name: the environment's name; CloudFormation generates one by default. Changing it
        replaces the environment.
    :param state: ``State.DISABLED`` lets the queue take no new jobs; AWS enables it by default. Changing it updates
        the queue in place.
    :param job_state_time_limit_actions: what to do with jobs that are stuck at the head; by default they stay and
        block those behind them. Changing them updates the queue in place.
    :raises RefusedDesignError: if AWS would refuse one of the three resources.
    """

    PROPERTY_INJECTION_ID: ClassVar[str] = "quota_constructs.QuotaManagedQueue"
    """What a property injector names to give defaults to this class."""

    scheduling_policy: refs.ISchedulingPolicyRef
    """The queue's scheduling policy."""
    service_environment: ServiceEnvironment
    """The queue's capacity."""
    job_queue: TrainingJobQueue
    """The queue itself."""
    training_plan: ITrainingPlan | None
    """The plan that the capacity is reserved by; ``None`` unless made by :meth:`for_training_plan`."""

    @classmethod
    def for_training_plan(
        cls,
        scope: Construct,
        id: str,
        *,
        training_plan: ITrainingPlan,
        scheduling_policy: refs.ISchedulingPolicyRef | None = None,
        job_queue_name: str | None = None,
        service_environment_name: str | None = None,
        state: State | str | None = None,
        job_state_time_limit_actions: Sequence[JobStateTimeLimitAction] | None = None,
    ) -> Self:
        """Define a queue whose capacity is what a training plan reserves.

        Every job must carry ``training_plan.training_plan_arn`` in its payload; see :class:`TrainingPlan`.

        :param training_plan: the plan; its instance counts are the environment's limits.
        """
        expect(
            hasattr(training_plan, "instance_counts"),
            "training_plan",
            training_plan,
            "a training plan",
            "give what TrainingPlan.from_training_plan_attributes returns",
        )
        queue = cls(
            scope,
            id,
            capacity_limits=training_plan.instance_counts,
            scheduling_policy=scheduling_policy,
            job_queue_name=job_queue_name,
            service_environment_name=service_environment_name,
            state=state,
            job_state_time_limit_actions=job_state_time_limit_actions,
        )
        queue.training_plan = training_plan
        return queue

    @property_injectable
    @whole_or_not_at_all
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        capacity_limits: Mapping[str, float],
        scheduling_policy: refs.ISchedulingPolicyRef | None = None,
        job_queue_name: str | None = None,
        service_environment_name: str | None = None,
        state: State | str | None = None,
        job_state_time_limit_actions: Sequence[JobStateTimeLimitAction] | None = None,
    ) -> None:
        super().__init__(scope, id)
        inherit_injectors(self, scope)
        self.training_plan = None
        self.scheduling_policy = scheduling_policy or QuotaShareSchedulingPolicy(self, "SchedulingPolicy")
        self.service_environment = ServiceEnvironment(
            self,
            "ServiceEnvironment",
            capacity_limits=capacity_limits,
            service_environment_name=service_environment_name,
        )
        self.job_queue = TrainingJobQueue(
            self,
            "JobQueue",
            scheduling_policy=self.scheduling_policy,
            service_environment=self.service_environment,
            job_queue_name=job_queue_name,
            state=state,
            job_state_time_limit_actions=job_state_time_limit_actions,
        )
        self._quota_shares: list[QuotaShare] = []

    @property
    def quota_shares(self) -> tuple[QuotaShare, ...]:
        """The shares that were added here, in the order in which they are created."""
        return tuple(self._quota_shares)

    def add_quota_share(
        self,
        id: str,
        *,
        capacity_limits: Mapping[str, float],
        resource_sharing: ResourceSharing,
        in_share_preemption: bool | None = None,
        quota_share_name: str | None = None,
        state: State | str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> QuotaShare:
        """Define a quota share of this queue; the parameters are those of :class:`QuotaShare`.

        The shares are created one after the other, in the order in which they are added, as every AWS sample does:
        AWS does not say whether a queue takes a second one while the first is being created.
        """
        share = QuotaShare(
            self,
            id,
            job_queue=self.job_queue,
            capacity_limits=capacity_limits,
            resource_sharing=resource_sharing,
            in_share_preemption=in_share_preemption,
            quota_share_name=quota_share_name,
            state=state,
            tags=tags,
        )
        if self._quota_shares:
            share._create_after(self._quota_shares[-1])
        self._quota_shares.append(share)
        return share
