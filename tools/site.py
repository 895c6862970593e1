"""The pages and pictures of the site that come from the code."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Final

from quota_model.rules import CATALOGUE, Rule
from quota_model.scheduler import SchedulerOptions
from tools.timelines import SCENARIOS, timeline

__all__ = ["generated_pages"]

DOCS: Final = Path(__file__).parent.parent / "docs"
_FIRST_OPTIONS: Final = {
    "head_of_line": "Whose turn it is",
    "borrow_unowned_capacity": "What is borrowed, and by whom",
    "victim_order": "Who has to go",
    "heads_pay_off_debts": "When the configuration changes",
    "front_of_queue_order": "What is shown",
}
"""The heading before each option that begins a group."""


def generated_pages() -> dict[Path, str]:
    """Return what each file of the site that is generated should hold."""
    pictures = {DOCS / "images" / f"{name}.svg": timeline(scenario) for name, scenario in SCENARIOS.items()}
    reference = DOCS / "reference"
    return {**pictures, reference / "rules.md": _rules_page(), reference / "options.md": _options_page()}


def _rules_page() -> str:
    rows = [
        f"| `{rule.id}` | {rule.severity} | {rule.summary}<br><small>{_source(rule)}</small> |" for rule in CATALOGUE
    ]
    return "\n".join(
        [
            "# Rules",
            "",
            "The constructs, `quotactl check` and the local AWS ask this one catalogue. An error is what AWS refuses, "
            "or what can never work;",
            "a warning is legal, and probably not meant. CDK shows a rule as `quota-constructs:<rule>`. An error "
            "raises `RefusedDesignError`",
            "where the construct is defined; a warning is silenced for a construct and all in it by",
            "",
            "```python",
            "from aws_cdk import Acknowledgment, App, Stack, Validations",
            "",
            "app = App()",
            'stack = Stack(app, "Gpus")',
            "Validations.of(stack).acknowledge(",
            '    Acknowledgment(id="quota-constructs:nobody-lends", reason="a lender joins next month")',
            ")",
            "```",
            "",
            "| rule | severity | why, and where that is said |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _source(rule: Rule) -> str:
    """Return where a rule comes from, with the name of a page instead of its address."""
    return re.sub(r"https://\S+?/([\w.-]+?)(?:\.html)?(?=[;,\s]|$)", r"[\1](\g<0>)", rule.source)


def _options_page() -> str:
    return "\n".join(
        [
            "# Where AWS is silent",
            "",
            "AWS publishes the rules of its scheduler in prose, and some of them not at all. Where this project's "
            "scheduler had to decide,",
            "the decision is an option with a name and a default. *Inferred* is what AWS's text or samples imply,",
            "*chosen* what nothing implies. All rules, with what each rests on, and the choices that are no options: "
            "[how it schedules](../scheduling-model.md).",
            *_options_tables(),
            "",
            "What each value means: [`SchedulerOptions`](model.md#quota_model.scheduler.options.SchedulerOptions). "
            "The [local AWS](../guides/local-aws.md) takes",
            "them on its command line: `quotactl local up --assume visit_order=round_robin`.",
            "",
        ]
    )


def _options_tables() -> list[str]:
    lines = []
    for line in SchedulerOptions().lines():
        if line.name in _FIRST_OPTIONS:
            lines += ["", f"## {_FIRST_OPTIONS[line.name]}", ""]
            lines += ["| option | default, others | | what it decides |", "|---|---|---|---|"]
        values = ", ".join(f"`{value}`" for value in _values(line.name))
        lines.append(f"| `{line.name}` | {values} | {line.tag} | {line.summary} |")
    return lines


def _values(name: str) -> list[str]:
    """Return what an option can be, its default first."""
    default = getattr(SchedulerOptions(), name)
    if isinstance(default, Enum):
        return [str(default), *(str(choice) for choice in type(default) if choice is not default)]
    return ["yes", "no"] if default else ["no", "yes"]
