"""Looking into what an app synthesizes."""

from __future__ import annotations

from typing import Any, cast

from aws_cdk import App, Stack, Stage
from aws_cdk.cx_api import SynthesisMessageLevel

QUEUE_ARN = "arn:aws:batch:eu-west-1:111122223333:job-queue/gpus"
SHARE_ARN = f"{QUEUE_ARN}/quota-share/vision"
LIMITS = {"ml.g5.xlarge": 1}


def template_of(stack: Stack) -> dict[str, Any]:
    """Synthesize a stack's app, and return the stack's template."""
    assembly = cast("App", stack.node.root).synth()
    return cast("dict[str, Any]", assembly.get_stack_artifact(stack.artifact_id).template)


def resources_of(stack: Stack, kind: str) -> list[dict[str, Any]]:
    """Return the resources of an ``AWS::Batch`` type."""
    resources = template_of(stack).get("Resources", {}).values()
    return [resource for resource in resources if resource["Type"] == f"AWS::Batch::{kind}"]


def properties_of(stack: Stack, kind: str) -> dict[str, Any]:
    """Return the properties of the only resource of an ``AWS::Batch`` type."""
    (resource,) = resources_of(stack, kind)
    return cast("dict[str, Any]", resource["Properties"])


def output_of(stack: Stack, id: str) -> Any:
    """Return the value of an output."""
    return template_of(stack)["Outputs"][id]["Value"]


def warnings_of(root: Stage) -> list[tuple[str, str]]:
    """Synthesize, and return path and text of each of our warnings; CDK has its own, depending on the flags."""
    return [
        (message.id, str(message.entry.data))
        for artifact in root.synth().stacks
        for message in artifact.messages
        if message.level is SynthesisMessageLevel.WARNING and "quota-constructs:" in str(message.entry.data)
    ]


def in_commercial_regions(text: Any) -> str:
    """Return a text of a template with partition ``aws``, which some feature flags leave to the deployment."""
    parts = text["Fn::Join"][1] if isinstance(text, dict) else [text]
    return "".join("aws" if part == {"Ref": "AWS::Partition"} else part for part in parts)
