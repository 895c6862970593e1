"""``quotactl check`` for people: a table of each queue's shares, then what is found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quota_model.design import UNLIMITED, CapacityLimits, QuotaShare, State, Unknown
from quota_model.rules import Severity
from quotactl.check import CheckedQueue, CheckedShare, LocatedFinding, Report
from quotactl.output import printable

__all__ = ["print_report"]

_INDENT: Final = 2
_UNBOUNDED: Final = 10_000
_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow"}


def print_report(report: Report, console: Console) -> None:
    """Print a report; a terminal gets colours, anything else plain text.

    :param console: one that reads no markup, such as :func:`quotactl.output.console`.
    """
    for queue in report.queues:
        console.print(_queue(queue, console))
    for loose in report.loose_shares:
        console.print(_loose_share(loose, console))
    for remark in report.remarks:
        place, text = printable(remark.place), printable(remark.text)
        console.print(Text.assemble(("note", "bold"), "  ", (place, "cyan"), f": {text}"))
    if report.remarks:
        console.print()
    console.print(_summary(report))


def _queue(checked: CheckedQueue, console: Console) -> RenderableType:
    queue, place = checked.located.queue, checked.located.place
    title = Text.assemble(("job queue ", "bold"), (_name(queue.name) or printable(place), "bold cyan"))
    if _name(queue.name):
        title.append(f"  {printable(place)}", "dim")
    environment = queue.service_environment
    rows = [_share_row(share) for share in queue.quota_shares]
    rows.append(_Row("environment", environment.capacity_limits, ("", "", "", _state(environment.state)), "dim"))
    return Group(title, _table(rows, console), _findings(checked.findings), "")


def _loose_share(checked: CheckedShare, console: Console) -> RenderableType:
    share, place = checked.located.share, checked.located.place
    title = Text.assemble(("quota share ", "bold"), (_shown(share.name), "bold cyan"), (f"  {printable(place)}", "dim"))
    return Group(title, _table([_share_row(share)], console), _findings(checked.findings), "")


class _Row(NamedTuple):
    """A quota share, or the environment below them."""

    name: str
    limits: CapacityLimits
    settings: tuple[str, str, str, str]
    style: str = ""


def _share_row(share: QuotaShare) -> _Row:
    sharing, preemption = share.resource_sharing, share.in_share_preemption
    if sharing.borrows and sharing.borrow_limit in (None, UNLIMITED):
        borrow_limit = "unlimited"
    elif sharing.borrow_limit is None:
        borrow_limit = ""
    else:
        borrow_limit = "?" if isinstance(sharing.borrow_limit, Unknown) else f"{sharing.borrow_limit} %"
    in_share = "?" if isinstance(preemption, Unknown) else "on" if preemption else "off"
    settings = (_shown(sharing.strategy), borrow_limit, in_share, _state(share.state))
    return _Row(_shown(share.name), share.capacity_limits, settings)


def _table(rows: Sequence[_Row], console: Console) -> RenderableType:
    """Return a column for each instance type or, where these do not fit beside each other, a line for each."""
    # Those of the environment come first.
    units = list(dict.fromkeys(unit for row in (rows[-1], *rows) for unit in row.limits.units))
    table = _wide_table(rows, units)
    everything = console.options.update_width(_UNBOUNDED)
    if Measurement.get(console, everything, table).maximum > console.width - _INDENT:
        table = _tall_table(rows)
    return Padding(table, (0, 0, 0, _INDENT))


def _wide_table(rows: Sequence[_Row], units: Sequence[str]) -> Table:
    table = _empty_table()
    for unit in units:
        family, dot, size = unit.rpartition(".")
        table.add_column(printable(f"{family}{dot}\n{size}"), justify="right", no_wrap=True)
    _add_settings_columns(table, rows)
    for row in rows:
        limits = [_limit(row.limits, unit) for unit in units]
        table.add_row(row.name, *limits, *row.settings, style=row.style)
    return table


def _tall_table(rows: Sequence[_Row]) -> Table:
    table = _empty_table()
    table.add_column("instance\ntype", overflow="fold")
    table.add_column("\nlimit", justify="right", no_wrap=True)
    _add_settings_columns(table, rows)
    for row in rows:
        units = row.limits.units or ("",)
        for unit in units:
            once = (row.name, row.settings) if unit == units[0] else ("", ("", "", "", ""))
            table.add_row(once[0], printable(unit), _limit(row.limits, unit), *once[1], style=row.style)
    return table


def _empty_table() -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("quota\nshare", overflow="fold", min_width=len("environment"))
    return table


def _add_settings_columns(table: Table, rows: Sequence[_Row]) -> None:
    table.add_column("idle\ncapacity", no_wrap=True)
    table.add_column("borrow\nlimit", justify="right", no_wrap=True)
    table.add_column("in-share\npreemption", no_wrap=True)
    with_state = any(state for *_, state in (row.settings for row in rows))
    table.add_column("\nstate" if with_state else "", no_wrap=True)


def _limit(limits: CapacityLimits, unit: str) -> str:
    limit = limits.of_unit(unit)
    return "" if limit is None else _shown(limit)


def _state(state: State | Unknown) -> str:
    return "" if state is State.ENABLED else _shown(state)


def _shown(value: object) -> str:
    return "?" if isinstance(value, Unknown) else printable(value)


def _name(name: str | Unknown | None) -> str | None:
    return printable(name) if isinstance(name, str) else None


def _findings(findings: Sequence[LocatedFinding]) -> RenderableType:
    if not findings:
        return Text("  no findings", "green")
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=9)
    grid.add_column(overflow="fold")
    for found in findings:
        finding = found.finding
        severity = finding.rule.severity
        text = Text.assemble((finding.rule.id, "bold"), f"\n{printable(finding)}")
        if found.place.logical_id is not None:
            text.append(f"\n{printable(found.place)}", "dim")
        grid.add_row(Text(f"  {severity}", _STYLES[severity]), text)
    return Padding(grid, (1, 0, 0, 0))


def _summary(report: Report) -> Text:
    errors, warnings = report.count(Severity.ERROR), report.count(Severity.WARNING)
    queues = _counted(len(report.queues), "job queue")
    loose = f", {_counted(len(report.loose_shares), 'quota share')} without a queue" if report.loose_shares else ""
    found = f"{_counted(errors, 'error')}, {_counted(warnings, 'warning')}" if errors or warnings else "no findings"
    style = _STYLES[Severity.ERROR] if errors else _STYLES[Severity.WARNING] if warnings else "green"
    return Text.assemble(f"{queues}{loose}: ", (found, style))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
