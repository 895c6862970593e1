"""What the tests of the example stacks share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from aws_cdk import App, LegacyStackSynthesizer, Stack

Context = dict[str, Any]
Synth = Callable[..., dict[str, Any]]


@pytest.fixture
def template_of_stack(tmp_path: Path) -> Synth:
    """Synthesize a stack class without the noise of bootstrapping, and return its template."""

    def synthesize(stack_class: type[Stack], context: Context | None = None) -> dict[str, Any]:
        app = App(context=context or {}, outdir=str(tmp_path / "cdk.out"), analytics_reporting=False)
        stack = stack_class(app, "Stack", synthesizer=LegacyStackSynthesizer())
        return cast("dict[str, Any]", app.synth().get_stack_artifact(stack.artifact_id).template)

    return synthesize
