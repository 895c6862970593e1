"""What the CDK CLI's lookups are answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quotactl.local.batch.batch import Batch
from quotactl.local.cloud_control import call
from quotactl.local.errors import AwsError
from tests.quotactl.local.conftest import Call

UNIT = "ml.g5.xlarge"


@pytest.fixture
def queue(api: Call) -> str:
    """The ARN of a queue with one share, 'vision'."""
    limits = [{"capacityUnit": UNIT, "maxCapacity": 2}]
    policy = api("CreateSchedulingPolicy", name="quotas", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
    api(
        "CreateServiceEnvironment",
        serviceEnvironmentName="gpus",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=limits,
    )
    queue = api(
        "CreateJobQueue",
        jobQueueName="gpus",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy["arn"],
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "gpus"}],
    )
    api(
        "CreateQuotaShare",
        quotaShareName="vision",
        jobQueue="gpus",
        capacityLimits=limits,
        resourceSharingConfiguration={"strategy": "LEND"},
        preemptionConfiguration={"inSharePreemption": "DISABLED"},
    )
    return str(queue["jobQueueArn"])


def properties(description: dict[str, str]) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(description["Properties"])
    return loaded


def test_a_resource_is_described_in_the_form_of_its_cloudformation_type(batch: Batch, queue: str) -> None:
    arn = f"{queue}/quota-share/vision"

    found = call(batch, "GetResource", {"TypeName": "AWS::Batch::QuotaShare", "Identifier": arn})

    assert found["TypeName"] == "AWS::Batch::QuotaShare"
    assert found["ResourceDescription"]["Identifier"] == arn
    share = properties(found["ResourceDescription"])
    assert share["CapacityLimits"] == [{"CapacityUnit": UNIT, "MaxCapacity": 2}]
    assert share["ResourceSharingConfiguration"]["Strategy"] == "LEND"
    assert share["QuotaShareArn"] == arn


def test_a_queue_names_its_environment(batch: Batch, queue: str) -> None:
    found = call(batch, "GetResource", {"TypeName": "AWS::Batch::JobQueue", "Identifier": queue})

    (order,) = properties(found["ResourceDescription"])["ServiceEnvironmentOrder"]
    assert order["ServiceEnvironment"].endswith(":service-environment/gpus")


def test_the_shares_of_a_queue_are_listed_by_identifier(batch: Batch, queue: str) -> None:
    model = json.dumps({"JobQueue": queue})

    found = call(batch, "ListResources", {"TypeName": "AWS::Batch::QuotaShare", "ResourceModel": model})

    (share,) = found["ResourceDescriptions"]
    assert share["Identifier"] == f"{queue}/quota-share/vision"
    assert properties(share) == {"QuotaShareArn": share["Identifier"]}


@pytest.mark.parametrize("kind", ["JobQueue", "SchedulingPolicy", "ServiceEnvironment"])
def test_all_resources_of_a_type_are_listed(batch: Batch, queue: str, kind: str) -> None:
    found = call(batch, "ListResources", {"TypeName": f"AWS::Batch::{kind}"})

    assert len(found["ResourceDescriptions"]) == 1


def test_a_list_holds_more_than_one_page_of_the_api_behind_it(batch: Batch, api: Call) -> None:
    for number in range(101):
        api("CreateSchedulingPolicy", name=f"p{number}")

    found = call(batch, "ListResources", {"TypeName": "AWS::Batch::SchedulingPolicy"})

    assert len({description["Identifier"] for description in found["ResourceDescriptions"]}) == 101


def test_fails_for_a_resource_that_does_not_exist(batch: Batch, queue: str) -> None:
    with pytest.raises(AwsError, match="was not found") as refused:
        call(batch, "GetResource", {"TypeName": "AWS::Batch::JobQueue", "Identifier": f"{queue}-2"})
    assert refused.value.code == "ResourceNotFoundException"


def test_fails_for_shares_without_their_queue(batch: Batch, queue: str) -> None:
    with pytest.raises(AwsError, match="JobQueue"):
        call(batch, "ListResources", {"TypeName": "AWS::Batch::QuotaShare"})


@pytest.mark.parametrize(
    ("operation", "type_name"),
    [("GetResource", "AWS::S3::Bucket"), ("CreateResource", "AWS::Batch::JobQueue"), ("GetResource", "")],
)
def test_fails_for_what_the_local_aws_does_not_offer(batch: Batch, operation: str, type_name: str) -> None:
    with pytest.raises(AwsError, match="not supported by the local AWS"):
        call(batch, operation, {"TypeName": type_name, "Identifier": "x"})


def test_fails_for_a_resource_without_identifier(batch: Batch) -> None:
    with pytest.raises(AwsError, match="Identifier"):
        call(batch, "GetResource", {"TypeName": "AWS::Batch::JobQueue"})


@pytest.mark.parametrize("model", ["{", "[]", "3"])
def test_fails_for_a_resource_model_that_is_no_object(batch: Batch, model: str) -> None:
    with pytest.raises(AwsError, match="ResourceModel"):
        call(batch, "ListResources", {"TypeName": "AWS::Batch::QuotaShare", "ResourceModel": model})
