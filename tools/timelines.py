"""Pictures of what the scheduler does with a few jobs, as SVG: who runs where and when, who waits, who is stopped.

Each scenario is a real run of :class:`quota_model.scheduler.Scheduler`; nothing is drawn that it did not decide.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import count
from typing import Final

from quota_model.design import CapacityLimits, QuotaQueue, QuotaShare, ResourceSharing, ServiceEnvironment
from quota_model.scheduler import (
    Decision,
    Dispatch,
    Event,
    JobEnded,
    JobSubmitted,
    Placement,
    Preempt,
    PreemptionKind,
    PriorityChanged,
    Requeue,
    Scheduler,
    StopCompleted,
)

__all__ = ["SCENARIOS", "Run", "Scenario", "run", "timeline"]

MINUTE: Final = 60_000
STOP: Final = 2 * MINUTE
"""How long a job may take to stop: SageMaker gives it 120 seconds."""
UNIT: Final = "ml.g5.xlarge"


@dataclass(frozen=True, slots=True)
class Job:
    """A job of one instance; times in minutes."""

    name: str
    share: str
    submitted: int
    minutes: int
    priority: int = 1


@dataclass(frozen=True, slots=True)
class Scenario:
    """Shares of one instance each, their jobs, and priorities that change on the way."""

    title: str
    sharing: dict[str, ResourceSharing]
    jobs: tuple[Job, ...]
    in_share_preemption: tuple[str, ...] = ()
    priorities: tuple[tuple[int, str, int], ...] = ()
    """Minute, job and its new priority."""

    @property
    def queue(self) -> QuotaQueue:
        """The design."""
        one = CapacityLimits.of({UNIT: 1})
        shares = tuple(
            QuotaShare(name, one, sharing, name in self.in_share_preemption) for name, sharing in self.sharing.items()
        )
        return QuotaQueue(ServiceEnvironment(CapacityLimits.of({UNIT: len(shares)})), shares)


_BORROWS: Final = ResourceSharing.lend_and_borrow(borrow_limit=200)
_THREE: Final = {
    "background": _BORROWS,
    "standard": ResourceSharing.lend(),
    "reserved": ResourceSharing.reserve(),
}
SCENARIOS: Final = {
    "lending": Scenario(
        "Idle capacity is lent, reserved capacity is not",
        _THREE,
        (
            Job("one", "background", 1, 16),
            Job("two", "background", 1, 9),
            Job("three", "background", 1, 10),
            Job("release", "reserved", 6, 8),
            Job("daily", "standard", 22, 8),
        ),
    ),
    "reclaiming": Scenario(
        "What is lent is taken back by preemption",
        _THREE,
        (
            Job("one", "background", 1, 24, priority=3),
            Job("two", "background", 1, 15, priority=2),
            Job("daily", "standard", 8, 8, priority=1),
        ),
    ),
    "in-share-preemption": Scenario(
        "Within a share, a higher priority takes the place of a lower one",
        {"background": _BORROWS, "standard": ResourceSharing.lend()},
        (
            Job("sweep", "background", 1, 18, priority=1),
            Job("daily", "standard", 1, 26),
            Job("fix", "background", 7, 10, priority=1),
        ),
        in_share_preemption=("background",),
        priorities=((11, "fix", 5),),
    ),
}


@dataclass(slots=True)
class Bar:
    """Something that takes time: a job runs, waits or is being stopped. Times in milliseconds."""

    job: Job
    kind: str
    start: int
    end: int | None = None
    borrowed: bool = False


@dataclass(slots=True)
class Run:
    """What came of a scenario."""

    bars: list[Bar] = field(default_factory=list)
    said: list[tuple[int, str]] = field(default_factory=list)
    """What happened, in words: time in milliseconds, and a sentence."""

    def open(self, name: str, kind: str) -> Bar:
        """Return the bar of a job that has no end yet."""
        return next(bar for bar in self.bars if bar.job.name == name and bar.kind == kind and bar.end is None)

    @property
    def end(self) -> int:
        """When the last job ended."""
        return max(bar.end or 0 for bar in self.bars)


def run(scenario: Scenario) -> Run:
    """Give a scenario's jobs to the scheduler, and end, stop and start again what it says."""
    return _Simulation(scenario).run()


class _Simulation:
    def __init__(self, scenario: Scenario) -> None:
        self._scheduler = Scheduler(scenario.queue)
        self._jobs = {job.name: job for job in scenario.jobs}
        self._order = count()
        self._events: list[tuple[int, int, Event]] = []
        self._ends: dict[str, Event] = {}
        self._result = Run()
        for job in scenario.jobs:
            at = job.submitted * MINUTE
            self._add(JobSubmitted(at, job.name, job.share, {UNIT: 1}, job.priority))
        for minute, name, priority in scenario.priorities:
            self._add(PriorityChanged(minute * MINUTE, name, priority))

    def run(self) -> Run:
        while self._events:
            now = self._events[0][0]
            events = [heapq.heappop(self._events)[2] for _ in range(sum(each[0] == now for each in self._events))]
            due = [
                event for event in events if not isinstance(event, JobEnded) or self._ends.get(event.job_id) is event
            ]
            for event in due:
                self._note(event)
            for decision in self._scheduler.advance(now, due):
                self._carry_out(decision)
        return self._result

    def _add(self, event: Event) -> None:
        heapq.heappush(self._events, (event.time, next(self._order), event))

    def _note(self, event: Event) -> None:
        result = self._result
        match event:
            case JobSubmitted(now, name, share):
                result.bars.append(Bar(self._jobs[name], "waits", now))
                result.said.append((now, f"{name} is submitted to {share}"))
            case JobEnded(now, name):
                result.open(name, "runs").end = now
                result.said.append((now, f"{name} ends"))
            case StopCompleted(now, name):
                result.open(name, "stops").end = now
            case PriorityChanged(now, name, priority):
                self._jobs[name] = job = replace(self._jobs[name], priority=priority)
                result.open(name, "waits").job = job
                result.said.append((now, f"the priority of {name} becomes {priority}"))

    def _carry_out(self, decision: Decision) -> None:
        result = self._result
        match decision:
            case Dispatch(now, name, share, placement, lines):
                borrowed = lines[0].share_used > lines[0].share_limit
                result.open(name, "waits").end = now
                result.bars.append(Bar(self._jobs[name], "runs", now, borrowed=borrowed))
                self._ends[name] = ended = JobEnded(now + self._jobs[name].minutes * MINUTE, name)
                self._add(ended)
                result.said.append((now, f"{name} starts {_how(placement, share, borrowed=borrowed)}"))
            case Preempt(now, name, _, kind, preemptor):
                del self._ends[name]
                result.open(name, "runs").end = now
                result.bars.append(Bar(self._jobs[name], "stops", now))
                self._add(StopCompleted(now + STOP, name))
                why = "which borrows" if kind is PreemptionKind.CROSS_SHARE else "which has a lower priority"
                result.said.append((now, f"{name}, {why}, is stopped for {preemptor}"))
            case Requeue(now, name):
                result.bars.append(Bar(self._jobs[name], "waits", now))
                result.said.append((now, f"{name} waits again"))


def _how(placement: Placement, share: str, *, borrowed: bool) -> str:
    if placement is Placement.IN_SHARE:
        return "in its place"
    return "on borrowed capacity" if borrowed else f"on what {share} owns"


# Drawing

LEFT: Final = 132
PER_MINUTE: Final = 18
TOP: Final = 52
ROW: Final = 30
BAR: Final = 22
SHARE_GAP: Final = 12
COLOURS: Final = ("#2563eb", "#047857", "#475569")
STYLE: Final = """\
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #0f172a; font-size: 13px }
.title { font-size: 16px; font-weight: 600 }
.share { font-weight: 600 }
.quiet { fill: #475569; font-size: 12px }
.on { fill: #fff }
"""


def timeline(scenario: Scenario) -> str:
    """Return the picture of a scenario: a row for each share's instance, and below it those that wait for it."""
    result = run(scenario)
    rows = _Rows(scenario, result.bars)
    width = LEFT + (result.end // MINUTE + 2) * PER_MINUTE
    height = rows.bottom + 58
    colour_of = dict(zip(scenario.sharing, COLOURS, strict=False))
    story = "; ".join(f"minute {at // MINUTE}: {sentence}" for at, sentence in result.said)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' role="img">',
        f"<title>{escape(scenario.title)}</title>",
        f"<desc>{escape(story)}</desc>",
        f"<style>{STYLE}</style>",
        '<defs><pattern id="stops" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect width="7" height="7" fill="#fee2e2"/><rect width="3" height="7" fill="#dc2626"/></pattern></defs>',
        f'<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="14" fill="#f8fafc" stroke="#cbd5e1"/>',
        _text(20, 30, scenario.title, "title"),
    ]
    parts += _axis(result.end, rows.bottom)
    for share in scenario.sharing:
        y = rows.of_share[share]
        parts.append(f'<rect x="20" y="{y}" width="4" height="{BAR}" rx="2" fill="{colour_of[share]}"/>')
        parts.append(_text(32, y + 15, share, "share"))
        parts.append(f'<rect x="{LEFT}" y="{y}" width="{width - LEFT - 20}" height="{BAR}" rx="4" fill="#e2e8f0"/>')
    parts += [part for bar, y in rows.placed for part in _bar(bar, y, colour_of[bar.job.share])]
    parts += _legend(height - 22)
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Rows:
    """Which row each bar is drawn in."""

    def __init__(self, scenario: Scenario, bars: Sequence[Bar]) -> None:
        self.of_share: dict[str, int] = {}
        self.placed: list[tuple[Bar, int]] = []
        instance_of = self._instances(scenario, bars)
        y = TOP
        for share in scenario.sharing:
            self.of_share[share] = y
            self.placed += [(bar, y) for bar in bars if bar.kind != "waits" and instance_of[id(bar)] == share]
            waiting: list[list[Bar]] = []
            for bar in bars:
                if bar.kind == "waits" and bar.job.share == share and bar.end != bar.start:
                    row = next((row for row in waiting if (row[-1].end or 0) <= bar.start), None)
                    if row is None:
                        waiting.append([bar])
                    else:
                        row.append(bar)
            for number, row in enumerate(waiting, start=1):
                self.placed += [(bar, y + number * ROW) for bar in row]
            y += (1 + len(waiting)) * ROW + SHARE_GAP
        self.bottom = y

    @staticmethod
    def _instances(scenario: Scenario, bars: Sequence[Bar]) -> dict[int, str]:
        """Return whose instance each running or stopping job is on: its share's if that is free, else a lender's."""
        instance_of: dict[int, str] = {}
        busy_until: dict[str, int] = dict.fromkeys(scenario.sharing, 0)
        for bar in bars:
            if bar.kind == "stops":
                running = next(each for each in bars if each.job.name == bar.job.name and each.end == bar.start)
                instance_of[id(bar)] = instance_of[id(running)]
                busy_until[instance_of[id(bar)]] = bar.end or 0
            elif bar.kind == "runs":
                lenders = [share for share, sharing in scenario.sharing.items() if sharing.lends]
                free = [share for share in (bar.job.share, *lenders) if busy_until[share] <= bar.start]
                instance_of[id(bar)] = free[0]
                busy_until[free[0]] = bar.end or 0
        return instance_of


def _bar(bar: Bar, y: int, colour: str) -> Iterator[str]:
    x = LEFT + bar.start * PER_MINUTE / MINUTE
    width = ((bar.end or bar.start) - bar.start) * PER_MINUTE / MINUTE
    look = {
        "runs": f'fill="{colour}"' + (' stroke="#f59e0b" stroke-width="3"' if bar.borrowed else ""),
        "stops": 'fill="url(#stops)"',
        "waits": f'fill="none" stroke="{colour}" stroke-dasharray="4 3"',
    }[bar.kind]
    inset = 1.5 if bar.borrowed else 0.5
    yield (
        f'<rect x="{x + inset:g}" y="{y + inset:g}" width="{width - 2 * inset:g}" height="{BAR - 2 * inset:g}" '
        f'rx="4" {look}/>'
    )
    label = bar.job.name if bar.job.priority == 1 else f"{bar.job.name} ({bar.job.priority})"
    if bar.kind != "stops" and width > 7 * len(label) + 8:
        yield _text(x + 8, y + 15, label, "on" if bar.kind == "runs" else "quiet")


def _axis(end: int, bottom: int) -> Iterator[str]:
    for minute in range(0, end // MINUTE + 1, 5):
        x = LEFT + minute * PER_MINUTE
        yield f'<line x1="{x}" y1="{TOP - 8}" x2="{x}" y2="{bottom - 4}" stroke="#cbd5e1"/>'
        yield _text(x, bottom + 10, f"{minute} min" if minute == 0 else str(minute), "quiet", anchor="middle")


def _legend(y: int) -> Iterator[str]:
    x = 20
    for look, label in (
        ('fill="#64748b"', "runs on what its share owns"),
        ('fill="#64748b" stroke="#f59e0b" stroke-width="3"', "runs on borrowed capacity"),
        ('fill="url(#stops)"', "is being stopped"),
        ('fill="none" stroke="#64748b" stroke-dasharray="4 3"', "waits"),
    ):
        yield f'<rect x="{x}" y="{y - 11}" width="22" height="13" rx="3" {look}/>'
        yield _text(x + 29, y, label, "quiet")
        x += 50 + int(6.6 * len(label))


def _text(x: float, y: float, text: str, kind: str = "", *, anchor: str = "start") -> str:
    look = (f' class="{kind}"' if kind else "") + ("" if anchor == "start" else f' text-anchor="{anchor}"')
    return f'<text x="{x:g}" y="{y:g}"{look}>{escape(text)}</text>'
