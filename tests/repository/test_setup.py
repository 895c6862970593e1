"""What ``make`` sets up, and what it says where it cannot."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _new_venv(tmp_path: Path, **pythons: str) -> subprocess.CompletedProcess[str]:
    """Run .ci/new-venv where there are no other commands than these scripts and a shell's own."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, script in {**pythons, "rm": 'exec /bin/rm "$@"', "cat": 'exec /bin/cat "$@"'}.items():
        (commands / name).write_text(f"#!/bin/sh\n{script}\n")
        (commands / name).chmod(0o755)
    return subprocess.run(
        [ROOT / ".ci" / "new-venv", tmp_path / "venv"],
        env={"PATH": str(commands)},
        capture_output=True,
        text=True,
        check=False,
    )


TOO_OLD = "exit 1"
WITHOUT_VENV = 'case "$1" in -c) exit 0;; esac; echo "No module named venv" >&2; exit 1'
GOOD = f'exec {sys.executable} "$@"'


def test_fails_without_a_python_that_is_new_enough(tmp_path: Path) -> None:
    result = _new_venv(tmp_path, python3=TOO_OLD)

    assert result.returncode == 1
    assert result.stderr.startswith("no Python 3.11 or newer found; install one, or name it: make PYTHON=")
    assert not (tmp_path / "venv").exists()


def test_fails_where_python_cannot_make_environments_and_leaves_nothing(tmp_path: Path) -> None:
    result = _new_venv(tmp_path, python3=WITHOUT_VENV)

    assert result.returncode == 1
    assert "No module named venv" in result.stderr
    assert "install its venv module (Debian: python3-venv)" in result.stderr
    assert list(tmp_path.glob("venv*")) == []


def test_a_newer_python_beside_one_that_is_too_old_is_found(tmp_path: Path) -> None:
    result = _new_venv(tmp_path, **{"python3": TOO_OLD, "python3.12": GOOD})

    assert result.returncode == 0, result.stderr
    assert (tmp_path / "venv" / "bin" / "python").exists()


@pytest.mark.parametrize("file", ["constraints.txt", "package.json", "package-lock.json", "pyproject.toml"])
def test_no_file_that_pins_names_a_registry(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")

    assert re.findall(r"https?://\S+|--index-url|--find-links|\"resolved\"", text) == []


def test_every_package_of_the_environment_is_pinned() -> None:
    pins = dict(line.split("==") for line in _lines("constraints.txt"))
    pinned = {_normal(name): version for name, version in pins.items()}
    installed = distributions(path=[sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    found = {_normal(found.name): found.version for found in installed}
    not_pinned = {name for name, version in found.items() if pinned.get(name) != version}

    assert not_pinned <= {"pip", "quota-constructs"}


def _lines(file: str) -> list[str]:
    text = (ROOT / file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_cdk_cli_is_pinned_exactly() -> None:
    pinned = json.loads((ROOT / "package.json").read_text())["devDependencies"]["aws-cdk"]
    locked = json.loads((ROOT / "package-lock.json").read_text())["packages"]["node_modules/aws-cdk"]["version"]

    assert pinned == locked == "2.1148.1"


def test_continuous_integration_runs_what_the_readme_says() -> None:
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]

    assert run == "exec make test"
    assert "\nmake test\n" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_who_imports_the_constructs_pays_for_three_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    names = [re.split(r"[<>=]", requirement)[0] for requirement in project["dependencies"]]
    assert names == ["aws-cdk-lib", "constructs", "jsii"]


def test_the_feature_flags_are_those_that_the_cdk_recommends() -> None:
    """The library itself says which: the report that it writes into an assembly compares them with ours."""
    import aws_cdk as cdk

    context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    directory = Path(cdk.App(context=context).synth().directory)
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    report = manifest["artifacts"]["aws-cdk-lib/feature-flag-report"]["properties"]["flags"]
    differing = {
        name
        for name, flag in report.items()
        if flag.get("userValue", flag.get("unconfiguredBehavesLike", {}).get("v2", False)) != flag["recommendedValue"]
    }

    assert differing == set()
    assert context["@aws-cdk/core:validateAgainstDefaultRules"] is True
    assert context["@aws-cdk/core:annotationsInValidationReport"] is True
