"""The SageMaker Python SDK v3 on the local AWS: ``make test-sdk``, in an environment of its own since it is large."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from quotactl.local.running import RunningAws, running_local_aws

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("sagemaker") is None, reason="make test-sdk installs the SageMaker SDK"),
]

PROJECT = Path(__file__).parents[2]
UNIT = "ml.g5.xlarge"


@pytest.fixture(scope="module")
def aws() -> Iterator[RunningAws]:
    """A local AWS in real time with a queue named gpus and a share named background."""
    with running_local_aws(speed=60) as aws:
        batch = aws.client("batch")
        policy = batch.create_scheduling_policy(
            name="policy", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"}
        )
        limits = [{"capacityUnit": UNIT, "maxCapacity": 1}]
        batch.create_service_environment(
            serviceEnvironmentName="environment", serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=limits
        )
        batch.create_job_queue(
            jobQueueName="gpus",
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=policy["arn"],
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "environment"}],
        )
        batch.create_quota_share(
            quotaShareName="background",
            jobQueue="gpus",
            capacityLimits=limits,
            resourceSharingConfiguration={"strategy": "RESERVE"},
            preemptionConfiguration={"inSharePreemption": "ENABLED"},
        )
        aws.client("s3").create_bucket(Bucket=f"sagemaker-{aws.region}-{aws.account}")
        yield aws


def run(aws: RunningAws, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.submit_with_sagemaker_sdk", *arguments],
        cwd=PROJECT,
        env={**aws.environment(), "PYTHONPATH": os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_submits_updates_lists_and_terminates(aws: RunningAws) -> None:
    ran = run(aws, "gpus", "--share", "background")
    assert ran.returncode == 0, ran.stderr
    assert "submitted arn:aws:batch:" in ran.stdout
    assert "background: sweep is " in ran.stdout
    assert ran.stdout.endswith(", priority 5\n")
    (job,) = aws.client("batch").list_service_jobs(
        jobQueue="gpus", filters=[{"name": "QUOTA_SHARE_NAME", "values": ["background"]}]
    )["jobSummaryList"]
    assert job["isTerminated"] is True


def test_fails_with_a_queue_that_does_not_exist(aws: RunningAws) -> None:
    ran = run(aws, "no-such-queue")
    assert ran.returncode == 1
    assert "Job queue no-such-queue does not exist" in ran.stderr
    assert "Traceback" not in ran.stderr
