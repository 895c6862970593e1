"""What a job queue does with a job that is stuck at the head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aws_cdk import Duration

from quota_constructs._construction import expect
from quota_constructs._tokens import is_token, known_number, known_text
from quota_model import design as model

__all__ = ["JobStateTimeLimitAction", "JobStateTimeLimitReason"]


class JobStateTimeLimitReason(StrEnum):
    """Why a job of a SageMaker Training queue is stuck; upstream's enum has the first one alone.

    Source: AWS Batch User Guide, "Terminate jobs stuck in RUNNABLE" for service jobs.
    """

    INSUFFICIENT_INSTANCE_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
    """SageMaker has no machines of the type at the moment."""
    SERVICE_ENVIRONMENT_MAX_RESOURCE = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
    """The job asks for more than the service environment has, so it can never run."""
    QUOTA_MANAGEMENT_LIMIT_EXCEEDED = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
    """The job asks for more than its quota share may ever use, so it can never run."""


@dataclass(frozen=True, slots=True)
class JobStateTimeLimitAction:
    """Terminate a job that has been at the head of its quota share for ``max_time`` because of ``reason``.

    A job that can never run blocks those behind it, so a queue for several teams wants one of these for each
    reason of kind MISCONFIGURATION. Terminating lets the next job advance; the job ends as FAILED.
    """

    reason: JobStateTimeLimitReason | str
    """Why the job is stuck; a text or token where AWS knows a reason that this library does not."""
    max_time: Duration
    """How long it may be, from 10 minutes to a day."""
    action: str = "TERMINATE"
    """What to do: TERMINATE is all that AWS accepts on a SageMaker Training queue."""
    state: str = "RUNNABLE"
    """The state to watch: RUNNABLE is all that AWS accepts."""


def time_limits_design(actions: Sequence[JobStateTimeLimitAction]) -> tuple[model.JobStateTimeLimitAction, ...]:
    """Return time-limit actions as the rules see them."""
    remedy = "write JobStateTimeLimitAction(JobStateTimeLimitReason..., Duration.hours(1)), in a list"
    expect(isinstance(actions, Sequence), "job_state_time_limit_actions", actions, "a list", remedy)
    for action in actions:
        # Upstream's structure of the same name has the same fields.
        is_action = hasattr(action, "max_time")
        expect(is_action, "item of job_state_time_limit_actions", action, "a JobStateTimeLimitAction", remedy)
        expect(isinstance(action.max_time, Duration), "max_time", action.max_time, "a Duration", remedy)
    return tuple(
        model.JobStateTimeLimitAction(
            known_text(action.reason),
            known_number(_seconds(action)),
            known_text(action.action),
            known_text(action.state),
        )
        for action in actions
    )


def rendered_time_limits(actions: Sequence[JobStateTimeLimitAction]) -> list[dict[str, Any]] | None:
    """Return time-limit actions as an L1 takes them; none is rendered as nothing."""
    return [
        {"reason": action.reason, "maxTimeSeconds": _seconds(action), "action": action.action, "state": action.state}
        for action in actions
    ] or None


def _seconds(action: JobStateTimeLimitAction) -> float:
    seconds = action.max_time.to_seconds(integral=False)
    return seconds if is_token(seconds) or seconds % 1 else int(seconds)
