"""What a foreign project gets when it installs the distribution."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from email import message_from_string
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow

APP = """\
import json, sys
from aws_cdk import App, Stack
import quota_constructs
from quota_constructs import QuotaManagedQueue, ResourceSharing

app = App(outdir=sys.argv[1])
stack = Stack(app, "Foreign")
gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 1})
gpus.add_quota_share("All", capacity_limits={"ml.g5.xlarge": 1}, resource_sharing=ResourceSharing.reserve())
loaded = sorted({"boto3", "typer", "rich", "yaml", "quotactl"} & set(sys.modules))
print(json.dumps({"from": quota_constructs.__file__, "loaded": loaded}))
app.synth()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    directory = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(directory), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = directory.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def foreign(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A foreign project's packages: the wheel, unpacked as an installer does, before everything else on the path."""
    directory = tmp_path_factory.mktemp("foreign") / "packages"
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--target", str(directory)]
    subprocess.run([*command, str(wheel)], check=True, capture_output=True)
    return directory


def _run(foreign: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(foreign), "CDK_VALIDATION": "false"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=foreign.parent, env=environment, check=True, capture_output=True, text=True
    ).stdout


def test_the_wheel_has_the_three_packages_their_types_and_the_license(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {
        "quota_model",
        "quota_constructs",
        "quotactl",
    }
    assert {f"{package}/py.typed" for package in ("quota_model", "quota_constructs", "quotactl")} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.endswith(".pyc")]


def test_the_wheel_is_for_every_python_and_machine(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(EXTENSION_SUFFIXES[0])]


def test_the_wheel_requires_three_packages_and_has_two_extras(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
    metadata = message_from_string(archive.read(name).decode())

    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(line.partition("<")[0].partition(">")[0] for line in required) == [
        "aws-cdk-lib",
        "constructs",
        "jsii",
    ]
    assert metadata.get_all("Provides-Extra") == ["cli", "local"]


def test_a_foreign_project_synthesizes_a_stack_and_judges_it(foreign: Path) -> None:
    result = json.loads(_run(foreign, "-c", APP, "cdk.out"))
    report = json.loads(_run(foreign, "-m", "quotactl", "check", "--json", "cdk.out"))

    assert Path(result["from"]).is_relative_to(foreign)
    assert result["loaded"] == []
    assert (report["errors"], report["warnings"]) == (0, 0)
    assert [share["quotaShareName"] for share in report["queues"][0]["design"]["quotaShares"]] == ["All"]
    template = json.loads((foreign.parent / "cdk.out" / "Foreign.template.json").read_text(encoding="utf-8"))
    types = sorted(resource["Type"] for resource in template["Resources"].values())
    assert [kind for kind in types if kind.startswith("AWS::Batch::")] == [
        "AWS::Batch::JobQueue",
        "AWS::Batch::QuotaShare",
        "AWS::Batch::SchedulingPolicy",
        "AWS::Batch::ServiceEnvironment",
    ]
