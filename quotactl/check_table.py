"""``quotactl check`` for people: a table of each queue's shares, then what is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quota_model.design import UNLIMITED, CapacityLimits, QuotaQueue, QuotaShare, State, Unknown
from quota_model.rules import Severity
from quotactl.check import CheckedQueue, CheckedShare, LocatedFinding, Report
from quotactl.output import printable

__all__ = ["print_report"]

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow"}


def print_report(report: Report, console: Console) -> None:
    """Print a report; a terminal gets colours, anything else plain text.

    :param console: one that reads no markup, such as :func:`quotactl.output.console`.
    """
    for queue in report.queues:
        console.print(_queue(queue))
    for loose in report.loose_shares:
        console.print(_loose_share(loose))
    for remark in report.remarks:
        place, text = printable(remark.place), printable(remark.text)
        console.print(Text.assemble(("note", "bold"), "  ", (place, "cyan"), f": {text}"))
    if report.remarks:
        console.print()
    console.print(_summary(report))


def _queue(checked: CheckedQueue) -> RenderableType:
    queue, place = checked.located.queue, checked.located.place
    title = Text.assemble(("job queue ", "bold"), (_name(queue.name) or printable(place), "bold cyan"))
    if _name(queue.name):
        title.append(f"  {printable(place)}", "dim")
    return Group(title, Padding(_shares_table(queue), (0, 0, 0, 2)), _findings(checked.findings), "")


def _loose_share(checked: CheckedShare) -> RenderableType:
    share, place = checked.located.share, checked.located.place
    title = Text.assemble(("quota share ", "bold"), (_shown(share.name), "bold cyan"), (f"  {printable(place)}", "dim"))
    table = _table(share.capacity_limits.units, with_state=share.state is not State.ENABLED)
    table.add_row(*_share_cells(share, share.capacity_limits.units))
    return Group(title, Padding(table, (0, 0, 0, 2)), _findings(checked.findings), "")


def _shares_table(queue: QuotaQueue) -> Table:
    units = _units(queue)
    environment = queue.service_environment
    states = {environment.state, *(share.state for share in queue.quota_shares)}
    table = _table(units, with_state=states != {State.ENABLED})
    for share in queue.quota_shares:
        table.add_row(*_share_cells(share, units))
    capacities = [_limit(environment.capacity_limits, unit) for unit in units]
    table.add_row("environment", *capacities, "", "", "", _state(environment.state), style="dim")
    return table


def _units(queue: QuotaQueue) -> Sequence[str]:
    """Return the instance types of the environment, then those that only shares have."""
    limits = [queue.service_environment.capacity_limits, *(share.capacity_limits for share in queue.quota_shares)]
    return list(dict.fromkeys(unit for some in limits for unit in some.units))


def _table(units: Sequence[str], *, with_state: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("quota\nshare", overflow="fold")
    for unit in units:
        family, dot, size = unit.rpartition(".")
        table.add_column(printable(f"{family}{dot}\n{size}"), justify="right", no_wrap=True)
    table.add_column("idle\ncapacity", no_wrap=True)
    table.add_column("borrow\nlimit", justify="right", no_wrap=True)
    table.add_column("in-share\npreemption", no_wrap=True)
    table.add_column("\nstate" if with_state else "", no_wrap=True)
    return table


def _share_cells(share: QuotaShare, units: Sequence[str]) -> Iterator[str]:
    yield _shown(share.name)
    for unit in units:
        yield _limit(share.capacity_limits, unit)
    sharing = share.resource_sharing
    yield _shown(sharing.strategy)
    if sharing.borrows and sharing.borrow_limit in (None, UNLIMITED):
        yield "unlimited"
    elif sharing.borrow_limit is None:
        yield ""
    else:
        yield "?" if isinstance(sharing.borrow_limit, Unknown) else f"{sharing.borrow_limit} %"
    preemption = share.in_share_preemption
    yield "?" if isinstance(preemption, Unknown) else "on" if preemption else "off"
    yield _state(share.state)


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
