"""Calling the local Batch: one operation, checked, in one turn of the clock."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import unquote

from quota_model.design import DesignError
from quota_model.scheduler import SchedulerError
from quotactl.local.batch import (
    job_queues,
    quota_shares,
    scheduling_policies,
    service_environments,
    service_jobs,
    tagging,
)
from quotactl.local.batch.batch import Batch, Operation
from quotactl.local.errors import ClientException, not_supported
from quotactl.local.requests import operations_by_uri, problem_with, read_json

__all__ = ["OPERATIONS", "call", "read_request"]

LARGEST_REQUEST: Final = 30 * 1024
"""Bytes of a SubmitServiceJob request, at most."""
_TAGS_PATH: Final = "/v1/tags/"
_TAG_OPERATIONS: Final = {"POST": "TagResource", "DELETE": "UntagResource", "GET": "ListTagsForResource"}

OPERATIONS: Final[dict[str, Operation]] = {
    **scheduling_policies.OPERATIONS,
    **service_environments.OPERATIONS,
    **job_queues.OPERATIONS,
    **quota_shares.OPERATIONS,
    **service_jobs.OPERATIONS,
    **tagging.OPERATIONS,
}
"""What the local Batch can do; of the rest of AWS Batch it says that it is not supported."""


def call(batch: Batch, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out one operation of AWS Batch and return its response.

    :raises AwsError: what AWS would answer, or that the local AWS does not support it.
    """
    if operation not in OPERATIONS:
        raise not_supported(f"Batch {operation}")
    problem = problem_with("batch", operation, request)
    if problem is not None:
        raise ClientException(problem)
    with batch.clock.turn():
        try:
            return OPERATIONS[operation](batch, request)
        except (DesignError, SchedulerError) as error:
            raise ClientException(str(error)) from error


def read_request(method: str, path: str, body: bytes, query: dict[str, list[str]]) -> tuple[str, dict[str, Any]]:
    """Return the operation and the parameters of an HTTP request (REST with JSON)."""
    if path.startswith(_TAGS_PATH) and method in _TAG_OPERATIONS:
        parameters = read_json(body, ClientException) if method == "POST" else {}
        parameters["resourceArn"] = unquote(path.removeprefix(_TAGS_PATH))
        if method == "DELETE":
            parameters["tagKeys"] = query.get("tagKeys", [])
        return _TAG_OPERATIONS[method], parameters
    operation = operations_by_uri("batch").get((method, path))
    if operation is None:
        raise ClientException(f"AWS Batch has no operation {method} {path[:100]}.")
    if operation == "SubmitServiceJob" and len(body) > LARGEST_REQUEST:
        raise ClientException(f"The request has {len(body)} bytes; it can have at most {LARGEST_REQUEST}.")
    return operation, read_json(body, ClientException)


def to_body(response: dict[str, Any]) -> bytes:
    """Return a response's JSON."""
    return json.dumps(response).encode()
