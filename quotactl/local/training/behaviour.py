"""What a training job does on the local AWS: how long its phases take, and whether it fails or finds no instances.

No model is trained. A job takes the time that its :class:`JobBehaviour` says and then ends. A behaviour is set
for job names by :class:`Behaviours` (the testing fixture and the control API do that), or travels with one job
as the JSON value of its training environment variable ``QUOTACTL_LOCAL``, which a real training job ignores::

    {"trainingSeconds": 90, "failures": 1, "failureReason": "AlgorithmError: out of memory", "capacityShortages": 2}
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Final, Self

__all__ = ["ENVIRONMENT_VARIABLE", "AttemptBehaviour", "BehaviourError", "Behaviours", "JobBehaviour"]

ENVIRONMENT_VARIABLE: Final = "QUOTACTL_LOCAL"
"""The environment variable in a training job's request that sets its behaviour."""


class BehaviourError(ValueError):
    """A behaviour that cannot be read."""


@dataclass(frozen=True, slots=True)
class AttemptBehaviour:
    """What one training job does; times in milliseconds of the local clock."""

    pending: int
    downloading: int
    training: int
    uploading: int
    stopping: int
    failure: str | None = None
    capacity_shortage: bool = False


@dataclass(frozen=True, slots=True)
class JobBehaviour:
    """What the attempts of one job do; times in seconds of the local clock.

    A job first finds no instances ``capacity_shortages`` times, then fails ``failures`` times, then succeeds.
    """

    pending_seconds: float = 30
    downloading_seconds: float = 30
    training_seconds: float = 300
    uploading_seconds: float = 10
    stopping_seconds: float = 120
    """From StopTrainingJob to Stopped; SageMaker allows a job up to 120 seconds."""
    failures: int = 0
    failure_reason: str = "AlgorithmError: the local AWS was told to fail this attempt"
    capacity_shortages: int = 0

    @classmethod
    def from_json(cls, value: object, base: JobBehaviour | None = None) -> Self | JobBehaviour:
        """Read the camelCase form; what is left out stays as ``base`` has it."""
        base = base or cls()
        if not isinstance(value, dict):
            raise BehaviourError("a job's behaviour is a JSON object such as {'trainingSeconds': 60}")
        names = {_camel(field.name): field.name for field in fields(cls)}
        changes: dict[str, Any] = {}
        for key, given in value.items():
            if key not in names:
                raise BehaviourError(f"a job's behaviour has no {key!r}; it has {', '.join(names)}")
            changes[names[key]] = _value_like(getattr(base, names[key]), key, given)
        return replace(base, **changes)

    def to_json(self) -> dict[str, Any]:
        """Return the camelCase form."""
        return {_camel(field.name): getattr(self, field.name) for field in fields(self)}

    def attempt(self, shortages: int = 0, failures: int = 0) -> AttemptBehaviour:
        """Return what the next attempt does, after so many capacity shortages and failures."""
        short = shortages < self.capacity_shortages
        fails = not short and failures < self.failures
        seconds = (
            self.pending_seconds,
            self.downloading_seconds,
            self.training_seconds,
            self.uploading_seconds,
            self.stopping_seconds,
        )
        pending, downloading, training, uploading, stopping = (round(value * 1000) for value in seconds)
        return AttemptBehaviour(
            pending, downloading, training, uploading, stopping, self.failure_reason if fails else None, short
        )


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _value_like(sample: object, key: str, value: object) -> object:
    if isinstance(sample, str):
        if isinstance(value, str):
            return value
        raise BehaviourError(f"{key} is {value!r}; give a text")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise BehaviourError(f"{key} is {value!r}; give a number of at least 0 and below 1000000000")
    if isinstance(sample, int) and key in ("failures", "capacityShortages") and value != int(value):
        raise BehaviourError(f"{key} is {value!r}; give a whole number")
    return value


class Behaviours:
    """Which behaviour a job has, by its name."""

    def __init__(self, default: JobBehaviour | None = None) -> None:
        self.default = default or JobBehaviour()
        self._by_pattern: list[tuple[str, JobBehaviour]] = []

    def set(self, name_pattern: str, value: object) -> JobBehaviour:
        """Give jobs whose name matches (``*`` and ``?`` as in a shell) a behaviour from now on; the latest wins."""
        behaviour = JobBehaviour.from_json(value, self.default)
        self._by_pattern.insert(0, (name_pattern, behaviour))
        return behaviour

    def of_job(self, name: str, request: dict[str, Any]) -> JobBehaviour:
        """Return the behaviour of a job by its name, and by the environment variable in its training request."""
        found = next((given for pattern, given in self._by_pattern if fnmatchcase(name, pattern)), self.default)
        environment = request.get("Environment")
        text = environment.get(ENVIRONMENT_VARIABLE) if isinstance(environment, dict) else None
        if not isinstance(text, str):
            return found
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BehaviourError(f"the environment variable {ENVIRONMENT_VARIABLE} is not JSON") from error
        return JobBehaviour.from_json(value, found)
