"""How one stack publishes a resource to others: its ARN in an SSM parameter, under a prefix that both sides know.

That is the whole contract. Neither stack locks the other, they can be in different apps and repositories, and the
value is read at each deployment of the reader. Readers are in the publisher's account and Region: elsewhere, import
by ARN.
"""

from __future__ import annotations

import re
from typing import Final
from weakref import WeakKeyDictionary

from aws_cdk import Stack
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from quota_constructs._construction import expect
from quota_constructs._tokens import is_token
from quota_constructs.errors import QuotaConstructsError

JOB_QUEUE_ARN: Final = "job-queue-arn"
"""The last part of the name of a job queue's parameter."""
QUOTA_SHARE_ARN: Final = "quota-share-arn"
"""The last part of the name of a quota share's parameter."""

_PREFIX: Final = re.compile(r"(/[A-Za-z0-9_.-]+){1,14}")
_RESERVED: Final = ("/aws", "/ssm")
_published: WeakKeyDictionary[Stack, dict[str, str]] = WeakKeyDictionary()
"""The parameters of each stack, with the path of what each is about: CloudFormation would find out half-way."""


def publish_arn(resource: Construct, parameter_prefix: str, kind: str, arn: str) -> ssm.StringParameter:
    """Define the parameter ``<parameter_prefix>/<kind>``, which holds an ARN.

    :param resource: what is published; the parameter becomes its child, so it goes when the resource goes.
    :raises QuotaConstructsError: if Systems Manager would refuse the prefix, or something in the same stack is published
        under it.
    """
    name = _parameter_name(parameter_prefix, kind)
    published = _published.setdefault(Stack.of(resource), {})
    if name in published:
        raise QuotaConstructsError(
            f"parameter {name!r} is published by {published[name]!r} already; "
            f"give {resource.node.path!r} another parameter_prefix"
        )
    published[name] = resource.node.path
    return ssm.StringParameter(
        resource,
        f"Published{parameter_prefix}",
        parameter_name=name,
        string_value=arn,
        description=f"{kind.removesuffix('-arn').replace('-', ' ').capitalize()} that quota-constructs imports",
    )


def published_arn(scope: Construct, parameter_prefix: str, kind: str) -> str:
    """Return a token for the ARN that is published, which CloudFormation reads when ``scope``'s stack is deployed.

    :raises QuotaConstructsError: if Systems Manager would refuse the prefix.
    """
    return ssm.StringParameter.value_for_string_parameter(scope, _parameter_name(parameter_prefix, kind))


def _parameter_name(prefix: str, kind: str) -> str:
    expect(isinstance(prefix, str), "parameter_prefix", prefix, "a text", "give one such as '/gpus/vision'")
    if is_token(prefix):
        raise QuotaConstructsError(
            "parameter_prefix is a token; give a literal one, since publisher and reader have to agree on it"
        )
    if not _PREFIX.fullmatch(prefix):
        raise QuotaConstructsError(
            f"parameter_prefix {prefix!r} is not one to 14 parts of letters, digits, '.', '-' and '_', each after a "
            "'/'; give one such as '/gpus/vision'"
        )
    if prefix.lower().startswith(_RESERVED):
        raise QuotaConstructsError(
            f"parameter_prefix {prefix!r} starts with {prefix[:4]!r}, which AWS keeps for itself; "
            "give another one, such as '/gpus/vision'"
        )
    return f"{prefix}/{kind}"
