"""The operations on quota shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from quota_model.design import CapacityLimits, QuotaShare, ResourceSharing, State
from quota_model.rules import check_quota_share, check_whole_queue
from quotactl.local.batch.batch import Batch, Operation
from quotactl.local.batch.checks import check_tags, refuse_findings
from quotactl.local.batch.resources import JobQueueRecord, ShareRecord
from quotactl.local.errors import ClientException
from quotactl.local.paging import page

__all__ = ["OPERATIONS"]


def create_quota_share(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Create a share of a queue; it takes jobs at once."""
    queue = batch.queue(request["jobQueue"])
    design = QuotaShare.from_json(
        {field: value for field, value in request.items() if field not in ("jobQueue", "tags")}
    )
    refuse_findings(check_quota_share(design))
    name = str(design.name)
    if name in queue.shares:
        raise ClientException(f"Quota share {name} already exists in job queue {queue.name}")
    _check_in_queue(batch, queue, (*queue.design().quota_shares, design))
    arn = batch.arns.of(f"job-queue/{queue.name}/quota-share/{name}")
    queue.shares[name] = ShareRecord(arn, queue.arn, design, check_tags(request.get("tags", {})))
    batch.runs[queue.name].design_changed()
    return {"quotaShareName": name, "quotaShareArn": arn}


def update_quota_share(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Change what is given of a share and keep the rest; a list of limits replaces the whole list."""
    share = batch.share(request["quotaShareArn"])
    if share.status == "DELETING":
        raise ClientException(f"Quota share {share.name} is being deleted")
    design = share.design
    if "capacityLimits" in request:
        design = replace(design, capacity_limits=CapacityLimits.from_json(request["capacityLimits"]))
    if "resourceSharingConfiguration" in request:
        design = replace(design, resource_sharing=ResourceSharing.from_json(request["resourceSharingConfiguration"]))
    if "preemptionConfiguration" in request:
        design = replace(
            design, in_share_preemption=request["preemptionConfiguration"]["inSharePreemption"] == "ENABLED"
        )
    if "state" in request:
        design = replace(design, state=State(request["state"]))
    refuse_findings(check_quota_share(design))
    queue = batch.queue(share.queue_arn)
    others = tuple(other.design for other in queue.shares.values() if other is not share)
    _check_in_queue(batch, queue, (*others, design))
    share.design = design
    batch.runs[queue.name].design_changed()
    return {"quotaShareName": share.name, "quotaShareArn": share.arn}


def delete_quota_share(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Delete a disabled share: its jobs are terminated, and it is gone when the last of them has ended."""
    share = batch.share(request["quotaShareArn"])
    if share.design.state is not State.DISABLED:
        raise ClientException(f"Cannot delete, quota share {share.name} must be DISABLED first")
    share.status = "DELETING"
    batch.runs[batch.queue(share.queue_arn).name].design_changed()
    return {}


def describe_quota_share(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Describe one share."""
    return batch.share(request["quotaShareArn"]).describe()


def list_quota_shares(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """List the shares of a queue, without their tags."""
    shares, following = page(list(batch.queue(request["jobQueue"]).shares.values()), request)
    return {"quotaShares": [share.describe(with_tags=False) for share in shares], **following}


def _check_in_queue(batch: Batch, queue: JobQueueRecord, shares: tuple[QuotaShare, ...]) -> None:
    """Refuse what AWS documents that it refuses; the rest of the whole queue's rules judge designs, not requests."""
    refused = {"too-many-quota-shares"}
    if not batch.options.accept_units_missing_from_environment:
        refused.add("share-unit-not-in-environment")
    findings = check_whole_queue(replace(queue.design(), quota_shares=shares))
    refuse_findings(finding for finding in findings if finding.rule.id in refused)


OPERATIONS: Final[dict[str, Operation]] = {
    "CreateQuotaShare": create_quota_share,
    "UpdateQuotaShare": update_quota_share,
    "DeleteQuotaShare": delete_quota_share,
    "DescribeQuotaShare": describe_quota_share,
    "ListQuotaShares": list_quota_shares,
}
