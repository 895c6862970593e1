"""What the roles of the example's team stack allow and deny, all their policies together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import App

from stacks.team import MAX_PRIORITY, TeamStack
from tests.conftest import feature_flags
from tests.iam.scene import BATCH, OTHER_SHARE, QUEUE, SHARE, SPEECH, VISION
from tests.iam.simulator import (
    Principal,
    Request,
    Simulator,
    pass_role,
    submit_service_job,
    tag_job,
    terminate_service_job,
    update_service_job,
)
from tests.iam.templates import ACCOUNT, REGION
from tests.synthesis import template_of

EXECUTION_ROLE = f"arn:aws:iam::{ACCOUNT}:role/"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The stack's template, with the share's ARN in the place of the parameter that holds it."""
    app = App(context=feature_flags(), outdir=str(tmp_path_factory.mktemp("cdk.out")))
    template = template_of(TeamStack(app, "Team", share_prefix="/gpus/vision", team="vision"))
    for parameter in template["Parameters"].values():
        if parameter["Default"].endswith("/quota-share-arn"):
            parameter["Default"] = SHARE
    return template


@pytest.fixture(scope="module", params=["Submitter", "TrainingJobRole"])
def submitter(request: pytest.FixtureRequest, simulator: Simulator, template: Mapping[str, Any]) -> Principal:
    return simulator.grantee_of(template, request.param)


@pytest.fixture(scope="module")
def person(simulator: Simulator, template: Mapping[str, Any]) -> Principal:
    return simulator.grantee_of(template, "Submitter")


@pytest.fixture(scope="module")
def workflow(simulator: Simulator, template: Mapping[str, Any]) -> Principal:
    return simulator.grantee_of(template, "TrainingJobRole")


def execution_role(template: Mapping[str, Any]) -> str:
    (name,) = [
        name
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::IAM::Role" and name.startswith("ExecutionRole")
    ]
    return f"{EXECUTION_ROLE}{name}"


def test_both_submit_to_the_teams_share_with_its_tag_and_role(
    submitter: Principal, template: Mapping[str, Any]
) -> None:
    role = execution_role(template)

    assert submitter.may(submit_service_job(QUEUE, SHARE, priority=MAX_PRIORITY, tags=VISION, role=role))


def test_fails_for_both_outside_of_that(submitter: Principal) -> None:
    assert not submitter.may(submit_service_job(QUEUE, OTHER_SHARE, tags=VISION))
    assert not submitter.may(submit_service_job(QUEUE, SHARE, priority=MAX_PRIORITY + 1, tags=VISION))
    assert not submitter.may(submit_service_job(QUEUE, SHARE, tags=SPEECH))
    assert not submitter.may(submit_service_job(QUEUE, SHARE))
    assert not submitter.may(pass_role(f"{EXECUTION_ROLE}Admin"))


def test_fails_for_both_to_touch_another_teams_jobs_or_the_quotas(submitter: Principal) -> None:
    assert not submitter.may(terminate_service_job(tags=SPEECH))
    assert not submitter.may(update_service_job(1, tags=SPEECH))
    assert not submitter.may(tag_job(VISION, tags=SPEECH))
    assert not submitter.may(Request("batch:UpdateQuotaShare", SHARE))
    assert not submitter.may(Request("batch:UpdateJobQueue", QUEUE))
    assert not submitter.may(Request("batch:UpdateServiceEnvironment", f"{BATCH}:service-environment/gpus"))


def test_people_manage_the_teams_jobs_and_look_at_the_queue(person: Principal) -> None:
    assert person.may(terminate_service_job(tags=VISION))
    assert person.may(update_service_job(MAX_PRIORITY, tags=VISION))
    assert person.may(Request("batch:GetJobQueueSnapshot", QUEUE))
    assert not person.may(update_service_job(MAX_PRIORITY + 1, tags=VISION))


def test_the_workflow_waits_for_jobs_and_does_not_manage_them(workflow: Principal) -> None:
    assert workflow.may(Request("batch:DescribeServiceJob"))
    assert not workflow.may(terminate_service_job(tags=VISION))
    assert not workflow.may(Request("states:StartExecution", f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:any"))
