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


FORBIDDEN = {
    "another share": submit_service_job(QUEUE, OTHER_SHARE, priority=1, tags=OURS),
    "a share of that name in another queue": submit_service_job(
        f"{QUEUE}-2", f"{QUEUE}-2/quota-share/vision", priority=1, tags=OURS
    ),
    "a priority above the cap": submit_service_job(QUEUE, SHARE, priority=MAX_PRIORITY + 1, tags=OURS),
    "another team's tag": submit_service_job(QUEUE, SHARE, priority=1, tags=THEIRS),
    "no tag": submit_service_job(QUEUE, SHARE, priority=1),
    "taking over another team's job": tag_job(OURS, tags=THEIRS),
    "passing another role": pass_role(f"arn:aws:iam::{ACCOUNT}:role/Admin"),
    "changing the share": Request("batch:UpdateQuotaShare", SHARE),
    "deleting the share": Request("batch:DeleteQuotaShare", SHARE),
    "changing the queue": Request("batch:UpdateJobQueue", QUEUE),
}


@pytest.mark.parametrize("call", FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_neither_role_may_do_more(role: Principal, call: Request | list[Request]) -> None:
    assert not role.may(call)


def test_the_submitter_ends_and_reorders_the_teams_jobs_alone(submitter: Principal) -> None:
    assert submitter.may(terminate_service_job(tags=OURS))
    assert submitter.may(update_service_job(MAX_PRIORITY, tags=OURS))
    assert not submitter.may(terminate_service_job(tags=THEIRS))
    assert not submitter.may(update_service_job(1, tags=THEIRS))
    assert not submitter.may(update_service_job(MAX_PRIORITY + 1, tags=OURS))
