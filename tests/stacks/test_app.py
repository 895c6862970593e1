"""The app as it is, judged by everything that judges CDK apps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk.aws_s3 import Bucket
from cdk_nag import AwsSolutionsChecks
from cfnlint import ManualArgs
from cfnlint import api as cfnlint

from stacks.three_quota import ThreeQuotaStack
from stacks.training_plan import TrainingPlanStack
from tests.conftest import PROJECT, recommended_flags

pytestmark = pytest.mark.slow


def run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an app in a process of its own, as the CDK CLI does, with CDK's own validation on and counted as errors."""
    environment = {name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"}
    environment |= {"CDK_OUTDIR": str(directory), "CDK_CONTEXT_JSON": json.dumps(recommended_flags())}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Synthesize app.py."""
    directory = tmp_path_factory.mktemp("app") / "cdk.out"
    app = run(directory, "app.py")
    assert app.returncode == 0, app.stderr
    return directory


def report(assembly: Path) -> dict[str, Any]:
    path = assembly / "validation-report.json"
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def test_cdks_own_validation_finds_nothing_but_that_the_plan_is_an_example(assembly: Path) -> None:
    violations = [
        (violation["severity"], violation["ruleName"])
        for plugin in report(assembly)["pluginReports"]
        for violation in plugin["violations"]
    ]

    assert [each for each in violations if "quota-constructs" in each[1]] == [
        ("warning", "Annotation::quota-constructs:training-plan-is-an-example")
    ]
    assert [severity for severity, _ in violations if severity != "warning"] == []


def test_fails_if_cdks_own_validation_finds_something(tmp_path: Path) -> None:
    """Shows that the test above can fail."""
    source = (
        "import aws_cdk as cdk; from aws_cdk import aws_batch as batch; app = cdk.App();"
        "batch.CfnJobQueue(cdk.Stack(app, 'Stack'), 'Queue', priority=1001); app.synth()"
    )
    app = run(tmp_path / "cdk.out", "-c", source)

    assert app.returncode != 0
    assert "1001" in app.stderr


@pytest.mark.parametrize("stack", ["ThreeQuota", "TrainingPlan"])
def test_cfn_lint_finds_nothing(assembly: Path, stack: str) -> None:
    template = (assembly / f"{stack}.template.json").read_text(encoding="utf-8")
    findings = cfnlint.lint(template, config=ManualArgs(include_checks=["I"], regions=["us-east-1", "eu-west-1"]))

    assert [str(finding) for finding in findings] == []


@pytest.mark.parametrize("stack_class", [ThreeQuotaStack, TrainingPlanStack])
def test_cdk_nag_finds_nothing(app: App, stack_class: type[Stack]) -> None:
    stack_class(app, "Stack")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    app.synth()  # A violation would be raised.


def test_fails_if_cdk_nag_finds_something(app: App) -> None:
    """Shows that the test above can fail."""
    Bucket(Stack(app, "Stack"), "Bucket")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    with pytest.raises(RuntimeError, match="AwsSolutions-S1"):
        app.synth()
