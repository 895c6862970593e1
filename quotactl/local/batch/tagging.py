"""The operations on tags; every resource and every service job can have some."""

from __future__ import annotations

from typing import Any, Final

from quotactl.local.batch.batch import Batch, Operation
from quotactl.local.batch.checks import check_tags

__all__ = ["OPERATIONS"]


def tag_resource(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Add tags to a resource, or change them."""
    tags = batch.tags_of(request["resourceArn"])
    tags.update(check_tags(request["tags"], tags))
    return {}


def untag_resource(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Remove tags from a resource; those it has not are ignored."""
    tags = batch.tags_of(request["resourceArn"])
    for key in request["tagKeys"]:
        tags.pop(key, None)
    return {}


def list_tags_for_resource(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """List the tags of a resource."""
    return {"tags": dict(batch.tags_of(request["resourceArn"]))}


OPERATIONS: Final[dict[str, Operation]] = {
    "TagResource": tag_resource,
    "UntagResource": untag_resource,
    "ListTagsForResource": list_tags_for_resource,
}
