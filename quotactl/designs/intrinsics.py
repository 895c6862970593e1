"""What a template's functions come to, as far as anybody can know before the deployment.

What cannot be known is ``UNKNOWN``, never a guess. A text that is known in part is kept as a
:class:`~quotactl.designs.texts.Text`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, Final, TypeVar

from quota_model.design import UNKNOWN, Unknown
from quotactl.designs.templates import Template
from quotactl.designs.texts import NAMED_TYPES, NameOf, Segment, Text, arn_of, joined, split

__all__ = ["ABSENT", "Absent", "Resolver"]


class Absent(Enum):
    """The type of :data:`ABSENT`."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""A property that is not given, or given as AWS::NoValue."""


_Value = TypeVar("_Value")

_SUBSTITUTION: Final = re.compile(r"\$\{(!?)([^{}]*)\}")


def _function_of(value: object) -> tuple[str, Any] | None:
    """Return name and argument of a template function, ``None`` if the value is none."""
    if isinstance(value, dict) and len(value) == 1:
        ((name, argument),) = value.items()
        if name == "Ref" or name.startswith("Fn::"):
            return name, argument
    return None


class Resolver:
    """Resolves values of templates that are deployed together.

    Values come back as plain JSON values, :class:`Text`, ``UNKNOWN`` or ``ABSENT``; lists and objects hold those.
    """

    def __init__(self, templates: Sequence[Template]) -> None:
        self._templates = templates
        self._known: dict[tuple[Template, str], Any] = {}
        self._functions: dict[str, Callable[[Any, Template], Any]] = {
            "Ref": self._ref,
            "Fn::FindInMap": self._find_in_map,
            "Fn::GetAtt": self._get_att,
            "Fn::GetStackOutput": self._get_stack_output,
            "Fn::If": self._if,
            "Fn::ImportValue": self._import_value,
            "Fn::Join": self._join,
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::Sub": self._sub,
        }

    def resolve(self, value: Any, template: Template) -> Any:
        """Return what a value of a template comes to."""
        function = _function_of(value)
        if function is not None:
            name, argument = function
            resolver = self._functions.get(name)
            return UNKNOWN if resolver is None else resolver(argument, template)
        if isinstance(value, dict):
            members = {key: self.resolve(item, template) for key, item in value.items()}
            return {key: item for key, item in members.items() if item is not ABSENT}
        if isinstance(value, list):
            return [item for item in (self.resolve(item, template) for item in value) if item is not ABSENT]
        return ABSENT if value is None else value

    def plain(self, value: Any, template: Template) -> Any:
        """Return a value as it will be after the deployment, or ``UNKNOWN``; a text never in part."""
        resolved = self.resolve(value, template)
        return self.literal(resolved) if isinstance(resolved, Text) else resolved

    def condition(self, name: object, template: Template) -> bool | Unknown:
        """Return whether a condition of the template holds."""
        conditions = template.section("Conditions")
        if not isinstance(name, str) or name not in conditions:
            return UNKNOWN
        return self._once((template, f"condition {name}"), lambda: self._truth(conditions[name], template))

    def _once(self, key: tuple[Template, str], resolve: Callable[[], _Value]) -> _Value | Unknown:
        """Resolve once; what depends on itself is unknown."""
        if key not in self._known:
            self._known[key] = UNKNOWN
            self._known[key] = resolve()
        known: _Value | Unknown = self._known[key]
        return known

    def literal(self, text: Text) -> str | Unknown:
        """Return a text as it will be after the deployment, or ``UNKNOWN``."""
        known: list[str] = []
        for piece in text.pieces:
            value = self.name_of(piece) if isinstance(piece, NameOf) else piece
            if not isinstance(value, str):
                return UNKNOWN
            known.append(value)
        return "".join(known)

    def name_of(self, resource: NameOf) -> str | Unknown:
        """Return the name that a resource is given; ``UNKNOWN`` if CloudFormation generates it."""
        definition = resource.template.section("Resources")[resource.logical_id]
        properties = definition.get("Properties")
        value = properties.get(NAMED_TYPES[resource.type].name_property) if isinstance(properties, dict) else None
        key = (resource.template, f"name {resource.logical_id}")
        name = self._once(key, lambda: self.plain(value, resource.template))
        return name if isinstance(name, str) else UNKNOWN

    # Functions, each with its argument as it stands in the template

    def _ref(self, name: Any, template: Template) -> Any:
        if not isinstance(name, str):
            return UNKNOWN
        if name.startswith("AWS::"):
            return _pseudo_parameter(name, template)
        parameter = template.section("Parameters").get(name)
        if isinstance(parameter, dict):
            return self._once((template, f"parameter {name}"), lambda: self._argument(name, parameter, template))
        return arn_of(template, name)

    def _argument(self, name: str, parameter: dict[str, Any], template: Template) -> Any:
        if name in template.arguments and template.parent is not None:
            return self.resolve(template.arguments[name], template.parent)
        kind, default = parameter.get("Type"), parameter.get("Default")
        if not isinstance(default, str | int | float) or not isinstance(kind, str) or kind.startswith("AWS::SSM::"):
            return UNKNOWN
        if kind == "CommaDelimitedList" or kind.startswith("List<"):
            return [item.strip() for item in str(default).split(",")]
        return str(default)

    def _get_att(self, argument: Any, template: Template) -> Any:
        parts = argument.split(".", 1) if isinstance(argument, str) else argument
        match parts:
            case [str(logical_id), str(attribute)]:
                pass
            case _:
                return UNKNOWN
        if logical_id in template.nested and attribute.startswith("Outputs."):
            return self._output(template.nested[logical_id], attribute.removeprefix("Outputs."))
        definition = template.section("Resources").get(logical_id)
        kind = definition.get("Type") if isinstance(definition, dict) else None
        named = NAMED_TYPES.get(kind) if isinstance(kind, str) else None
        return arn_of(template, logical_id) if named is not None and named.arn_attribute == attribute else UNKNOWN

    def _join(self, argument: Any, template: Template) -> Any:
        match argument:
            case [str(delimiter), items]:
                values = self.resolve(items, template)
                if isinstance(values, list):
                    return joined(delimiter, values)
        return UNKNOWN

    def _split(self, argument: Any, template: Template) -> Any:
        match argument:
            case [str(delimiter), text] if delimiter:
                return split(delimiter, self.resolve(text, template))
        return UNKNOWN

    def _select(self, argument: Any, template: Template) -> Any:
        match argument:
            case [index, items]:
                position, values = _number(self.plain(index, template)), self.resolve(items, template)
                if position is not None and isinstance(values, list) and 0 <= position < len(values):
                    return values[position]
        return UNKNOWN

    def _sub(self, argument: Any, template: Template) -> Any:
        text, variables = (argument, {}) if isinstance(argument, str) else _pair(argument)
        if not isinstance(text, str) or not isinstance(variables, dict):
            return UNKNOWN
        pieces: list[Any] = []
        position = 0
        for match in _SUBSTITUTION.finditer(text):
            pieces.append(text[position : match.start()])
            position = match.end()
            literal, name = match.groups()
            if literal:
                pieces.append(f"${{{name}}}")
            elif name in variables:
                pieces.append(self.resolve(variables[name], template))
            else:
                pieces.append(self._get_att(name, template) if "." in name else self._ref(name, template))
        return joined("", [*pieces, text[position:]])

    def _if(self, argument: Any, template: Template) -> Any:
        match argument:
            case [name, then, otherwise]:
                holds = self.condition(name, template)
                if isinstance(holds, bool):
                    return self.resolve(then if holds else otherwise, template)
                # Either way the same: then the condition does not matter.
                value = self.resolve(then, template)
                return value if value == self.resolve(otherwise, template) else UNKNOWN
        return UNKNOWN

    def _truth(self, value: Any, template: Template) -> bool | Unknown:
        match value:
            case {"Fn::Equals": [left, right]} if len(value) == 1:
                sides = self.plain(left, template), self.plain(right, template)
                known = all(isinstance(side, str | int | float) for side in sides)
                return str(sides[0]) == str(sides[1]) if known else UNKNOWN
            case {"Fn::Not": [operand]} if len(value) == 1:
                truth = self._truth(operand, template)
                return UNKNOWN if isinstance(truth, Unknown) else not truth
            case {"Fn::And": list(operands)} if len(value) == 1:
                return _all(self._truth(operand, template) for operand in operands)
            case {"Fn::Or": list(operands)} if len(value) == 1:
                none = _all(self._truth({"Fn::Not": [operand]}, template) for operand in operands)
                return UNKNOWN if isinstance(none, Unknown) else not none
            case {"Condition": name} if len(value) == 1:
                return self.condition(name, template)
        return UNKNOWN

    def _find_in_map(self, argument: Any, template: Template) -> Any:
        match argument:
            case [name, first, second]:
                found: Any = template.section("Mappings")
                for key in (name, first, second):
                    plain = self.plain(key, template)
                    found = found.get(plain, UNKNOWN) if isinstance(found, dict) and isinstance(plain, str) else UNKNOWN
                return UNKNOWN if isinstance(found, dict) else found
        return UNKNOWN

    def _import_value(self, argument: Any, template: Template) -> Any:
        name = self.plain(argument, template)
        if not isinstance(name, str):
            return UNKNOWN
        exports = [
            (other, key)
            for other in self.neighbours(template)
            for key, output in other.section("Outputs").items()
            if self._export_name(output, other) == name
        ]
        return self._output(*exports[0]) if len(exports) == 1 else UNKNOWN

    def _export_name(self, output: object, template: Template) -> Any:
        export = output.get("Export") if isinstance(output, dict) else None
        return self.plain(export.get("Name"), template) if isinstance(export, dict) else ABSENT

    def _get_stack_output(self, argument: Any, template: Template) -> Any:
        if not isinstance(argument, dict):
            return UNKNOWN
        name, output = (self.plain(argument.get(key), template) for key in ("StackName", "OutputName"))
        region = self.plain(argument.get("Region"), template)
        stacks = [
            other
            for other in self._templates
            if other.name == name
            and other.parent is None
            and (not isinstance(region, str) or other.region in (None, region))
        ]
        near = [other for other in stacks if other.file.parent == template.file.parent] or stacks
        return self._output(near[0], output) if len(near) == 1 and isinstance(output, str) else UNKNOWN

    def _output(self, template: Template, name: str) -> Any:
        output = template.section("Outputs").get(name)
        if not isinstance(output, dict):
            return UNKNOWN
        return self._once((template, f"output {name}"), lambda: self.resolve(output.get("Value"), template))

    def neighbours(self, template: Template) -> list[Template]:
        """Return the templates that may be deployed to the same account and region, of the same stage if there are."""
        reachable = [
            other
            for other in self._templates
            if _may_be_same(template.account, other.account) and _may_be_same(template.region, other.region)
        ]
        return [other for other in reachable if other.file.parent == template.file.parent] or reachable


def _pseudo_parameter(name: str, template: Template) -> Any:
    match name:
        case "AWS::NoValue":
            return ABSENT
        case "AWS::Partition":
            return Text((Segment.PARTITION,))
        case "AWS::Region":
            return template.region or Text((Segment.REGION,))
        case "AWS::AccountId":
            return template.account or Text((Segment.ACCOUNT,))
        case "AWS::StackName":
            return template.name or UNKNOWN
    return UNKNOWN


def _pair(argument: Any) -> tuple[Any, Any]:
    return (argument[0], argument[1]) if isinstance(argument, list) and len(argument) == 2 else (None, None)


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _all(truths: Iterator[bool | Unknown]) -> bool | Unknown:
    values = list(truths)
    if False in values:
        return False
    return UNKNOWN if UNKNOWN in values else True


def _may_be_same(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other
