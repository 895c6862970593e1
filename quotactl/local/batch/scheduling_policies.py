"""The operations on scheduling policies."""

from __future__ import annotations

from typing import Any, Final

from quota_model.design import SchedulingPolicyKind
from quotactl.local.batch.batch import Batch, Operation
from quotactl.local.batch.checks import check_name, check_tags
from quotactl.local.batch.resources import PolicyRecord
from quotactl.local.errors import ClientException
from quotactl.local.paging import page

__all__ = ["OPERATIONS"]

_MOST_ARNS: Final = 100
_KINDS: Final = {
    "quotaSharePolicy": SchedulingPolicyKind.QUOTA_SHARE,
    "fairsharePolicy": SchedulingPolicyKind.FAIR_SHARE,
}


def create_scheduling_policy(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Create a policy; its kind is for good."""
    name = request["name"]
    check_name("name", name)
    kind, policy = _kind_and_policy(request)
    if name in batch.policies:
        raise ClientException("Object already exists")
    arn = batch.arns.of(f"scheduling-policy/{name}")
    batch.policies[name] = PolicyRecord(arn, name, kind, policy, check_tags(request.get("tags", {})))
    return {"name": name, "arn": arn}


def update_scheduling_policy(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Change what a policy of the same kind says; a policy cannot become one of the other kind."""
    record = batch.policy(request["arn"])
    kind, policy = _kind_and_policy(request)
    if kind is SchedulingPolicyKind.NONE:
        return {}
    if kind is not record.kind:
        raise ClientException(
            f"Scheduling policy {record.name} cannot become another kind of policy; create a new policy."
        )
    record.policy = policy
    return {}


def delete_scheduling_policy(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Delete a policy that no job queue uses."""
    record = batch.policy(request["arn"])
    for queue in batch.queues.values():
        if queue.policy is record:
            raise ClientException(f"Cannot delete, scheduling policy {record.name} is used by job queue {queue.name}")
    del batch.policies[record.name]
    return {}


def describe_scheduling_policies(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """Describe up to 100 policies; those that do not exist are left out."""
    if len(request["arns"]) > _MOST_ARNS:
        raise ClientException(f"arns has {len(request['arns'])} entries; it can have at most {_MOST_ARNS}.")
    by_arn = {record.arn: record for record in batch.policies.values()}
    return {"schedulingPolicies": [by_arn[arn].describe() for arn in request["arns"] if arn in by_arn]}


def list_scheduling_policies(batch: Batch, request: dict[str, Any]) -> dict[str, Any]:
    """List the ARNs of all policies."""
    records, following = page(list(batch.policies.values()), request)
    return {"schedulingPolicies": [{"arn": record.arn} for record in records], **following}


def _kind_and_policy(request: dict[str, Any]) -> tuple[SchedulingPolicyKind, dict[str, Any]]:
    given = [field for field in _KINDS if field in request]
    if len(given) > 1:
        raise ClientException("A scheduling policy has quotaSharePolicy or fairsharePolicy, not both.")
    return (_KINDS[given[0]], request[given[0]]) if given else (SchedulingPolicyKind.NONE, {})


OPERATIONS: Final[dict[str, Operation]] = {
    "CreateSchedulingPolicy": create_scheduling_policy,
    "UpdateSchedulingPolicy": update_scheduling_policy,
    "DeleteSchedulingPolicy": delete_scheduling_policy,
    "DescribeSchedulingPolicies": describe_scheduling_policies,
    "ListSchedulingPolicies": list_scheduling_policies,
}
