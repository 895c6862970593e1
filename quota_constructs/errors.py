"""What this library raises; everything is a :class:`ValueError`, raised before anything is added to the tree.

::

    QuotaConstructsError
    ├── RefusedDesignError   a rule of the catalogue finds an error in the design
    └── MalformedArnError    an ARN to import is not one of the resource it is given for
"""

from __future__ import annotations

from collections.abc import Sequence

from quota_model.rules import Finding

__all__ = ["RULE_PREFIX", "MalformedArnError", "QuotaConstructsError", "RefusedDesignError"]

RULE_PREFIX = "quota-constructs:"
"""Stands before a rule's id wherever CDK shows it, so that ``quota-constructs:nobody-lends`` is what to acknowledge."""


class QuotaConstructsError(ValueError):
    """The base of all errors of this library."""


class RefusedDesignError(QuotaConstructsError):
    """A design that AWS would refuse, or that can never work.

    The message has a line for each finding: the rule's id, the place, what is wrong, and what to change.
    """

    findings: tuple[Finding, ...]
    """What the rules found, errors only."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("\n".join(describe(finding) for finding in findings))
        self.findings = tuple(findings)

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """The ids of the rules that are broken, as the catalogue has them (without prefix), each once."""
        return tuple(dict.fromkeys(finding.rule.id for finding in self.findings))


class MalformedArnError(QuotaConstructsError):
    """An ARN that is not one of the resource it is given for."""


def describe(finding: Finding) -> str:
    """Return a finding with its rule's id in front."""
    return f"{RULE_PREFIX}{finding.rule.id}: {finding}"
