"""The time limits of jobs that are stuck at the head: ``jobStateTimeLimitActions`` of a queue."""

from __future__ import annotations

from collections.abc import Callable

from quota_model.design import JobStateTimeLimitAction, Unknown
from quotactl.local.clock import Clock, Timer

__all__ = ["TimeLimits"]


class TimeLimits:
    """Watches blocked heads, and tells when one has been blocked for as long as a rule with its reason allows."""

    def __init__(self, clock: Clock, expired: Callable[[str, str], None]) -> None:
        self._clock = clock
        self._expired = expired
        self._limits: dict[str, int] = {}
        self._blocked: dict[str, tuple[str, int]] = {}
        self._timers: dict[str, Timer] = {}

    def configure(self, actions: tuple[JobStateTimeLimitAction, ...]) -> None:
        """Use these rules from now on, also for jobs that are blocked already."""
        limits = {
            str(action.reason): round(action.max_time_seconds * 1000)
            for action in actions
            if not isinstance(action.max_time_seconds, Unknown)
        }
        if limits != self._limits:
            self._limits = limits
            for job_id in self._blocked:
                self._set_timer(job_id)

    def watch(self, job_id: str, status_reason: str) -> None:
        """Start the time of a job that has become blocked at the head."""
        self._blocked[job_id] = (status_reason, self._clock.now())
        self._set_timer(job_id)

    def forget(self, job_id: str) -> None:
        """Stop watching a job, if it was watched."""
        self._blocked.pop(job_id, None)
        if job_id in self._timers:
            self._timers.pop(job_id).cancel()

    def reached(self, status_reason: str, milliseconds: int) -> str | None:
        """Return the reason of the rule that ends a job after this time in this state, if there is one."""
        reason = _reason_code(status_reason)
        return reason if milliseconds >= self._limits.get(reason, milliseconds + 1) else None

    def _set_timer(self, job_id: str) -> None:
        if job_id in self._timers:
            self._timers.pop(job_id).cancel()
        status_reason, since = self._blocked[job_id]
        reason = _reason_code(status_reason)
        if reason in self._limits:
            due = since + self._limits[reason]
            self._timers[job_id] = self._clock.call_at(due, lambda: self._expired(job_id, reason))


def _reason_code(status_reason: str) -> str:
    """Return the part of a status reason that rules name: what stands before " - "."""
    return status_reason.partition(" - ")[0]
