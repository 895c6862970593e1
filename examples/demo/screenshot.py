"""The demo as a picture: what a terminal shows of it, drawn as an SVG."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Final

from rich.console import Console, RenderableType
from rich.terminal_theme import MONOKAI

__all__ = ["WIDTH", "save"]

WIDTH: Final = 112
"""Columns of the terminal in the picture."""


def save(path: Path, *shown: RenderableType) -> None:
    """Write what a terminal would show to an SVG file.

    :raises OSError: if the file cannot be written.
    """
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for part in shown:
        console.print(part)
    svg = console.export_svg(title="make demo", theme=MONOKAI, unique_id="demo")
    # It fetches nothing: the viewer's own monospaced font has to do.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    path.write_text("\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n", encoding="utf-8")
