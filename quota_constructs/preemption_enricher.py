"""Preemption events that say which queue and share they are about."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.interfaces import aws_batch as refs
from constructs import Construct

from quota_constructs._construction import whole_or_not_at_all
from quota_constructs._injection import property_injectable
from quota_constructs._places import refuse_elsewhere
from quota_constructs.events import AWS_BATCH_SOURCE, ENRICHED_SOURCE, ServiceJobEvent
from quota_constructs.nag import acknowledge_wildcard

__all__ = ["PreemptionEnricher"]

_CODE: Final = Path(__file__).with_name("functions") / "preemption_enricher.py"


class PreemptionEnricher(Construct):
    """Send a queue's preemption events again, with the queue and the share of the preempted job.

    AWS's own events name the job alone. For each of them a small function describes the job and, if it is of this
    queue, puts the event on the default bus once more: source ``quota-constructs``, the same ``detail-type``,
    ``resources`` and time, and in ``detail`` besides AWS's fields ``jobQueue``, ``quotaShareName``, ``jobId``,
    ``jobName``, ``capacityUsage`` and ``schedulingPriority``. Define one for a queue: a second one sends every event
    twice.

    Cost: a function call for each preemption event of the account and Region, and a custom event for each of this
    queue's; at AWS's list prices about 2 USD for a million. Without preemptions it costs nothing. The events come
    a second or so later than AWS's.

    Example::

        PreemptionEnricher(self, "PreemptionEnricher", job_queue=queue)
        queue.on_preemption_started(
            "Preempted", enriched=True, quota_shares=[vision], target=targets.SnsTopic(vision_team)
        )

    :param scope: where the enricher is defined.
    :param id: its id in that scope.
    :param job_queue: the queue, of any kind: ours, an L1, or imported. Changing it updates the function in place.
    :param log_retention: how long the function's log is kept; a month by default. Changing it updates the log group
        in place.
    :raises QuotaConstructsError: if the queue is known to be in another account or Region.
    """

    PROPERTY_INJECTION_ID: ClassVar[str] = "quota_constructs.PreemptionEnricher"
    """What a property injector names to give defaults to this class."""

    function: lambda_.Function
    """The function, for alarms on its errors, say."""

    @property_injectable
    @whole_or_not_at_all
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job_queue: refs.IJobQueueRef,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
    ) -> None:
        refuse_elsewhere(scope, job_queue, "the preemption enricher")
        super().__init__(scope, id)
        log_group = logs.LogGroup(self, "Logs", retention=log_retention, removal_policy=RemovalPolicy.DESTROY)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        policy = self._policy(role, log_group)
        self.function = lambda_.Function(
            self,
            "Function",
            description="Adds queue and share to AWS Batch's preemption events",
            runtime=lambda_.Runtime.PYTHON_3_14,
            handler="index.handler",
            code=lambda_.Code.from_inline(_CODE.read_text(encoding="utf-8")),
            environment={"JOB_QUEUE_ARN": job_queue.job_queue_ref.job_queue_arn, "EVENT_SOURCE": ENRICHED_SOURCE},
            memory_size=128,
            timeout=Duration.seconds(30),
            role=role,
            log_group=log_group,
        )
        self.function.node.add_dependency(policy)
        events.Rule(
            self,
            "Rule",
            description="AWS Batch's preemption events of all queues",
            event_pattern=events.EventPattern(
                source=[AWS_BATCH_SOURCE],
                detail_type=[ServiceJobEvent.PREEMPTION_STARTED, ServiceJobEvent.PREEMPTION_COMPLETED],
            ),
            targets=[targets.LambdaFunction(self.function)],
        )

    def _policy(self, role: iam.Role, log_group: logs.LogGroup) -> iam.Policy:
        policy = iam.Policy(self, "Policy", roles=[role])
        bus = Stack.of(self).format_arn(service="events", resource="event-bus", resource_name="default")
        policy.add_statements(
            iam.PolicyStatement(actions=["batch:DescribeServiceJob"], resources=["*"]),
            iam.PolicyStatement(
                actions=["events:PutEvents"],
                resources=[bus],
                conditions={"StringEquals": {"events:source": ENRICHED_SOURCE}},
            ),
            iam.PolicyStatement(
                actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log_group.log_group_arn]
            ),
        )
        acknowledge_wildcard(policy, "*", "AWS ties batch:DescribeServiceJob to no resource")
        return policy
