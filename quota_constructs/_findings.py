"""Findings of the rule catalogue, turned into what CDK users meet: an exception, or a warning to acknowledge."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import Validations
from constructs import IConstruct

from quota_constructs.errors import RULE_PREFIX, RefusedDesignError
from quota_model.rules import Finding, Severity


def refuse_errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Raise :class:`RefusedDesignError` if any finding is an error; return the warnings.

    To be called before the construct is made, so that a refused one leaves nothing in the tree.
    """
    findings = tuple(findings)
    errors = [finding for finding in findings if finding.rule.severity is Severity.ERROR]
    if errors:
        raise RefusedDesignError(errors)
    return findings


def add_warnings(construct: IConstruct, warnings: Iterable[Finding]) -> None:
    """Add warnings to a construct, each under ``quota-constructs:<rule>`` for ``Validations.acknowledge``."""
    warnings = tuple(warnings)
    if not warnings:
        return
    acknowledged = _acknowledged_by_the_app(construct)
    for warning in warnings:
        id = f"{RULE_PREFIX}{warning.rule.id}"
        if id not in acknowledged:
            Validations.of(construct).add_warning(id, str(warning))


def _acknowledged_by_the_app(construct: IConstruct) -> set[str]:
    """Return the ids that the app acknowledges.

    CDK applies these to warnings that were added before; only what scopes below the app acknowledge holds for later
    ones too, and most of ours come while the app is synthesized.
    """
    entries = construct.node.root.node.metadata
    return {
        str(id).rpartition("::")[2]
        for entry in entries
        if entry.type == Validations.ACKNOWLEDGED_RULES_METADATA_KEY
        for id in entry.data
    }
