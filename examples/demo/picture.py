"""The demo's picture: shares, instances and jobs now, and their timeline at the end."""

from __future__ import annotations

from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from examples.demo.watch import Job, Share, Watch

__all__ = ["Story", "picture", "timeline"]

_COLOURS: Final = ("bright_magenta", "bright_cyan", "bright_yellow", "bright_green", "bright_blue", "bright_red")
_CELLS: Final = {"waiting": "·", "starting": "░", "own": "█", "borrowed": "▒", "stopping": "╳", "done": " "}
_WORDS: Final = {
    "waiting": "waits",
    "starting": "starts",
    "own": "runs",
    "borrowed": "runs, borrowing",
    "stopping": "stops, preempted",
    "done": "done",
}
_TIMELINE_WIDTH: Final = 72
_WIDE: Final = 110
"""Columns from which on there is room for everything."""


class Story:
    """What has happened so far, in sentences."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, bool]] = []

    def tell(self, time: str, sentence: str, *, checked: bool = False) -> None:
        """Add a sentence; ``checked`` marks an outcome that AWS documents and that has come true."""
        self.lines.append((time, sentence, checked))

    def render(self) -> Table:
        """Return the sentences as a table without lines."""
        table = Table(box=None, show_header=False, pad_edge=False)
        for time, sentence, checked in self.lines:
            table.add_row(
                Text(time, "dim"), Text("✓" if checked else "→", "green" if checked else "bold"), Text(sentence)
            )
        return table


def picture(watch: Watch, unit: str, story: Story, width: int) -> RenderableType:
    """Return the queue as it is now, above the story so far; on a narrow terminal with less beside the numbers."""
    colours, is_wide = _colours(watch), width >= _WIDE
    shares = _table(f"quota shares of {unit}")
    shares.add_column("share", min_width=10, no_wrap=True)
    if is_wide:
        shares.add_column("strategy")
    for column in ("limit", "used", "borrowed", "lent", "idle", "waiting"):
        shares.add_column(column, justify="right")
    shares.add_column("its instance", width=26 if is_wide else 13, no_wrap=True)
    for share in watch.shares:
        numbers = (share.limit, share.used, share.borrowed, share.lent, share.idle, len(share.waiting))
        strategy = (share.strategy,) if is_wide else ()
        shares.add_row(share.name, *strategy, *map(_number, numbers), _instances(share, watch, colours))
    jobs = _table("jobs")
    for column, space in (("job", 8), ("share", 10), ("priority", 8), ("status", 10)):
        jobs.add_column(column, min_width=space, no_wrap=True)
    jobs.add_column("", width=58 if is_wide else width - 57)
    for job in watch.jobs.values():
        jobs.add_row(Text(job.name, colours[job.name]), job.share, str(job.priority), job.status, _about(job, watch))
    return Padding(Group(shares, jobs, Text(), story.render()), (1, 0))


def timeline(watch: Watch, width: int) -> RenderableType:
    """Return what every job did from the start to the end, one row each."""
    colours, length, cells = _colours(watch), max(1, watch.time - watch.start), min(_TIMELINE_WIDTH, width - 44)
    table = Table(box=None, show_header=False, pad_edge=False)
    for job in watch.jobs.values():
        row = Text()
        for cell in range(cells):
            instant = watch.start + length * (cell + 0.5) / cells
            doing = next((span.doing for span in job.spans if span.start <= instant < span.end), None)
            row.append(" " if doing is None else _CELLS[doing], "dim" if doing == "waiting" else colours[job.name])
        preempted = f"preempted {_times(job.preemptions)}" if job.preemptions else ""
        table.add_row(Text(job.name, colours[job.name]), Text(job.share, "dim"), row, Text(preempted, "dim"))
    legend = "   ".join(f"{_CELLS[doing]} {_WORDS[doing]}" for doing in _CELLS if doing != "done")
    minutes = f"{length / 60_000:.0f} minutes of the local clock"
    return Padding(Group(table, Text(f"\n{legend}   ({minutes})", "dim")), (1, 0))


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", header_style="dim", box=box.SIMPLE_HEAD)


def _colours(watch: Watch) -> dict[str, str]:
    return {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(watch.jobs)}


def _number(value: int) -> Text:
    return Text(str(value), "dim" if value == 0 else "bold")


def _instances(share: Share, watch: Watch, colours: dict[str, str]) -> Text:
    cell = Text()
    for job in share.holders[: share.limit]:
        cell.append("■ ", colours[job.name]).append(job.name, colours[job.name])
    for job in share.lent_to:
        cell.append("■ ", colours[job.name]).append(f"lent to {job.name}", colours[job.name])
    stopping = [job for job in watch.jobs.values() if job.is_stopping]
    for job in stopping[: share.idle] if share.waiting else []:
        cell.append(f"╳ {job.name} stops", colours[job.name])
    if not cell:
        cell.append("□ idle" if share.strategy != "RESERVE" else "□ idle, kept", "dim")
    return cell


def _about(job: Job, watch: Watch) -> Text:
    if job.doing == "waiting":
        return Text(f"waits: {watch.why(job)}", "yellow")
    text = Text(_WORDS[job.doing], {"stopping": "red", "done": "dim"}.get(job.doing, "green"))
    return text.append(f", was preempted {_times(job.preemptions)}", "dim") if job.preemptions else text


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
