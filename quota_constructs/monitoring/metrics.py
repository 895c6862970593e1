"""The metrics of a monitored queue, for alarms and dashboards of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict, Unpack

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from quota_constructs.functions.quota_metrics.names import Dimension, MetricName
from quota_constructs.quota_share import IQuotaShare

__all__ = ["DEFAULT_NAMESPACE", "MetricOptions", "QuotaMetrics"]

DEFAULT_NAMESPACE: Final = "QuotaConstructs"
"""The CloudWatch namespace of the metrics, unless another one is given."""


class MetricOptions(TypedDict, total=False):
    """What CDK's ``metric...`` methods take."""

    statistic: str
    period: Duration
    label: str
    color: str
    account: str
    region: str


class QuotaMetrics:
    """The metrics that a :class:`~quota_constructs.QuotaMonitoring` publishes of one queue.

    It is one itself; in another stack, say what it was given.

    :param job_queue_name: the queue's name.
    :param namespace: the monitoring's namespace.
    :param period: the metrics' period unless another one is asked for; 5 minutes by default. One that is shorter than
        the monitoring's rate has gaps.
    """

    def __init__(
        self, job_queue_name: str, namespace: str = DEFAULT_NAMESPACE, *, period: Duration | None = None
    ) -> None:
        self._queue_name = job_queue_name
        self._namespace = namespace
        self._period = period

    def metric(
        self, metric_name: str, *, dimensions: Mapping[str, str] | None = None, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return a metric of the queue by its name: the average of 5 minutes, or of a monitoring's longer rate.

        :param dimensions: its dimensions beside the queue's name; none by default.
        """
        given: MetricOptions = {} if self._period is None else {"period": self._period}
        given.update(options)
        return cloudwatch.Metric(
            namespace=self._namespace,
            metric_name=str(metric_name),
            dimensions_map={
                str(Dimension.JOB_QUEUE): self._queue_name,
                **{str(name): value for name, value in (dimensions or {}).items()},
            },
            **given,
        )

    def metric_capacity_limit(
        self, instance_type: str, quota_share: IQuotaShare | None = None, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return what a share may use without borrowing; without a share, the service environment's limit."""
        return self._of(MetricName.CAPACITY_LIMIT, quota_share, instance_type, options)

    def metric_used(
        self, instance_type: str, quota_share: IQuotaShare | None = None, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return the instances that dispatched jobs of a share hold; without a share, of the queue."""
        return self._of(MetricName.USED, quota_share, instance_type, options)

    def metric_borrowed(
        self, instance_type: str, quota_share: IQuotaShare | None = None, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return the instances that a share uses above its limit; without a share, the sum over the shares."""
        return self._of(MetricName.BORROWED, quota_share, instance_type, options)

    def metric_lent(
        self, instance_type: str, quota_share: IQuotaShare, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return the share's part of what others borrow.

        AWS does not say whose capacity a borrower holds: what all borrow is divided over the lenders in proportion to
        what each leaves unused, so it need not be whole. The lenders' sum is exact.
        """
        return self._of(MetricName.LENT, quota_share, instance_type, options)

    def metric_idle(
        self, instance_type: str, quota_share: IQuotaShare | None = None, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return a share's instances that neither it nor a borrower uses; without a share, what is left of the queue's.

        A share's limit is what it uses itself, what it has lent and what is idle.
        """
        return self._of(MetricName.IDLE, quota_share, instance_type, options)

    def metric_waiting_instances(
        self, instance_type: str, quota_share: IQuotaShare, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return the instances that a share's RUNNABLE jobs ask for; up to 1,000 jobs are looked at."""
        return self._of(MetricName.WAITING_INSTANCES, quota_share, instance_type, options)

    def metric_waiting_jobs(
        self, quota_share: IQuotaShare | None = None, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return the RUNNABLE jobs of a share, 1,000 at most; without a share, the sum over the shares."""
        return self._of(MetricName.WAITING_JOBS, quota_share, None, options)

    def metric_head_age(
        self, quota_share: IQuotaShare | None = None, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return for how many seconds a share's first job has been its first; without a share, the longest of them.

        It is 0 while no job waits. By default the maximum, not the average.
        """
        return self._of(MetricName.HEAD_AGE, quota_share, None, {"statistic": "Maximum", **options})

    def metric_preemptions(
        self, quota_share: IQuotaShare | None = None, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return how many jobs of a share began to be preempted; without a share, of the queue. By default the sum."""
        return self._of(MetricName.PREEMPTIONS, quota_share, None, {"statistic": "Sum", **options})

    def metric_idle_reserve(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the instances, of all types, that RESERVE shares leave idle. By default the minimum."""
        return self._of(MetricName.IDLE_RESERVE, None, None, {"statistic": "Minimum", **options})

    def metric_blocked_shares(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return how many shares are blocked by their first job, by AWS's word. By default the minimum."""
        return self._of(MetricName.BLOCKED_SHARES, None, None, {"statistic": "Minimum", **options})

    def _of(
        self, name: MetricName, share: IQuotaShare | None, instance_type: str | None, options: MetricOptions
    ) -> cloudwatch.Metric:
        about = {
            Dimension.QUOTA_SHARE: None if share is None else share.quota_share_name,
            Dimension.INSTANCE_TYPE: instance_type,
        }
        given = {str(dimension): value for dimension, value in about.items() if value is not None}
        return self.metric(name, dimensions=given, **options)
