"""Asks the IAM simulator what a principal may do, one AWS API call at a time."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.iam.templates import ACCOUNT, REGION, policies_of

JOB = f"arn:aws:batch:{REGION}:{ACCOUNT}:service-job/51f245a9-2995-4a53-bced-7b3c00028f84"
TRAINING_ROLE = f"arn:aws:iam::{ACCOUNT}:role/Training"


@dataclass(frozen=True)
class Request:
    """What IAM decides on: one action on one resource. An API call is one or several of them."""

    action: str
    resource: str = "*"
    context: Mapping[str, str | list[str]] = field(default_factory=dict)
    resource_policy: Mapping[str, Any] | None = None


def submit_service_job(
    queue: str,
    share: str | None,
    *,
    priority: int | None = None,
    tags: Mapping[str, str] | None = None,
    role: str | None = None,
) -> list[Request]:
    """What AWS's service authorization reference asks for: queue, share and the new job; tags and a role, if given."""
    context = _requested(tags) | ({} if priority is None else {"batch:SchedulingPriority": str(priority)})
    resources = [queue, JOB] if share is None else [queue, share, JOB]
    requests = [Request("batch:SubmitServiceJob", resource, context) for resource in resources]
    if tags:
        requests.append(Request("batch:TagResource", JOB, _requested(tags)))
    if role is not None:
        requests.append(pass_role(role))
    return requests


def update_service_job(priority: int, *, tags: Mapping[str, str] | None = None) -> Request:
    """A call that gives a job that carries these tags a priority."""
    return Request("batch:UpdateServiceJob", JOB, _carried(tags) | {"batch:SchedulingPriority": str(priority)})


def terminate_service_job(*, tags: Mapping[str, str] | None = None) -> Request:
    """A call that ends a job that carries these tags."""
    return Request("batch:TerminateServiceJob", JOB, _carried(tags))


def tag_job(new: Mapping[str, str], *, tags: Mapping[str, str] | None = None) -> Request:
    """A call that tags a job that carries these tags already."""
    return Request("batch:TagResource", JOB, _requested(new) | _carried(tags))


def pass_role(role: str = TRAINING_ROLE, service: str = "sagemaker.amazonaws.com") -> Request:
    """What any call that hands a role to a service asks for."""
    return Request("iam:PassRole", role, {"iam:PassedToService": service})


def use_key(action: str, key: str) -> Request:
    """A call that uses a KMS key with the key policy that the CDK gives keys: the account's policies decide."""
    everything = {"Action": "kms:*", "Resource": "*"}
    account = {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}}
    return Request(action, key, resource_policy={"Version": "2012-10-17", "Statement": [account | everything]})


def _requested(tags: Mapping[str, str] | None) -> dict[str, str | list[str]]:
    if not tags:
        return {}
    return {"aws:TagKeys": list(tags), **{f"aws:RequestTag/{key}": value for key, value in tags.items()}}


def _carried(tags: Mapping[str, str] | None) -> dict[str, str | list[str]]:
    return {f"aws:ResourceTag/{key}": value for key, value in (tags or {}).items()}


class Principal:
    """Somebody with the policies that a template attaches to a construct."""

    def __init__(self, simulator: Simulator, policies: Sequence[Mapping[str, Any]]) -> None:
        self._simulator = simulator
        self._policies = policies

    def may(self, call: Request | Sequence[Request]) -> bool:
        """Whether the call is allowed: every request that it is made of."""
        requests = [call] if isinstance(call, Request) else call
        decisions = [
            self._simulator.allows(self._policies, request) for request in requests
        ]  # Each checks its request.
        return all(decisions)


class Simulator:
    """A running process of the simulator."""

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None:
            raise FileNotFoundError("no node on the PATH")
        self._process = subprocess.Popen(
            [node, Path(__file__).with_name("simulate.mjs")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def grantee_of(self, template: Mapping[str, Any], grantee: str = "Grantee") -> Principal:
        """Return the principal that a template's construct of this id becomes."""
        policies = policies_of(dict(template), grantee)
        return Principal(self, policies)

    def allows(self, policies: Sequence[Mapping[str, Any]], request: Request) -> bool:
        """Whether policies allow a request; fails for one that AWS could not receive."""
        question = {
            "policies": policies,
            "action": request.action,
            "resource": request.resource,
            "resourcePolicy": request.resource_policy,
            "account": ACCOUNT,
            "context": request.context,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            assert self._process.stderr is not None
            raise RuntimeError(f"the IAM simulator ended: {self._process.stderr.read()}")
        answer = json.loads(line)
        if answer.get("error") or answer.get("ignored"):
            raise ValueError(f"AWS has no such request: {request}: {answer}")
        return bool(answer["allowed"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate(timeout=30)
