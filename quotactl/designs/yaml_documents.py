"""YAML as CloudFormation reads it: short tags for functions, no aliases, no dates."""

from __future__ import annotations

from typing import Any, Final, cast

import yaml

__all__ = ["YamlProblemError", "parse_yaml"]


class YamlProblemError(Exception):
    """Why a text is not YAML that CloudFormation would read, in one sentence."""


def parse_yaml(text: str, *, max_depth: int) -> Any:
    """Return the value of a YAML text; raises :class:`YamlProblemError`."""
    try:
        _check_events(text, max_depth)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader with CloudFormation's tags
    except yaml.YAMLError as error:
        raise YamlProblemError(f"broken YAML{_position(error)}: {_problem(error)}") from None
    except ValueError:  # digits without end, or what only looks like a number
        raise YamlProblemError("a number cannot be read; write it with fewer digits, or a text in quotes") from None


def _position(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f" in line {mark.line + 1}, column {mark.column + 1}"


def _problem(error: yaml.YAMLError) -> str:
    return " ".join(str(getattr(error, "problem", None) or getattr(error, "reason", None) or "no YAML").split())


_BaseLoader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BaseLoader):  # type: ignore[misc] # whichever of the two there is
    """A safe loader that knows CloudFormation's short tags."""


def _check_events(text: str, max_depth: int) -> None:
    """Refuse aliases, with which a small text can stand for an endless one, and deep nesting, before anything grows."""
    depth = 0
    for event in yaml.parse(text, Loader=_BaseLoader):
        if isinstance(event, yaml.AliasEvent):
            problem = f"the alias *{event.anchor} is not supported, as in CloudFormation; write the value out"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=cast(yaml.Mark, event.start_mark))
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > max_depth:
            raise RecursionError


def _function(loader: Any, suffix: str, node: yaml.Node) -> dict[str, Any]:
    """Return ``{"Fn::Name": value}`` for ``!Name value``."""
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
        return {name: value.split(".", 1) if suffix == "GetAtt" else value}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    return {name: _mapping(loader, node)}


def _mapping(loader: Any, node: Any) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="a key is a text", problem_mark=key_node.start_mark)
        # As written: an account id is no number, and a key "on" no boolean.
        key = key_node.value
        if key in members:
            problem = f"key {key!r} is given twice in one object; keep one"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
        members[key] = loader.construct_object(value_node, deep=True)
    return members


_Loader.add_multi_constructor("!", _function)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
# A date such as a template's format version stays the text that it is.
_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))
for _unsupported in ("binary", "omap", "pairs", "set"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_unsupported}", _BaseLoader.construct_undefined)
