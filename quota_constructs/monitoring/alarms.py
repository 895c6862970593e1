"""When to wake somebody up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from quota_constructs._construction import expect
from quota_constructs._tokens import is_token
from quota_constructs.errors import QuotaConstructsError
from quota_constructs.monitoring.metrics import QuotaMetrics

__all__ = ["QuotaAlarmThresholds"]

_MINUTE, _FIVE_MINUTES, _HOUR, _DAY = 60, 300, 3600, 86_400
# PutMetricAlarm: an alarm looks back at most one day, with a period of an hour or more at most seven.
_LONGEST: Final = 7 * _DAY


@dataclass(frozen=True, kw_only=True)
class QuotaAlarmThresholds:
    """What the alarms of a :class:`~quota_constructs.QuotaMonitoring` tolerate. ``None`` leaves an alarm out.

    Each is about the queue as a whole: which share it is, the dashboard shows.
    """

    head_age: Duration | None = field(default_factory=lambda: Duration.hours(4))
    """For how long the first job of a share may be its first; 4 hours by default. Jobs that train for days may
    well need more."""
    idle_reserve: Duration | None = field(default_factory=lambda: Duration.hours(24))
    """For how long without a break RESERVE shares may leave an instance idle, which nobody else can use then; 24 hours
    by default. Whole minutes up to a day, or whole hours up to 7 days; the rate, if that is longer."""
    blocked: Duration | None = field(default_factory=lambda: Duration.minutes(15))
    """For how long a share may be blocked by a job that can never run, or for which SageMaker has no instances; 15
    minutes by default. As for ``idle_reserve``."""
    preemptions_per_hour: float | None = 10
    """How many jobs may begin to be preempted within an hour; 10 by default."""
    failed_measurements: float | None = 3
    """How many failures of the function within 15 minutes are too many; 3 by default. Without measurements the other
    alarms mean nothing."""


def check_thresholds(thresholds: QuotaAlarmThresholds, rate: Duration) -> None:
    """Raise :class:`~quota_constructs.QuotaConstructsError` if an alarm could not be what a threshold asks for."""
    is_ours = isinstance(thresholds, QuotaAlarmThresholds)
    expect(is_ours, "thresholds", thresholds, "a QuotaAlarmThresholds", "give QuotaAlarmThresholds(head_age=...), say")
    for name in ("head_age", "idle_reserve", "blocked"):
        duration = getattr(thresholds, name)
        is_time = duration is None or isinstance(duration, Duration)
        expect(is_time, name, duration, "a Duration", "give Duration.hours(4), say, or None")
        if duration is not None and (duration.is_unresolved() or not duration.to_seconds()):
            raise QuotaConstructsError(f"{name} is no time that is known at synthesis; give a literal one, or None")
        if duration is not None and name != "head_age":
            _periods(name, duration, int(rate.to_seconds()))
    for name, least in (("preemptions_per_hour", 0), ("failed_measurements", 1)):
        most = getattr(thresholds, name)
        is_number = most is None or isinstance(most, int | float)
        expect(is_number, name, most, "a number", f"give {least} or more, or None")
        if most is not None and not is_token(most) and most < least:
            raise QuotaConstructsError(
                f"{name} {most} is below {least}, so its alarm would never recover; give {least}"
            )


def define_alarms(
    scope: Construct,
    metrics: QuotaMetrics,
    thresholds: QuotaAlarmThresholds,
    function: lambda_.Function,
    rate: Duration,
) -> list[cloudwatch.Alarm]:
    """Define the alarms that the thresholds ask for."""
    least = int(rate.to_seconds())
    alarms = [
        _head_age(scope, metrics, thresholds.head_age, least),
        _idle_reserve(scope, metrics, thresholds.idle_reserve, least),
        _blocked(scope, metrics, thresholds.blocked, least),
        _churn(scope, metrics, thresholds.preemptions_per_hour),
        _failures(scope, function, thresholds.failed_measurements),
    ]
    return [alarm for alarm in alarms if alarm is not None]


def _head_age(scope: Construct, metrics: QuotaMetrics, longest: Duration | None, least: int) -> cloudwatch.Alarm | None:
    if longest is None:
        return None
    return cloudwatch.Alarm(
        scope,
        "HeadAgeAlarm",
        alarm_description=(
            f"The first job of a quota share has waited at its head for {_text(longest)}. Ask whether the share's limit "
            "suffices, or whether others hold what it waits for."
        ),
        metric=metrics.metric_head_age(period=Duration.seconds(max(_FIVE_MINUTES, least))),
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        threshold=longest.to_seconds(),
        evaluation_periods=1,
    )


def _idle_reserve(
    scope: Construct, metrics: QuotaMetrics, longest: Duration | None, least: int
) -> cloudwatch.Alarm | None:
    if longest is None:
        return None
    period, periods = _periods("idle_reserve", longest, least)
    description = (
        f"Quota shares that reserve their capacity have left some of it idle for {_text(longest)}, and nobody else "
        "can use it. Ask whether they should lend, or reserve less."
    )
    return _lasting(scope, "IdleReserveAlarm", metrics.metric_idle_reserve(period=period), periods, description)


def _blocked(scope: Construct, metrics: QuotaMetrics, longest: Duration | None, least: int) -> cloudwatch.Alarm | None:
    if longest is None:
        return None
    period, periods = _periods("blocked", longest, least)
    description = (
        f"A quota share has been blocked by its first job for {_text(longest)}: the job can never run as it is, or "
        "SageMaker has no instances for it. The job's statusReason says which."
    )
    return _lasting(scope, "BlockedAlarm", metrics.metric_blocked_shares(period=period), periods, description)


def _lasting(scope: Construct, id: str, metric: cloudwatch.Metric, periods: int, description: str) -> cloudwatch.Alarm:
    """Define an alarm for something that there is at least one of in every one of so many periods."""
    return cloudwatch.Alarm(
        scope,
        id,
        alarm_description=description,
        metric=metric,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        threshold=1,
        evaluation_periods=periods,
        # The first periods after a deployment must not stand for all of them, as they would with the default.
        treat_missing_data=cloudwatch.TreatMissingData.IGNORE,
    )


def _churn(scope: Construct, metrics: QuotaMetrics, most: float | None) -> cloudwatch.Alarm | None:
    if most is None:
        return None
    return cloudwatch.Alarm(
        scope,
        "ChurnAlarm",
        alarm_description=(
            "More jobs are preempted than is good, and their work since the last checkpoint is lost. Ask whether "
            "borrow limits or in-share priorities are too generous."
        ),
        metric=metrics.metric_preemptions(period=Duration.hours(1)),
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        threshold=most,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def _failures(scope: Construct, function: lambda_.Function, most: float | None) -> cloudwatch.Alarm | None:
    if most is None:
        return None
    return cloudwatch.Alarm(
        scope,
        "FailureAlarm",
        alarm_description="The queue is not measured, so that its other alarms mean nothing. The function's log says why.",
        metric=function.metric_errors(period=Duration.minutes(15)),
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        threshold=most,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def _periods(name: str, duration: Duration, least: int) -> tuple[Duration, int]:
    """Return the period and number of them in which an alarm sees this much time, and at least one measurement each."""
    seconds = max(int(duration.to_seconds()), least)
    shortest = max(least, _MINUTE)
    candidates = (_HOUR, _FIVE_MINUTES, *range(shortest, min(seconds, _DAY) + 1, _MINUTE))
    for period in candidates:
        longest = _LONGEST if period >= _HOUR else _DAY
        if shortest <= period <= seconds <= longest and seconds % period == 0:
            return Duration.seconds(period), seconds // period
    raise QuotaConstructsError(
        f"{name} {_text(duration)} is not what an alarm can see; give whole minutes up to a day, or whole hours up to "
        "7 days"
    )


def _text(duration: Duration) -> str:
    return str(duration.to_human_string())
