"""What quota shares cost as constructs, against the same written with CDK's L1 classes by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from tempfile import TemporaryDirectory

from aws_cdk import Resource, Stack
from constructs import Construct

from benchmarks import _l1, _l2
from benchmarks.measurement import Measurement, fastest

_GOAL = 1.3


def measure() -> Iterator[Measurement]:
    """Measure building and synthesizing hundreds of shares: as a whole program, and one share more in it."""
    with TemporaryDirectory() as directory:
        yield from _programs(directory)
        yield from _one_more("in queues of 20", directory, _l2.queues, _l1.queues)
        yield from _one_more("alone", directory, _l2.shares, _l1.shares, _smallest_l2_shares)


def _programs(directory: str) -> Iterator[Measurement]:
    """Measure an app as ``cdk synth`` runs it: a Python of its own, which imports, builds, judges and synthesizes."""
    ours, l1 = fastest(_program("_l2", directory), _program("_l1", directory), rounds=5)
    name = f"app of {_l1.SHARES} shares in queues of 20"
    yield Measurement(name, ours, "s", l1, "the same in L1", f"at most {_GOAL} times", ours <= _GOAL * l1)


def _program(module: str, directory: str) -> Callable[[], object]:
    program = f"from benchmarks import _l1, {module}; _l1.synthesize({module}.queues, {directory!r})"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", program]
    return lambda: subprocess.run(command, check=True, capture_output=True, env=environment)


def _one_more(where: str, directory: str, *builders: Callable[[Stack], None]) -> Iterator[Measurement]:
    """Measure a share in a program that has done all this before: what each further share costs."""
    synthesize = [partial(_l1.synthesize, build, directory) for build in builders]
    for warm_up in synthesize:
        warm_up()
    ours, l1, *smallest = (seconds / _l1.SHARES * 1000 for seconds in fastest(*synthesize, rounds=8))
    name = f"each further quota share, {where}"
    yield Measurement(name, ours, "ms", l1, "the same in L1", f"at most {_GOAL} times", ours <= _GOAL * l1)
    for least in smallest:
        yield Measurement(name, ours, "ms", least, "a bare Resource around the same L1")


def _smallest_l2_shares(stack: Stack) -> None:
    for number in range(_l1.SHARES):
        _SmallestL2(stack, f"Share{number}")


class _SmallestL2(Resource):
    """The least that an L2 can be in Python: two constructs, so two trips to CDK's process in place of one."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, physical_name=id)
        _l1.share(self, "Resource", _l1.QUEUE_ARN, id)
