"""The AWS Batch resources that templates declare, and which of them a value refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from quota_model.design import UNKNOWN, Unknown
from quotactl.designs.documents import JsonObject
from quotactl.designs.found import Place, Remark
from quotactl.designs.intrinsics import Resolver
from quotactl.designs.templates import Template
from quotactl.designs.texts import NAMED_TYPES, NameOf, Text

__all__ = ["ENVIRONMENT", "POLICY", "QUEUE", "SHARE", "Declared", "Resources"]

QUEUE: Final = "AWS::Batch::JobQueue"
ENVIRONMENT: Final = "AWS::Batch::ServiceEnvironment"
POLICY: Final = "AWS::Batch::SchedulingPolicy"
SHARE: Final = "AWS::Batch::QuotaShare"
_TYPES: Final = (QUEUE, ENVIRONMENT, POLICY, SHARE)

_ARN_BEFORE_NAME: Final = re.compile(r"arn:[^:]*:batch:([^:]*):([^:]*):([a-z-]+)/")


@dataclass(frozen=True, eq=False)
class Declared:
    """A resource of a template, its properties resolved."""

    template: Template
    logical_id: str
    type: str
    properties: JsonObject

    @property
    def place(self) -> Place:
        """Where it is declared."""
        template = self.template
        path = template.construct_path(self.logical_id)
        # What a user knows is the construct, not the L1 child that renders it.
        construct = path.removesuffix("/Resource") if path else None
        return Place(str(template.file), template.name, self.logical_id, construct)


class Resources:
    """All AWS Batch resources of templates that are deployed together, in the order of the templates."""

    def __init__(self, templates: Sequence[Template]) -> None:
        self._resolver = Resolver(templates)
        self._by_type: dict[str, list[Declared]] = {type_: [] for type_ in _TYPES}
        self.remarks: list[Remark] = []
        """What is assumed about resources whose condition is known at deployment alone."""
        for template in templates:
            for logical_id, type_, definition in template.resources():
                if type_ in _TYPES:
                    self._declare(template, logical_id, type_, definition)

    def _declare(self, template: Template, logical_id: str, type_: str, definition: JsonObject) -> None:
        condition = definition.get("Condition")
        holds = True if condition is None else self._resolver.condition(condition, template)
        if holds is False:
            return
        properties = self._resolver.resolve(definition.get("Properties", {}), template)
        declared = Declared(template, logical_id, type_, properties if isinstance(properties, dict) else {})
        self._by_type[type_].append(declared)
        if isinstance(holds, Unknown):
            text = f"condition {condition} is known only at deployment; judged as if it held"
            self.remarks.append(Remark(declared.place, text))

    def of_type(self, type_: str) -> list[Declared]:
        """Return the resources of a type."""
        return self._by_type[type_]

    def plain(self, value: Any) -> Any:
        """Return a resolved value with every text known as a whole, or ``UNKNOWN``."""
        return self._resolver.literal(value) if isinstance(value, Text) else value

    def referred(self, value: Any, type_: str, template: Template) -> Declared | str | Unknown:
        """Return the resource that a resolved name or ARN means; the text itself if none here is meant."""
        if isinstance(value, Text):
            named = _named_resource(value)
            if named is not None:
                found = [
                    d for d in self.of_type(type_) if (d.template, d.logical_id) == (named.template, named.logical_id)
                ]
                return found[0] if found else UNKNOWN
        text, name = self._name_in(value, type_)
        if name is None:
            return text or UNKNOWN
        found = list(self._declared_as(name, text, type_, template))
        # Two stages may each have one of this name: no guess which is meant.
        return found[0] if len(found) == 1 else UNKNOWN if found else text

    def _name_in(self, value: Any, type_: str) -> tuple[str, str | None]:
        """Return a text for people and the name in it; the rest of an ARN may be unknown."""
        known = self.plain(value)
        if not isinstance(known, str):
            last = value.pieces[-1] if isinstance(value, Text) else None
            match = re.search(f":{NAMED_TYPES[type_].word}/([^/:]+)$", last) if isinstance(last, str) else None
            return (match[1], match[1]) if match else ("", None)
        arn = _ARN_BEFORE_NAME.match(known)
        if arn and arn[3] != NAMED_TYPES[type_].word:
            return known, None
        name = known[arn.end() :] if arn else known
        return known, name if name and not set(name) & {"/", ":"} else None

    def _declared_as(self, name: str, text: str, type_: str, template: Template) -> Iterator[Declared]:
        arn = _ARN_BEFORE_NAME.match(text)
        region, account, _ = arn.groups() if arn else (template.region, template.account, None)
        near = self._resolver.neighbours(template)
        for declared in self.of_type(type_):
            there = declared.template
            if (
                self.plain(declared.properties.get(NAMED_TYPES[type_].name_property)) == name
                and (there in near or arn is not None)
                and there.region in (None, region)
                and there.account in (None, account)
            ):
                yield declared


def _named_resource(text: Text) -> NameOf | None:
    """Return the resource whose name or ARN a text is."""
    match text.pieces:
        case (NameOf() as named,):
            return named
        case (str(start), *_, str(before), NameOf() as named) if start.startswith("arn:"):
            return named if before.endswith(f":{NAMED_TYPES[named.type].word}/") else None
    return None
