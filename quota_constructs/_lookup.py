"""What exists in the account, read when the app is synthesized.

CDK's context provider for Cloud Control does the reading: the CDK CLI calls Cloud Control with the bootstrap stack's
lookup role and keeps the answers in ``cdk.context.json``. Commit that file; ``cdk context --reset`` reads anew.

An app that asks for something new is synthesized several times: until an answer is there, everything is unknown.
What refers to something else, as a queue to its environment, takes one round more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aws_cdk import ContextProvider, Stack
from aws_cdk.region_info import RegionInfo
from constructs import Construct

from quota_constructs._arns import names_in_arn
from quota_constructs._construction import expect
from quota_constructs._tokens import is_token
from quota_constructs.errors import QuotaConstructsError
from quota_model import design as model
from quota_model.design import UNKNOWN

_UNKNOWN_LIMITS: Final = model.CapacityLimits((model.CapacityLimit(UNKNOWN, UNKNOWN),))
_NOT_ASKED_YET: Final = [{"NotAskedYet": True}]


@dataclass(frozen=True, slots=True)
class Found:
    """A queue as far as it has been looked up."""

    design: model.QuotaQueue
    complete: bool
    """Whether the environment and every share have been looked up."""


def job_queue_arn_of(scope: Construct, what: str, job_queue_name: str) -> str:
    """Return the literal ARN of a queue in the account and Region of ``scope``'s stack.

    :param what: what is looked up, for the error's sake.
    :raises QuotaConstructsError: if the stack's account or Region or the name is not known at synthesis.
    """
    expect(isinstance(job_queue_name, str), "job_queue_name", job_queue_name, "a text", "give the queue's name")
    stack = Stack.of(scope)
    if is_token(stack.account) or is_token(stack.region):
        raise QuotaConstructsError(
            f"{what} cannot be looked up from stack {stack.stack_name!r}, whose account and region are not known at "
            "synthesis; give the stack env=Environment(account=..., region=...), or import it by ARN or from_parameters"
        )
    if is_token(job_queue_name):
        raise QuotaConstructsError(
            f"{what} cannot be looked up by a name that is a token; give a literal name, or import it by ARN"
        )
    partition = RegionInfo.get(stack.region).partition or "aws"
    return f"arn:{partition}:batch:{stack.region}:{stack.account}:job-queue/{job_queue_name}"


def look_up_quota_share(scope: Construct, quota_share_arn: str) -> model.QuotaShare:
    """Return a share as it exists; all but its name is unknown until it has been looked up."""
    _, name = names_in_arn(quota_share_arn, "batch", "job-queue", "quota-share")
    found = _get(
        scope,
        "AWS::Batch::QuotaShare",
        quota_share_arn,
        "CapacityLimits",
        "PreemptionConfiguration",
        "ResourceSharingConfiguration",
        "State",
    )
    if found is None:
        return model.QuotaShare(name, _UNKNOWN_LIMITS, model.ResourceSharing(UNKNOWN), UNKNOWN, UNKNOWN)
    return model.QuotaShare.from_json(_batch_form({"QuotaShareName": name, **found}))


def look_up_job_queue(scope: Construct, job_queue_arn: str) -> Found:
    """Return a queue as it exists, with its environment and its shares, as far as they have been looked up."""
    (name,) = names_in_arn(job_queue_arn, "batch", "job-queue")
    environment = _look_up_environment(scope, job_queue_arn)
    shares = _look_up_shares(scope, job_queue_arn)
    return Found(
        model.QuotaQueue(
            environment or model.ServiceEnvironment(_UNKNOWN_LIMITS, UNKNOWN),
            shares or (),
            name,
            model.SchedulingPolicy(UNKNOWN, UNKNOWN),
        ),
        environment is not None and shares is not None,
    )


def _look_up_environment(scope: Construct, job_queue_arn: str) -> model.ServiceEnvironment | None:
    queue = _get(scope, "AWS::Batch::JobQueue", job_queue_arn, "ServiceEnvironmentOrder")
    if queue is None:
        return None
    if not queue["ServiceEnvironmentOrder"]:
        raise QuotaConstructsError(
            f"job queue {job_queue_arn!r} has no service environment, so it takes no quota shares; "
            "give the name of a quota-managed one"
        )
    arn = queue["ServiceEnvironmentOrder"][0]["ServiceEnvironment"]
    if not arn.startswith("arn:"):  # AWS takes a name too, and does not say which of the two it returns.
        arn = f"{job_queue_arn.partition(':job-queue/')[0]}:service-environment/{arn}"
    (name,) = names_in_arn(arn, "batch", "service-environment")
    found = _get(scope, "AWS::Batch::ServiceEnvironment", arn, "CapacityLimits", "State")
    if found is None:
        return None
    return model.ServiceEnvironment.from_json(_batch_form({"ServiceEnvironmentName": name, **found}))


def _look_up_shares(scope: Construct, job_queue_arn: str) -> tuple[model.QuotaShare, ...] | None:
    # Only their ARNs: what else a list holds is left to each resource type, so each share is then read by itself.
    listed = _value(
        scope, {"typeName": "AWS::Batch::QuotaShare", "resourceModel": {"JobQueue": job_queue_arn}, "propertyMatch": {}}
    )
    if listed is None:
        return None
    shares = tuple(look_up_quota_share(scope, share["Identifier"]) for share in listed)
    return None if any(share.state is UNKNOWN for share in shares) else shares


def _get(scope: Construct, type_name: str, arn: str, *properties: str) -> Mapping[str, Any] | None:
    found = _value(scope, {"typeName": type_name, "exactIdentifier": arn, "propertiesToReturn": list(properties)})
    if not found:
        return None
    return {name: found[0][name] for name in properties}


def _value(scope: Construct, query: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return what Cloud Control said, ``None`` if it has not been asked yet."""
    found: list[Mapping[str, Any]] = ContextProvider.get_value(
        scope, provider="cc-api-provider", props={"propertiesToReturn": [], **query}, dummy_value=_NOT_ASKED_YET
    ).value
    return None if found == _NOT_ASKED_YET else found


def _batch_form(value: Any) -> Any:
    """Return a value of CloudFormation with its keys spelled as Batch's own API does."""
    if isinstance(value, Mapping):
        return {key[0].lower() + key[1:]: _batch_form(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_batch_form(inner) for inner in value]
    return value
