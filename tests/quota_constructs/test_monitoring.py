from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from aws_cdk import App, CfnParameter, Duration, Environment, PropertyInjectors, Stack, Tags, Validations
from aws_cdk import aws_batch as batch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from cdk_nag import AwsSolutionsChecks
from cfnlint import ManualArgs
from cfnlint import api as cfnlint

from quota_constructs import (
    QuotaAlarmThresholds,
    QuotaConstructsError,
    QuotaManagedQueue,
    QuotaMonitoring,
    ResourceSharing,
    TrainingJobQueue,
)
from tests.quota_constructs.test_property_injection import Defaults
from tests.synthesis import LIMITS, QUEUE_ARN, template_of


def queue(stack: Stack) -> TrainingJobQueue:
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits=LIMITS)
    gpus.add_quota_share("Share", capacity_limits=LIMITS, resource_sharing=ResourceSharing.lend())
    return gpus.job_queue


def queue_arn(stack: Stack) -> str:
    found = stack.node.find_child("Gpus").node.find_child("JobQueue")
    assert isinstance(found, TrainingJobQueue)
    return found.job_queue_arn


def monitoring(stack: Stack, **props: Any) -> QuotaMonitoring:
    return QuotaMonitoring(stack, "Monitoring", queue=queue(stack), **props)


def resources(stack: Stack, kind: str) -> dict[str, dict[str, Any]]:
    """Return the properties of the monitoring's resources of a type, by the part of their id that is theirs."""
    return {
        id.removeprefix("Monitoring")[:-8]: resource["Properties"]
        for id, resource in template_of(stack)["Resources"].items()
        if resource["Type"] == kind
    }


def the(stack: Stack, kind: str) -> dict[str, Any]:
    (properties,) = resources(stack, kind).values()
    return properties


def ids(stack: Stack, kind: str) -> list[str]:
    return [id for id, resource in template_of(stack)["Resources"].items() if resource["Type"] == kind]


# The function


def test_the_function_is_told_the_queue_and_the_namespace(stack: Stack) -> None:
    monitoring(stack, namespace="Gpus")

    function = the(stack, "AWS::Lambda::Function")
    assert function["Environment"]["Variables"] == {
        "JOB_QUEUE_ARN": stack.resolve(queue_arn(stack)),
        "METRIC_NAMESPACE": "Gpus",
    }
    assert (function["Runtime"], function["Architectures"]) == ("python3.14", ["arm64"])


def test_the_function_ships_its_own_code_and_nothing_else(stack: Stack, tmp_path: Path) -> None:
    own = monitoring(stack)

    template_of(stack)
    (asset,) = (tmp_path / "cdk.out").glob("asset.*")
    files = {path.relative_to(asset).as_posix() for path in asset.rglob("*") if path.is_file()}
    modules = ("__init__", "datapoints", "handler", "ledger", "names", "reading")
    assert files == {f"quota_metrics/{name}.py" for name in modules}
    handler = the(stack, "AWS::Lambda::Function")["Handler"]
    module, _, function = handler.rpartition(".")
    assert f"def {function}(" in (asset / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    assert own.function is own.node.find_child("Function")


def test_the_log_is_kept_for_a_month_or_as_long_as_is_said(app: App) -> None:
    default, given = Stack(app, "Default"), Stack(app, "Given")
    monitoring(default)
    monitoring(given, log_retention=logs.RetentionDays.ONE_YEAR)

    assert the(default, "AWS::Logs::LogGroup") == {"RetentionInDays": 30}
    assert the(given, "AWS::Logs::LogGroup") == {"RetentionInDays": 365}


def test_the_function_may_do_what_it_calls_and_nothing_else(stack: Stack) -> None:
    monitoring(stack, namespace="Gpus")

    statements = the(stack, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    (log_group,) = ids(stack, "AWS::Logs::LogGroup")
    assert statements == [
        {
            "Effect": "Allow",
            "Action": ["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"],
            "Resource": stack.resolve(queue_arn(stack)),
        },
        {
            "Effect": "Allow",
            "Action": [
                "batch:DescribeJobQueues",
                "batch:DescribeServiceEnvironments",
                "batch:DescribeServiceJob",
                "batch:ListServiceJobs",
            ],
            "Resource": "*",
        },
        {
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": "Gpus"}},
        },
        {
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": {"Fn::GetAtt": [log_group, "Arn"]},
        },
    ]
    assert "ManagedPolicyArns" not in the(stack, "AWS::IAM::Role")


# What it is called for


def test_the_queue_is_measured_every_minute_and_each_preemption_is_counted(stack: Stack) -> None:
    monitoring(stack)

    rules = resources(stack, "AWS::Events::Rule")
    assert rules["Schedule"]["ScheduleExpression"] == "rate(1 minute)"
    assert rules["PreemptionStarted"]["EventPattern"] == {
        "source": ["aws.batch"],
        "detail-type": ["Batch Service Job Preemption Started"],
    }
    (function,) = ids(stack, "AWS::Lambda::Function")
    for rule in rules.values():
        assert [target["Arn"] for target in rule["Targets"]] == [{"Fn::GetAtt": [function, "Arn"]}]


def test_the_queue_is_measured_as_often_as_is_said(stack: Stack) -> None:
    monitoring(stack, rate=Duration.minutes(10))

    assert resources(stack, "AWS::Events::Rule")["Schedule"]["ScheduleExpression"] == "rate(10 minutes)"
    alarms = resources(stack, "AWS::CloudWatch::Alarm")
    # A shorter period would leave gaps.
    assert {name: alarm["Period"] for name, alarm in alarms.items() if alarm["Namespace"] != "AWS/Lambda"} == {
        "HeadAgeAlarm": 600,
        "IdleReserveAlarm": 3600,
        "BlockedAlarm": 900,
        "ChurnAlarm": 3600,
    }


@pytest.mark.parametrize("seconds", [30, 90, 86_460])
def test_fails_if_the_rate_is_not_whole_minutes_up_to_a_day(stack: Stack, seconds: int) -> None:
    with pytest.raises(QuotaConstructsError, match="is not whole minutes up to a day; give 1 minute, say"):
        monitoring(stack, rate=Duration.seconds(seconds))


def test_fails_if_the_rate_is_known_only_at_deployment(stack: Stack) -> None:
    minutes = CfnParameter(stack, "Minutes", type="Number").value_as_number

    with pytest.raises(QuotaConstructsError, match="rate is known only at deployment"):
        monitoring(stack, rate=Duration.minutes(minutes))


# Alarms


def test_alarms_are_about_the_whole_queue_and_tolerate_what_is_documented(stack: Stack) -> None:
    own = monitoring(stack)

    (name,) = {
        json.dumps(alarm["Dimensions"])
        for alarm in resources(stack, "AWS::CloudWatch::Alarm").values()
        if alarm["Namespace"] == "QuotaConstructs"
    }
    (dimension,) = json.loads(name)
    assert dimension["Name"] == "JobQueue"
    assert {
        id: (
            alarm["MetricName"],
            alarm["Statistic"],
            alarm["ComparisonOperator"].removesuffix("Threshold"),
            alarm["Threshold"],
            alarm["Period"] * alarm["EvaluationPeriods"],
            alarm.get("TreatMissingData"),
        )
        for id, alarm in resources(stack, "AWS::CloudWatch::Alarm").items()
    } == {
        "HeadAgeAlarm": ("HeadAge", "Maximum", "GreaterThanOrEqualTo", 4 * 3600, 300, None),
        "IdleReserveAlarm": ("IdleReserve", "Minimum", "GreaterThanOrEqualTo", 1, 24 * 3600, "ignore"),
        "BlockedAlarm": ("BlockedShares", "Minimum", "GreaterThanOrEqualTo", 1, 15 * 60, "ignore"),
        "ChurnAlarm": ("Preemptions", "Sum", "GreaterThan", 10, 3600, "notBreaching"),
        "FailureAlarm": ("Errors", "Sum", "GreaterThanOrEqualTo", 3, 15 * 60, "notBreaching"),
    }
    assert [alarm.node.id for alarm in own.alarms] == [
        "HeadAgeAlarm",
        "IdleReserveAlarm",
        "BlockedAlarm",
        "ChurnAlarm",
        "FailureAlarm",
    ]


def test_thresholds_can_be_given(stack: Stack) -> None:
    thresholds = QuotaAlarmThresholds(
        head_age=Duration.minutes(30),
        idle_reserve=Duration.days(7),
        blocked=Duration.minutes(3),
        preemptions_per_hour=0,
        failed_measurements=1,
    )
    monitoring(stack, thresholds=thresholds)

    alarms = resources(stack, "AWS::CloudWatch::Alarm")
    assert {id: (alarm["Threshold"], alarm["Period"], alarm["EvaluationPeriods"]) for id, alarm in alarms.items()} == {
        "HeadAgeAlarm": (1800, 300, 1),
        "IdleReserveAlarm": (1, 3600, 7 * 24),
        "BlockedAlarm": (1, 60, 3),
        "ChurnAlarm": (0, 3600, 1),
        "FailureAlarm": (1, 900, 1),
    }


def test_an_alarm_can_be_left_out(stack: Stack) -> None:
    thresholds = QuotaAlarmThresholds(
        head_age=None, idle_reserve=None, blocked=None, preemptions_per_hour=None, failed_measurements=None
    )
    own = monitoring(stack, thresholds=thresholds)

    assert own.alarms == ()
    assert resources(stack, "AWS::CloudWatch::Alarm") == {}


@pytest.mark.parametrize(
    ("field", "duration"),
    [
        ("idle_reserve", Duration.days(8)),
        ("idle_reserve", Duration.minutes(1447)),  # A prime number, more than a day.
        ("blocked", Duration.seconds(90)),
    ],
    ids=["too-long", "odd", "not-whole-minutes"],
)
def test_fails_if_a_threshold_is_not_what_an_alarm_can_see(stack: Stack, field: str, duration: Duration) -> None:
    expected = f"{field} .* is not what an alarm can see; give whole minutes up to a day, or whole hours up to 7 days"

    with pytest.raises(QuotaConstructsError, match=expected):
        monitoring(stack, thresholds=QuotaAlarmThresholds(**cast("Any", {field: duration})))


@pytest.mark.parametrize("field", ["head_age", "idle_reserve", "blocked"])
def test_fails_if_a_threshold_is_no_time_or_not_known(stack: Stack, field: str) -> None:
    hours = CfnParameter(stack, "Hours", type="Number").value_as_number

    for duration in (Duration.seconds(0), Duration.hours(hours)):
        with pytest.raises(QuotaConstructsError, match=f"{field} is no time that is known at synthesis"):
            QuotaMonitoring(
                stack,
                "Monitoring",
                queue=TrainingJobQueue.from_job_queue_arn(stack, f"Queue{duration.is_unresolved()}", QUEUE_ARN),
                thresholds=QuotaAlarmThresholds(**cast("Any", {field: duration})),
            )


@pytest.mark.parametrize(("field", "most"), [("preemptions_per_hour", -1), ("failed_measurements", 0)])
def test_fails_if_an_alarm_would_never_recover(stack: Stack, field: str, most: int) -> None:
    with pytest.raises(QuotaConstructsError, match=f"{field} {most} is below {most + 1}, so its alarm would never"):
        monitoring(stack, thresholds=QuotaAlarmThresholds(**cast("Any", {field: most})))


@pytest.mark.parametrize(
    ("minutes", "rate", "period", "periods"),
    [
        (1, 1, 60, 1),
        (7, 1, 60, 7),
        (15, 1, 300, 3),
        (15, 10, 900, 1),
        (60, 1, 3600, 1),
        (24 * 60, 1, 3600, 24),
        (23 * 60 + 59, 1, 60, 23 * 60 + 59),
        (7 * 24 * 60, 1, 3600, 7 * 24),
        (15, 60, 3600, 1),  # The rate is longer: one measurement decides.
    ],
)
def test_an_alarm_sees_all_of_the_time_in_periods_that_have_a_measurement_each(
    stack: Stack, minutes: int, rate: int, period: int, periods: int
) -> None:
    thresholds = QuotaAlarmThresholds(blocked=Duration.minutes(minutes))
    monitoring(stack, rate=Duration.minutes(rate), thresholds=thresholds)

    alarm = resources(stack, "AWS::CloudWatch::Alarm")["BlockedAlarm"]
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (period, periods)


def test_actions_are_those_of_all_alarms(stack: Stack) -> None:
    topic = sns.Topic(stack, "Topic")
    own = monitoring(stack)
    own.add_alarm_action(actions.SnsAction(topic))
    own.add_ok_action(actions.SnsAction(topic))

    alarms = resources(stack, "AWS::CloudWatch::Alarm").values()
    assert len(alarms) == 5
    for alarm in alarms:
        assert alarm["AlarmActions"] == alarm["OKActions"] == [stack.resolve(topic.topic_arn)]


# Queues


def test_an_imported_queue_is_measured_by_its_arn(stack: Stack) -> None:
    imported = TrainingJobQueue.from_job_queue_arn(stack, "Imported", QUEUE_ARN)
    QuotaMonitoring(stack, "Monitoring", queue=imported)

    assert the(stack, "AWS::Lambda::Function")["Environment"]["Variables"]["JOB_QUEUE_ARN"] == QUEUE_ARN
    assert resources(stack, "AWS::CloudWatch::Alarm")["HeadAgeAlarm"]["Dimensions"] == [
        {"Name": "JobQueue", "Value": "gpus"}
    ]


def test_a_queue_whose_arn_is_a_token_is_measured(stack: Stack) -> None:
    arn = CfnParameter(stack, "QueueArn").value_as_string
    QuotaMonitoring(stack, "Monitoring", queue=TrainingJobQueue.from_job_queue_arn(stack, "Imported", arn))

    assert the(stack, "AWS::Lambda::Function")["Environment"]["Variables"]["JOB_QUEUE_ARN"] == {"Ref": "QueueArn"}
    (dimension,) = resources(stack, "AWS::CloudWatch::Alarm")["HeadAgeAlarm"]["Dimensions"]
    assert dimension["Value"] == {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "QueueArn"}]}]}


def test_an_l1_queue_is_measured(stack: Stack) -> None:
    l1 = batch.CfnJobQueue(stack, "L1", priority=1, job_queue_type="SAGEMAKER_TRAINING")
    QuotaMonitoring(stack, "Monitoring", queue=l1)

    # Ref of a job queue is its ARN.
    assert the(stack, "AWS::Lambda::Function")["Environment"]["Variables"]["JOB_QUEUE_ARN"] == {"Ref": "L1"}


@pytest.mark.parametrize(
    ("env", "kind"),
    [
        (Environment(account="444455556666", region="eu-west-1"), "account"),
        (Environment(account="111122223333", region="us-east-1"), "Region"),
    ],
    ids=["account", "region"],
)
def test_fails_if_the_queue_is_somewhere_else(app: App, env: Environment, kind: str) -> None:
    stack = Stack(app, "Elsewhere", env=env)
    imported = TrainingJobQueue.from_job_queue_arn(stack, "Imported", QUEUE_ARN)

    with pytest.raises(
        QuotaConstructsError, match=f"the queue is in {kind} .*; define the monitoring in a stack of that"
    ):
        QuotaMonitoring(stack, "Monitoring", queue=imported)


@pytest.mark.parametrize("namespace", ["", "AWS/Batch", ":gpus", 'my "gpus"', "n" * 256])
def test_fails_if_cloudwatch_would_refuse_the_namespace(stack: Stack, namespace: str) -> None:
    with pytest.raises(QuotaConstructsError, match="is not one for metrics of your own"):
        monitoring(stack, namespace=namespace)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"queue": "gpus"}, "job queue 'gpus' is not a job queue; give a TrainingJobQueue"),
        ({"rate": 5}, "rate 5 is not a Duration; give Duration.minutes"),
        ({"rate": 0}, "rate 0 is not a Duration"),
        ({"namespace": None}, "namespace None is not a text; give 'QuotaConstructs', say"),
        ({"thresholds": {"head_age": None}}, "thresholds .* is not a QuotaAlarmThresholds; give QuotaAlarmThresholds"),
        ({"thresholds": QuotaAlarmThresholds(head_age=cast("Any", 4))}, "head_age 4 is not a Duration; give Duration"),
        (
            {"thresholds": QuotaAlarmThresholds(preemptions_per_hour=cast("Any", "10"))},
            "preemptions_per_hour '10' is not a number; give 0 or more, or None",
        ),
    ],
    ids=["queue", "rate", "no-rate", "namespace", "thresholds", "duration", "number"],
)
def test_fails_for_a_value_of_another_type(stack: Stack, given: dict[str, Any], message: str) -> None:
    queue = TrainingJobQueue.from_job_queue_arn(stack, "Imported", QUEUE_ARN)

    with pytest.raises(QuotaConstructsError, match=message):
        QuotaMonitoring(stack, "Monitoring", **{"queue": queue, **given})


def test_a_monitoring_that_cdk_refuses_leaves_nothing_behind(stack: Stack) -> None:
    with pytest.raises(TypeError):
        monitoring(stack, log_retention=cast("Any", "a month"))

    assert stack.node.try_find_child("Monitoring") is None


def test_a_refused_monitoring_leaves_nothing_behind(stack: Stack) -> None:
    with pytest.raises(QuotaConstructsError):
        monitoring(stack, thresholds=QuotaAlarmThresholds(idle_reserve=Duration.days(8)))

    assert stack.node.try_find_child("Monitoring") is None


# What belongs to every construct


def test_tags_reach_what_can_be_tagged(stack: Stack) -> None:
    Tags.of(monitoring(stack)).add("team", "platform")

    tag = [{"Key": "team", "Value": "platform"}]
    for kind in ("Lambda::Function", "Logs::LogGroup", "IAM::Role", "CloudWatch::Alarm", "Events::Rule"):
        for properties in resources(stack, f"AWS::{kind}").values():
            assert properties["Tags"] == tag


def test_an_organisation_can_inject_its_defaults(app: App) -> None:
    PropertyInjectors.of(app).add(Defaults(QuotaMonitoring, namespace="Acme/Gpus"))
    stack = Stack(app, "Stack")
    monitoring(stack)

    assert the(stack, "AWS::Lambda::Function")["Environment"]["Variables"]["METRIC_NAMESPACE"] == "Acme/Gpus"


@pytest.mark.slow
def test_cdk_nag_finds_nothing_and_a_wildcard_of_somebody_else_still_shows(app: App, tmp_path: Path) -> None:
    stack = Stack(app, "Stack")
    own = monitoring(stack)
    another = own.function.role
    assert another is not None
    another.add_to_principal_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"]))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError, match=r"AwsSolutions-IAM5\[Resource::\*\]"):
        app.synth()

    report = json.loads((tmp_path / "cdk.out" / "validation-report.json").read_text(encoding="utf-8"))
    (plugin,) = (plugin for plugin in report["pluginReports"] if plugin["pluginName"] == "AwsSolutions")
    found = {
        (violation["ruleName"], construct["constructPath"])
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    }
    assert found == {("AwsSolutions-IAM5[Resource::*]", "Stack/Monitoring/Role/DefaultPolicy/Resource")}


@pytest.mark.slow
def test_cfn_lint_finds_nothing(stack: Stack) -> None:
    monitoring(stack)
    template = json.dumps(template_of(stack))

    # W3005: CDK lets every function depend on its role once more.
    settings = ManualArgs(include_checks=["I"], ignore_checks=["W3005"], regions=["us-east-1", "eu-west-1"])
    findings = cfnlint.lint(template, config=settings)

    assert [str(finding) for finding in findings] == []
