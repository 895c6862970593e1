"""ARN and name of a resource: given for an imported one, computed when asked for of one that is defined here.

Computing them takes trips to CDK's process that most constructs never need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from aws_cdk import Resource

from quota_constructs._arns import names_in_arn
from quota_constructs._tokens import is_token


class Identity(Protocol):
    """What a resource is known by."""

    @property
    def arn(self) -> str: ...

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ImportedIdentity:
    """Of a resource that exists."""

    arn: str
    name: str

    @classmethod
    def of(cls, arn: str, service: str, *kinds: str) -> ImportedIdentity:
        """Take the name out of an ARN that ends in ``kind/name`` for each of ``kinds``."""
        return cls(arn, names_in_arn(arn, service, *kinds)[-1])


class DefinedIdentity:
    """Of a Batch resource that a construct defines.

    From another account or region, where a reference cannot reach, both resolve to the physical name that the
    construct was given.

    :param owner: the construct.
    :param given_name: the physical name that the construct was given, if any.
    :param read_arn: reads the ARN attribute of its L1.
    :param kinds: what the ARN consists of, as ``names_in_arn`` takes it.
    :param parent_name: reads the name of the resource that the ARN is nested under.
    """

    def __init__(
        self,
        owner: Resource,
        given_name: str | None,
        read_arn: Callable[[], str],
        *kinds: str,
        parent_name: Callable[[], str] | None = None,
    ) -> None:
        self._owner, self._given_name, self._read_arn = owner, given_name, read_arn
        self._kinds, self._parent_name = kinds, parent_name

    @cached_property
    def arn(self) -> str:
        # Without a name the construct refuses references from elsewhere: nothing reads it then.
        name = self._owner._physical_name if is_token(self._given_name) else self._given_name or ""
        kind, *nested = self._kinds
        return self._owner._get_resource_arn_attribute(
            self._read_arn(),
            service="batch",
            resource=kind,
            resource_name="/".join([self._parent_name(), *nested, name]) if self._parent_name else name,
        )

    @cached_property
    def name(self) -> str:
        # Ref and the attributes of all four resources are ARNs: CloudFormation offers no name.
        return self._owner._get_resource_name_attribute(names_in_arn(self._read_arn(), "batch", *self._kinds)[-1])
