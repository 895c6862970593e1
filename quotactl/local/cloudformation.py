"""The four CloudFormation types of a quota-managed queue, carried out through the local Batch's API.

A resource is created, updated and deleted by the same operations that a client would call, as AWS's resource
handlers do; deleting one disables it first. Properties and API parameters have the same names but for the first
letter, so both forms are translated by the service model. CloudFormation waits for a deleted share's jobs to stop;
here those stops are complete at once, so that a deploy does not wait for the local clock.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from botocore.model import ListShape, MapShape, Shape, StructureShape

from quotactl.local.batch.api import call
from quotactl.local.batch.batch import Batch
from quotactl.local.errors import AwsError, ClientException
from quotactl.local.requests import operation_model

__all__ = ["TYPES", "ResourceHandlerError", "ResourceType"]

_LONGEST_NAME: Final = 128


class ResourceHandlerError(Exception):
    """What CloudFormation reports of a resource that it could not create, change or delete."""

    def __init__(self, message: str) -> None:
        code = "NotFound" if "does not exist" in message else "InvalidRequest"
        code = "AlreadyExists" if "already exists" in message else code
        token = uuid.uuid4()
        super().__init__(
            f'Resource handler returned message: "{message}" (RequestToken: {token}, HandlerErrorCode: {code})'
        )


@dataclass(frozen=True, slots=True)
class ResourceType:
    """One CloudFormation type: the operations behind it and how its properties are named there."""

    create: str
    update: str
    delete: str
    arn: str
    """The member of the create operation's response that holds the ARN, which is what ``Ref`` gives."""
    reference: str
    """The parameter by which update and delete name the resource."""
    name: str
    """The parameter with the resource's name, generated if the template gives none."""
    arn_attribute: str
    """The attribute for ``Fn::GetAtt``."""
    replacing: tuple[str, ...]
    """The properties whose change replaces the resource."""
    describe: Callable[[Batch, str], dict[str, Any] | None]
    """Return the resource of an ARN in the form of its describe operation, or ``None``."""
    disabled_first: bool = True
    name_is_required: bool = False
    case_insensitive: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    """Properties of which a template gives one alone, be the others empty."""

    def created(
        self, batch: Batch, logical_id: str, properties: dict[str, Any], stack: str
    ) -> tuple[str, dict[str, str]]:
        """Create the resource; return its physical id and attributes."""
        parameters = self._parameters(self.create, properties)
        if self.name not in parameters and not self.name_is_required:
            parameters[self.name] = _generated_name(stack, logical_id)
        response = _called(batch, self.create, parameters)
        return self._identified(response[self.arn])

    def updated(
        self, batch: Batch, arn: str, before: dict[str, Any], after: dict[str, Any]
    ) -> tuple[str, dict[str, str]]:
        """Change the resource in place. A property that the template no longer gives goes back to its default."""
        known = operation_model("batch", self.update).input_shape
        parameters = {
            key: value
            for key, value in self._parameters(self.create, {**self._defaults(before, after), **after}).items()
            if isinstance(known, StructureShape) and key in known.members
        }
        _called(batch, self.update, {**parameters, self.reference: arn})
        _retag(batch, arn, before.get("Tags", {}), after.get("Tags", {}))
        return self._identified(arn)

    def deleted(self, batch: Batch, arn: str) -> None:
        """Delete the resource, disabling it first; one that is gone already is deleted."""
        if self.describe(batch, arn) is None:
            return
        if self.disabled_first:
            _called(batch, self.update, {self.reference: arn, "state": "DISABLED"})
        _called(batch, self.delete, {self.reference: arn})
        if self.delete == "DeleteQuotaShare":
            _finish_stops(batch, arn)

    def read(self, batch: Batch, arn: str, properties: dict[str, Any]) -> dict[str, Any] | None:
        """Return the properties that a template gives as they are now, in the template's shape; ``None`` if gone."""
        described = self.describe(batch, arn)
        shape = operation_model("batch", self.create).input_shape
        if described is None or not isinstance(shape, StructureShape):
            return None
        current: dict[str, Any] = {}
        for member, member_shape in shape.members.items():
            if member in described:
                value = _to_properties(described[member], member_shape)
                current[_capitalized(member)] = self._as_given(batch, value, properties.get(_capitalized(member)))
        return current

    def readable(self) -> frozenset[str]:
        """Return the properties that drift detection compares."""
        shape = operation_model("batch", self.create).input_shape
        members = shape.members if isinstance(shape, StructureShape) else {}
        return frozenset(_capitalized(member) for member in members)

    def _identified(self, arn: str) -> tuple[str, dict[str, str]]:
        return arn, {self.arn_attribute: arn}

    def _parameters(self, operation: str, properties: dict[str, Any]) -> dict[str, Any]:
        given = [name for name in self.one_of if name in properties]
        if len(given) > 1:
            raise ResourceHandlerError(f"Model validation failed: {' and '.join(given)} exclude each other")
        shape = operation_model("batch", operation).input_shape
        parameters: dict[str, Any] = _to_parameters(properties, shape, "")
        for name in self.case_insensitive:
            _upper(parameters, name.split("."))
        return parameters

    @staticmethod
    def _defaults(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        defaults = {"State": "ENABLED", "JobStateTimeLimitActions": []}
        return {key: value for key, value in defaults.items() if key in before and key not in after}

    def _as_given(self, batch: Batch, value: Any, given: Any) -> Any:
        """Return a value in the spelling that the template chose, where AWS takes several for the same."""
        if isinstance(value, dict) and isinstance(given, dict):
            return {key: self._as_given(batch, item, given.get(key)) for key, item in value.items()}
        if isinstance(value, list) and isinstance(given, list) and len(value) == len(given):
            return [self._as_given(batch, *pair) for pair in zip(value, given, strict=True)]
        if isinstance(value, str) and isinstance(given, str):
            is_same = value.upper() == given.upper() or value == batch.arns.of(f"service-environment/{given}")
            is_same = is_same or value == batch.arns.of(f"job-queue/{given}")
            return given if is_same else value
        return value


def _called(batch: Batch, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    try:
        return call(batch, operation, parameters)
    except AwsError as error:
        raise ResourceHandlerError(error.message) from error


def _retag(batch: Batch, arn: str, before: dict[str, str], after: dict[str, str]) -> None:
    gone = sorted(before.keys() - after.keys())
    if gone:
        _called(batch, "UntagResource", {"resourceArn": arn, "tagKeys": gone})
    if after and after != before:
        _called(batch, "TagResource", {"resourceArn": arn, "tags": after})


def _finish_stops(batch: Batch, arn: str) -> None:
    queue, _, share = arn.rpartition("/quota-share/")
    with batch.clock.turn():
        batch.runs[batch.queue(queue).name].stop_now(share)


def _generated_name(stack: str, logical_id: str) -> str:
    suffix = f"-{uuid.uuid4().hex[:12]}"
    return f"{stack}-{logical_id}"[: _LONGEST_NAME - len(suffix)] + suffix


def _capitalized(name: str) -> str:
    return name[0].upper() + name[1:]


def _to_parameters(value: Any, shape: Shape | None, place: str) -> Any:
    """Translate properties to parameters; numbers may come as text, since template parameters are text."""
    if isinstance(shape, StructureShape):
        if not isinstance(value, dict):
            raise ResourceHandlerError(f"{place or 'Properties'}: expected an object")
        members = {_capitalized(member): (member, member_shape) for member, member_shape in shape.members.items()}
        for key in value:
            if key not in members:
                raise ResourceHandlerError(f"extraneous key [{key}] is not permitted")
        return {
            member: _to_parameters(value[key], member_shape, f"{place}/{key}")
            for key, (member, member_shape) in members.items()
            if key in value
        }
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [_to_parameters(item, shape.member, f"{place}/{index}") for index, item in enumerate(value)]
    if isinstance(shape, MapShape) and isinstance(value, dict):
        return {str(key): str(item) for key, item in value.items()}
    if shape is not None and shape.type_name in ("integer", "long") and isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise ResourceHandlerError(f"{place}: expected an integer, found {value!r}") from None
    return value


def _to_properties(value: Any, shape: Shape) -> Any:
    if isinstance(shape, StructureShape):
        members = shape.members
        return {_capitalized(key): _to_properties(value[key], members[key]) for key in value if key in members}
    if isinstance(shape, ListShape):
        return [_to_properties(item, shape.member) for item in value]
    return value


def _upper(parameters: dict[str, Any], path: list[str]) -> None:
    *parents, last = path
    for parent in parents:
        parameters = parameters.get(parent, {})
    if isinstance(parameters.get(last), str):
        parameters[last] = parameters[last].upper()


def _described(operation: str, parameter: str, result: str) -> Callable[[Batch, str], dict[str, Any] | None]:
    def describe(batch: Batch, arn: str) -> dict[str, Any] | None:
        found = call(batch, operation, {parameter: [arn]})[result]
        return dict(found[0]) if found else None

    return describe


def _described_share(batch: Batch, arn: str) -> dict[str, Any] | None:
    try:
        described = call(batch, "DescribeQuotaShare", {"quotaShareArn": arn})
    except ClientException:
        return None
    return {**described, "jobQueue": described["jobQueueArn"]}


TYPES: Final = {
    "AWS::Batch::SchedulingPolicy": ResourceType(
        create="CreateSchedulingPolicy",
        update="UpdateSchedulingPolicy",
        delete="DeleteSchedulingPolicy",
        arn="arn",
        reference="arn",
        name="name",
        arn_attribute="Arn",
        replacing=("Name",),
        describe=_described("DescribeSchedulingPolicies", "arns", "schedulingPolicies"),
        disabled_first=False,
    ),
    "AWS::Batch::ServiceEnvironment": ResourceType(
        create="CreateServiceEnvironment",
        update="UpdateServiceEnvironment",
        delete="DeleteServiceEnvironment",
        arn="serviceEnvironmentArn",
        reference="serviceEnvironment",
        name="serviceEnvironmentName",
        arn_attribute="ServiceEnvironmentArn",
        replacing=("ServiceEnvironmentName", "ServiceEnvironmentType"),
        describe=_described("DescribeServiceEnvironments", "serviceEnvironments", "serviceEnvironments"),
        case_insensitive=("serviceEnvironmentType",),
    ),
    "AWS::Batch::JobQueue": ResourceType(
        create="CreateJobQueue",
        update="UpdateJobQueue",
        delete="DeleteJobQueue",
        arn="jobQueueArn",
        reference="jobQueue",
        name="jobQueueName",
        arn_attribute="JobQueueArn",
        replacing=("JobQueueName", "JobQueueType"),
        describe=_described("DescribeJobQueues", "jobQueues", "jobQueues"),
        case_insensitive=("jobQueueType",),
        one_of=("ComputeEnvironmentOrder", "ServiceEnvironmentOrder"),
    ),
    "AWS::Batch::QuotaShare": ResourceType(
        create="CreateQuotaShare",
        update="UpdateQuotaShare",
        delete="DeleteQuotaShare",
        arn="quotaShareArn",
        reference="quotaShareArn",
        name="quotaShareName",
        arn_attribute="QuotaShareArn",
        replacing=("QuotaShareName", "JobQueue"),
        describe=_described_share,
        name_is_required=True,
        case_insensitive=("resourceSharingConfiguration.strategy", "preemptionConfiguration.inSharePreemption"),
    ),
}
"""The types by their CloudFormation names."""
