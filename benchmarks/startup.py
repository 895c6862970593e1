"""How long the command line takes to start, against a Python that does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measurement import Measurement, fastest

_DESIGN = """\
serviceEnvironment: {capacityLimits: {ml.g5.xlarge: 1}}
quotaShares:
- {quotaShareName: all, capacityLimits: {ml.g5.xlarge: 1}, resourceSharingConfiguration: {strategy: RESERVE}}
"""
_ROOM = 150
"""Milliseconds that ``quotactl --help`` may take on top of Python itself."""


def measure() -> Iterator[Measurement]:
    """Measure ``quotactl --help``, ``quotactl check`` and, to compare, importing the CDK."""
    with TemporaryDirectory() as directory:
        design = Path(directory, "design.yaml")
        design.write_text(_DESIGN, encoding="utf-8")
        bare, start, check, cdk = fastest(
            _run("-c", "pass"),
            _run("-m", "quotactl", "--help"),
            _run("-m", "quotactl", "check", str(design)),
            _run("-c", "import aws_cdk"),
            rounds=10,
        )
    goal = f"at most {_ROOM} ms more"
    met = start - bare <= _ROOM / 1000
    yield Measurement("quotactl --help", start * 1000, "ms", bare * 1000, "bare Python", goal, met)
    yield Measurement("quotactl check", check * 1000, "ms", bare * 1000, "bare Python")
    yield Measurement("quotactl check, next to the CDK", check * 1000, "ms", cdk * 1000, "import aws_cdk")


def _run(*arguments: str) -> Callable[[], object]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *arguments]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
