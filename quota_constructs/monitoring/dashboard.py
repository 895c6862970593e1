"""What the dashboard of a monitored queue shows.

Shares are found by search expressions when the dashboard is looked at, so that those of an imported queue, and those
that are added later, show too. Of shares that are known at synthesis, each has a graph of its own besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Unpack

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from quota_constructs.functions.quota_metrics.names import Dimension, MetricName
from quota_constructs.monitoring.metrics import MetricOptions, QuotaMetrics
from quota_model.design import CapacityLimits, QuotaQueue

__all__ = ["QuotaWidgets"]

_ROW: Final = 24
_HEIGHT: Final = 6
_SHARES_IN_ROW: Final = 4
# None of the colours that CloudWatch gives to series of a search, which are shares.
_OWN, _BORROWED, _LENT, _IDLE = "#0f766e", "#db2777", "#a78bfa", "#c7c7c7"
_LIMIT = "#16191f"


class QuotaWidgets:
    """Makes the rows of a dashboard out of a queue's metrics."""

    def __init__(self, metrics: QuotaMetrics, queue_name: str, namespace: str, period: Duration) -> None:
        self._metrics = metrics
        self._queue_name = queue_name
        self._namespace = namespace
        self._period = period

    def capacity(self, design: QuotaQueue | None) -> list[list[cloudwatch.IWidget]]:
        """Return rows that show who uses, borrows, lends and idles how much, against the limits.

        :param design: the queue as far as it is known at synthesis.
        """
        if design is None or not _is_known(design):
            by_share = [
                self._by_share("Used, by share", MetricName.USED),
                self._by_share("Borrowed, by share", MetricName.BORROWED),
                self._by_share("Lent, by lender (derived)", MetricName.LENT),
                self._by_share("Idle, by share", MetricName.IDLE),
            ]
            return [by_share[:2], by_share[2:]]
        rows: list[list[cloudwatch.IWidget]] = []
        for unit, capacity in design.service_environment.capacity_limits.as_instances().items():
            rows.append([self._use_by_share(unit, capacity), self._whole_queue(unit, capacity)])
            limits = {
                str(share.name): share.capacity_limits.as_instances()[unit]
                for share in design.quota_shares
                if unit in share.capacity_limits.units
            }
            in_row = max(1, min(_SHARES_IN_ROW, len(limits)))
            graphs = [self._share(name, unit, limit, _ROW // in_row) for name, limit in limits.items()]
            rows += [graphs[start : start + in_row] for start in range(0, len(graphs), in_row)]
        return rows

    def waiting(self, head_age: Duration | None) -> list[cloudwatch.IWidget]:
        """Return a row that shows who waits, for how long, and who is preempted.

        :param head_age: what the alarm tolerates, to be drawn as a line.
        """
        limits = [] if head_age is None else [_line(head_age.to_minutes(), "alarm")]
        age = self._search(MetricName.HEAD_AGE, statistic="Maximum")
        preemptions = self._search(MetricName.PREEMPTIONS, statistic="Sum", period=3600)
        return [
            cloudwatch.GraphWidget(
                title="Time of the first job at the head of its share",
                left=[self._expression(f"{age} / 60")],
                left_y_axis=_axis("minutes"),
                left_annotations=limits,
                width=_ROW // 3,
                height=_HEIGHT,
            ),
            cloudwatch.GraphWidget(
                title="Waiting jobs, by share",
                left=[self._expression(self._search(MetricName.WAITING_JOBS))],
                left_y_axis=_axis("jobs"),
                stacked=True,
                width=_ROW // 3,
                height=_HEIGHT,
            ),
            cloudwatch.GraphWidget(
                title="Preempted jobs in an hour, by share",
                # Nothing is published for a share in hours without preemptions.
                left=[self._expression(f"FILL({preemptions}, 0)")],
                left_y_axis=_axis("jobs"),
                stacked=True,
                width=_ROW // 3,
                height=_HEIGHT,
            ),
        ]

    def alarms(self, alarms: Sequence[cloudwatch.IAlarm]) -> list[cloudwatch.IWidget]:
        """Return a row that shows the state of alarms."""
        return [cloudwatch.AlarmStatusWidget(alarms=list(alarms), title="Alarms", width=_ROW, height=3)]

    def _use_by_share(self, unit: str, capacity: int) -> cloudwatch.IWidget:
        search = self._search(MetricName.USED, instance_type=unit)
        return cloudwatch.GraphWidget(
            title=f"{unit}: used, by share",
            left=[self._expression(search)],
            left_annotations=[_line(capacity, "environment")],
            left_y_axis=_axis(),
            stacked=True,
            width=_ROW // 2,
            height=_HEIGHT,
        )

    def _whole_queue(self, unit: str, capacity: int) -> cloudwatch.IWidget:
        """Return a graph of all instances of a type: what is used within limits, above them, and not at all."""
        used = self._metrics.metric_used(unit)
        borrowed = self._metrics.metric_borrowed(unit, label="borrowed", color=_BORROWED)
        idle = self._metrics.metric_idle(unit, label="idle", color=_IDLE)
        own = self._own("used - borrowed", used=used, borrowed=borrowed)
        limit = _line(capacity, "environment")
        return self._stack(f"{unit}: all of the queue", [own, borrowed, idle], limit, _ROW // 2)

    def _share(self, name: str, unit: str, capacity: int, width: int) -> cloudwatch.IWidget:
        """Return a graph of one share, whose parts up to the limit add up to it, with what it borrows on top."""

        def metric(metric_name: MetricName, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
            about: dict[str, str] = {Dimension.QUOTA_SHARE: name, Dimension.INSTANCE_TYPE: unit}
            return self._metrics.metric(metric_name, dimensions=about, **options)

        lent = metric(MetricName.LENT, label="lent (derived)", color=_LENT)
        idle = metric(MetricName.IDLE, label="idle", color=_IDLE)
        borrowed = metric(MetricName.BORROWED, label="borrowed", color=_BORROWED)
        # CDK draws what an expression uses before the rest, so this one must not use what belongs on top.
        own = self._own("limit - lent - idle", limit=metric(MetricName.CAPACITY_LIMIT), lent=lent, idle=idle)
        parts: list[cloudwatch.IMetric] = [own, lent, idle, borrowed]
        return self._stack(f"{name}: {unit}", parts, _line(capacity, "limit"), width)

    def _own(self, expression: str, **metrics: cloudwatch.IMetric) -> cloudwatch.MathExpression:
        return cloudwatch.MathExpression(
            expression=expression, using_metrics=metrics, label="own", color=_OWN, period=self._period
        )

    def _stack(
        self, title: str, parts: Sequence[cloudwatch.IMetric], limit: cloudwatch.HorizontalAnnotation, width: int
    ) -> cloudwatch.IWidget:
        return cloudwatch.GraphWidget(
            title=title,
            left=list(parts),
            left_annotations=[limit],
            left_y_axis=_axis(),
            stacked=True,
            width=width,
            height=_HEIGHT,
        )

    def _by_share(self, title: str, name: MetricName) -> cloudwatch.IWidget:
        label = "${PROP('Dim.QuotaShare')} ${PROP('Dim.InstanceType')}"
        return cloudwatch.GraphWidget(
            title=title,
            left=[self._expression(self._search(name, instance_type="*"), label)],
            left_y_axis=_axis(),
            stacked=True,
            width=_ROW // 2,
            height=_HEIGHT,
        )

    def _search(
        self,
        name: MetricName,
        *,
        instance_type: str | None = None,
        statistic: str = "Average",
        period: int | None = None,
    ) -> str:
        """Return the search expression of a metric of all shares; ``*`` stands for all instance types."""
        dimensions = [Dimension.JOB_QUEUE, Dimension.QUOTA_SHARE]
        terms = [f'MetricName="{name}"', f'{Dimension.JOB_QUEUE}="{self._queue_name}"']
        if instance_type is not None:
            dimensions.append(Dimension.INSTANCE_TYPE)
        if instance_type not in (None, "*"):
            terms.append(f'{Dimension.INSTANCE_TYPE}="{instance_type}"')
        schema = ",".join([f'"{self._namespace}"', *dimensions])
        seconds = int(self._period.to_seconds()) if period is None else period
        return f"SEARCH('{{{schema}}} {' '.join(terms)}', '{statistic}', {seconds})"

    def _expression(self, search: str, label: str = "${PROP('Dim.QuotaShare')}") -> cloudwatch.MathExpression:
        return cloudwatch.MathExpression(expression=search, using_metrics={}, label=label, period=self._period)


def _is_known(design: QuotaQueue) -> bool:
    """Return whether every share has a name, and every limit a number and a type, before deployment."""
    limits: list[CapacityLimits] = [
        design.service_environment.capacity_limits,
        *(share.capacity_limits for share in design.quota_shares),
    ]
    return all(limit.are_known for limit in limits) and all(
        isinstance(share.name, str) for share in design.quota_shares
    )


def _line(value: float, label: str) -> cloudwatch.HorizontalAnnotation:
    return cloudwatch.HorizontalAnnotation(value=value, label=label, color=_LIMIT)


def _axis(label: str = "instances") -> cloudwatch.YAxisProps:
    return cloudwatch.YAxisProps(min=0, label=label, show_units=False)
