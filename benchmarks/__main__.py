"""Run the benchmarks, print them as a table, and write ``benchmarks/latest.json``."""

from __future__ import annotations

import argparse
import json
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measurement import Measurement

_HERE = Path(__file__).parent
_LATEST = _HERE / "latest.json"
_NO_TOPICS = {"__main__", "measurement"}


def topics() -> list[str]:
    """Return the names of the benchmarks there are."""
    modules = [module for module in pkgutil.iter_modules([str(_HERE)]) if not module.ispkg]
    return sorted(module.name for module in modules if module.name not in _NO_TOPICS and module.name[0] != "_")


def measured(names: Iterable[str]) -> Iterator[tuple[str, Measurement]]:
    """Yield the measurements of the benchmarks, each with its topic."""
    for name in names:
        for measurement in import_module(f"benchmarks.{name}").measure():
            yield name, measurement


def as_json(measurements: Iterable[tuple[str, Measurement]]) -> list[dict[str, object]]:
    """Return measurements as plain JSON values."""
    return [
        {
            "topic": topic,
            "name": measurement.name,
            "value": measurement.value,
            "unit": measurement.unit,
            "reference": measurement.reference,
            "against": measurement.against,
            "ratio": measurement.ratio,
            "goal": measurement.goal,
            "met": measurement.met,
        }
        for topic, measurement in measurements
    ]


def as_table(measurements: Iterable[tuple[str, Measurement]]) -> Table:
    """Return measurements as a table for people."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("benchmark", overflow="fold")
    for heading in ("value", "reference", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("against", overflow="fold")
    table.add_column("goal", overflow="fold")
    for _, found in measurements:
        mark = {True: " [green]met[/]", False: " [bold red]missed[/]", None: ""}[found.met]
        ratio = "" if found.ratio is None else f"{found.ratio:.3g}"
        figures = (found.value, found.reference)
        value, reference = ("" if figure is None else f"{figure:.4g} {found.unit}" for figure in figures)
        table.add_row(found.name, value, reference, ratio, found.against, f"{found.goal}{mark}")
    return table


def main() -> int:
    """Run the benchmarks that the arguments name; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=topics(), metavar="TOPIC", help=", ".join(topics()))
    chosen = parser.parse_args().only or topics()
    results: list[tuple[str, Measurement]] = []
    with Console(stderr=True).status("") as status:
        for topic in chosen:
            status.update(f"measuring {topic}")
            results += measured([topic])
    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, 120)
    console.print(as_table(results))
    if chosen == topics():  # a part is not the latest of all
        _LATEST.write_text(json.dumps(as_json(results), indent=2) + "\n", encoding="utf-8")
    return int(any(measurement.met is False for _, measurement in results))


if __name__ == "__main__":
    sys.exit(main())
