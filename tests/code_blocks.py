"""The code blocks of a Markdown file, for the tests that run them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Block", "blocks_of"]

_BLOCK: Final = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w*)(?: \{ (?P<marks>[^}]*) \})?\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of code.

    ``file`` is the file that it is meant to be, from a comment before it; ``marks`` are what stands in braces behind its
    language, which Markdown takes as the block's classes.
    """

    language: str
    code: str
    file: str | None
    line: int
    marks: str = ""


def blocks_of(path: Path) -> Iterator[Block]:
    """Yield the blocks of a file in order."""
    text = path.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(match["language"], match["code"], match["file"], line, match["marks"] or "")
