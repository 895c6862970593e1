"""What of Cloud Control the CDK CLI asks when an app looks resources up: GetResource and ListResources.

Both for the CloudFormation types of a quota-managed queue. A list holds identifiers alone: what else it holds is left
to each resource type on AWS, so that nothing may rely on it.
"""

from __future__ import annotations

import json
from typing import Any, Final

from quotactl.local.batch.api import call as call_batch
from quotactl.local.batch.batch import Batch
from quotactl.local.cloudformation import TYPES, ResourceType
from quotactl.local.errors import ResourceNotFoundException, ValidationException, not_supported

__all__ = ["call"]

_LISTED: Final = {
    "AWS::Batch::JobQueue": ("DescribeJobQueues", "jobQueues", "jobQueueArn"),
    "AWS::Batch::QuotaShare": ("ListQuotaShares", "quotaShares", "quotaShareArn"),
    "AWS::Batch::SchedulingPolicy": ("ListSchedulingPolicies", "schedulingPolicies", "arn"),
    "AWS::Batch::ServiceEnvironment": ("DescribeServiceEnvironments", "serviceEnvironments", "serviceEnvironmentArn"),
}


def call(batch: Batch, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Answer an operation.

    :raises AwsError: if Cloud Control would refuse it, or if it is one that is not offered.
    """
    type_name = str(parameters.get("TypeName", ""))
    if type_name not in TYPES:
        raise not_supported(f"Cloud Control for resource type {type_name!r}")
    if operation == "GetResource":
        if not isinstance(parameters.get("Identifier"), str):
            raise ValidationException("GetResource needs the Identifier of a resource: its ARN.")
        return {"TypeName": type_name, "ResourceDescription": _described(batch, type_name, parameters["Identifier"])}
    if operation == "ListResources":
        return {"TypeName": type_name, "ResourceDescriptions": _listed(batch, type_name, parameters)}
    raise not_supported(f"Cloud Control's operation {operation}")


def _described(batch: Batch, type_name: str, identifier: str) -> dict[str, str]:
    resource_type = TYPES[type_name]
    properties = resource_type.read(batch, identifier, {})
    if properties is None:
        raise ResourceNotFoundException(f"Resource of type {type_name!r} with identifier {identifier!r} was not found.")
    return _description(resource_type, identifier, properties)


def _listed(batch: Batch, type_name: str, parameters: dict[str, Any]) -> list[dict[str, str]]:
    operation, result, arn = _LISTED[type_name]
    request = {}
    if type_name == "AWS::Batch::QuotaShare":
        request = {"jobQueue": _queue_in(parameters.get("ResourceModel"))}
    answer = call_batch(batch, operation, request)
    found = answer[result]
    while "nextToken" in answer:
        answer = call_batch(batch, operation, {**request, "nextToken": answer["nextToken"]})
        found = [*found, *answer[result]]
    return [_description(TYPES[type_name], each[arn], {}) for each in found]


def _queue_in(model: object) -> str:
    try:
        return str(json.loads(str(model))["JobQueue"])
    except (ValueError, KeyError, TypeError):
        raise ValidationException(
            f"ResourceModel {model!r} lacks the JobQueue whose shares are to be listed."
        ) from None


def _description(resource_type: ResourceType, identifier: str, properties: dict[str, Any]) -> dict[str, str]:
    return {
        "Identifier": identifier,
        "Properties": json.dumps({**properties, resource_type.arn_attribute: identifier}),
    }
