"""Any number of grants to one principal, against what they should add up to: never to more than one of them gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from hypothesis import given, settings
from hypothesis import strategies as st

from quota_constructs import QuotaShare
from tests.conftest import feature_flags
from tests.iam.scene import QUEUE, grantee
from tests.iam.simulator import (
    Principal,
    Simulator,
    submit_service_job,
    tag_job,
    terminate_service_job,
    update_service_job,
)
from tests.synthesis import template_of

Tags = Mapping[str, str]

# Names that begin alike, in queues that do.
SHARES = [f"{queue}/quota-share/{name}" for queue in (QUEUE, f"{QUEUE}-2") for name in ("a", "a-2")]

shares = st.sampled_from(SHARES)
priorities = st.none() | st.sampled_from([0, 1, 50, 9999])
some_tags = st.sampled_from([{"team": "x"}, {"team": "y"}, {"user": "x"}, {"team": "x", "user": "y"}])
tags: st.SearchStrategy[dict[str, str]] = some_tags | st.just({})


@dataclass(frozen=True)
class Submit:
    share: str
    cap: int | None
    tags: Tags | None

    def allows(self, share: str, priority: int | None, tags: Tags) -> bool:
        return share == self.share and self.within_cap(priority) and (self.tags or {}).items() <= tags.items()

    def within_cap(self, priority: int | None) -> bool:
        return self.cap is None or priority is None or priority <= self.cap


@dataclass(frozen=True)
class Manage:
    share: str
    cap: int | None
    tags: Tags

    def allows(self, priority: int | None, tags: Tags) -> bool:
        return (self.cap is None or priority is None or priority <= self.cap) and self.tags.items() <= tags.items()


submits = st.lists(st.builds(Submit, shares, priorities, st.none() | some_tags), max_size=3)
manages = st.lists(st.builds(Manage, shares, priorities, some_tags), max_size=3)
calls = st.lists(st.tuples(shares, priorities, tags, tags), min_size=1, max_size=4)


def principal(simulator: Simulator, outdir: Path, submits: list[Submit], manages: list[Manage]) -> Principal:
    stack = Stack(App(context=feature_flags(), outdir=str(outdir)), "Stack")
    role = grantee(stack)
    for index, submit in enumerate(submits):
        share = QuotaShare.from_quota_share_arn(stack, f"Submit{index}", submit.share)
        share.grants.submit(role, max_priority=submit.cap, job_tags=submit.tags)
    for index, manage in enumerate(manages):
        share = QuotaShare.from_quota_share_arn(stack, f"Manage{index}", manage.share)
        share.grants.manage_jobs(role, max_priority=manage.cap, job_tags=manage.tags)
    return simulator.grantee_of(template_of(stack))


@settings(max_examples=20, deadline=None)
@given(submits=submits, manages=manages, calls=calls)
def test_a_call_is_allowed_exactly_if_one_grant_allows_it(
    simulator: Simulator,
    tmp_path_factory: pytest.TempPathFactory,
    submits: list[Submit],
    manages: list[Manage],
    calls: list[tuple[str, int | None, Tags, Tags]],
) -> None:
    grantee = principal(simulator, tmp_path_factory.mktemp("cdk.out"), submits, manages)

    for share, priority, given_tags, had_tags in calls:
        queue, _, _ = share.partition("/quota-share/")
        tagging = [each for each in submits if each.tags and each.tags.items() <= given_tags.items()]
        submitted = any(each.allows(share, priority, given_tags) for each in submits)
        call = submit_service_job(queue, share, priority=priority, tags=given_tags)
        assert grantee.may(call) is (submitted and (bool(tagging) or not given_tags))

        new_priority = priority or 0
        updated = any(each.allows(new_priority, had_tags) for each in manages)
        assert grantee.may(update_service_job(new_priority, tags=had_tags)) is updated
        ended = any(each.allows(None, had_tags) for each in manages)
        assert grantee.may(terminate_service_job(tags=had_tags)) is ended

        if given_tags:
            claimed = any(
                all(had_tags.get(key, value) == value for key, value in (each.tags or {}).items()) for each in tagging
            )
            assert grantee.may(tag_job(given_tags, tags=had_tags)) is claimed
