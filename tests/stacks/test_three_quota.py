from __future__ import annotations

from typing import Any

from aws_cdk import App, Environment, Stage
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from stacks.three_quota import ThreeQuotaStack
from tests.stacks.conftest import Synth
from tests.synthesis import properties_of, resources_of, template_of, warnings_of

UNIT = "ml.g5.xlarge"


def shares_of(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    resources = template["Resources"].values()
    shares = [each["Properties"] for each in resources if each["Type"] == "AWS::Batch::QuotaShare"]
    return {share["QuotaShareName"]: share for share in shares}


def test_is_what_it_was(template_of_stack: Synth, snapshot: SnapshotAssertion) -> None:
    assert template_of_stack(ThreeQuotaStack) == snapshot(extension_class=JSONSnapshotExtension)


def test_is_awss_example(template_of_stack: Synth) -> None:
    """The notebook sm-training-queues_quota-management: three shares of one instance each in an environment of 3."""
    template = template_of_stack(ThreeQuotaStack)
    shares = shares_of(template)

    (environment,) = (
        each["Properties"] for each in template["Resources"].values() if "ServiceEnvironmentType" in each["Properties"]
    )
    assert environment["CapacityLimits"] == [{"CapacityUnit": UNIT, "MaxCapacity": 3}]
    assert all(share["CapacityLimits"] == [{"CapacityUnit": UNIT, "MaxCapacity": 1}] for share in shares.values())
    assert {name: share["ResourceSharingConfiguration"] for name, share in shares.items()} == {
        "background": {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 200},
        "standard": {"Strategy": "LEND"},
        "reserved": {"Strategy": "RESERVE"},
    }
    assert {name: share["PreemptionConfiguration"]["InSharePreemption"] for name, share in shares.items()} == {
        "background": "ENABLED",
        "standard": "DISABLED",
        "reserved": "DISABLED",
    }


def test_outputs_what_submitting_a_job_needs(template_of_stack: Synth) -> None:
    outputs = template_of_stack(ThreeQuotaStack)["Outputs"]

    assert set(outputs) == {
        "JobQueueName",
        "JobQueueArn",
        "BackgroundQuotaShareName",
        "StandardQuotaShareName",
        "ReservedQuotaShareName",
        "InstanceType",
    }
    # An export could not be removed while another stack uses it.
    assert not any("Export" in output for output in outputs.values())


def test_has_nothing_to_warn_of(app: App) -> None:
    ThreeQuotaStack(app, "ThreeQuota")

    assert warnings_of(app) == []


def test_has_no_name_that_could_collide_between_stages(app: App) -> None:
    stacks = [ThreeQuotaStack(Stage(app, stage), "ThreeQuota") for stage in ("Beta", "Prod")]

    assert stacks[0].stack_name != stacks[1].stack_name
    for kind, name in (
        ("SchedulingPolicy", "Name"),
        ("ServiceEnvironment", "ServiceEnvironmentName"),
        ("JobQueue", "JobQueueName"),
    ):
        assert name not in resources_in_stage(stacks[0], kind)


def resources_in_stage(stack: ThreeQuotaStack, kind: str) -> dict[str, Any]:
    stage = Stage.of(stack)
    assert stage is not None
    resources = stage.synth().get_stack_artifact(stack.artifact_id).template["Resources"].values()
    (properties,) = (each["Properties"] for each in resources if each["Type"] == f"AWS::Batch::{kind}")
    assert isinstance(properties, dict)
    return properties


def test_works_in_a_given_account_and_region(app: App) -> None:
    stack = ThreeQuotaStack(app, "ThreeQuota", env=Environment(account="111122223333", region="cn-north-1"))

    assert len(resources_of(stack, "QuotaShare")) == 3
    assert "arn:aws:" not in str(template_of(stack)["Resources"])
    assert properties_of(stack, "JobQueue")["Priority"] == 1


def test_carries_no_tag_that_would_change_with_every_deployment(template_of_stack: Synth) -> None:
    resources = template_of_stack(ThreeQuotaStack)["Resources"].values()

    assert not any("Tags" in resource["Properties"] for resource in resources)
