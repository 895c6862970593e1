"""ServiceEnvironment: API reference and user guide, "Service environments"."""

from __future__ import annotations

import pytest

from tests.conformance.target import OTHER_UNIT, UNIT, Target, capacity_limits

pytestmark = pytest.mark.slow


def test_an_environment_becomes_valid_and_is_enabled_by_default(target: Target) -> None:
    arn = target.environment({UNIT: 3, OTHER_UNIT: 1})
    name = arn.rpartition("/")[2]
    environment = target.describe_environment(name)
    assert environment["serviceEnvironmentArn"] == arn
    assert arn.endswith(f":service-environment/{name}")
    assert (environment["status"], environment["state"]) == ("VALID", "ENABLED")
    assert environment["serviceEnvironmentType"] == "SAGEMAKER_TRAINING"
    assert environment["capacityLimits"] == capacity_limits({UNIT: 3, OTHER_UNIT: 1})


def test_its_limits_and_state_change_in_place(target: Target) -> None:
    name = target.environment().rpartition("/")[2]
    target.batch.update_service_environment(serviceEnvironment=name, capacityLimits=capacity_limits({UNIT: 5}))
    target.wait_until(lambda: target.describe_environment(name)["status"] == "VALID")
    target.batch.update_service_environment(serviceEnvironment=name, state="DISABLED")
    target.wait_until(lambda: target.describe_environment(name)["status"] == "VALID")
    environment = target.describe_environment(name)
    assert environment["capacityLimits"] == capacity_limits({UNIT: 5})
    assert environment["state"] == "DISABLED"


def test_a_deleted_environment_is_described_no_more(target: Target) -> None:
    name = target.environment().rpartition("/")[2]
    target.delete_environment(name)
    assert target.describe_environment(name)["status"] in (None, "DELETED")


def test_one_that_does_not_exist_is_left_out_of_a_description(target: Target) -> None:
    assert target.batch.describe_service_environments(serviceEnvironments=["no-such"])["serviceEnvironments"] == []


def test_fails_with_a_name_that_is_taken(target: Target) -> None:
    name = target.environment().rpartition("/")[2]
    with pytest.raises(target.refused) as refusal:
        target.batch.create_service_environment(
            serviceEnvironmentName=name,
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=capacity_limits({UNIT: 1}),
        )
    assert refusal.value.response["Error"]["Message"] == "Object already exists"  # type: ignore[attr-defined]


def test_fails_to_be_deleted_while_it_is_enabled(target: Target) -> None:
    name = target.environment().rpartition("/")[2]
    with pytest.raises(target.refused):
        target.batch.delete_service_environment(serviceEnvironment=name)


def test_fails_to_be_deleted_while_a_queue_uses_it(target: Target) -> None:
    arn = target.environment()
    target.queue(serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": arn}])
    target.batch.update_service_environment(serviceEnvironment=arn, state="DISABLED")
    with pytest.raises(target.refused):
        target.batch.delete_service_environment(serviceEnvironment=arn)


@pytest.mark.parametrize(
    "changes",
    [
        {"serviceEnvironmentType": "EKS"},
        {"state": "enabled"},
        {"serviceEnvironmentName": "not valid"},
        {"tags": {f"key-{number}": "" for number in range(51)}},
        {"tags": {"k" * 129: "v"}},
        {"tags": {"k": "v" * 257}},
    ],
)
def test_fails_with_values_that_the_api_does_not_have(target: Target, changes: dict[str, object]) -> None:
    request = {
        "serviceEnvironmentName": target.new_name(),
        "serviceEnvironmentType": "SAGEMAKER_TRAINING",
        "capacityLimits": capacity_limits({UNIT: 1}),
    }
    with pytest.raises(target.refused):
        target.batch.create_service_environment(**{**request, **changes})
