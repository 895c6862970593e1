"""The picture of the documentation's dashboard is drawn from what CloudWatch would draw it from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

from tools.dashboard import draw

START = datetime(2026, 3, 16, 12, tzinfo=UTC)
END = START + timedelta(hours=2)
SVG = "{http://www.w3.org/2000/svg}"
Key = tuple[str, frozenset[tuple[str, str]]]


class CloudWatch:
    """A CloudWatch with one dashboard and one alarm; values are an hour apart."""

    def __init__(self, widget: Mapping[str, Any], metrics: Mapping[Key, Sequence[float]]) -> None:
        place = {"x": 0, "y": 0, "width": 12, "height": 6}
        self.body = {"widgets": [{"type": "metric", **place, **widget}]}
        self.metrics = metrics

    def get_dashboard(self, **_: Any) -> dict[str, str]:
        return {"DashboardBody": json.dumps(self.body)}

    def describe_alarms(self) -> dict[str, Any]:
        alarm = {
            "AlarmArn": "arn:alarm",
            "Namespace": "Gpus",
            "MetricName": "HeadAge",
            "Dimensions": [{"Name": "JobQueue", "Value": "gpus"}],
            "Statistic": "Maximum",
            "Period": 3600,
            "EvaluationPeriods": 1,
            "ComparisonOperator": "GreaterThanOrEqualToThreshold",
            "Threshold": 100,
            "TreatMissingData": "missing",
        }
        return {"MetricAlarms": [alarm]}

    def get_metric_data(self, MetricDataQueries: list[dict[str, Any]], **_: Any) -> dict[str, Any]:  # noqa: N803
        metric = MetricDataQueries[0]["MetricStat"]["Metric"]
        about = frozenset((dimension["Name"], dimension["Value"]) for dimension in metric["Dimensions"])
        values = self.metrics.get((metric["MetricName"], about), [])
        times = [START + timedelta(hours=hour) for hour, _ in enumerate(values)]
        return {"MetricDataResults": [{"Timestamps": times, "Values": list(values)}]}

    def get_paginator(self, _operation: str) -> CloudWatch:
        return self

    def paginate(self, MetricName: str, **_: Any) -> CloudWatch:  # noqa: N803
        self.searched = MetricName
        return self

    def search(self, _expression: str) -> list[dict[str, Any]]:
        return [
            {"Dimensions": [{"Name": key, "Value": value} for key, value in about]}
            for name, about in self.metrics
            if name == self.searched
        ]


def about(**dimensions: str) -> frozenset[tuple[str, str]]:
    return frozenset({"JobQueue": "gpus", **dimensions}.items())


def graph(metrics: list[Any], **properties: Any) -> dict[str, Any]:
    return {"properties": {"title": "Graph", "metrics": metrics, "yAxis": {"left": {"label": "jobs"}}, **properties}}


def picture(cloudwatch: CloudWatch) -> ElementTree.Element:
    return ElementTree.fromstring(draw(cloudwatch, "dashboard", START, END))


def texts(svg: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in svg.iter(f"{SVG}text")]


def heights(points: str) -> list[float]:
    return [float(y) for y in re.findall(r",([\d.]+)", points)]


def test_a_search_finds_the_series_of_its_dimensions_and_queue_alone() -> None:
    search = """SEARCH('{"Gpus",JobQueue,QuotaShare} MetricName="WaitingJobs" JobQueue="gpus"', 'Average', 3600)"""
    cloudwatch = CloudWatch(
        graph([[{"expression": search, "label": "${PROP('Dim.QuotaShare')}"}]]),
        {
            ("WaitingJobs", about(QuotaShare="vision")): [1, 2],
            ("WaitingJobs", about(QuotaShare="speech")): [3, 4],
            ("WaitingJobs", about()): [4, 6],
            ("WaitingJobs", frozenset({"JobQueue": "cpus", "QuotaShare": "other"}.items())): [9, 9],
        },
    )

    found = texts(picture(cloudwatch))

    assert found[-2:] == ["speech", "vision"]
    assert "other" not in found


def test_bands_are_stacked_in_order_and_an_expression_is_worked_out() -> None:
    metrics = [
        [{"expression": "limit - idle", "label": "own", "color": "#111111"}],
        ["Gpus", "CapacityLimit", "JobQueue", "gpus", {"id": "limit", "visible": False}],
        ["Gpus", "Idle", "JobQueue", "gpus", {"id": "idle", "label": "idle", "color": "#222222"}],
    ]
    cloudwatch = CloudWatch(
        graph(metrics, stacked=True, annotations={"horizontal": [{"value": 4, "label": "limit", "color": "#333333"}]}),
        {("CapacityLimit", about()): [4, 4], ("Idle", about()): [3, 1]},
    )

    svg = picture(cloudwatch)

    own, idle = svg.iter(f"{SVG}polygon")
    assert (own.get("fill"), idle.get("fill")) == ("#111111", "#222222")
    line = next(line for line in svg.iter(f"{SVG}line") if line.get("stroke") == "#333333")
    # What is own and what is idle reach the limit together, and own grows from 1 to 3 of 4.
    assert min(heights(idle.get("points") or "")) == float(line.get("y1") or 0)
    three, one, zero = sorted(set(heights(own.get("points") or "")))  # SVG counts from the top.
    assert (zero - three) / (zero - one) == pytest.approx(3, rel=0.01)


def test_hours_without_data_are_zero_where_the_dashboard_says_so() -> None:
    search = """SEARCH('{"Gpus",JobQueue,QuotaShare} MetricName="Preemptions" JobQueue="gpus"', 'Sum', 3600)"""
    label = "${PROP('Dim.QuotaShare')}"
    data = {("Preemptions", about(QuotaShare="vision")): [5.0]}

    (held,) = picture(CloudWatch(graph([[{"expression": search, "label": label}]]), data)).iter(f"{SVG}polyline")
    filled = CloudWatch(graph([[{"expression": f"FILL({search}, 0)", "label": label}]]), data)
    (falls,) = picture(filled).iter(f"{SVG}polyline")

    assert len(set(heights(held.get("points") or ""))) == 1
    assert len(set(heights(falls.get("points") or ""))) == 2


@pytest.mark.parametrize(("newest", "state"), [([50, 99], "OK"), ([50, 100], "ALARM"), ([], "INSUFFICIENT_DATA")])
def test_an_alarm_has_the_state_that_its_last_periods_give_it(newest: list[float], state: str) -> None:
    widget = {"type": "alarm", "properties": {"title": "Alarms", "alarms": ["arn:alarm"]}}

    found = texts(picture(CloudWatch(widget, {("HeadAge", about()): newest})))

    assert found == ["Alarms", "HeadAge", state]


def test_fails_on_a_search_that_it_does_not_understand() -> None:
    widget = graph([[{"expression": "SEARCH('everything')", "label": "all"}]])

    with pytest.raises(ValueError, match="is not one that is understood here"):
        picture(CloudWatch(widget, {}))
