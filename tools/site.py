"""The pages and pictures of the site that come from the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from quota_model.rules import CATALOGUE, Rule
from quota_model.scheduler import HeadOfLine, Rounding, SchedulerOptions, VictimOrder
from tools.timelines import SCENARIOS, timeline

__all__ = ["generated_pages"]

DOCS: Final = Path(__file__).parent.parent / "docs"
_CHOICES: Final = {"head_of_line": HeadOfLine, "victim_order": VictimOrder, "borrow_limit_rounding": Rounding}


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
    rows = [
        f"| `{line.name}` | `{line.value}`{_others(line.name)} | {line.tag} | {line.summary} |"
        for line in SchedulerOptions().lines()
    ]
    return "\n".join(
        [
            "# Where AWS is silent",
            "",
            "AWS publishes the rules of its scheduler in prose, and some of them not at all. Where this project's "
            "scheduler had to decide,",
            "the decision is an option with a name, shown at the foot of every report. *Inferred* is what AWS's text "
            "or samples imply,",
            "*chosen* what nothing implies. All rules, with what each rests on: [how it schedules](../scheduling-model.md).",
            "",
            "| option | default, others | | what it decides |",
            "|---|---|---|---|",
            *rows,
            "",
            "What each value means, and how to give them: [`SchedulerOptions`](model.md"
            "#quota_model.scheduler.options.SchedulerOptions).",
            "",
        ]
    )


def _others(name: str) -> str:
    default = getattr(SchedulerOptions(), name)
    choices = _CHOICES.get(name)
    others = (
        [str(choice) for choice in choices if choice != default] if choices else [{True: "no", False: "yes"}[default]]
    )
    return "".join(f", `{other}`" for other in others)
