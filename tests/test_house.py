"""Who may import whom: the three packages stay apart, so that each costs only what it needs."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# What a package may import besides the standard library and itself.
ALLOWED = {
    "quota_model": set(),
    "quota_constructs": {"quota_model", "aws_cdk", "constructs", "jsii"},
    "quotactl": {"quota_model", "boto3", "botocore", "typer", "rich", "yaml", "ministack", "hypercorn", "pytest"},
    "stacks": {"quota_constructs", "aws_cdk", "constructs"},
}
# The code of Lambda functions, which the constructs ship without importing it; boto3 is there where it runs.
FUNCTIONS = re.compile(r"quota_constructs/functions/")
# Imported where they are used, so that they cost nothing to start with.
LAZY = {"boto3", "botocore", "hypercorn", "ministack", "pytest", "rich", "yaml"}


def _modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def _imports(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_what_it_may(package: str) -> None:
    allowed = {package, *ALLOWED[package], *sys.stdlib_module_names}
    found = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules(package)
        if not FUNCTIONS.match(path.relative_to(ROOT).as_posix())
        for name in _imports(list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
        if name not in allowed
    }

    assert found == set()


def test_a_lambda_function_imports_only_what_lambda_has() -> None:
    allowed = {"boto3", "botocore", *sys.stdlib_module_names}
    found = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules("quota_constructs")
        if FUNCTIONS.match(path.relative_to(ROOT).as_posix())
        for name in _imports(list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
        if name not in allowed
    }

    assert found == set()


@pytest.mark.parametrize("module", ["quotactl/__main__.py", "quotactl/cli.py", "quotactl/check.py"])
def test_a_module_that_every_start_imports_has_nothing_heavy_at_its_top(module: str) -> None:
    """What they import in turn is seen by the tests of the command line, in a process of its own."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))

    assert set(_imports(list(tree.body))) & LAZY == set()


@pytest.mark.parametrize("package", ["quota_model", "quota_constructs", "quotactl"])
def test_a_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").exists()


@pytest.mark.parametrize("package", ["quota_model", "quota_constructs", "quotactl"])
def test_every_module_says_what_it_is_for(package: str) -> None:
    missing = [str(path) for path in _modules(package) if not ast.get_docstring(ast.parse(path.read_text()))]

    assert missing == []
