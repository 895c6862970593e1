"""Reads the policies of a synthesized template the way CloudFormation would deploy them."""

from __future__ import annotations

import re
from typing import Any

ACCOUNT = "123456789012"
REGION = "eu-west-1"

_PSEUDO = {"AWS::AccountId": ACCOUNT, "AWS::Partition": "aws", "AWS::Region": REGION, "AWS::URLSuffix": "amazonaws.com"}


def policies_of(template: dict[str, Any], grantee: str = "Grantee") -> list[dict[str, Any]]:
    """Return the documents of all policies that are attached to the role, user or group of this construct id."""
    documents = []
    for resource in template["Resources"].values():
        if resource["Type"] not in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
            continue
        properties = resource["Properties"]
        attached = [*properties.get("Roles", ()), *properties.get("Users", ()), *properties.get("Groups", ())]
        if any(str(resolved(template, name)).startswith(grantee) for name in attached):
            documents.append(resolved(template, properties["PolicyDocument"]))
    return documents


def resolved(template: dict[str, Any], value: Any) -> Any:
    """Return a value without intrinsic functions."""
    if isinstance(value, list):
        return [resolved(template, item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"Ref": str(name)} if name in _PSEUDO:
            return _PSEUDO[name]
        case {"Ref": str(name)}:
            return _reference(template, name)
        case {"Fn::GetAtt": [name, _]}:
            return _arn(template, name)
        case {"Fn::Join": [separator, parts]}:
            return separator.join(resolved(template, parts))
        case {"Fn::Select": [index, items]}:
            return resolved(template, items)[int(index)]
        case {"Fn::Split": [separator, text]}:
            return resolved(template, text).split(separator)
    return {key: resolved(template, item) for key, item in value.items()}


def _reference(template: dict[str, Any], name: str) -> str:
    """Return what Ref gives: the ARN of Batch's resources, the name of others, a parameter's default."""
    if name in template.get("Parameters", {}):
        return str(template["Parameters"][name]["Default"])
    return _arn(template, name) if template["Resources"][name]["Type"].startswith("AWS::Batch::") else name


def _arn(template: dict[str, Any], name: str) -> str:
    resource = template["Resources"][name]
    properties, batch = resolved(template, resource.get("Properties", {})), f"arn:aws:batch:{REGION}:{ACCOUNT}"
    match resource["Type"]:
        case "AWS::Batch::JobQueue":
            return f"{batch}:job-queue/{properties.get('JobQueueName', name)}"
        case "AWS::Batch::QuotaShare":
            queue = re.sub(r"^.*job-queue/", "", properties["JobQueue"])
            return f"{batch}:job-queue/{queue}/quota-share/{properties['QuotaShareName']}"
        case "AWS::Batch::ServiceEnvironment":
            return f"{batch}:service-environment/{properties.get('ServiceEnvironmentName', name)}"
        case "AWS::Batch::SchedulingPolicy":
            return f"{batch}:scheduling-policy/{properties.get('Name', name)}"
        case "AWS::IAM::Role":
            return f"arn:aws:iam::{ACCOUNT}:role/{name}"
        case "AWS::S3::Bucket":
            return f"arn:aws:s3:::{properties.get('BucketName', name.lower())}"
        case "AWS::ECR::Repository":
            return f"arn:aws:ecr:{REGION}:{ACCOUNT}:repository/{properties.get('RepositoryName', name.lower())}"
        case "AWS::Logs::LogGroup":
            return f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{properties.get('LogGroupName', name)}:*"
        case "AWS::KMS::Key":
            return f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{name}"
    raise NotImplementedError(f"the ARN of a {resource['Type']} is not known to the tests")
