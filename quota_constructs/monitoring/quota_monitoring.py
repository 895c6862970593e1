"""A job queue's use, waits and preemptions in CloudWatch, to which AWS sends nothing about quota shares."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

import jsii
from aws_cdk import Aspects, Duration, IAspect, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.interfaces import aws_batch as refs
from constructs import Construct, IConstruct

from quota_constructs._arns import names_in_arn
from quota_constructs._construction import expect, whole_or_not_at_all
from quota_constructs._injection import property_injectable
from quota_constructs._places import refuse_elsewhere
from quota_constructs._tokens import is_token
from quota_constructs.errors import QuotaConstructsError
from quota_constructs.events import AWS_BATCH_SOURCE, ServiceJobEvent
from quota_constructs.functions.quota_metrics.names import Setting
from quota_constructs.job_queue import TrainingJobQueue
from quota_constructs.monitoring.alarms import QuotaAlarmThresholds, check_thresholds, define_alarms
from quota_constructs.monitoring.dashboard import QuotaWidgets
from quota_constructs.monitoring.metrics import DEFAULT_NAMESPACE, QuotaMetrics
from quota_constructs.nag import acknowledge_wildcard
from quota_model.design import QuotaQueue

__all__ = ["QuotaMonitoring"]

_CODE: Final = str(Path(__file__).parents[1] / "functions")
_MINUTE, _FIVE_MINUTES, _DAY = 60, 300, 86_400
_QUEUE_READS: Final = ("batch:GetJobQueueSnapshot", "batch:ListQuotaShares")
_UNSCOPED_READS: Final = (
    "batch:DescribeJobQueues",
    "batch:DescribeServiceEnvironments",
    "batch:DescribeServiceJob",
    "batch:ListServiceJobs",
)


class QuotaMonitoring(Construct, QuotaMetrics):
    """Publish metrics of a queue and its quota shares, and show and watch them.

    A small function reads the queue on a schedule, and counts preemptions as AWS Batch sends their events. The
    ``metric_...`` methods say what each metric is, and which of them are derived because AWS does not tell. The alarms
    are about the queue as a whole, so that they hold for shares that are added later. Define one for a queue: a second
    one in the same namespace counts every preemption twice.

    Cost: mainly CloudWatch's price of the metrics, six for each share and instance type, two for each share, four for
    each instance type and five for the queue; at AWS's list prices 0.30 USD a month each. The function's calls and
    requests are below one dollar a month, the alarms 0.50 USD, the dashboard 3 USD.

    Example::

        monitoring = QuotaMonitoring(self, "Monitoring", queue=gpus.job_queue)
        monitoring.add_alarm_action(SnsAction(topic))

    :param scope: where the monitoring is defined; in the account and Region of the queue.
    :param id: its id in that scope.
    :param queue: the queue, of any kind: ours, an L1, or imported. Shares are found when the queue is measured.
        Changing it updates the function in place; the metrics of the old queue stay as they are.
    :param rate: how often the queue is measured, in whole minutes; every minute by default. Alarms and graphs have no
        shorter periods. Changing it updates the schedule, the alarms and the dashboard in place.
    :param thresholds: what the alarms tolerate; see :class:`QuotaAlarmThresholds` for the defaults. Changing them
        updates the alarms in place.
    :param namespace: the metrics' namespace in CloudWatch; ``QuotaConstructs`` by default. After changing it the
        metrics start anew.
    :param log_retention: how long the function's log is kept; a month by default. Changing it updates the log group
        in place.
    :raises QuotaConstructsError: if the rate is not whole minutes up to a day, a threshold is not what an alarm can
        see, CloudWatch would refuse the namespace, or the queue is known to be in another account or Region.
    """

    PROPERTY_INJECTION_ID: ClassVar[str] = "quota_constructs.QuotaMonitoring"
    """What a property injector names to give defaults to this class."""

    function: lambda_.Function
    """The function that measures and counts."""
    dashboard: cloudwatch.Dashboard
    """The dashboard; further widgets can be added."""
    alarms: tuple[cloudwatch.Alarm, ...]
    """The alarms that the thresholds ask for."""

    @property_injectable
    @whole_or_not_at_all
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        queue: refs.IJobQueueRef,
        rate: Duration | None = None,
        thresholds: QuotaAlarmThresholds | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
    ) -> None:
        rate = Duration.minutes(1) if rate is None else rate
        thresholds = QuotaAlarmThresholds() if thresholds is None else thresholds
        _check_rate(rate)
        check_thresholds(thresholds, rate)
        _check_namespace(namespace)
        refuse_elsewhere(scope, queue, "the monitoring")
        Construct.__init__(self, scope, id)
        period = Duration.seconds(max(_FIVE_MINUTES, int(rate.to_seconds())))
        QuotaMetrics.__init__(self, _name_of(queue), namespace, period=period)
        self.function = self._define_function(queue.job_queue_ref.job_queue_arn, namespace, log_retention)
        self._define_triggers(rate)
        self.alarms = tuple(define_alarms(self, self, thresholds, self.function, rate))
        self.dashboard = cloudwatch.Dashboard(self, "Dashboard", default_interval=Duration.hours(12))
        widgets = QuotaWidgets(self, self._queue_name, namespace, period)
        if self.alarms:
            self.dashboard.add_widgets(*widgets.alarms(self.alarms))
        self.dashboard.add_widgets(*widgets.waiting(thresholds.head_age))
        Aspects.of(self).add(_CapacityRows(self, widgets, queue))

    def add_alarm_action(self, *actions: cloudwatch.IAlarmAction) -> None:
        """Do something when any of the alarms goes off: ``monitoring.add_alarm_action(SnsAction(topic))``."""
        for alarm in self.alarms:
            alarm.add_alarm_action(*actions)

    def add_ok_action(self, *actions: cloudwatch.IAlarmAction) -> None:
        """Do something when any of the alarms recovers."""
        for alarm in self.alarms:
            alarm.add_ok_action(*actions)

    def _define_function(self, queue_arn: str, namespace: str, retention: logs.RetentionDays) -> lambda_.Function:
        log_group = logs.LogGroup(self, "Logs", retention=retention, removal_policy=RemovalPolicy.DESTROY)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        policy = self._define_policy(role, queue_arn, namespace, log_group)
        function = lambda_.Function(
            self,
            "Function",
            description="Publishes CloudWatch metrics of a job queue's quota shares",
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.ARM_64,
            code=lambda_.Code.from_asset(_CODE, exclude=["*.py", "!quota_metrics/*.py", "**/__pycache__"]),
            handler="quota_metrics.handler.handle",
            memory_size=256,
            timeout=Duration.minutes(1),
            environment={Setting.JOB_QUEUE_ARN: queue_arn, Setting.NAMESPACE: namespace},
            log_group=log_group,
            role=role,
        )
        function.node.add_dependency(policy)
        return function

    def _define_policy(self, role: iam.Role, queue_arn: str, namespace: str, log_group: logs.LogGroup) -> iam.Policy:
        """Allow what the function calls, and nothing else."""
        policy = iam.Policy(
            self,
            "Policy",
            roles=[role],
            statements=[
                iam.PolicyStatement(actions=list(_QUEUE_READS), resources=[queue_arn]),
                iam.PolicyStatement(actions=list(_UNSCOPED_READS), resources=["*"]),
                iam.PolicyStatement(
                    actions=["cloudwatch:PutMetricData"],
                    resources=["*"],
                    conditions={"StringEquals": {"cloudwatch:namespace": namespace}},
                ),
                iam.PolicyStatement(
                    actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log_group.log_group_arn]
                ),
            ],
        )
        acknowledge_wildcard(
            policy,
            "*",
            "AWS ties batch:DescribeJobQueues, DescribeServiceEnvironments, DescribeServiceJob and ListServiceJobs, "
            "and cloudwatch:PutMetricData (which a condition limits to one namespace), to no resource",
        )
        return policy

    def _define_triggers(self, rate: Duration) -> None:
        target = targets.LambdaFunction(self.function)
        events.Rule(
            self,
            "Schedule",
            description="Measures a job queue's quota shares",
            schedule=events.Schedule.rate(rate),
            targets=[target],
        )
        events.Rule(
            self,
            "PreemptionStarted",
            # The events name no queue: the function looks the job up, and passes over those of other queues.
            description="Counts preemptions by quota share",
            event_pattern=events.EventPattern(
                source=[AWS_BATCH_SOURCE], detail_type=[ServiceJobEvent.PREEMPTION_STARTED]
            ),
            targets=[target],
        )


@jsii.implements(IAspect)
class _CapacityRows:
    """Adds a graph for each share, once all shares of the app are defined."""

    def __init__(self, monitoring: QuotaMonitoring, widgets: QuotaWidgets, queue: refs.IJobQueueRef) -> None:
        self._monitoring = monitoring
        self._widgets = widgets
        self._queue = queue
        self._done = False

    def visit(self, node: IConstruct) -> None:
        if node is not self._monitoring or self._done:
            return
        self._done = True
        for row in self._widgets.capacity(_design_of(self._queue)):
            self._monitoring.dashboard.add_widgets(*row)


def _design_of(queue: refs.IJobQueueRef) -> QuotaQueue | None:
    """Return the queue as far as it is known: that of one that is defined here, or was looked up."""
    design = getattr(queue, "design", None)
    return design if isinstance(design, QuotaQueue) else None


def _name_of(queue: refs.IJobQueueRef) -> str:
    if isinstance(queue, TrainingJobQueue):
        return queue.job_queue_name
    (name,) = names_in_arn(queue.job_queue_ref.job_queue_arn, "batch", "job-queue")
    return name


def _check_rate(rate: Duration) -> None:
    expect(isinstance(rate, Duration), "rate", rate, "a Duration", "give Duration.minutes(1), say")
    if rate.is_unresolved():
        raise QuotaConstructsError("rate is known only at deployment, and alarms depend on it; give a literal one")
    seconds = rate.to_seconds()
    if not _MINUTE <= seconds <= _DAY or seconds % _MINUTE:
        raise QuotaConstructsError(
            f"rate {rate.to_human_string()} is not whole minutes up to a day; give 1 minute, say"
        )


def _check_namespace(namespace: str) -> None:
    expect(isinstance(namespace, str), "namespace", namespace, "a text", f"give {DEFAULT_NAMESPACE!r}, say")
    if is_token(namespace):
        return
    if not 1 <= len(namespace) <= 255 or namespace.startswith((":", "AWS/")) or set(namespace) & set("\"'"):
        raise QuotaConstructsError(
            f"namespace {namespace!r} is not one for metrics of your own; give 1 to 255 characters without quotes that "
            "do not begin with 'AWS/' or a colon"
        )
