"""``quotactl check``: what the rule catalogue finds in each design of an input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quota_model import rules
from quota_model.rules import Finding, Severity
from quotactl.designs import Designs, LocatedQueue, LocatedShare, Place, Remark, read_designs

__all__ = ["CheckedQueue", "CheckedShare", "LocatedFinding", "Report", "check"]


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding and where the part of the design that it is about is declared."""

    finding: Finding
    place: Place


@dataclass(frozen=True, slots=True)
class CheckedQueue:
    """A whole design and what is found in it."""

    located: LocatedQueue
    findings: tuple[LocatedFinding, ...]


@dataclass(frozen=True, slots=True)
class CheckedShare:
    """A share without its queue, and what is found in it."""

    located: LocatedShare
    findings: tuple[LocatedFinding, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All designs of an input with their findings."""

    source: Path
    queues: tuple[CheckedQueue, ...]
    loose_shares: tuple[CheckedShare, ...]
    remarks: tuple[Remark, ...]

    def count(self, severity: Severity) -> int:
        """Return how many findings have a severity."""
        findings = [queue.findings for queue in self.queues] + [loose.findings for loose in self.loose_shares]
        return sum(found.finding.rule.severity is severity for some in findings for found in some)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values; its form is stable, and null stands for what is not known."""
        return {
            "source": str(self.source),
            "errors": self.count(Severity.ERROR),
            "warnings": self.count(Severity.WARNING),
            "queues": [_queue_json(queue) for queue in self.queues],
            "looseShares": [
                {
                    "place": _place_json(loose.located.place),
                    "design": loose.located.share.to_json(),
                    "findings": [_finding_json(found) for found in loose.findings],
                }
                for loose in self.loose_shares
            ],
            "remarks": [{"place": _place_json(remark.place), "text": remark.text} for remark in self.remarks],
        }


def check(source: Path) -> Report:
    """Judge every design in a template, a cloud assembly or a design file.

    Raises :class:`~quotactl.designs.UnusableInputError`.
    """
    return _judge(source, read_designs(source))


def _judge(source: Path, designs: Designs) -> Report:
    queues = tuple(CheckedQueue(located, tuple(_queue_findings(located))) for located in designs.queues)
    loose = tuple(CheckedShare(located, tuple(_share_findings(located))) for located in designs.loose_shares)
    return Report(source, queues, loose, designs.remarks)


def _queue_findings(located: LocatedQueue) -> Iterator[LocatedFinding]:
    """Ask what :func:`quota_model.rules.check` asks, and what a design of one queue and environment cannot show.

    It is asked part by part, so that it is known where each finding belongs.
    """
    queue = located.queue
    environment = queue.service_environment
    for finding in rules.check_scheduling_policy(queue.scheduling_policy):
        yield LocatedFinding(finding, located.policy_place or located.place)
    for finding in (
        *rules.check_service_environment(environment),
        *rules.check_service_environment_use(environment, located.queues_of_environment),
    ):
        yield LocatedFinding(finding, located.environment_place or located.place)
    for finding in (
        *rules.check_job_queue(queue),
        *rules.check_job_queue_environments(queue.name, located.environments),
    ):
        yield LocatedFinding(finding, located.place)
    for share in located.shares:
        yield from _share_findings(share)
    share_places = {f"quota share {located.share.name!r}": located.place for located in located.shares}
    for finding in rules.check_whole_queue(queue):
        yield LocatedFinding(finding, share_places.get(finding.place, located.place))


def _share_findings(located: LocatedShare) -> Iterator[LocatedFinding]:
    for finding in rules.check_quota_share(located.share):
        yield LocatedFinding(finding, located.place)


def _queue_json(checked: CheckedQueue) -> dict[str, Any]:
    located = checked.located
    return {
        "place": _place_json(located.place),
        "sharePlaces": [_place_json(place) for place in located.share_places],
        "design": located.queue.to_json(),
        "findings": [_finding_json(found) for found in checked.findings],
    }


def _finding_json(found: LocatedFinding) -> dict[str, Any]:
    finding = found.finding
    return {
        "rule": finding.rule.id,
        "severity": finding.rule.severity.value,
        "place": finding.place,
        "message": finding.message,
        "remedy": finding.remedy,
        "declaredAt": _place_json(found.place),
    }


def _place_json(place: Place) -> dict[str, str | None]:
    return {
        "file": place.file,
        "stack": place.stack,
        "logicalId": place.logical_id,
        "constructPath": place.construct_path,
    }
