"""What every test that imports the CDK needs; set before anything imports aws_cdk, since its process copies it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

os.environ["CDK_VALIDATION"] = "false"  # Seconds per process; a marked test runs it for real.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

import pytest
from aws_cdk import App, Stack

try:
    from hypothesis import HealthCheck, settings
except ModuleNotFoundError:  # make test-sdk goes without
    pass
else:
    # How long an example takes says how busy the machine is, not whether the code is right.
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")

PROJECT = Path(__file__).parents[1]


def recommended_flags() -> dict[str, Any]:
    """Return the context of ``cdk.json``."""
    context: dict[str, Any] = json.loads((PROJECT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return context


def feature_flags() -> dict[str, Any]:
    """Return the flags that the suite runs with: ``QUOTA_CONSTRUCTS_FLAGS`` is ``recommended`` (default) or ``none``."""
    chosen = os.environ.get("QUOTA_CONSTRUCTS_FLAGS", "recommended")
    if chosen == "none":
        return {}
    if chosen != "recommended":
        raise pytest.UsageError(f"QUOTA_CONSTRUCTS_FLAGS={chosen} is neither recommended nor none")
    return recommended_flags()


@pytest.fixture
def app(tmp_path: Path) -> App:
    """An app with the feature flags that the suite runs with."""
    return App(context=feature_flags(), outdir=str(tmp_path / "cdk.out"))


@pytest.fixture
def stack(app: App) -> Stack:
    """A stack for any account and region."""
    return Stack(app, "Stack")
