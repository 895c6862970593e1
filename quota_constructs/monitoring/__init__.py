"""Metrics, a dashboard and alarms for a quota-managed job queue, of which AWS publishes none."""

from quota_constructs.monitoring.alarms import QuotaAlarmThresholds
from quota_constructs.monitoring.metrics import DEFAULT_NAMESPACE, MetricOptions, QuotaMetrics
from quota_constructs.monitoring.quota_monitoring import QuotaMonitoring

__all__ = ["DEFAULT_NAMESPACE", "MetricOptions", "QuotaAlarmThresholds", "QuotaMetrics", "QuotaMonitoring"]
