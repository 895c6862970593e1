"""What a rule and a finding are, and how the rules about one kind of subject are kept together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Finding", "Rule", "RuleBook", "Said", "Severity"]


class Severity(StrEnum):
    """How grave a finding is."""

    ERROR = "error"
    """AWS would refuse the design, or a part of it can never work."""
    WARNING = "warning"
    """Legal, and probably not meant."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of the catalogue; ``source`` says where AWS states the fact, or that it does not."""

    id: str
    severity: Severity
    summary: str
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that a design breaks: where, what is wrong with which value, and what to change."""

    rule: Rule
    place: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}; {self.remedy}"


class Said(NamedTuple):
    """What a check says about its subject: what is wrong with which value, and what to change."""

    message: str
    remedy: str


_Subject = TypeVar("_Subject")
_Check = Callable[[_Subject], Iterator[Said]]


class RuleBook(Generic[_Subject]):
    """The rules about one kind of subject, in the order in which they are written down.

    :param place: names the subject in a finding, for example ``quota share 'vision'``.
    """

    def __init__(self, place: Callable[[_Subject], str]) -> None:
        self._place = place
        self._checks: list[tuple[Rule, _Check[_Subject]]] = []

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of this book."""
        return tuple(rule for rule, _ in self._checks)

    def error(self, id: str, summary: str, source: str) -> Callable[[_Check[_Subject]], _Check[_Subject]]:
        """Add a check whose findings are errors."""
        return self._add(Rule(id, Severity.ERROR, summary, source))

    def warning(self, id: str, summary: str, source: str) -> Callable[[_Check[_Subject]], _Check[_Subject]]:
        """Add a check whose findings are warnings."""
        return self._add(Rule(id, Severity.WARNING, summary, source))

    def _add(self, rule: Rule) -> Callable[[_Check[_Subject]], _Check[_Subject]]:
        def register(check: _Check[_Subject]) -> _Check[_Subject]:
            self._checks.append((rule, check))
            return check

        return register

    def findings(self, subject: _Subject) -> Iterator[Finding]:
        """Yield what the rules find in a subject."""
        place = self._place(subject)
        for rule, check in self._checks:
            for message, remedy in check(subject):
                yield Finding(rule, place, message, remedy)
