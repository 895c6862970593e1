"""Every block of code in the site's pages runs, and every command in them exists."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import botocore.session
import click
import pytest
import typer
from botocore import xform_name

from quotactl.cli import app as quotactl
from tests.code_blocks import Block, blocks_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
CDK = str(ROOT / "node_modules/.bin/cdk")


def name_of(page: Path) -> str:
    return str(page.relative_to(DOCS))


def blocks(page: Path, language: str) -> list[Block]:
    return [block for block in blocks_of(page) if block.language == language]


def marks_of(command: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if " cdk " in command else []  # The CDK CLI takes a second to say what it takes.


COMMANDS = [
    pytest.param(shlex.split(line), id=f"{name_of(page)}: {line}", marks=marks_of(line))
    for page in PAGES
    for block in blocks(page, "sh")
    for line in block.code.splitlines()
]


# Python: the blocks of a page are one program, read from top to bottom


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_python_of_a_page_runs_and_synthesizes(page: Path) -> None:
    program: dict[str, Any] = {"__name__": page.stem}
    errors = [block.code.strip() for block in blocks(page, "text") if ".error" in block.marks]
    for block in blocks(page, "python"):
        code = compile(block.code, f"{name_of(page)}:{block.line}", "exec", dont_inherit=True)
        if ".fails" in block.marks:
            with pytest.raises(Exception, match=re.escape(errors.pop(0))):
                exec(code, program)
        elif block.file is None:
            exec(code, program)

    assert errors == []
    for app in [value for value in program.values() if isinstance(value, cdk.App)]:
        app.synth()


@pytest.mark.slow
def test_the_app_of_getting_started_is_all_that_the_cdk_cli_needs(tmp_path: Path) -> None:
    page = DOCS / "getting-started.md"
    program = [block.code for block in blocks(page, "python") if ".fails" not in block.marks]
    (tmp_path / "app.py").write_text("\n".join(program), encoding="utf-8")
    for block in blocks(page, "json"):
        assert block.file is not None
        (tmp_path / block.file).write_text(block.code, encoding="utf-8")

    here = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(
        [CDK, "synth", "--quiet"], cwd=tmp_path, env=os.environ | here, capture_output=True, text=True, check=False
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert (tmp_path / "cdk.out/Gpus.template.json").is_file()


@pytest.mark.slow
def test_the_tests_that_a_guide_shows_pass(tmp_path: Path) -> None:
    for block in blocks(DOCS / "guides/local-aws.md", "python"):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.code, encoding="utf-8")

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 passed" in run.stdout


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    languages = {block.language for page in PAGES for block in blocks_of(page)}

    assert languages <= {"json", "python", "sh", "text", "yaml"}


# Commands


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_exists_and_takes_these_arguments(command: list[str]) -> None:
    match command:
        case ["make", target]:
            subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
        case ["pip", "install", place]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert place in {".", *(f".[{extra}]" for extra in extras)}
        case ["npm", "install", package]:
            assert package in json.loads((ROOT / "package.json").read_text())["devDependencies"]
        case ["HATCH_BUILD_HOOK_ENABLE_CUSTOM=true", *other]:
            assert (ROOT / "hatch_build.py").is_file()  # tests/repository/test_compiled.py builds with it
            test_a_command_exists_and_takes_these_arguments(other)
        case ["quotactl", "local", "exec", "--", *other]:
            test_a_command_exists_and_takes_these_arguments(other)
        case ["quotactl", *arguments]:
            parse_quotactl(arguments)
        case ["npx", "cdk", subcommand, *arguments]:
            assert {option.replace("--no-", "--") for option in options_of(arguments)} <= cdk_options(subcommand)
        case ["aws", service, operation, *arguments]:
            assert options_of(arguments) <= aws_options(service, operation)
        case _:
            pytest.fail(f"no test knows {shlex.join(command)}")


def options_of(arguments: list[str]) -> set[str]:
    return {argument.partition("=")[0] for argument in arguments if argument.startswith("-")}


def parse_quotactl(arguments: list[str]) -> None:
    command: Any = typer.main.get_command(quotactl)
    while hasattr(command, "commands"):
        name, *arguments = arguments
        command = command.commands[name]
    command.make_context(command.name, arguments)  # Fails for what it does not take.


@cache
def cdk_options(subcommand: str) -> set[str]:
    """The options of a subcommand of the CDK CLI, which answers with a general help for one that it lacks."""
    shown = subprocess.run([CDK, subcommand, "--help"], capture_output=True, text=True, check=True).stdout
    assert shown.startswith(f"cdk {subcommand}"), shown[:200]
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", shown))


@cache
def aws_options(service: str, operation: str) -> set[str]:
    """The options of an operation in the AWS CLI, which are named after the API's parameters."""
    model = botocore.session.get_session().get_service_model(service)
    (name,) = (each for each in model.operation_names if xform_name(each, "-") == operation)
    shape = model.operation_model(name).input_shape
    assert shape is not None
    return {f"--{xform_name(member, '-')}" for member in shape.members}


def test_fails_for_a_command_that_quotactl_lacks() -> None:
    with pytest.raises((KeyError, click.ClickException)):
        parse_quotactl(["local", "sideways"])


def test_fails_for_an_option_that_aws_lacks() -> None:
    assert "--no-such-option" not in aws_options("batch", "list-quota-shares")
