"""The examples in the docstrings of what is exported run, and their apps synthesize."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack, Validations
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk.aws_cloudwatch_actions import SnsAction
from cdk_nag import AwsSolutionsChecks
from constructs import Construct

import quota_constructs
from quota_constructs import QuotaManagedQueue, ResourceSharing, ServiceEnvironment
from tools.docstrings import examples_in

EXAMPLES = [
    pytest.param(example, id=name)
    for name in quota_constructs.__all__
    for example in examples_in(inspect.getdoc(getattr(quota_constructs, name)) or "")
]


@pytest.fixture
def scene(app: App) -> dict[str, Any]:
    """What the examples take for granted: a stack, a queue with a share, and whom and what they are about."""
    stack = Stack(app, "Stack", env=Environment(account="111122223333", region="eu-west-1"))
    scene = Construct(stack, "Scene")
    limits = {"ml.p5.48xlarge": 8}
    gpus = QuotaManagedQueue(scene, "Gpus", capacity_limits=limits)
    share = gpus.add_quota_share("speech", capacity_limits=limits, resource_sharing=ResourceSharing.lend())
    roles = ("role", "training_role", "researchers", "on_call", "capacity_managers")
    topics = ("topic", "vision_team")
    return {
        **{name: getattr(quota_constructs, name) for name in quota_constructs.__all__},
        **{name: iam.Role(scene, name, assumed_by=iam.AccountRootPrincipal()) for name in roles},
        **{
            name: sns.Topic.from_topic_arn(scene, name, f"arn:aws:sns:eu-west-1:111122223333:{name}") for name in topics
        },
        "app": app,
        "self": stack,
        "gpus": gpus,
        "queue": gpus.job_queue,
        "environment": ServiceEnvironment(scene, "Environment", capacity_limits=limits),
        "share": share,
        "vision": share,
        "bucket": s3.Bucket.from_bucket_name(scene, "Bucket", "training-data"),
        "repository": ecr.Repository.from_repository_name(scene, "Repository", "trainer"),
        "targets": targets,
        "AwsSolutionsChecks": AwsSolutionsChecks,
        "SnsAction": SnsAction,
        "Validations": Validations,
    }


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_and_synthesizes(app: App, scene: dict[str, Any], example: str) -> None:
    exec(example, scene)

    assert app.synth().stacks
