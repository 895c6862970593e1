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
    for warning in warnings:
        Validations.of(construct).add_warning(f"{RULE_PREFIX}{warning.rule.id}", str(warning))
