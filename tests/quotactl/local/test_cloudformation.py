"""What the four resource types do with properties that no construct would write."""

from __future__ import annotations

from typing import Any

import pytest

from quotactl.local.batch.batch import Batch
from quotactl.local.cloudformation import TYPES, ResourceHandlerError
from tests.quotactl.local.conftest import Call

UNIT = "ml.g5.xlarge"
LIMITS = [{"CapacityUnit": UNIT, "MaxCapacity": 1}]


def create(batch: Batch, kind: str, **properties: Any) -> str:
    return TYPES[f"AWS::Batch::{kind}"].created(batch, "Logical", properties, "stack")[0]


@pytest.fixture
def queue(batch: Batch) -> dict[str, Any]:
    """The properties of a job queue whose policy and environment exist."""
    policy = create(batch, "SchedulingPolicy", QuotaSharePolicy={"IdleResourceAssignmentStrategy": "FIFO"})
    environment = create(
        batch, "ServiceEnvironment", ServiceEnvironmentType="sagemaker_training", CapacityLimits=LIMITS
    )
    return {
        "JobQueueType": "SAGEMAKER_TRAINING",
        "Priority": "1",
        "SchedulingPolicyArn": policy,
        "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": environment}],
    }


@pytest.fixture
def share(batch: Batch, queue: dict[str, Any]) -> dict[str, Any]:
    """The properties of a quota share of a queue that exists."""
    return {
        "QuotaShareName": "vision",
        "JobQueue": create(batch, "JobQueue", **queue),
        "CapacityLimits": LIMITS,
        "ResourceSharingConfiguration": {"Strategy": "lend_and_borrow", "BorrowLimit": 50},
        "PreemptionConfiguration": {"InSharePreemption": "disabled"},
    }


def test_enumerations_are_read_in_any_case_where_the_schema_says_so(
    batch: Batch, api: Call, share: dict[str, Any]
) -> None:
    described = api("DescribeQuotaShare", quotaShareArn=create(batch, "QuotaShare", **share))
    assert described["resourceSharingConfiguration"] == {"strategy": "LEND_AND_BORROW", "borrowLimit": 50}
    assert described["preemptionConfiguration"] == {"inSharePreemption": "DISABLED"}


def test_what_a_template_no_longer_gives_goes_back_to_its_default(
    batch: Batch, api: Call, share: dict[str, Any]
) -> None:
    before = {**share, "State": "DISABLED", "Tags": {"team": "a", "cost": "1"}}
    arn = create(batch, "QuotaShare", **before)
    after = {**share, "ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW"}, "Tags": {"team": "b"}}
    TYPES["AWS::Batch::QuotaShare"].updated(batch, arn, before, after)
    described = api("DescribeQuotaShare", quotaShareArn=arn)
    assert described["state"] == "ENABLED"
    assert described["resourceSharingConfiguration"] == {"strategy": "LEND_AND_BORROW"}
    assert described["tags"] == {"team": "b"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Nonsense": 1}, r"extraneous key \[Nonsense\]"),
        ({"CapacityLimits": []}, "no capacity limit"),
        (
            {"CapacityLimits": [{"CapacityUnit": UNIT, "MaxCapacity": "many"}]},
            "/CapacityLimits/0/MaxCapacity: expected an",
        ),
        ({"ResourceSharingConfiguration": "LEND"}, "/ResourceSharingConfiguration: expected an object"),
        ({"QuotaShareName": "not valid"}, "not valid"),
    ],
)
def test_fails_to_create_a_share_of_properties_that_make_no_sense(
    batch: Batch, api: Call, share: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ResourceHandlerError, match=message):
        create(batch, "QuotaShare", **{**share, **changes})
    assert api("ListQuotaShares", jobQueue=share["JobQueue"])["quotaShares"] == []


def test_fails_with_both_kinds_of_environment_even_if_one_is_empty(
    batch: Batch, api: Call, queue: dict[str, Any]
) -> None:
    with pytest.raises(ResourceHandlerError, match="ComputeEnvironmentOrder and ServiceEnvironmentOrder exclude"):
        create(batch, "JobQueue", **queue, ComputeEnvironmentOrder=[])
    assert api("DescribeJobQueues")["jobQueues"] == []


def test_fails_to_turn_a_policy_into_the_other_kind(batch: Batch) -> None:
    before = {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}}
    arn = create(batch, "SchedulingPolicy", **before)
    with pytest.raises(ResourceHandlerError, match="create a new policy"):
        TYPES["AWS::Batch::SchedulingPolicy"].updated(batch, arn, before, {"FairsharePolicy": {"ShareDecaySeconds": 1}})
