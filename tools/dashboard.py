"""A CloudWatch dashboard as a picture (SVG), drawn from its own definition and the metrics that are there.

It understands what the dashboard of a ``QuotaMonitoring`` has: graphs of metrics, of searches for metrics, and of
their sums and differences, stacked or as lines; and the state of alarms.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from typing import Any, Final

__all__ = ["draw"]

CELL_WIDTH: Final = 62
CELL_HEIGHT: Final = 46
LEFT, RIGHT, TOP, BOTTOM = 42, 14, 30, 52
PALETTE: Final = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
ALARM_COLOURS: Final = {"OK": "#1d8102", "ALARM": "#d13212", "INSUFFICIENT_DATA": "#879596"}
STYLE: Final = """\
text { font: 11px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #16191f }
.title { font-size: 13px; font-weight: 600 }
.quiet { fill: #687078 }
.card { fill: #fff; stroke: #d5dbdb }
"""
_SEARCH = re.compile(
    r"(?P<fill>FILL\()?SEARCH\('\{(?P<schema>[^}]*)\} (?P<terms>.*)', '(?P<stat>\w+)', (?P<period>\d+)\)"
    r"(?(fill), 0\))(?: / (?P<by>\d+))?"
)
_TERM = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Series:
    """One line or band of a graph: its values by the time that their periods start."""

    label: str
    values: Mapping[datetime, float]
    colour: str | None = None


def draw(cloudwatch: Any, dashboard_name: str, start: datetime, end: datetime) -> str:
    """Return the picture of a dashboard between two times.

    :param cloudwatch: a boto3 client.
    :raises ValueError: if the dashboard has something that CloudWatch, or this module, would not understand.
    """
    body = json.loads(cloudwatch.get_dashboard(DashboardName=dashboard_name)["DashboardBody"])
    widgets = body["widgets"]
    height = max(widget["y"] + widget["height"] for widget in widgets) * CELL_HEIGHT
    width = 24 * CELL_WIDTH
    source = _Metrics(cloudwatch, start, end)
    cards = [_card(source, widget) for widget in widgets]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>Dashboard of a monitored job queue, {(end - start) / timedelta(hours=1):g} hours</title>",
            f"<style>{STYLE}</style>",
            f'<rect width="{width}" height="{height}" fill="#f2f3f3"/>',
            *cards,
            "</svg>\n",
        ]
    )


class _Metrics:
    def __init__(self, cloudwatch: Any, start: datetime, end: datetime) -> None:
        self.cloudwatch = cloudwatch
        self.start = start
        self.end = end

    def series(self, metrics: Sequence[Sequence[Any]]) -> list[Series]:
        """Return what a graph shows, in its order."""
        by_id: dict[str, Series] = {}
        shown: list[Series] = []
        for entry in metrics:
            options = entry[-1] if isinstance(entry[-1], dict) else {}
            if "expression" in options:
                continue
            series = self._metric(entry, options)
            if "id" in options:
                by_id[options["id"]] = series
        for entry in metrics:
            options = entry[-1] if isinstance(entry[-1], dict) else {}
            if options.get("visible") is False:
                continue
            if "expression" not in options:
                shown.append(by_id.get(options.get("id", "")) or self._metric(entry, options))
            elif "SEARCH(" in options["expression"]:
                shown += self._found(options["expression"], options["label"])
            else:
                shown.append(_combined(options, by_id))
        return shown

    def state(self, alarm: Mapping[str, Any]) -> str:
        """Return the state of an alarm at the end: breaching in all of its periods, or not."""
        length = timedelta(seconds=alarm["Period"])
        values = self._values(
            alarm["Namespace"],
            alarm["MetricName"],
            {dimension["Name"]: dimension["Value"] for dimension in alarm["Dimensions"]},
            alarm["Statistic"],
            alarm["Period"],
        )
        seen = [value for time, value in values.items() if time >= self.end - alarm["EvaluationPeriods"] * length]
        if not seen and alarm["TreatMissingData"] == "missing":
            return "INSUFFICIENT_DATA"
        beyond = operator.gt if alarm["ComparisonOperator"] == "GreaterThanThreshold" else operator.ge
        breaching = sum(beyond(value, alarm["Threshold"]) for value in seen)
        return "ALARM" if breaching >= alarm["EvaluationPeriods"] else "OK"

    def _metric(self, entry: Sequence[Any], options: Mapping[str, Any]) -> Series:
        namespace, name, *rest = entry[:-1]
        dimensions = dict(zip(rest[::2], rest[1::2], strict=True))
        values = self._values(namespace, name, dimensions, options.get("stat", "Average"), options.get("period", 300))
        return Series(options.get("label", name), values, options.get("color"))

    def _found(self, expression: str, label: str) -> list[Series]:
        search = _SEARCH.fullmatch(expression)
        if search is None:
            raise ValueError(f"search expression {expression} is not one that is understood here")
        namespace, *names = (part.strip('"') for part in search["schema"].split(","))
        terms = dict(_TERM.findall(search["terms"]))
        name = terms.pop("MetricName")
        found = []
        for metric in (
            self.cloudwatch.get_paginator("list_metrics")
            .paginate(Namespace=namespace, MetricName=name)
            .search("Metrics[]")
        ):
            dimensions = {dimension["Name"]: dimension["Value"] for dimension in metric["Dimensions"]}
            if set(dimensions) != set(names) or any(dimensions[key] != value for key, value in terms.items()):
                continue
            values = self._values(namespace, name, dimensions, search["stat"], int(search["period"]))
            if values:
                if search["fill"]:
                    values = self._filled(values, timedelta(seconds=int(search["period"])))
                by = float(search["by"] or 1)
                found.append(Series(_label(label, dimensions), {time: value / by for time, value in values.items()}))
        return sorted(found, key=lambda series: series.label)

    def _filled(self, values: Mapping[datetime, float], period: timedelta) -> dict[datetime, float]:
        times = [self.start + place * period for place in range(int((self.end - self.start) / period))]
        return {time: values.get(time, 0.0) for time in times}

    def _values(
        self, namespace: str, name: str, dimensions: Mapping[str, str], statistic: str, period: int
    ) -> dict[datetime, float]:
        found = self.cloudwatch.get_metric_data(
            StartTime=self.start,
            EndTime=self.end,
            MetricDataQueries=[
                {
                    "Id": "m",
                    "MetricStat": {
                        "Metric": {
                            "Namespace": namespace,
                            "MetricName": name,
                            "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
                        },
                        "Period": period,
                        "Stat": statistic,
                    },
                }
            ],
        )["MetricDataResults"][0]
        return dict(sorted(zip(found["Timestamps"], found["Values"], strict=True)))


def _label(label: str, dimensions: Mapping[str, str]) -> str:
    return re.sub(r"\$\{PROP\('Dim\.(\w+)'\)\}", lambda match: dimensions[match[1]], label)


def _combined(options: Mapping[str, Any], by_id: Mapping[str, Series]) -> Series:
    """Return a sum or difference of metrics, such as ``limit - lent - idle``."""
    first, *rest = options["expression"].split()
    values = dict(by_id[first].values)
    for sign, name in zip(rest[::2], rest[1::2], strict=True):
        factor = {"+": 1, "-": -1}[sign]
        values = {time: value + factor * by_id[name].values[time] for time, value in values.items()}
    return Series(options["label"], values, options.get("color"))


def _card(source: _Metrics, widget: Mapping[str, Any]) -> str:
    properties = widget["properties"]
    width, height = widget["width"] * CELL_WIDTH - 8, widget["height"] * CELL_HEIGHT - 8
    content = (
        _alarms(source, properties["alarms"], width)
        if widget["type"] == "alarm"
        else _graph(source, properties, width, height)
    )
    return "\n".join(
        [
            f'<g transform="translate({widget["x"] * CELL_WIDTH + 4} {widget["y"] * CELL_HEIGHT + 4})">',
            f'<rect class="card" width="{width}" height="{height}" rx="4"/>',
            f'<text class="title" x="12" y="20">{escape(properties["title"])}</text>',
            *content,
            "</g>",
        ]
    )


def _alarms(source: _Metrics, arns: Sequence[str], width: int) -> Iterator[str]:
    alarms = {alarm["AlarmArn"]: alarm for alarm in source.cloudwatch.describe_alarms()["MetricAlarms"]}
    step = (width - 12) / len(arns)
    for place, arn in enumerate(arns):
        alarm = alarms[arn]
        x, state = 12 + place * step, source.state(alarm)
        yield (
            f'<rect x="{x:.0f}" y="36" width="{step - 12:.0f}" height="72" rx="3" fill="{ALARM_COLOURS[state]}"/>'
            f'<text x="{x + 10:.0f}" y="60" style="fill:#fff;font-weight:600">{escape(alarm["MetricName"])}</text>'
            f'<text x="{x + 10:.0f}" y="80" style="fill:#fff">{state}</text>'
        )


def _graph(source: _Metrics, properties: Mapping[str, Any], width: int, height: int) -> Iterator[str]:
    shown = source.series(properties["metrics"])
    stacked = properties.get("stacked", False)
    lines = properties.get("annotations", {}).get("horizontal", [])
    highest = max(
        [*(line["value"] for line in lines), *(_highest(shown, stacked)), 1],
    )
    plot = _Plot(source.start, source.end, highest * 1.08, width, height)
    yield from plot.axes(properties["yAxis"]["left"]["label"])
    below: dict[datetime, float] = {}
    for place, series in enumerate(shown):
        colour = series.colour or PALETTE[place % len(PALETTE)]
        if stacked:
            yield plot.band(series.values, below, colour)
            below = {time: below.get(time, 0.0) + value for time, value in series.values.items()}
        else:
            yield plot.line(series.values, colour)
    for line in lines:
        yield plot.limit(line["value"], line["label"], line["color"])
    yield from _legend(shown, width, height)


def _highest(shown: Sequence[Series], stacked: bool) -> list[float]:
    if not stacked:
        return [value for series in shown for value in series.values.values()]
    times = {time for series in shown for time in series.values}
    return [sum(series.values.get(time, 0.0) for series in shown) for time in times]


def _legend(shown: Sequence[Series], width: int, height: int) -> Iterator[str]:
    x, y = 12.0, height - 14
    for place, series in enumerate(shown):
        colour = series.colour or PALETTE[place % len(PALETTE)]
        yield f'<rect x="{x:.0f}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{x + 14:.0f}" y="{y}">{escape(series.label)}</text>'
        x += 30 + 6.2 * len(series.label)
        if x > width:
            raise ValueError(f"the legend of {len(shown)} series does not fit into {width} pixels")


class _Plot:
    def __init__(self, start: datetime, end: datetime, highest: float, width: int, height: int) -> None:
        self.start, self.end, self.highest = start, end, highest
        self.width, self.height = width - LEFT - RIGHT, height - TOP - BOTTOM

    def x(self, time: datetime) -> float:
        return LEFT + (time - self.start) / (self.end - self.start) * self.width

    def y(self, value: float) -> float:
        return TOP + 8 + (1 - value / self.highest) * self.height

    def axes(self, label: str) -> Iterator[str]:
        step = next(step for step in (1, 2, 5, 10, 20, 50, 60, 100, 200, 500) if self.highest / step <= 6)
        for value in range(0, int(self.highest) + 1, step):
            y = self.y(value)
            yield f'<line x1="{LEFT}" x2="{LEFT + self.width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eaeded"/>'
            yield f'<text class="quiet" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value}</text>'
        hours = int((self.end - self.start) / timedelta(hours=1))
        for hour in range(0, hours + 1, max(1, hours // 4)):
            x = self.x(self.start + timedelta(hours=hour))
            anchor = "end" if hour == hours else "middle"
            yield f'<text class="quiet" x="{x:.0f}" y="{self.y(0) + 15:.0f}" text-anchor="{anchor}">{hour} h</text>'
        yield f'<text class="quiet" x="{LEFT + self.width}" y="20" text-anchor="end">{label}</text>'

    def band(self, values: Mapping[datetime, float], below: Mapping[datetime, float], colour: str) -> str:
        top = self._steps({time: value + below.get(time, 0.0) for time, value in values.items()})
        bottom = self._steps({time: below.get(time, 0.0) for time in values})
        points = " ".join([*top, *reversed(bottom)])
        return f'<polygon points="{points}" fill="{colour}" fill-opacity=".75"/>'

    def line(self, values: Mapping[datetime, float], colour: str) -> str:
        return f'<polyline points="{" ".join(self._steps(values))}" fill="none" stroke="{colour}" stroke-width="1.6"/>'

    def limit(self, value: float, label: str, colour: str) -> str:
        y, end = self.y(value), LEFT + self.width
        return (
            f'<line x1="{LEFT}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" stroke-width="1.4"/>'
            f'<text x="{end - 4}" y="{y - 4:.1f}" text-anchor="end" style="fill:{colour}">{escape(label)}</text>'
        )

    def _steps(self, values: Mapping[datetime, float]) -> list[str]:
        """Return the corners of a line that keeps each value until the next one."""
        times = list(values)
        corners: list[tuple[float, float]] = []
        for time, following in zip(times, [*times[1:], self.end], strict=True):
            y = self.y(values[time])
            if corners and corners[-1][1] == y:
                corners[-1] = (self.x(following), y)
            else:
                corners += [(self.x(time), y), (self.x(following), y)]
        return [f"{x:.0f},{y:.1f}" for x, y in corners]
