"""Rules for the events that AWS Batch sends about service jobs.

Sources: AWS Batch User Guide, "Service job state change events", "Service job queue blocked events" and "Service job
preemption events". Batch delivers each event at least once.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, Self, TypedDict, Unpack, cast

from aws_cdk import aws_events as events
from aws_cdk.interfaces import aws_batch as refs
from constructs import Construct

from quota_constructs._arns import names_in_arn, queue_arn_of
from quota_constructs._construction import expect, expect_a_queue
from quota_constructs._places import refuse_elsewhere
from quota_constructs._tokens import is_token
from quota_constructs.errors import QuotaConstructsError

__all__ = [
    "AWS_BATCH_SOURCE",
    "ENRICHED_SOURCE",
    "JobQueueEvents",
    "PreemptionRuleOptions",
    "RuleOptions",
    "ServiceJobEvent",
    "ServiceJobStatus",
    "ShareRuleOptions",
    "StateChangeRuleOptions",
]

AWS_BATCH_SOURCE: Final = "aws.batch"
"""The ``source`` of the events that AWS Batch sends."""

ENRICHED_SOURCE: Final = "quota-constructs"
"""The ``source`` of the events that a :class:`~quota_constructs.PreemptionEnricher` sends."""


class ServiceJobEvent(StrEnum):
    """The ``detail-type`` of the events that AWS Batch sends about service jobs."""

    STATE_CHANGE = "Batch Service Job State Change"
    QUEUE_BLOCKED = "Batch Service Job Queue Blocked"
    PREEMPTION_STARTED = "Batch Service Job Preemption Started"
    PREEMPTION_COMPLETED = "Batch Service Job Preemption Completed"


class ServiceJobStatus(StrEnum):
    """The status of a service job. Submitting a job sends no event, so SUBMITTED has no event to match."""

    RUNNABLE = "RUNNABLE"
    SCHEDULED = "SCHEDULED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


class RuleOptions(TypedDict, total=False):
    """What every ``on_...`` method takes, as those of upstream constructs do."""

    target: events.IRuleTarget | None
    """Where matching events go, any of ``aws_events_targets``; by default targets are added to the rule later."""
    description: str | None
    """What the rule is for."""
    rule_name: str | None
    """The rule's name; CloudFormation generates one by default. Changing it replaces the rule."""
    event_pattern: events.EventPattern | None
    """Further fields that an event has to match. Values for a field that the method fills in itself are added to its
    own, and so let more events match."""
    cross_stack_scope: Construct | None
    """The scope of the rule, if its target is in another stack; the queue by default."""


class ShareRuleOptions(RuleOptions, total=False):
    """What ``on_queue_blocked`` takes."""

    quota_shares: Sequence[refs.IQuotaShareRef]
    """The shares that the jobs are in; any by default."""


class StateChangeRuleOptions(ShareRuleOptions, total=False):
    """What ``on_job_state_change`` takes."""

    statuses: Sequence[ServiceJobStatus | str]
    """What the jobs change to; any status by default."""


class PreemptionRuleOptions(ShareRuleOptions, total=False):
    """What ``on_preemption_started`` and ``on_preemption_completed`` take."""

    enriched: bool
    """Whether to match the events of a :class:`~quota_constructs.PreemptionEnricher`; not by default."""


class JobQueueEvents:
    """Define rules for a queue's events: ``queue.on_...``, or :meth:`from_job_queue` of an L1 or any other reference.

    Every method defines a rule with the given id on the default event bus and returns it, and takes the options of
    :class:`~quota_constructs.RuleOptions` besides its own. It raises :class:`~quota_constructs.QuotaConstructsError` if
    the rule is known to be in another account or Region than the queue, where no event would come.

    Example::

        queue.on_job_state_change("Failed", statuses=[ServiceJobStatus.FAILED], target=targets.SnsTopic(topic))
        queue.on_queue_blocked("Blocked", target=targets.SnsTopic(topic))
    """

    def __init__(self, job_queue: refs.IJobQueueRef) -> None:
        expect_a_queue("job_queue", job_queue)
        self._queue = job_queue

    @classmethod
    def from_job_queue(cls, job_queue: refs.IJobQueueRef) -> Self:
        """Return the events of any job queue: ours, an L1, an upstream one, or imported."""
        return cls(job_queue)

    def on_job_state_change(
        self,
        id: str,
        *,
        statuses: Sequence[ServiceJobStatus | str] = (),
        quota_shares: Sequence[refs.IQuotaShareRef] = (),
        **options: Unpack[RuleOptions],
    ) -> events.Rule:
        """Define a rule for jobs of this queue that change their status. A job's submission sends no event.

        :param statuses: what the jobs change to; any status by default.
        :param quota_shares: the shares that the jobs are in; any by default. AWS's sample event is older than quota
            shares and has no ``quotaShareName``; its guide says that the detail resembles that of DescribeServiceJob,
            which has one, and the rule relies on it.
        :raises QuotaConstructsError: if a status is not one of :class:`~quota_constructs.ServiceJobStatus`.
        """
        detail = self._of_queue(quota_shares)
        if statuses:
            detail["status"] = [_status(status) for status in statuses]
        return self._rule(id, AWS_BATCH_SOURCE, ServiceJobEvent.STATE_CHANGE, detail, options)

    def on_queue_blocked(
        self, id: str, *, quota_shares: Sequence[refs.IQuotaShareRef] = (), **options: Unpack[RuleOptions]
    ) -> events.Rule:
        """Define a rule for jobs of this queue that are stuck at the head, and block those behind them.

        The event's ``detail.statusReason`` says why, such as ``CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - ...``.

        :param quota_shares: the shares that the jobs are in; any by default. As for :meth:`on_job_state_change`, AWS's
            sample event has no ``quotaShareName``.
        """
        detail = self._of_queue(quota_shares)
        return self._rule(id, AWS_BATCH_SOURCE, ServiceJobEvent.QUEUE_BLOCKED, detail, options)

    def on_preemption_started(
        self,
        id: str,
        *,
        enriched: bool = False,
        quota_shares: Sequence[refs.IQuotaShareRef] = (),
        **options: Unpack[RuleOptions],
    ) -> events.Rule:
        """Define a rule for jobs that begin to be preempted.

        AWS's event names the preempted job and neither its queue nor its share, so by default the rule matches the
        preemptions of **all** queues of the account and Region. AWS words it for capacity that is taken back from a
        borrower; whether a preemption within a share sends it too, it does not say.

        :param enriched: match what a :class:`~quota_constructs.PreemptionEnricher` of this queue sends instead, which
            is about this queue alone.
        :param quota_shares: the shares that the preempted jobs are in; any by default. Needs ``enriched``.
        :raises QuotaConstructsError: if shares are given without ``enriched``.
        """
        return self._preemption_rule(id, ServiceJobEvent.PREEMPTION_STARTED, enriched, quota_shares, options)

    def on_preemption_completed(
        self,
        id: str,
        *,
        enriched: bool = False,
        quota_shares: Sequence[refs.IQuotaShareRef] = (),
        **options: Unpack[RuleOptions],
    ) -> events.Rule:
        """Define a rule for jobs that have been preempted; the event sums up the attempts that this ended.

        As for :meth:`on_preemption_started`, the rule matches the preemptions of **all** queues by default. AWS's
        sample has the job RUNNABLE again; what is sent when its preemption retries are used up, AWS does not say.

        :param enriched: match what a :class:`~quota_constructs.PreemptionEnricher` of this queue sends instead, which
            is about this queue alone.
        :param quota_shares: the shares that the preempted jobs are in; any by default. Needs ``enriched``.
        :raises QuotaConstructsError: if shares are given without ``enriched``.
        """
        return self._preemption_rule(id, ServiceJobEvent.PREEMPTION_COMPLETED, enriched, quota_shares, options)

    def _preemption_rule(
        self,
        id: str,
        event: ServiceJobEvent,
        enriched: bool,
        quota_shares: Sequence[refs.IQuotaShareRef],
        options: RuleOptions,
    ) -> events.Rule:
        if enriched:
            return self._rule(id, ENRICHED_SOURCE, event, self._of_queue(quota_shares), options)
        if quota_shares:
            raise QuotaConstructsError(
                "quota_shares cannot be told apart by AWS's preemption events; "
                "add a PreemptionEnricher for the queue and give enriched=True, or drop quota_shares"
            )
        return self._rule(id, AWS_BATCH_SOURCE, event, None, options)

    def _of_queue(self, quota_shares: Sequence[refs.IQuotaShareRef]) -> dict[str, Any]:
        expect(isinstance(quota_shares, Sequence), "quota_shares", quota_shares, "a list", "give one of quota shares")
        queue_arn = self._queue.job_queue_ref.job_queue_arn
        detail = {"jobQueue": [queue_arn]}
        if quota_shares:
            detail["quotaShareName"] = [_share_name(share, queue_arn) for share in quota_shares]
        return detail

    def _rule(
        self, id: str, source: str, event: ServiceJobEvent, detail: dict[str, Any] | None, options: RuleOptions
    ) -> events.Rule:
        given = events.OnEventOptions(**options)  # Upstream's: it refuses what is no option.
        scope = self._scope() if given.cross_stack_scope is None else given.cross_stack_scope
        refuse_elsewhere(scope, self._queue, "the rule")
        rule = events.Rule(
            scope,
            id,
            description=given.description,
            rule_name=given.rule_name,
            event_pattern=given.event_pattern,
        )
        rule.add_event_pattern(source=[source], detail_type=[event], detail=detail)
        rule.add_target(given.target)
        return rule

    def _scope(self) -> Construct:
        """Return the queue or, as jsii shows a queue that upstream imports as no construct, what is around it."""
        queue: object = self._queue
        return queue if isinstance(queue, Construct) else cast(Construct, self._queue.node.scope)


def _status(status: str) -> str:
    if is_token(status) or status in list(ServiceJobStatus):
        return str(status)
    raise QuotaConstructsError(
        f"status {status!r} is not one that jobs change to, so the rule would match nothing; "
        f"use {', '.join(ServiceJobStatus)}"
    )


def _share_name(share: refs.IQuotaShareRef, queue_arn: str) -> str:
    remedy = "give a QuotaShare, defined or imported"
    expect(hasattr(share, "quota_share_ref"), "item of quota_shares", share, "a quota share", remedy)
    arn = share.quota_share_ref.quota_share_arn
    _, name = names_in_arn(arn, "batch", "job-queue", "quota-share")
    if not is_token(arn) and not is_token(queue_arn) and queue_arn_of(arn) != queue_arn:
        raise QuotaConstructsError(
            f"quota share {arn!r} is not one of job queue {queue_arn!r}, so the rule would match nothing; "
            "give shares of this queue"
        )
    return name
