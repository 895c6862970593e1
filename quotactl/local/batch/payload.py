"""Reading a job's payload: a CreateTrainingJob request, of which Batch itself needs the instances alone.

Everything else is passed to SageMaker as it is, and what SageMaker thinks of it comes back with the attempt
(AWS Batch User Guide, "Service job payloads").
"""

from __future__ import annotations

import json
from typing import Any, Final

from quotactl.local.errors import ClientException
from quotactl.local.requests import LARGEST_INTEGER

__all__ = ["LARGEST_PAYLOAD", "capacity_request", "parse_payload", "training_job_name"]

LARGEST_PAYLOAD: Final = 10 * 1024
"""Bytes of a ``serviceRequestPayload``, at most."""
_NAME_SPACE: Final = 63 - len("AWSBatch") - 32


def parse_payload(text: str) -> dict[str, Any]:
    """Return the training request in a payload, or refuse what is no JSON object or too large."""
    size = len(text.encode())
    if size > LARGEST_PAYLOAD:
        raise ClientException(f"serviceRequestPayload has {size} bytes; it can have at most {LARGEST_PAYLOAD}.")
    try:
        request = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ClientException("serviceRequestPayload is not JSON; send a CreateTrainingJob request.") from error
    if not isinstance(request, dict):
        raise ClientException("serviceRequestPayload is not a JSON object; send a CreateTrainingJob request.")
    return request


def capacity_request(request: dict[str, Any]) -> dict[str, int]:
    """Return the instances that a training request asks for, by instance type.

    Instance groups are added up by type. What AWS does with a request that names no type or count, or with
    ``InstancePreferences``, is not documented: such a job could not be scheduled, so it is refused.
    """
    resources = request.get("ResourceConfig")
    if not isinstance(resources, dict):
        raise ClientException(
            "serviceRequestPayload has no ResourceConfig; add one with InstanceType and InstanceCount."
        )
    if "InstancePreferences" in resources:
        raise ClientException("serviceRequestPayload has InstancePreferences; give one InstanceType and InstanceCount.")
    groups = resources.get("InstanceGroups", [resources])
    if not isinstance(groups, list) or not groups:
        raise ClientException("InstanceGroups in serviceRequestPayload is not a list of groups.")
    instances: dict[str, int] = {}
    for group in groups:
        unit, count = _type_and_count(group)
        instances[unit] = instances.get(unit, 0) + count
    return instances


def _type_and_count(group: object) -> tuple[str, int]:
    unit = group.get("InstanceType") if isinstance(group, dict) else None
    count = group.get("InstanceCount") if isinstance(group, dict) else None
    if not isinstance(unit, str) or not unit:
        raise ClientException("serviceRequestPayload has no ResourceConfig.InstanceType; name an instance type.")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= LARGEST_INTEGER:
        raise ClientException(
            f"ResourceConfig.InstanceCount in serviceRequestPayload is {str(count)[:50]}; give a whole number of at "
            f"least 1 and at most {LARGEST_INTEGER}."
        )
    return unit, count


def training_job_name(request: dict[str, Any], job_name: str, attempt_id: str) -> str:
    """Return the name of an attempt's training job: ``AWSBatch``, the payload's name cut to 23 characters, and 32 hex
    digits. The form is that of AWS's examples; the length of the middle is inferred from SageMaker's limit of 63.
    """
    wanted = request.get("TrainingJobName")
    middle = wanted if isinstance(wanted, str) else job_name
    allowed = "".join(
        character for character in middle if character.isascii() and (character.isalnum() or character == "-")
    )
    return f"AWSBatch{allowed[:_NAME_SPACE]}{attempt_id}"
