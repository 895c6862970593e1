"""What the tests of the command line share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quotactl.designs import Designs, read_designs

Read = Callable[[Any], Designs]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any], Path]:
    """Write a JSON document to a file, and return its path."""

    def write(document: Any) -> Path:
        path = tmp_path / "Stack.template.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    return write


@pytest.fixture
def read(write: Callable[[Any], Path]) -> Read:
    """Read the designs of a document."""
    return lambda document: read_designs(write(document))


@pytest.fixture
def assembly(tmp_path: Path) -> Callable[..., Path]:
    """Write templates as a cloud assembly, each as the stack of its name, and return its directory."""

    def write(
        directory: str = "cdk.out", environment: str = "aws://unknown-account/unknown-region", **stacks: Any
    ) -> Path:
        path = tmp_path / directory
        path.mkdir(parents=True, exist_ok=True)
        artifacts = {}
        for name, template in stacks.items():
            (path / f"{name}.template.json").write_text(json.dumps(template), encoding="utf-8")
            properties = {"templateFile": f"{name}.template.json"}
            artifacts[name] = {
                "type": "aws:cloudformation:stack",
                "environment": environment,
                "properties": properties,
            }
        (path / "manifest.json").write_text(json.dumps({"version": "55.0.0", "artifacts": artifacts}), encoding="utf-8")
        return path

    return write
