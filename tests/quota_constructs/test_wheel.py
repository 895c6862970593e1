"""Another team's project, which has the built wheel and nothing else of this repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.conftest import PROJECT

pytestmark = pytest.mark.slow

APP = """
import aws_cdk as cdk
import quota_constructs
from quota_constructs import QuotaManagedQueue, ResourceSharing

app = cdk.App()
stack = cdk.Stack(app, "Team")
gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={"ml.g5.xlarge": 1})
gpus.add_quota_share("Vision", capacity_limits={"ml.g5.xlarge": 1}, resource_sharing=ResourceSharing.reserve())
app.synth()
print(quota_constructs.__file__)
"""


def run(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("dist")
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", directory, PROJECT, cwd=PROJECT)
    (built,) = directory.glob("*.whl")
    return built


def test_the_wheel_holds_the_packages_and_their_types_and_nothing_else(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"quota_model", "quota_constructs", "quotactl"}
    assert {name for name in names if name.endswith("py.typed")} == {
        f"{package}/py.typed" for package in ("quota_model", "quota_constructs", "quotactl")
    }


def test_another_project_synthesizes_a_stack_with_it(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    run("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", installed, wheel, cwd=tmp_path)
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    outdir = tmp_path / "cdk.out"
    printed = run("app.py", cwd=tmp_path, PYTHONPATH=str(installed), CDK_OUTDIR=str(outdir))

    assert Path(printed.strip()).is_relative_to(installed)
    template = json.loads((outdir / "Team.template.json").read_text(encoding="utf-8"))
    types = sorted(resource["Type"] for resource in template["Resources"].values())
    assert [kind for kind in types if kind.startswith("AWS::Batch::")] == [
        "AWS::Batch::JobQueue",
        "AWS::Batch::QuotaShare",
        "AWS::Batch::SchedulingPolicy",
        "AWS::Batch::ServiceEnvironment",
    ]
