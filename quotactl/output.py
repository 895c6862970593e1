"""Writing to people: what came from a file is shown as it is, and does nothing to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "printable"]

_LOG_WIDTH: Final = 120


def printable(text: object) -> str:
    """Return a text with control characters and halves of characters replaced, so that any terminal takes it."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in str(text))


def console() -> Console:
    """Return a console for standard output that reads no markup out of what it prints."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = max(console.width, _LOG_WIDTH)  # nobody wraps a log
    return console
