from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from aws_cdk import App, Stack

from tests.conftest import PROJECT, feature_flags
from tests.iam.simulator import Simulator

PACKAGE = PROJECT / "node_modules/@cloud-copilot/iam-simulate"


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    if not PACKAGE.is_dir() and not os.environ.get("CI"):
        pytest.skip("NO POLICY WAS EVALUATED: the IAM simulator is not installed; run 'make setup'")
    with Simulator() as running:
        yield running


@pytest.fixture(scope="class")
def kind() -> str:
    """What things are granted on; the modules that try several kinds have their own."""
    return ""


@pytest.fixture(scope="class")
def stack(tmp_path_factory: pytest.TempPathFactory, kind: str) -> Stack:
    """A stack for all the tests of a class on one kind: each asks something else of the same policies."""
    return _new_stack(tmp_path_factory)


@pytest.fixture(scope="module")
def module_stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """A stack for all the tests of a module."""
    return _new_stack(tmp_path_factory)


def _new_stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    return Stack(App(context=feature_flags(), outdir=str(tmp_path_factory.mktemp("cdk.out"))), "Stack")
