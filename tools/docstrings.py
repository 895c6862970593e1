"""Lets the site show our docstrings: they are written for Python's own tools, the site reads Markdown."""

from __future__ import annotations

import re
import textwrap
from typing import Any, Final

import griffe

__all__ = ["MarkdownDocstrings", "examples_in"]

_ROLE: Final = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`(~?)([\w.]+)`")
_EXAMPLE: Final = re.compile(r"::\n\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)


class MarkdownDocstrings(griffe.Extension):
    """Turns references to code into code, and the block after a ``::`` into a fenced one."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of whatever has one."""
        if obj.docstring is not None:
            obj.docstring.value = _markdown(obj.docstring.value)


def examples_in(docstring: str) -> list[str]:
    """Return the blocks after a ``::``, as the site shows them."""
    return [_code_of(example) for example in _EXAMPLE.finditer(docstring)]


def _markdown(text: str) -> str:
    return _ROLE.sub(_code, _EXAMPLE.sub(_fenced, text))


def _fenced(example: re.Match[str]) -> str:
    code = _code_of(example)
    language = "json" if code.startswith("{") else "python"
    return f":\n\n```{language}\n{code}\n```\n\n"


def _code_of(example: re.Match[str]) -> str:
    return textwrap.dedent(example[1]).strip("\n")


def _code(role: re.Match[str]) -> str:
    shortened, name = role.groups()
    return f"`{name.rpartition('.')[2] if shortened else name}`"
