"""The clock of the local AWS: it may run faster than the wall's, stand still, and be moved on.

Everything that changes the state of Batch or SageMaker happens inside a *turn* of this clock. A turn holds one
lock, runs what is due first, and then sees one instant: nothing happens in the middle of an API call, and
what was due before it has happened before it. The scheduler therefore sees events in the order of their times.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

__all__ = ["FASTEST", "Clock", "Timer"]

FASTEST: Final = 1_000_000
"""The highest speed of a clock: more than eleven days in a second."""
_LONGEST_WAIT_SECONDS: Final = 3600.0
"""A lock cannot be waited for without end, so the thread looks up now and then."""


@dataclass(order=True, slots=True)
class Timer:
    """Something that will happen at ``due`` (epoch milliseconds) unless it is cancelled."""

    due: int
    order: int
    action: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        """Let it not happen."""
        self.cancelled = True


class Clock:
    """Epoch milliseconds that pass ``speed`` times as fast as the wall's; at speed 0 only :meth:`advance` moves it.

    :param speed: how many seconds pass here in one real second; 1 is real time.
    :param start: the first instant in epoch milliseconds; the wall's time if left out.
    :param wall: seconds of a monotonic clock; tests pass their own.
    """

    def __init__(
        self, speed: float = 1.0, *, start: int | None = None, wall: Callable[[], float] = time.monotonic
    ) -> None:
        if not 0 <= speed <= FASTEST:
            raise ValueError(f"the clock cannot run at speed {speed:g}; give 0 (it stands still) to {FASTEST}")
        self.speed = speed
        self._wall = wall
        self._origin = int(time.time() * 1000) if start is None else start
        self._started = wall()
        self._advanced = 0
        self._instant: int | None = None
        self._latest = self._origin
        self._timers: list[Timer] = []
        self._order = itertools.count()
        self._changed = threading.Condition(threading.RLock())
        self._running = False
        self._thread: threading.Thread | None = None

    def now(self) -> int:
        """Return the current instant; inside a turn, the turn's."""
        instant = self._instant  # once: another thread's turn may end between two looks
        if instant is not None:
            return instant
        elapsed = int((self._wall() - self._started) * 1000 * self.speed)
        return max(self._latest, self._origin + self._advanced + elapsed)

    @contextmanager
    def turn(self) -> Iterator[int]:
        """Run what is due, then hold the state at one instant and give that instant."""
        with self._changed:
            if self._instant is not None:  # within a timer's action or an outer turn
                yield self._instant
                return
            self._run_until(self.now())
            with self._at(self.now()) as instant:
                yield instant

    def call_at(self, due: int, action: Callable[[], None]) -> Timer:
        """Have ``action`` run in a turn of its own at ``due``, or as soon as possible after it."""
        with self._changed:
            timer = Timer(max(due, self._latest), next(self._order), action)
            heapq.heappush(self._timers, timer)
            self._changed.notify()
            return timer

    def advance(self, milliseconds: int) -> int:
        """Move the clock on at once, running everything that falls due on the way in order; return the new instant."""
        if milliseconds < 0:
            raise ValueError(f"the clock cannot go back by {-milliseconds} ms; advance it by 0 or more")
        with self._changed:
            target = self.now() + milliseconds
            self._run_until(target)
            self._advanced += milliseconds
            self._latest = max(self._latest, target)
            self._changed.notify()
            return self.now()

    def start(self) -> None:
        """Let timers run by themselves, on a thread of the clock's own."""
        self._running = True
        self._thread = threading.Thread(target=self._tick, name="quotactl-clock", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; what is due later never happens."""
        with self._changed:
            self._running = False
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _tick(self) -> None:
        with self._changed:
            while self._running:
                try:
                    self._run_until(self.now())
                except Exception:
                    # One job's failure must not stop everybody's clock.
                    logging.getLogger("quotactl").exception("something that was due has failed")
                self._changed.wait(self._seconds_to_next())

    def _seconds_to_next(self) -> float | None:
        while self._timers and self._timers[0].cancelled:
            heapq.heappop(self._timers)
        if not self._timers or self.speed == 0:
            return None
        seconds = (self._timers[0].due - self.now()) / 1000 / self.speed
        return min(max(0.0, seconds), _LONGEST_WAIT_SECONDS)

    def _run_until(self, target: int) -> None:
        while self._timers and self._timers[0].due <= target:
            timer = heapq.heappop(self._timers)
            if not timer.cancelled:
                with self._at(max(timer.due, self._latest)):
                    timer.action()

    @contextmanager
    def _at(self, instant: int) -> Iterator[int]:
        self._latest = self._instant = instant
        try:
            yield instant
        finally:
            self._instant = None
