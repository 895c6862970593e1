from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App, Duration, Environment, Stack, Validations
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks

from stacks.team import TeamStack
from tests.iam.templates import policies_of, resolved
from tests.synthesis import template_of

PREFIX = "/gpus/vision"
SHARE_ARN = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus/quota-share/vision"


@pytest.fixture
def team(app: App) -> TeamStack:
    return TeamStack(app, "Vision", share_prefix=PREFIX, team="vision")


def of_type(template: dict[str, Any], type_: str) -> list[dict[str, Any]]:
    return [each["Properties"] for each in template["Resources"].values() if each["Type"] == type_]


def deployed(stack: Stack) -> dict[str, Any]:
    """The template, with the share's ARN in the place of the parameter that holds it."""
    template = template_of(stack)
    for parameter in template["Parameters"].values():
        if parameter["Default"].endswith("/quota-share-arn"):
            parameter["Default"] = SHARE_ARN
    return template


def states_of(stack: Stack) -> dict[str, Any]:
    template = deployed(stack)
    (machine,) = of_type(template, "AWS::StepFunctions::StateMachine")
    definition: dict[str, Any] = json.loads(resolved(template, machine["DefinitionString"]))
    return definition


def statements_of(stack: Stack, role: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """The statements of a role's policies by their actions."""
    documents = policies_of(deployed(stack), role)
    statements = [statement for document in documents for statement in document["Statement"]]
    return {tuple(as_list(statement["Action"])): statement for statement in statements}


def as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def test_imports_its_share_from_the_parameter_and_nothing_else(team: TeamStack) -> None:
    template = template_of(team)

    read = [each["Default"] for each in template["Parameters"].values() if "SSM" in each["Type"]]
    assert [name for name in read if "cdk-bootstrap" not in name] == [f"{PREFIX}/quota-share-arn"]
    assert "Fn::ImportValue" not in json.dumps(template)
    assert "Fn::GetStackOutput" not in json.dumps(template)


@pytest.mark.parametrize("role", ["Submitter", "TrainingJobRole"])
def test_submits_to_that_share_alone(team: TeamStack, role: str) -> None:
    statement = statements_of(team, role)["batch:SubmitServiceJob",]

    assert set(statement["Resource"]) == {
        "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus",
        "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus/quota-share/vision",
        "arn:aws:batch:eu-west-1:123456789012:service-job/*",
    }
    assert statement["Condition"] == {
        "NumericLessThanEqualsIfExists": {"batch:SchedulingPriority": "100"},
        "StringEquals": {"aws:RequestTag/team": "vision"},
    }


@pytest.mark.parametrize("role", ["Submitter", "TrainingJobRole"])
def test_passes_the_teams_execution_role_alone_and_to_sagemaker_alone(team: TeamStack, role: str) -> None:
    statement = statements_of(team, role)["iam:PassRole",]

    assert statement["Resource"].startswith("arn:aws:iam::123456789012:role/ExecutionRole")
    assert statement["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}


def test_the_state_machine_may_do_nothing_but_submit_and_look(team: TeamStack) -> None:
    actions = {action for actions in statements_of(team, "TrainingJobRole") for action in actions}

    assert actions == {"batch:SubmitServiceJob", "batch:TagResource", "batch:DescribeServiceJob", "iam:PassRole"}


def test_the_submitter_manages_jobs_with_the_teams_tag_alone(team: TeamStack) -> None:
    statements = statements_of(team, "Submitter")

    for action in ("batch:TerminateServiceJob", "batch:UpdateServiceJob"):
        assert statements[action,]["Condition"]["StringEquals"] == {"aws:ResourceTag/team": "vision"}


def test_whatever_is_allowed_on_everything_only_reads(team: TeamStack) -> None:
    for role in ("Submitter", "TrainingJobRole"):
        for actions, statement in statements_of(team, role).items():
            if statement["Resource"] == "*":
                assert all(action.startswith(("batch:Describe", "batch:List")) for action in actions)


def test_the_state_machine_submits_waits_looks_and_ends_as_the_job_does(team: TeamStack) -> None:
    definition = states_of(team)
    states = definition["States"]

    assert (definition["QueryLanguage"], definition["StartAt"]) == ("JSONata", "Submit")
    assert [states[name].get("Next") for name in ("Submit", "Wait", "Look")] == ["Wait", "Look", "Ended?"]
    assert {choice["Condition"]: choice["Next"] for choice in states["Ended?"]["Choices"]} == {
        "{% $states.input.status = 'SUCCEEDED' %}": "Succeeded",
        "{% $states.input.status = 'FAILED' %}": "Failed",
    }
    assert states["Ended?"]["Default"] == "Wait"
    assert (states["Succeeded"]["Type"], states["Failed"]["Type"]) == ("Succeed", "Fail")
    assert states["Failed"]["Error"] == "TrainingJobFailed"


def test_a_job_goes_to_the_share_with_the_teams_tag_and_role(team: TeamStack) -> None:
    arguments = states_of(team)["States"]["Submit"]["Arguments"]

    assert arguments["ServiceJobType"] == "SAGEMAKER_TRAINING"
    assert (arguments["JobQueue"], arguments["QuotaShareName"]) == (SHARE_ARN.partition("/quota-share/")[0], "vision")
    assert arguments["Tags"] == {"team": "vision"}
    assert "'RoleArn': 'arn:aws:iam::123456789012:role/ExecutionRole" in arguments["ServiceRequestPayload"]
    assert arguments["ServiceRequestPayload"].startswith("{% $string(")


def test_the_training_jobs_role_takes_the_teams_data(team: TeamStack) -> None:
    team.execution_role.add_output(s3.Bucket.from_bucket_name(team, "Models", "vision-models"), "runs/")

    (statement,) = (
        each for actions, each in statements_of(team, "ExecutionRole").items() if actions == ("s3:PutObject",)
    )
    assert statement["Resource"] == "arn:aws:s3:::vision-models/runs/*"


def test_one_look_that_fails_does_not_end_an_execution_of_days(team: TeamStack) -> None:
    (retry,) = states_of(team)["States"]["Look"]["Retry"]

    assert retry["ErrorEquals"] == ["States.TaskFailed"]
    assert retry["MaxAttempts"] > 1


def test_a_submission_that_may_have_arrived_is_not_tried_again(team: TeamStack) -> None:
    (retry,) = states_of(team)["States"]["Submit"]["Retry"]

    assert not {"States.ALL", "States.TaskFailed", "States.Timeout", "Batch.ServerException"} & set(
        retry["ErrorEquals"]
    )


@pytest.mark.parametrize(("interval", "seconds"), [(None, 300), (Duration.seconds(10), 10)])
def test_looks_every_five_minutes_unless_told_otherwise(app: App, interval: Duration | None, seconds: int) -> None:
    stack = TeamStack(app, "Vision", share_prefix=PREFIX, team="vision", poll_interval=interval)

    assert states_of(stack)["States"]["Wait"]["Seconds"] == seconds


@pytest.mark.parametrize("env", [None, Environment(account="111122223333", region="eu-west-1")])
def test_cdk_nag_finds_nothing(app: App, env: Environment | None) -> None:
    TeamStack(app, "Vision", share_prefix=PREFIX, team="vision", env=env)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    app.synth()  # A violation would be raised.


def test_two_teams_deploy_side_by_side(app: App) -> None:
    stacks = [TeamStack(app, name, share_prefix=f"/gpus/{name}", team=name) for name in ("vision", "speech")]

    template, other = (template_of(stack) for stack in stacks)
    named = ("RoleName", "PolicyName", "StateMachineName")
    names = [
        {each["Properties"].get(key) for each in whole["Resources"].values() for key in named if key != "PolicyName"}
        for whole in (template, other)
    ]
    assert names == [{None}, {None}]  # AWS makes them up.
