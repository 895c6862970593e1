from __future__ import annotations

import json
import re
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch

from quota_constructs import (
    QuotaAlarmThresholds,
    QuotaManagedQueue,
    QuotaMonitoring,
    QuotaShare,
    ResourceSharing,
    TrainingJobQueue,
)
from tests.synthesis import QUEUE_ARN, template_of

UNIT = "ml.g5.xlarge"
LARGE = "ml.p5.48xlarge"
LEND = ResourceSharing.lend()


def joined(value: Any) -> str:
    """Return the text that a template's value becomes, with what AWS fills in named."""
    match value:
        case str():
            return value
        case {"Fn::Join": [separator, parts]}:
            return str(separator.join(joined(part) for part in parts))
        case {"Fn::GetAtt": [name, _]} | {"Ref": name}:
            return f"<{name}>"
        case {"Fn::Select": [_, {"Fn::Split": [_, {"Fn::GetAtt": [name, _]} | {"Ref": name}]}]}:
            return f"<{name}>"
    raise AssertionError(f"unexpected {value}")


def widgets_of(stack: Stack) -> dict[str, dict[str, Any]]:
    """Return the widgets by title."""
    (dashboard,) = (
        resource["Properties"]
        for resource in template_of(stack)["Resources"].values()
        if resource["Type"] == "AWS::CloudWatch::Dashboard"
    )
    widgets = json.loads(joined(dashboard["DashboardBody"]))["widgets"]
    titles = {widget["properties"]["title"]: widget for widget in widgets}
    assert len(titles) == len(widgets)
    return titles


def expression(widget: dict[str, Any]) -> str:
    """Return the only search expression of a widget."""
    ((metric,),) = widget["properties"]["metrics"]
    return str(metric["expression"])


def monitored(stack: Stack, limits: dict[str, float] | None = None, **props: Any) -> QuotaManagedQueue:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits=limits or {UNIT: 3})
    QuotaMonitoring(stack, "Monitoring", queue=gpus.job_queue, **props)
    return gpus


def test_shows_alarms_then_who_waits_then_the_capacity_of_each_share(stack: Stack) -> None:
    gpus = monitored(stack, {UNIT: 3, LARGE: 2})
    gpus.add_quota_share("a", capacity_limits={UNIT: 1, LARGE: 2}, resource_sharing=LEND)
    gpus.add_quota_share("b", capacity_limits={UNIT: 2}, resource_sharing=LEND)

    assert list(widgets_of(stack)) == [
        "Alarms",
        "Time of the first job at the head of its share",
        "Waiting jobs, by share",
        "Preempted jobs in an hour, by share",
        f"{UNIT}: used, by share",
        f"{UNIT}: all of the queue",
        f"a: {UNIT}",
        f"b: {UNIT}",
        f"{LARGE}: used, by share",
        f"{LARGE}: all of the queue",
        f"a: {LARGE}",
    ]


def test_shows_shares_that_are_added_after_the_monitoring_or_in_another_stack(app: App, stack: Stack) -> None:
    gpus = monitored(stack)
    team = Stack(app, "Team")
    QuotaShare(team, "team", job_queue=gpus.job_queue, capacity_limits={UNIT: 3}, resource_sharing=LEND)

    assert f"team: {UNIT}" in widgets_of(stack)


def test_the_parts_of_a_share_add_up_to_its_limit_with_what_it_borrows_on_top(stack: Stack) -> None:
    gpus = monitored(stack)
    gpus.add_quota_share("a", capacity_limits={UNIT: 3}, resource_sharing=LEND)

    properties = widgets_of(stack)[f"a: {UNIT}"]["properties"]
    assert properties["stacked"] is True
    labels = [metric[-1]["label"] for metric in properties["metrics"] if metric[-1].get("visible") is not False]
    assert labels == ["own", "lent (derived)", "idle", "borrowed"]
    assert properties["metrics"][0][0]["expression"] == "limit - lent - idle"
    assert properties["annotations"]["horizontal"] == [
        {"value": 3, "label": "limit", "color": "#16191f", "yAxis": "left"}
    ]


def test_the_parts_of_the_queue_add_up_to_what_the_environment_has(stack: Stack) -> None:
    monitored(stack)

    properties = widgets_of(stack)[f"{UNIT}: all of the queue"]["properties"]
    labels = [metric[-1]["label"] for metric in properties["metrics"] if metric[-1].get("visible") is not False]
    assert labels == ["own", "borrowed", "idle"]
    assert properties["metrics"][0][0]["expression"] == "used - borrowed"
    assert properties["annotations"]["horizontal"][0]["value"] == 3


def test_every_graph_is_about_the_queue_alone(stack: Stack) -> None:
    gpus = monitored(stack, namespace="Gpus")
    gpus.add_quota_share("a", capacity_limits={UNIT: 3}, resource_sharing=LEND)

    queue_id = stack.resolve(gpus.job_queue.job_queue_arn)["Fn::GetAtt"][0]
    for title, widget in widgets_of(stack).items():
        for first, *rest in widget["properties"].get("metrics", []):
            match first:
                case {"expression": str(search)} if "SEARCH" in search:
                    assert '{"Gpus",JobQueue,QuotaShare' in search, title
                    assert f'JobQueue="<{queue_id}>"' in search, title
                case str(namespace):
                    dimensions = dict(zip(rest[1:-1:2], rest[2:-1:2], strict=True))
                    assert (namespace, dimensions["JobQueue"]) == ("Gpus", f"<{queue_id}>"), title


@pytest.mark.parametrize(
    ("title", "search"),
    [
        (
            "Time of the first job at the head of its share",
            """SEARCH('{"QuotaConstructs",JobQueue,QuotaShare} MetricName="HeadAge" JobQueue="gpus"', 'Maximum', 300) / 60""",
        ),
        (
            "Waiting jobs, by share",
            """SEARCH('{"QuotaConstructs",JobQueue,QuotaShare} MetricName="WaitingJobs" JobQueue="gpus"', 'Average', 300)""",
        ),
        (
            "Preempted jobs in an hour, by share",
            """FILL(SEARCH('{"QuotaConstructs",JobQueue,QuotaShare} MetricName="Preemptions" JobQueue="gpus"', 'Sum', 3600), 0)""",
        ),
        (
            "Used, by share",
            """SEARCH('{"QuotaConstructs",JobQueue,QuotaShare,InstanceType} MetricName="Used" JobQueue="gpus"', 'Average', 300)""",
        ),
        (
            "Lent, by lender (derived)",
            """SEARCH('{"QuotaConstructs",JobQueue,QuotaShare,InstanceType} MetricName="Lent" JobQueue="gpus"', 'Average', 300)""",
        ),
    ],
)
def test_the_shares_of_an_imported_queue_are_found_when_the_dashboard_is_looked_at(
    stack: Stack, title: str, search: str
) -> None:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    QuotaMonitoring(stack, "Monitoring", queue=queue)

    assert expression(widgets_of(stack)[title]) == search


def test_shares_are_found_when_it_is_looked_at_if_a_limit_is_known_only_at_deployment(stack: Stack) -> None:
    gpus = monitored(stack)
    limit = CfnParameter(stack, "Limit", type="Number").value_as_number
    gpus.add_quota_share("a", capacity_limits={UNIT: limit}, resource_sharing=LEND)

    titles = list(widgets_of(stack))
    assert titles[4:] == ["Used, by share", "Borrowed, by share", "Lent, by lender (derived)", "Idle, by share"]


def test_what_the_alarm_tolerates_is_drawn_as_a_line(stack: Stack) -> None:
    monitored(stack, thresholds=QuotaAlarmThresholds(head_age=Duration.minutes(90)))

    graph = widgets_of(stack)["Time of the first job at the head of its share"]["properties"]
    assert [line["value"] for line in graph["annotations"]["horizontal"]] == [90]


def test_no_line_and_no_alarms_where_there_is_no_alarm(stack: Stack) -> None:
    none = QuotaAlarmThresholds(
        head_age=None, idle_reserve=None, blocked=None, preemptions_per_hour=None, failed_measurements=None
    )
    monitored(stack, thresholds=none)

    widgets = widgets_of(stack)
    assert "Alarms" not in widgets
    assert "annotations" not in widgets["Time of the first job at the head of its share"]["properties"]


def test_widgets_of_ones_own_can_be_added(stack: Stack) -> None:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={UNIT: 3})
    monitoring = QuotaMonitoring(stack, "Monitoring", queue=gpus.job_queue)
    monitoring.dashboard.add_widgets(cloudwatch.GraphWidget(title="Mine", left=[monitoring.metric_waiting_jobs()]))

    assert "Mine" in widgets_of(stack)


@pytest.mark.parametrize("shares", [1, 2, 3, 4, 20])
def test_no_widget_lies_on_another_one_and_rows_are_full(stack: Stack, shares: int) -> None:
    gpus = monitored(stack, {UNIT: 20})
    for number in range(shares):
        gpus.add_quota_share(f"share-{number}", capacity_limits={UNIT: 1}, resource_sharing=LEND)

    widgets = widgets_of(stack)
    cells = {
        (x, y)
        for widget in widgets.values()
        for x in range(widget["x"], widget["x"] + widget["width"])
        for y in range(widget["y"], widget["y"] + widget["height"])
    }
    assert len(cells) == sum(widget["width"] * widget["height"] for widget in widgets.values())
    last_row = max(y for _, y in cells)
    assert {x for x, y in cells if y == last_row} == set(range(24))
    assert len([title for title in widgets if re.fullmatch(rf"share-\d+: {UNIT}", title)]) == shares
