"""The CDK CLI looks a queue up in the local AWS while it synthesizes a team's app."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from quota_constructs import QuotaManagedQueue, ResourceSharing
from quotactl.local.testing import RunningAws, local_aws  # noqa: F401

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
CDK = str(PROJECT / "node_modules/.bin/cdk")
UNIT = "ml.g5.xlarge"
APP = f"""
import os, sys
sys.path.insert(0, {str(PROJECT)!r})
import aws_cdk as cdk
from quota_constructs import QuotaShare, ResourceSharing, TrainingJobQueue

app = cdk.App()
env = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region=os.environ["CDK_DEFAULT_REGION"])
stack = cdk.Stack(app, "Team", env=env)
queue = TrainingJobQueue.from_lookup(stack, "Queue", job_queue_name="gpus")
if name := app.node.try_get_context("share"):
    QuotaShare(
        stack, name, job_queue=queue, capacity_limits={{"{UNIT}": 2}}, resource_sharing=ResourceSharing.lend()
    )
app.synth()
"""


@pytest.fixture(scope="module")
def aws(local_aws: RunningAws, tmp_path_factory: pytest.TempPathFactory) -> RunningAws:  # noqa: F811
    """The account, with a queue for three instances, two of which a share has."""
    assembly = tmp_path_factory.mktemp("platform") / "cdk.out"
    app = cdk.App(outdir=str(assembly), default_stack_synthesizer=cdk.BootstraplessSynthesizer())
    gpus = QuotaManagedQueue(cdk.Stack(app, "Platform"), "Gpus", capacity_limits={UNIT: 3}, job_queue_name="gpus")
    gpus.add_quota_share("Speech", capacity_limits={UNIT: 2}, resource_sharing=ResourceSharing.lend())
    app.synth()
    deployed = local_aws.run([CDK, "deploy", "--app", str(assembly), "--require-approval", "never"])
    assert deployed.returncode == 0, deployed.stderr
    return local_aws


def synth(aws: RunningAws, directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (directory / "app.py").write_text(APP)
    return aws.run([CDK, "synth", "--quiet", "--app", f"{sys.executable} app.py", *options], cwd=directory)


def looked_up(directory: Path) -> dict[str, Any]:
    context = json.loads((directory / "cdk.context.json").read_text())
    return {key.partition(":typeName=")[2].replace("$", ""): value for key, value in context.items()}


def test_limits_that_exist_are_looked_up_kept_and_enter_the_rules(aws: RunningAws, tmp_path: Path) -> None:
    result = synth(aws, tmp_path, "-c", "share=Vision")

    assert result.returncode == 0, result.stderr
    assert "add up to 4, the environment has 3" in result.stderr
    assert looked_up(tmp_path)["AWS::Batch::ServiceEnvironment"][0]["CapacityLimits"] == [
        {"CapacityUnit": UNIT, "MaxCapacity": 3}
    ]


def test_what_was_looked_up_once_needs_no_account_again(aws: RunningAws, tmp_path: Path) -> None:
    synth(aws, tmp_path)

    again = synth(aws, tmp_path, "--no-lookups", "-c", "share=Vision")

    assert again.returncode == 0, again.stderr
    assert "add up to 4, the environment has 3" in again.stderr


def test_fails_for_a_queue_that_does_not_exist(aws: RunningAws, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP.replace('job_queue_name="gpus"', 'job_queue_name="none"'))

    result = aws.run([CDK, "synth", "--quiet", "--app", f"{sys.executable} app.py"], cwd=tmp_path)

    assert result.returncode != 0
    assert "job-queue/none" in result.stderr
