"""A measured figure, and how to take one so that the load of the machine hits it and its reference alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Measurement", "fastest"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One figure against its reference, in the same unit.

    ``against`` says what the reference is; ``goal`` what the figure should keep, and ``met`` whether it does. Without a
    value, ``against`` says why it could not be measured.
    """

    name: str
    value: float | None
    unit: str
    reference: float | None
    against: str
    goal: str = ""
    met: bool | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the reference the value is; ``None`` of or against nothing."""
        return self.value / self.reference if self.value is not None and self.reference else None


def fastest(*subjects: Callable[[], object], rounds: int = 5) -> tuple[float, ...]:
    """Return the fastest run of each subject in seconds; the subjects take turns.

    The fastest run is the one that the machine's other work disturbed least.
    """
    best = [float("inf")] * len(subjects)
    for _ in range(rounds):
        for index, subject in enumerate(subjects):
            gc.collect()
            start = time.perf_counter()
            subject()
            best[index] = min(best[index], time.perf_counter() - start)
    return tuple(best)
