"""Whether a failed attempt is followed by another: ``retryStrategy`` (AWS Batch User Guide, "Service job retry
strategies").
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

__all__ = ["is_retried"]


def is_retried(strategy: dict[str, Any] | None, attempts: int, status_reason: str) -> bool:
    """Return whether a job that has failed in its latest attempt is tried again.

    :param attempts: how many attempts have ended, this one included; without a strategy a job has one.
    :param status_reason: what the first matching rule of ``evaluateOnExit`` is looked up by; without a match the
        job is retried.
    """
    if strategy is None or attempts >= strategy["attempts"]:
        return False
    for rule in strategy.get("evaluateOnExit", []):
        if _pattern(rule.get("onStatusReason", "*")).fullmatch(status_reason):
            return str(rule.get("action", "RETRY")).upper() == "RETRY"
    return True


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in glob.split("*")), re.DOTALL)
