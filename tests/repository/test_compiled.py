"""The wheel with the compiled scheduler decides what the sources decide, and is one only for those who ask for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from tools import compiled

ROOT = Path(__file__).parents[2]
SCHEDULER = Path("quota_model", "scheduler")

WHAT_IS_IMPORTED = """\
import json, pkgutil, sys
from importlib import import_module
import quota_model.scheduler as scheduler

names = [module.name for module in pkgutil.iter_modules(scheduler.__path__)]
files = [import_module(f"quota_model.scheduler.{name}").__file__ for name in names]
print(json.dumps({"files": files, "of_mypy": [name for name in sys.modules if name.startswith("mypy")]}))
"""


def modules() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    assert hook["enable-by-default"] is False
    return sorted(Path(module).stem for module in hook["modules"])


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of the compiled wheel: those of `make compiled`, or newly built."""
    if "COMPILED_PACKAGES" in os.environ:
        return ROOT / os.environ["COMPILED_PACKAGES"]
    if (reason := compiled.why_not()) is not None:
        pytest.skip(reason)
    return compiled.build(tmp_path_factory.mktemp("compiled"))


def python(packages: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = compiled.environment(packages) if packages else {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_modules_that_take_the_time_are_extensions_and_need_no_mypy(packages: Path) -> None:
    found = json.loads(python(packages, "-c", WHAT_IS_IMPORTED).stdout)
    extensions = [Path(file) for file in found["files"] if file.endswith(EXTENSION_SUFFIXES[0])]

    assert {path.parent for path in extensions} == {packages / SCHEDULER}
    assert sorted(path.name.partition(".")[0] for path in extensions) == modules()
    assert found["of_mypy"] == []


@pytest.mark.slow
def test_every_module_comes_with_its_source(packages: Path) -> None:
    for module in (ROOT / SCHEDULER).glob("*.py"):
        assert (packages / SCHEDULER / module.name).read_bytes() == module.read_bytes()


@pytest.mark.slow
def test_all_decisions_on_the_whole_trace_are_those_of_the_sources(packages: Path) -> None:
    digests = [python(where, "-m", "tests.quota_model.scheduler.digest", "82247").stdout for where in (packages, None)]

    assert re.fullmatch("[0-9a-f]{64}", digests[0])
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_the_compiled_scheduler_passes_the_scheduler_s_own_tests(packages: Path) -> None:
    """Neither the path of our pytest configuration nor the working directory may put the sources first."""
    suite = str(Path("tests") / SCHEDULER)
    result = python(
        packages, "-m", "pytest", "-q", "-o", "pythonpath=", "-p", "no:cacheprovider", "-p", "tests.compiled", suite
    )

    assert result.returncode == 0, result.stdout + result.stderr


def test_fails_to_compile_where_there_is_no_compiler_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")

    reason = compiled.why_not()

    assert reason is not None
    assert reason.startswith("it takes a C compiler and Python's headers (")
    assert "no-such-compiler" in reason
