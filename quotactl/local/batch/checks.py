"""Checks that several operations share; what a design may be is asked of the catalogue of rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quota_model.rules import NAME, Finding, Severity
from quotactl.local.errors import ClientException

__all__ = ["check_name", "check_tags", "refuse_findings"]

_MOST_TAGS = 50


def refuse_findings(findings: Iterable[Finding]) -> None:
    """Raise the first error among the findings; warnings are legal."""
    for finding in findings:
        if finding.rule.severity is Severity.ERROR:
            raise ClientException(str(finding))


def check_name(field: str, name: str) -> None:
    """Refuse a name that AWS would not accept."""
    if not NAME.fullmatch(name):
        raise ClientException(
            f"{field} {name[:150]!r} is not valid; use 1 to 128 letters, digits, hyphens and underscores."
        )


def check_tags(tags: dict[str, Any], existing: dict[str, str] | None = None) -> dict[str, str]:
    """Return the tags with those that exist already, or refuse them (TagrisTagsMap: at most 50, key 1 to 128,
    value up to 256; keys that begin with ``aws:`` are AWS's own).
    """
    merged = {**(existing or {}), **tags}
    if len(merged) > _MOST_TAGS:
        raise ClientException(f"The resource would have {len(merged)} tags; it can have at most {_MOST_TAGS}.")
    for key, value in tags.items():
        if not 1 <= len(key) <= 128 or len(value) > 256:
            raise ClientException(f"Tag {key[:140]!r} is not valid; a key has 1 to 128 characters, a value up to 256.")
        if key.lower().startswith("aws:"):
            raise ClientException(f"Tag {key!r} is not valid; keys that begin with aws: are reserved.")
    return merged
