"""Acknowledging what cdk-nag says of wildcards that AWS leaves no way around, one finding at a time."""

from __future__ import annotations

from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam


def acknowledge_wildcard(policy: iam.Policy, resource: str, reason: str) -> None:
    """Acknowledge that a policy of ours allows actions on a resource with a wildcard in it.

    To be used on policies that nobody else adds to: then it silences no wildcard but ours.
    """
    finding = f"AwsSolutions-IAM5[Resource::{_as_nag_shows(Stack.of(policy).resolve(resource))}]"
    Validations.of(policy).acknowledge(Acknowledgment(id=finding, reason=reason))


def _as_nag_shows(value: Any) -> str:
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator.join(_as_nag_shows(part) for part in parts))
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
    return str(value)
