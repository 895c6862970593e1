"""How fast the scheduler replays the Philly trace on twelve shares: from the sources, and compiled.

The simulators without quotas take turns with it in the same process, so that other load hits all alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import _philly
from benchmarks._references import heap_fifo, simpy_fifo
from benchmarks._replay import replay
from benchmarks.measurement import Measurement, fastest
from quota_model.scheduler import passes
from tools import compiled

_ROOT = Path(__file__).parents[1]
_COMPILED = "compiled with mypyc"


def measure() -> Iterator[Measurement]:
    """Measure the scheduler as it is imported here, and compiled, each against both simulators in its own process."""
    yield from _jobs_per_second(os.environ)
    if (reason := compiled.why_not()) is not None:
        yield Measurement(_name(_COMPILED), None, "jobs/s", None, f"not measured: {reason}")
        return
    with TemporaryDirectory() as directory:
        yield from _jobs_per_second(compiled.environment(compiled.build(Path(directory))), must_be=_COMPILED)


def _jobs_per_second(environment: Mapping[str, str], must_be: str | None = None) -> Iterator[Measurement]:
    command = [sys.executable, "-m", __name__]
    found = json.loads(subprocess.run(command, cwd=_ROOT, env=environment, check=True, capture_output=True).stdout)
    if must_be is not None and found["build"] != must_be:
        raise RuntimeError(f"what was measured is {found['build']}, not {must_be}")
    rate, heap, simpy = found["rates"]
    name = _name(found["build"])
    yield Measurement(name, rate, "jobs/s", heap, "bare heapq FIFO loop, no quotas", "at least 1/3", rate >= heap / 3)
    yield Measurement(name, rate, "jobs/s", simpy, "simpy FIFO, no quotas", "at least 2.5", rate >= 2.5 * simpy)


def _name(build: str) -> str:
    return f"scheduler, Philly trace, {build}"


def main() -> None:
    """Print which build Python imports here, and how many jobs per second it and the simulators run."""
    jobs, queue = _philly.jobs(), _philly.queue()
    capacity = sum(queue.service_environment.capacity_limits.as_instances().values())
    times = fastest(
        lambda: replay(jobs, queue),
        lambda: heap_fifo(jobs, capacity),
        lambda: simpy_fifo(jobs, capacity),
        rounds=3,
    )
    is_compiled = passes.__file__.endswith(EXTENSION_SUFFIXES[0])
    build = _COMPILED if is_compiled else "pure Python"
    sys.stdout.write(json.dumps({"build": build, "rates": [len(jobs) / seconds for seconds in times]}))


if __name__ == "__main__":
    main()
