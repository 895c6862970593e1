"""What cdk-nag says of wildcards that AWS leaves no way around, acknowledged one finding at a time."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any, Final

import jsii
from aws_cdk import Acknowledgment, AspectPriority, Aspects, IAspect, Stack, Validations
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from quota_constructs._grants import UNSCOPED_READS

__all__ = ["acknowledge_batch_wildcards"]

# What a resource ends with that cannot be narrowed, for which actions, and why (Service Authorization Reference).
_UNAVOIDABLE: Final = {
    "*": (frozenset(UNSCOPED_READS), "AWS ties describing and listing queues and jobs to no resource"),
    ":service-job/*": (
        frozenset(
            {
                "batch:SubmitServiceJob",
                "batch:TagResource",
                "batch:TerminateServiceJob",
                "batch:UpdateServiceJob",
            }
        ),
        "Batch makes up a job's id when it is submitted; tags tell jobs apart",
    ),
    "/quota-share/*": (
        frozenset({"batch:DescribeQuotaShare", "batch:UpdateQuotaShare"}),
        "whoever looks at or runs a queue does so with all shares of this queue, those to come included",
    ),
}


def acknowledge_batch_wildcards(scope: IConstruct) -> None:
    """Acknowledge cdk-nag's ``AwsSolutions-IAM5`` for the wildcards that AWS Batch forces on policies, and no others.

    It looks at every policy in the scope when the app is synthesized. A finding, which is a policy and a resource with
    a wildcard, is acknowledged only if all that the policy allows on this resource are Batch's actions that AWS does
    not let anybody narrow further: reads on ``*``, jobs on ``service-job/*``, a queue's shares on ``quota-share/*``.
    If anything else is allowed on it in the same policy, the finding stays: give that a policy of its own.

    Example::

        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        acknowledge_batch_wildcards(app)

    :param scope: an app, a stage, a stack, or any construct with policies in it.
    """
    Aspects.of(scope).add(_BatchWildcards(), priority=AspectPriority.READONLY)


def acknowledge_wildcard(policy: IConstruct, resource: str, reason: str) -> None:
    """Acknowledge that a policy of ours allows actions on a resource with a wildcard in it.

    To be used on policies that nobody else adds to: then it silences no wildcard but ours.
    """
    _acknowledge(policy, _as_nag_shows(Stack.of(policy).resolve(resource)), reason)


@jsii.implements(IAspect)
class _BatchWildcards:
    def visit(self, node: IConstruct) -> None:
        if not isinstance(node, iam.CfnPolicy | iam.CfnManagedPolicy):
            return
        for resource, actions in _actions_by_wildcard(Stack.of(node).resolve(node.policy_document)).items():
            for ending, (unavoidable, reason) in _UNAVOIDABLE.items():
                fits = resource == ending if ending == "*" else resource.endswith(ending) and resource.count("*") == 1
                if fits and actions <= unavoidable:
                    _acknowledge(node, resource, reason)


def _actions_by_wildcard(document: Any) -> dict[str, set[str]]:
    """Return what a policy allows on each resource with a wildcard, as cdk-nag writes the resource."""
    allowed: dict[str, set[str]] = defaultdict(set)
    for statement in document.get("Statement", ()):
        if statement["Effect"] == "Allow":
            for resource in map(_as_nag_shows, _as_list(statement.get("Resource", ()))):
                if "*" in resource:
                    # What is allowed by exception (NotAction) is none of the actions that we know.
                    allowed[resource] |= set(_as_list(statement.get("Action", "NotAction")))
    return allowed


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _acknowledge(policy: IConstruct, resource: str, reason: str) -> None:
    finding = f"AwsSolutions-IAM5[Resource::{resource}]"
    Validations.of(policy).acknowledge(Acknowledgment(id=finding, reason=reason))


def _as_nag_shows(value: Any) -> str:
    match value:
        case str():
            return value.replace("${", "<").replace("}", ">")
        case {"Fn::Join": [separator, parts]}:
            return str(separator.join(_as_nag_shows(part) for part in parts))
        case {"Fn::ImportValue": name}:
            return _as_nag_shows(name)
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
    return json.dumps(value, separators=(",", ":"))
