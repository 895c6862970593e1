"""The operations on service environments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from quota_model.design import CapacityLimits, ServiceEnvironment, State
from quota_model.rules import check_service_environment
from quotactl.local.batch.batch import Batch, Operation
from quotactl.local.batch.checks import check_name, check_tags, refuse_findings
from quotactl.local.batch.resources import EnvironmentRecord
from quotactl.local.errors import ClientException
from quotactl.local.paging import page

__all__ = ["OPERATIONS"]

_MOST_ENVIRONMENTS: Final = 50


def create_service_environment(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Create an environment; a quota-managed one counts instances of SageMaker Training instance types."""
    name = request["serviceEnvironmentName"]
    check_name("serviceEnvironmentName", name)
    design = ServiceEnvironment(
        CapacityLimits.from_json(request["capacityLimits"]), name, State(request.get("state", State.ENABLED))
    )
    refuse_findings(check_service_environment(design))
    if name in batch.environments:
        raise ClientException("Object already exists")
    if len(batch.environments) >= _MOST_ENVIRONMENTS:
        raise ClientException(f"An account has at most {_MOST_ENVIRONMENTS} service environments in a Region.")
    arn = batch.arns.of(f"service-environment/{name}")
    batch.environments[name] = EnvironmentRecord(arn, name, design, check_tags(request.get("tags", {})))
    return {"serviceEnvironmentName": name, "serviceEnvironmentArn": arn}


def update_service_environment(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Change the state or the limits; lower limits stop no job, they only bind what is placed from now on."""
    record = batch.environment(request["serviceEnvironment"])
    design = record.design
    if "capacityLimits" in request:
        design = replace(design, capacity_limits=CapacityLimits.from_json(request["capacityLimits"]))
    if "state" in request:
        design = replace(design, state=State(request["state"]))
    refuse_findings(check_service_environment(design))
    record.design = design
    for queue in batch.queues_of_environment(record):
        batch.runs[queue.name].design_changed()
    return {"serviceEnvironmentName": record.name, "serviceEnvironmentArn": record.arn}


def delete_service_environment(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Delete a disabled environment that serves no queue."""
    record = batch.environment(request["serviceEnvironment"])
    if batch.queues_of_environment(record):
        raise ClientException("Cannot delete, found existing JobQueue relationship")
    if record.design.state is not State.DISABLED:
        raise ClientException(f"Cannot delete, service environment {record.name} must be DISABLED first")
    del batch.environments[record.name]
    return {}


def describe_service_environments(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Describe the named environments, or all; those that do not exist are left out."""
    wanted = request.get("serviceEnvironments")
    if not wanted:
        records = list(batch.environments.values())
    else:
        names = [batch.arns.name("service-environment", given) for given in wanted]
        records = [batch.environments[name] for name in names if name is not None and name in batch.environments]
    found, following = page(records, request)
    return {"serviceEnvironments": [record.describe() for record in found], **following}


OPERATIONS: Final[dict[str, Operation]] = {
    "CreateServiceEnvironment": create_service_environment,
    "UpdateServiceEnvironment": update_service_environment,
    "DeleteServiceEnvironment": delete_service_environment,
    "DescribeServiceEnvironments": describe_service_environments,
}
