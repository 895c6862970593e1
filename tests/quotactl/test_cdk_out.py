"""Designs in what the CDK really synthesizes: from L1s, across stacks, stages and nested stacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, NestedStack, Stack, Stage
from aws_cdk import aws_batch as batch
from constructs import Construct

from quotactl.designs import read_designs
from tests.conftest import feature_flags

WEAK = {"@aws-cdk/core:defaultCrossStackReferences": "weak"}
STRONG = {"@aws-cdk/core:defaultCrossStackReferences": "strong"}


def _queue(stack: Stack) -> batch.CfnJobQueue:
    policy = batch.CfnSchedulingPolicy(stack, "Policy", quota_share_policy={"idleResourceAssignmentStrategy": "FIFO"})
    environment = batch.CfnServiceEnvironment(
        stack,
        "Environment",
        service_environment_type="SAGEMAKER_TRAINING",
        capacity_limits=[{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 2}],
    )
    order = {"order": 1, "serviceEnvironment": environment.attr_service_environment_arn}
    return batch.CfnJobQueue(
        stack,
        "Queue",
        priority=1,
        job_queue_type="SAGEMAKER_TRAINING",
        scheduling_policy_arn=policy.ref,
        service_environment_order=[order],
    )


def _share(scope: Construct, name: str, job_queue: str) -> None:
    batch.CfnQuotaShare(
        scope,
        "Share",
        job_queue=job_queue,
        quota_share_name=name,
        capacity_limits=[{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 1}],
        resource_sharing_configuration={"strategy": "LEND"},
        preemption_configuration={"inSharePreemption": "DISABLED"},
    )


def _define(scope: Construct, env: Environment | None = None) -> None:
    """A queue in one stack, a share in another, and a share in a nested one."""
    gpus = Stack(scope, "Gpus", env=env)
    queue = _queue(gpus)
    _share(Stack(scope, "Team", env=env), "team", queue.attr_job_queue_arn)
    _share(NestedStack(gpus, "Nested"), "nested", queue.ref)


@pytest.mark.parametrize("references", [WEAK, STRONG], ids=["weak", "strong"])
@pytest.mark.parametrize("metadata", [True, False])
def test_shares_of_every_stack_are_with_their_queue(tmp_path: Path, references: dict[str, Any], metadata: bool) -> None:
    context = {**feature_flags(), **references, "aws:cdk:enable-asset-metadata": metadata}
    app = App(context=context, outdir=str(tmp_path / "cdk.out"))
    _define(app)
    env = Environment(account="111122223333", region="eu-west-1")
    _define(Stage(app, "Prod"), env)
    designs = read_designs(Path(app.synth().directory))

    found = {
        designs_queue.place.construct_path: {str(share.name) for share in designs_queue.queue.quota_shares}
        for designs_queue in designs.queues
    }
    assert found == {"Gpus/Queue": {"team", "nested"}, "Prod/Gpus/Queue": {"team", "nested"}}
    assert (designs.loose_shares, designs.remarks) == ((), ())
