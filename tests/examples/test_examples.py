"""The examples run on the local AWS as their docstrings say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import aws_cdk as cdk
import pytest

from quotactl.local.testing import RunningAws, local_aws  # noqa: F401
from stacks.three_quota import ThreeQuotaStack
from tests.code_blocks import blocks_of

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
CDK = str(PROJECT / "node_modules/.bin/cdk")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def queue(local_aws: RunningAws, tmp_path_factory: pytest.TempPathFactory) -> str:  # noqa: F811
    """The name of ThreeQuota's queue, deployed."""
    assembly = str(tmp_path_factory.mktemp("app") / "cdk.out")
    app = cdk.App(outdir=assembly, default_stack_synthesizer=cdk.BootstraplessSynthesizer())
    ThreeQuotaStack(app, "ThreeQuota")
    app.synth()
    deployed = local_aws.run([CDK, "deploy", "--app", assembly, "--require-approval", "never"])
    assert deployed.returncode == 0, deployed.stderr
    (stack,) = local_aws.client("cloudformation").describe_stacks(StackName="ThreeQuota")["Stacks"]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    return str(outputs["JobQueueName"])


@pytest.fixture
def run(local_aws: RunningAws) -> Run:  # noqa: F811
    """Run an example by its module's name."""
    return lambda module, *arguments: local_aws.run(
        [sys.executable, "-m", f"examples.{module}", *arguments], cwd=PROJECT
    )


def test_boto3_submits_and_raises_what_waits(local_aws: RunningAws, queue: str, run: Run) -> None:  # noqa: F811
    ran = run("submit_with_boto3", queue, "--share", "background")
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == ["low", "med", "high"]
    assert lines[3] == "high waits: for capacity; raised to 10"
    job = lines[2].partition(": ")[2]
    assert local_aws.client("batch").describe_service_job(jobId=job)["schedulingPriority"] == 10


def test_the_program_of_the_guide_submits(local_aws: RunningAws, queue: str, tmp_path: Path) -> None:  # noqa: F811
    (program,) = [block for block in blocks_of(PROJECT / "docs/guides/submit.md") if block.file == "submit.py"]
    (tmp_path / "submit.py").write_text(program.code, encoding="utf-8")

    ran = local_aws.run(
        [sys.executable, "submit.py", queue, "reserved", "arn:aws:iam::123456789012:role/training"], cwd=tmp_path
    )

    assert ran.returncode == 0, ran.stderr
    job = local_aws.client("batch").describe_service_job(jobId=ran.stdout.strip())
    assert (job["quotaShareName"], job["schedulingPriority"], job["tags"]) == ("reserved", 10, {"team": "vision"})
    local_aws.wait_for_job(job["jobId"], "RUNNING")


def test_fails_with_a_queue_that_does_not_exist(run: Run) -> None:
    ran = run("submit_with_boto3", "no-such-queue")
    assert ran.returncode == 1
    assert "does not exist" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_fails_without_a_region(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    ran = subprocess.run(
        [sys.executable, "-m", "examples.submit_with_boto3", "queue"],
        cwd=PROJECT,
        env={**kept, "HOME": str(tmp_path), "AWS_EC2_METADATA_DISABLED": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (1, "You must specify a region.\n")


def test_the_sdk_example_says_what_to_install(run: Run, queue: str) -> None:
    ran = run("submit_with_sagemaker_sdk", queue)
    assert ran.returncode == 2
    assert "pip install sagemaker-train" in ran.stderr


def test_the_demo_shows_every_outcome_that_aws_documents_and_draws_itself(tmp_path: Path) -> None:
    drawn = tmp_path / "demo.svg"
    command = [sys.executable, "-m", "examples.demo", "--picture", str(drawn)]
    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for outcome in ("med borrows standard's", "cross-share preemption", "in-share preemption", "no job is lost"):
        assert outcome in ran.stdout
    assert "Nothing is left running" in ran.stdout
    shown = ElementTree.parse(drawn).getroot()
    words = " ".join(shown.itertext()).replace("\xa0", " ")
    assert "lent to med" in words
    assert "preempted once" in words
    assert "url(http" not in drawn.read_text()
