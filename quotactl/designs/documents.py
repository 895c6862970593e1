"""Reading a JSON or YAML file that may be anything: the result is plain values of bounded size, or one sentence."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Final, NoReturn

__all__ = ["JsonObject", "UnusableInputError", "read_document"]

JsonObject = dict[str, Any]

MAX_BYTES: Final = 32 * 1024 * 1024
"""More than any template (CloudFormation takes 1 MB) or cloud assembly manifest has."""
MAX_DEPTH: Final = 100
MAX_NUMBER: Final = 2**53
"""Up to here every JSON reader agrees on a whole number."""


class UnusableInputError(Exception):
    """Input that holds no design; the message is one sentence that says what to give instead."""


def read_document(path: Path) -> Any:
    """Return what a JSON or YAML file holds, as plain values nested at most 100 deep.

    YAML is read as CloudFormation reads it: short tags (``!Ref``) become functions, and there are no aliases.
    Raises :class:`UnusableInputError`.
    """
    text = _read_text(path)
    try:
        # What starts like JSON is JSON, so that a broken template gets JSON's message.
        value = _parse_json(text) if text.lstrip()[:1] in ("{", "[") else _parse_yaml(text)
        return _plain(value, MAX_DEPTH)
    except RecursionError:
        raise UnusableInputError(f"{path} is nested too deeply; {MAX_DEPTH} levels are enough for any design") from None
    except _ContentError as error:
        raise UnusableInputError(f"{path}: {error}") from None


class _ContentError(Exception):
    """What is wrong with a file's content, without its name."""


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UnusableInputError(f"{path} does not exist; name a template, a cdk.out or a design file") from None
    except OSError as error:
        raise UnusableInputError(f"{path} cannot be read ({error.strerror}); name a file that can") from None
    if len(content) > MAX_BYTES:
        raise UnusableInputError(f"{path} has more than {MAX_BYTES // 1024**2} MB; name a template or a design file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnusableInputError(f"{path} is not a text file; name a JSON or YAML file") from None


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _ContentError(f"broken JSON in line {error.lineno}, column {error.colno}: {error.msg}") from None
    except ValueError:  # more digits than Python converts
        raise _ContentError(f"a number is too large; keep within {MAX_NUMBER}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise _ContentError(f"{name} is not JSON; give a number")


def _once(pairs: list[tuple[str, Any]]) -> JsonObject:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in members if keys.count(key) > 1)
        raise _ContentError(f"key {twice!r} is given twice in one object; keep one")
    return members


def _parse_yaml(text: str) -> Any:
    from quotactl.designs.yaml_documents import YamlProblemError, parse_yaml

    try:
        return parse_yaml(text, max_depth=MAX_DEPTH)
    except YamlProblemError as error:
        raise _ContentError(str(error)) from None


def _plain(value: Any, levels: int) -> Any:
    """Return the same value once it is certain that every later step can print it and do sums with it."""
    if levels == 0:
        raise RecursionError
    if isinstance(value, dict):
        return {str(key): _plain(item, levels - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, levels - 1) for item in value]
    if isinstance(value, int | float) and not (math.isfinite(value) and abs(value) <= MAX_NUMBER):
        raise _ContentError(f"a number is too large; keep within {MAX_NUMBER}")
    return value
