"""How designs are read out of a cloud assembly: several stacks, stages, nested stacks, references across them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quotactl.designs import Designs, UnusableInputError, read_designs
from tests.quotactl.batch_templates import queue, share, template

Assembly = Callable[..., Path]
ARN_OUTPUT = {"Value": {"Fn::GetAtt": ["Queue", "JobQueueArn"]}}


def _shares(designs: Designs) -> dict[str | None, list[str]]:
    return {found.place.stack: [str(share.name) for share in found.queue.quota_shares] for found in designs.queues}


def _team(name: str, reference: Any) -> dict[str, Any]:
    return {"Resources": {"Share": share(name, JobQueue=reference)}}


@pytest.mark.parametrize(
    ("output", "reference"),
    [
        ({**ARN_OUTPUT, "Export": {"Name": "Gpus:Queue"}}, {"Fn::ImportValue": "Gpus:Queue"}),
        ({**ARN_OUTPUT, "Export": {"Name": {"Fn::Sub": "${AWS::StackName}:Queue"}}}, {"Fn::ImportValue": "Gpus:Queue"}),
        (ARN_OUTPUT, {"Fn::GetStackOutput": {"StackName": "Gpus", "OutputName": "Queue"}}),
        (
            ARN_OUTPUT,
            {"Fn::GetStackOutput": {"StackName": "Gpus", "OutputName": "Queue", "Region": {"Ref": "AWS::Region"}}},
        ),
        (ARN_OUTPUT, "training"),
        (ARN_OUTPUT, {"Fn::Sub": "arn:aws:batch:${AWS::Region}:${AWS::AccountId}:job-queue/training"}),
    ],
    ids=str,
)
def test_a_share_in_another_stack_belongs_to_its_queue(assembly: Assembly, output: Any, reference: Any) -> None:
    gpus = {**template(Queue=queue(JobQueueName="training"), Own=share("own")), "Outputs": {"Queue": output}}
    designs = read_designs(assembly(Team=_team("team", reference), Gpus=gpus))

    assert _shares(designs) == {"Gpus": ["team", "own"]}
    assert [place.stack for place in designs.queues[0].share_places] == ["Team", "Gpus"]


def test_the_manifest_stands_for_its_directory(assembly: Assembly) -> None:
    assert _shares(read_designs(assembly(Gpus=template(Own=share("own"))) / "manifest.json")) == {"Gpus": ["own"]}


def test_each_stage_keeps_to_itself(assembly: Assembly) -> None:
    gpus = {
        **template(Queue=queue(JobQueueName="training")),
        "Outputs": {"Queue": {**ARN_OUTPUT, "Export": {"Name": "queue"}}},
    }
    for stage in ("Dev", "Prod"):
        teams = {
            f"{stage}A": _team("by-name", "training"),
            f"{stage}B": _team("by-export", {"Fn::ImportValue": "queue"}),
        }
        assembly(f"cdk.out/assembly-{stage}", **{f"{stage}Gpus": gpus}, **teams)
    top = assembly()
    artifacts = {
        stage: {"type": "cdk:cloud-assembly", "properties": {"directoryName": f"assembly-{stage}"}}
        for stage in ("Dev", "Prod")
    }
    (top / "manifest.json").write_text(json.dumps({"artifacts": artifacts}), encoding="utf-8")
    designs = read_designs(top)

    assert _shares(designs) == {"DevGpus": ["by-name", "by-export"], "ProdGpus": ["by-name", "by-export"]}
    assert not designs.loose_shares


def test_a_name_that_two_other_stacks_give_is_no_guess(assembly: Assembly) -> None:
    named = template(Queue=queue(JobQueueName="training"))
    designs = read_designs(assembly(One=named, Two=named, Team=_team("team", "training")))

    assert _shares(designs) == {"One": [], "Two": []}
    assert [loose.share.name for loose in designs.loose_shares] == ["team"]


def test_an_arn_of_another_account_or_region_is_another_queue(assembly: Assembly) -> None:
    gpus = template(
        Queue=queue(JobQueueName="training"),
        Here=share("here", JobQueue="arn:aws:batch:eu-west-1:123456789012:job-queue/training"),
        Elsewhere=share("elsewhere", JobQueue="arn:aws:batch:us-east-1:123456789012:job-queue/training"),
        Theirs=share("theirs", JobQueue="arn:aws:batch:eu-west-1:999999999999:job-queue/training"),
    )
    designs = read_designs(assembly(environment="aws://123456789012/eu-west-1", Gpus=gpus))

    assert _shares(designs) == {"Gpus": ["here"]}
    assert [loose.share.name for loose in designs.loose_shares] == ["elsewhere", "theirs"]


def test_the_region_of_a_stack_is_known_where_the_app_sets_it(assembly: Assembly) -> None:
    gpus = template(Share=share({"Fn::Sub": "vision-${AWS::Region}"}))

    designs = read_designs(assembly(environment="aws://123456789012/eu-west-1", Gpus=gpus))

    assert _shares(designs) == {"Gpus": ["vision-eu-west-1"]}


@pytest.mark.parametrize("with_metadata", [True, False])
def test_a_share_in_a_nested_stack_belongs_to_the_queue_it_is_given(assembly: Assembly, with_metadata: bool) -> None:
    nested = {
        "Resources": {"Share": share("nested", JobQueue={"Ref": "Given"})},
        "Parameters": {"Given": {"Type": "String"}},
    }
    url = {"Fn::Join": ["", ["https://s3.", {"Ref": "AWS::URLSuffix"}, "/assets/0123abcd.json"]]}
    stack = {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {"TemplateURL": url, "Parameters": {"Given": {"Ref": "Queue"}}},
        "Metadata": {"aws:asset:path": "Nested.template.json"} if with_metadata else {},
    }
    directory = assembly(Gpus=template(Nested=stack))
    (directory / "Nested.template.json").write_text(json.dumps(nested), encoding="utf-8")
    files = {"0123abcd": {"source": {"path": "Nested.template.json"}}}
    (directory / "Gpus.assets.json").write_text(json.dumps({"files": files}), encoding="utf-8")

    assert _shares(read_designs(directory)) == {"Gpus": ["nested"]}


def test_a_queue_in_a_nested_stack_is_found_through_its_output(assembly: Assembly) -> None:
    stack = {"Type": "AWS::CloudFormation::Stack", "Metadata": {"aws:asset:path": "Nested.template.json"}}
    outer = {
        "Resources": {"Nested": stack, "Share": share("outer", JobQueue={"Fn::GetAtt": ["Nested", "Outputs.Queue"]})}
    }
    directory = assembly(Gpus=outer)
    nested = {**template(), "Outputs": {"Queue": ARN_OUTPUT}}
    (directory / "Nested.template.json").write_text(json.dumps(nested), encoding="utf-8")

    assert _shares(read_designs(directory)) == {None: ["outer"]}


def test_construct_paths_come_from_the_assembly_where_the_template_has_none(assembly: Assembly) -> None:
    directory = assembly(Gpus=template(Own=share("own")))
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["artifacts"]["Gpus"]["additionalMetadataFile"] = "Gpus.metadata.json"
    (directory / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    metadata = {"/Gpus/Training/Own/Resource": [{"type": "aws:cdk:logicalId", "data": "Own"}]}
    (directory / "Gpus.metadata.json").write_text(json.dumps(metadata), encoding="utf-8")

    (place,) = read_designs(directory).queues[0].share_places

    assert place.construct_path == "Gpus/Training/Own"


def test_outputs_that_refer_to_each_other_in_a_circle_are_unknown(assembly: Assembly) -> None:
    one = {
        **_team("one", {"Fn::ImportValue": "b"}),
        "Outputs": {"A": {"Value": {"Fn::ImportValue": "b"}, "Export": {"Name": "a"}}},
    }
    two = {
        **_team("two", {"Fn::ImportValue": "a"}),
        "Outputs": {"B": {"Value": {"Fn::ImportValue": "a"}, "Export": {"Name": "b"}}},
    }

    assert len(read_designs(assembly(One=one, Two=two)).loose_shares) == 2


def test_outputs_that_repeat_one_another_do_not_grow_without_end(assembly: Assembly) -> None:
    outputs: dict[str, Any] = {"O0": {"Value": "x" * 100, "Export": {"Name": "o0"}}}
    for n in range(1, 60):
        twice = {"Fn::Join": ["", [{"Fn::ImportValue": f"o{n - 1}"}] * 2]}
        outputs[f"O{n}"] = {"Value": twice, "Export": {"Name": f"o{n}"}}
    gpus = {**template(Share=share({"Fn::ImportValue": "o59"})), "Outputs": outputs}

    assert _shares(read_designs(assembly(Gpus=gpus))) == {"Gpus": ["(known at deployment)"]}


@pytest.mark.parametrize(
    ("artifacts", "message"),
    [
        ({"Gpus": {"type": "aws:cloudformation:stack", "properties": {}}}, "names None where a file beside it belongs"),
        ({"Gpus": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "../x.json"}}}, "beside it"),
        ({"Gpus": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "/etc/passwd"}}}, "beside it"),
        ({"Gpus": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "gone.json"}}}, "does not exist"),
        ({"Stage": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "."}}}, "beside it"),
        ({"Stage": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "gone"}}}, r"has no manifest\.json"),
        ([], "declares no quota-managed job queue"),
        (None, "declares no quota-managed job queue"),
    ],
    ids=str,
)
def test_fails_on_a_broken_manifest_with_one_sentence(tmp_path: Path, artifacts: Any, message: str) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": artifacts}), encoding="utf-8")

    with pytest.raises(UnusableInputError, match=message):
        read_designs(tmp_path)
