"""What the roles of a team's stack may do, asked of the IAM simulator: its own share, and no other."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App

from stacks.team import MAX_PRIORITY, TeamStack
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

QUEUE = f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/gpus"
SHARE = f"{QUEUE}/quota-share/vision"
OTHER_SHARE = f"{QUEUE}/quota-share/speech"
OURS = {"team": "vision"}
THEIRS = {"team": "speech"}


@pytest.fixture
def template(app: App) -> dict[str, Any]:
    template = template_of(TeamStack(app, "Vision", share_prefix="/gpus/vision", team="vision"))
    for parameter in template["Parameters"].values():
        if parameter["Default"].endswith("/quota-share-arn"):
            parameter["Default"] = SHARE
    return template


@pytest.fixture(params=["Submitter", "TrainingJobRole"])
def role(request: pytest.FixtureRequest, simulator: Simulator, template: dict[str, Any]) -> Principal:
    return simulator.grantee_of(template, request.param)


@pytest.fixture
def submitter(simulator: Simulator, template: dict[str, Any]) -> Principal:
    return simulator.grantee_of(template, "Submitter")


def test_both_roles_submit_to_the_teams_share(role: Principal) -> None:
    assert role.may(submit_service_job(QUEUE, SHARE, priority=MAX_PRIORITY, tags=OURS))


@pytest.mark.parametrize(
    "call",
    [
        submit_service_job(QUEUE, OTHER_SHARE, priority=1, tags=OURS),
        submit_service_job(f"{QUEUE}-2", f"{QUEUE}-2/quota-share/vision", priority=1, tags=OURS),
        submit_service_job(QUEUE, SHARE, priority=MAX_PRIORITY + 1, tags=OURS),
        submit_service_job(QUEUE, SHARE, priority=1, tags=THEIRS),
        submit_service_job(QUEUE, SHARE, priority=1),
        tag_job(OURS, tags=THEIRS),
        pass_role(f"arn:aws:iam::{ACCOUNT}:role/Admin"),
        Request("batch:UpdateQuotaShare", SHARE),
        Request("batch:DeleteQuotaShare", SHARE),
        Request("batch:UpdateJobQueue", QUEUE),
    ],
    ids=lambda call: str(call)[:100],
)
def test_neither_role_may_do_more(role: Principal, call: Request | list[Request]) -> None:
    assert not role.may(call)


def test_the_submitter_ends_and_reorders_the_teams_jobs_alone(submitter: Principal) -> None:
    assert submitter.may(terminate_service_job(tags=OURS))
    assert submitter.may(update_service_job(MAX_PRIORITY, tags=OURS))
    assert not submitter.may(terminate_service_job(tags=THEIRS))
    assert not submitter.may(update_service_job(1, tags=THEIRS))
    assert not submitter.may(update_service_job(MAX_PRIORITY + 1, tags=OURS))
