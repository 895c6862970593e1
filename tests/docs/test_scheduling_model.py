"""The pages on scheduling name every option, and tests that there are."""

from __future__ import annotations

import ast
import re
from enum import Enum
from pathlib import Path

import pytest

from quota_model.scheduler import SchedulerOptions
from tests.quota_model.scheduler.mutation_trial import DRAWN, MUTATIONS, NAMED

ROOT = Path(__file__).parents[2]
MODEL = (ROOT / "docs" / "scheduling-model.md").read_text(encoding="utf-8")
OPTIONS = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
NAMES = [line.name for line in SchedulerOptions().lines()]
RULES, HEADING, _ = MODEL.partition("## Choices that are no options\n")
MUTATION_ROWS = re.findall(r"^\| (.+) \| `(test_\w+)` \|$", MODEL, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_options_has_all_values_of_each_with_the_default_first(name: str) -> None:
    default = getattr(SchedulerOptions(), name)
    others = list(type(default)) if isinstance(default, Enum) else [True, False]
    values = [default, *(other for other in others if other != default)]
    shown = [{True: "yes", False: "no"}[it] if isinstance(it, bool) else it.value for it in values]

    (row,) = re.findall(rf"^\| `{name}` \| (.+?) \|", OPTIONS, re.MULTILINE)
    assert re.findall(r"`(\w+)`", row) == shown


def test_the_page_of_options_has_no_others() -> None:
    assert re.findall(r"^\| `(\w+)`", OPTIONS, re.MULTILINE) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_rules_name_the_option_that_changes_them(name: str) -> None:
    assert f"`{name}`" in RULES


def test_whatever_is_chosen_is_an_option_or_says_why_it_is_none() -> None:
    chosen = [tag for tag in re.findall(r"\*\((.*?)\)\*", RULES) if "chosen" in tag]

    assert HEADING
    assert len(chosen) > len(NAMES)
    for tag in chosen:
        assert set(re.findall(r"`(\w+)`", tag)) & set(NAMES) or "[chosen](#choices-that-are-no-options)" in tag


def test_the_table_of_broken_rules_is_that_of_the_trial() -> None:
    assert [rule for rule, _ in MUTATION_ROWS] == [mutation.rule for mutation in MUTATIONS]


def test_the_table_of_broken_rules_names_tests_that_there_are() -> None:
    folder = ROOT / "tests" / "quota_model" / "scheduler"
    files = [path for name in (*NAMED, *DRAWN) for path in folder.glob(f"test_{name}.py")]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    tests = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}

    assert [test for _, test in MUTATION_ROWS if test not in tests] == []
