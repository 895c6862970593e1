"""Reading a request: JSON in, checked parameters out, by the service model that botocore carries.

botocore checks only the presence and the types of parameters before it sends them, and other clients check
nothing, so a service has to check all of it: required fields, types, enumerations, and that no field is given
that the operation does not know.
"""

from __future__ import annotations

import contextlib
import json
import re
from functools import cache
from typing import Any, Final

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape
from botocore.validate import ParamValidator

from quotactl.local.errors import AwsError

__all__ = ["LARGEST_INTEGER", "operation_model", "operations_by_uri", "problem_with", "read_json", "service_model"]

LARGEST_INTEGER: Final = 2**31 - 1
"""The largest value of a parameter of type integer."""
_BITS: Final = {"integer": 32, "long": 64}


@cache
def service_model(service: str) -> ServiceModel:
    """Return botocore's model of a service, such as ``batch``."""
    return ServiceModel(Loader().load_service_model(service, "service-2"), service)


@cache
def operation_model(service: str, operation: str) -> OperationModel:
    """Return botocore's model of one operation."""
    return service_model(service).operation_model(operation)


@cache
def operations_by_uri(service: str) -> dict[tuple[str, str], str]:
    """Return the operations of a REST service by HTTP method and path."""
    operations = {}
    for name in service_model(service).operation_names:
        http = operation_model(service, name).http
        operations[http["method"], http["requestUri"]] = name
    return operations


def read_json(body: bytes, error: type[AwsError]) -> dict[str, Any]:
    """Return the JSON object of a request's body; an empty body is an empty object."""
    if not body:
        return {}
    try:
        value = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise error("The request's body is not JSON; send one JSON object.") from problem
    if not isinstance(value, dict):
        raise error("The request's body is not a JSON object; send one.")
    return value


def problem_with(service: str, operation: str, parameters: dict[str, Any]) -> str | None:
    """Return what is wrong with the shape of an operation's parameters, or ``None``."""
    shape = operation_model(service, operation).input_shape
    if shape is None:
        return None
    try:
        report = ParamValidator().validate(parameters, shape)
    except (RecursionError, TypeError, ValueError):
        return "The parameters cannot be read."
    if report.has_errors():
        return str(report.generate_report())
    return _value_problem(parameters, shape, "")


def _refuse(constant: str) -> None:
    """Refuse what Python reads and JSON does not have: NaN and the infinities."""
    raise ValueError(constant)


def _value_problem(value: Any, shape: Shape, place: str) -> str | None:
    """Return what is wrong with a value of the right type, or with one inside it."""
    if isinstance(shape, StructureShape):
        parts = [(value[name], member, f"{place}.{name}") for name, member in shape.members.items() if name in value]
    elif isinstance(shape, ListShape):
        parts = [(item, shape.member, f"{place}[{index}]") for index, item in enumerate(value)]
    elif isinstance(shape, MapShape):
        parts = [(key, shape.key, f"a key of {place.lstrip('.')}") for key in value]
        parts += [(item, shape.value, f"{place}.{key}") for key, item in value.items()]
    else:
        problem = _scalar_problem(value, shape)
        return None if problem is None else f"{place.lstrip('.')} {problem}"
    return next((found for part in parts if (found := _value_problem(*part))), None)


def _scalar_problem(value: Any, shape: Shape) -> str | None:
    allowed = getattr(shape, "enum", None)
    if allowed and value not in allowed and not _is_mixed_case_action(value, shape, allowed):
        return f"is {value!r}; it must be one of {', '.join(allowed)}."
    bits = _BITS.get(shape.type_name)
    if bits is not None and not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        return f"is not a whole number that AWS can hold; give one below {2 ** (bits - 1)}."
    most = shape.metadata.get("max")
    if most is not None and isinstance(value, int | float) and value > most:
        return f"is {value}; it must be at most {most}."
    if most is not None and isinstance(value, str) and len(value) > most:
        return f"has {len(value)} characters; it can have at most {most}."
    pattern = _pattern(shape.metadata.get("pattern", ""))
    if pattern is not None and isinstance(value, str) and not pattern.fullmatch(value):
        return f"is {value[:100]!r}; it must satisfy the regular expression {pattern.pattern}."
    if isinstance(value, str) and not value.isascii() and not _is_unicode(value):
        return "holds half a character (a lone surrogate), which is no text; send whole characters."
    return None


@cache
def _pattern(text: str) -> re.Pattern[str] | None:
    r"""Return a model's pattern, or ``None`` where there is none that Python reads (``\p{L}`` it does not)."""
    with contextlib.suppress(re.error):
        return re.compile(text, re.DOTALL) if text else None
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_mixed_case_action(value: str, shape: Shape, allowed: list[str]) -> bool:
    """Return whether this is a retry action in mixed case, which AWS accepts (its own integration test sends "Retry")."""
    return shape.name == "ServiceJobRetryAction" and value.upper() in allowed
