from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.iam.simulator import Simulator

PACKAGE = Path(__file__).parents[2] / "node_modules/@cloud-copilot/iam-simulate"


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    if not PACKAGE.is_dir() and not os.environ.get("CI"):
        pytest.skip("NO POLICY WAS EVALUATED: the IAM simulator is not installed; run 'make setup'")
    with Simulator() as running:
        yield running
