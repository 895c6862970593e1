"""The README does what it says: every code block in it runs, and what is generated is up to date."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from typer.testing import CliRunner

import quota_constructs
from quota_model.rules import Severity
from quotactl.check import check
from quotactl.cli import app as quotactl
from tests.code_blocks import Block, blocks_of
from tools.readme import generated_files

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


BLOCKS = list(blocks_of(ROOT / "README.md"))


def _named(language: str) -> list[Any]:
    return [pytest.param(block, id=f"line {block.line}") for block in BLOCKS if block.language == language]


COMMANDS = [
    pytest.param(shlex.split(line), id=line)
    for block in BLOCKS
    if block.language == "sh"
    for line in block.code.splitlines()
]


def test_every_code_block_is_of_a_kind_that_runs_here() -> None:
    assert {block.language for block in BLOCKS} == {"python", "sh", "yaml", "text", "json"}


@pytest.mark.parametrize("block", _named("python"))
def test_python_declares_designs_without_a_finding(block: Block) -> None:
    scope: dict[str, Any] = {}
    exec(compile(block.code, f"README.md:{block.line}", "exec"), scope)

    templates = list(Path(scope["app"].synth().directory).glob("*.template.json"))
    assert templates
    if any("AWS::Batch::JobQueue" in template.read_text() for template in templates):
        report = check(Path(scope["app"].synth().directory))
        assert (report.count(Severity.ERROR), report.count(Severity.WARNING)) == (0, 0)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_exist_and_take_these_arguments(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    match command:
        case ["make", target]:
            subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
        case ["pip", "install", place]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert place in {".", *(f".[{extra}]" for extra in extras)}
        case ["quotactl", *arguments]:
            _run_quotactl(arguments, tmp_path, monkeypatch)
        case ["npx", "cdk", "bootstrap"]:
            pass  # goes to an account; the local AWS's tests run it
        case ["npx", "cdk", "synth" | "deploy", stack, *options]:
            contexts = dict(option.split("=", 1) for option in options[1::2])
            assert set(options[::2]) <= {"-c"}
            _example_stack(stack, contexts)
        case _:
            pytest.fail(f"no test knows how to run {shlex.join(command)}")


def _run_quotactl(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run it beside the files that the README shows, and compare with the output that it shows."""
    for block in BLOCKS:
        if block.file:
            (tmp_path / block.file).write_text(block.code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    output = CliRunner().invoke(quotactl, arguments).output
    shown = [block.code for block in BLOCKS if block.language == "text"]

    assert "\n".join(line.rstrip() for line in output.splitlines()) + "\n" in shown


def _example_stack(name: str, context: dict[str, str]) -> None:
    """Define the example stacks with a context, as app.py does, and look one up."""
    from stacks.three_quota import ThreeQuotaStack
    from stacks.training_plan import TrainingPlanStack

    app = cdk.App(context=context)
    ThreeQuotaStack(app, "ThreeQuota")
    TrainingPlanStack(app, "TrainingPlan")
    template = json.dumps(app.synth().get_stack_by_name(name).template)
    for value in context.values():
        assert value in template


def test_the_shown_files_are_used_by_a_shown_command() -> None:
    commands = " ".join(block.code for block in BLOCKS if block.language == "sh")

    assert all(block.file in commands for block in BLOCKS if block.file)


# What the README says of AWS, against AWS's own schemas

TYPES = {
    "QuotaShareSchedulingPolicy": "AWS::Batch::SchedulingPolicy",
    "ServiceEnvironment": "AWS::Batch::ServiceEnvironment",
    "TrainingJobQueue": "AWS::Batch::JobQueue",
    "QuotaShare": "AWS::Batch::QuotaShare",
}
PROPERTIES = {
    "scheduling_policy_name": "Name",
    "scheduling_policy": "SchedulingPolicyArn",
    "service_environment": "ServiceEnvironmentOrder",
    "resource_sharing": "ResourceSharingConfiguration",
    "in_share_preemption": "PreemptionConfiguration",
}


def _schema(type_: str) -> dict[str, Any]:
    schema: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", type_).schema
    return schema


def test_the_permissions_are_those_that_cloudformation_needs() -> None:
    (block,) = [block for block in BLOCKS if block.language == "json"]
    statements = json.loads(block.code)["Statement"]
    allowed = {
        action
        for statement in statements
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    handlers = [_schema(type_)["handlers"] for type_ in (*TYPES.values(), "AWS::SSM::Parameter")]
    needed = {
        permission.replace("Batch:", "batch:").replace("Iam:", "iam:")
        for handler in handlers
        for verb in ("create", "read", "update", "delete")
        for permission in handler[verb]["permissions"]
    }

    assert {action for action in needed if not any(fnmatchcase(action, pattern) for pattern in allowed)} == set()
    assert {pattern for pattern in allowed if not any(fnmatchcase(action, pattern) for action in needed)} == set()


def _changes() -> dict[tuple[str, str], str]:
    """Return what the table says of a change, by construct and property."""
    section = README.split("## What a change does")[1].split("\n## ")[0]
    changes: dict[tuple[str, str], str] = {}
    construct = ""
    for first, properties, effect in re.findall(r"^\| (.*?) ?\| (.*?) \| (.*?) \|$", section, re.MULTILINE):
        construct = first.strip("` ") or construct
        for name in re.findall(r"`(\w+)`", properties):
            changes[construct, name] = effect
    return changes


def test_every_property_of_the_constructs_is_in_the_table_of_changes() -> None:
    declared = {
        (name, parameter)
        for name in TYPES
        for parameter in inspect.signature(getattr(quota_constructs, name).__init__).parameters
        if parameter not in ("self", "scope", "id")
    }

    assert set(_changes()) == declared


@pytest.mark.parametrize(("construct", "name"), list(_changes()))
def test_the_table_says_replaces_where_cloudformation_replaces(construct: str, name: str) -> None:
    pascal = "".join(part.capitalize() for part in name.split("_"))
    schema = _schema(TYPES[construct])
    key = PROPERTIES.get(name, pascal)

    assert key in schema["properties"]
    assert _changes()[construct, name].startswith("replaces") is (
        f"/properties/{key}" in schema["createOnlyProperties"]
    )


@pytest.mark.parametrize("path", list(generated_files()), ids=lambda path: path.name)
def test_what_is_generated_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == generated_files()[path], "run: make readme"


def test_links_to_files_lead_to_them() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]

    assert [link for link in links if not (ROOT / link).exists()] == []
