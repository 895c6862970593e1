"""The options themselves: what a report, and JSON, say of them."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest

from quota_model.scheduler import SchedulerOptions, Tag, VictimOrder

NAMES = [field.name for field in fields(SchedulerOptions)]


@pytest.mark.parametrize("name", NAMES)
def test_every_option_says_how_certain_its_default_is_and_what_it_decides(name: str) -> None:
    (line,) = (line for line in SchedulerOptions().lines() if line.name == name)
    assert line.is_default
    assert line.tag in (Tag.INFERRED, Tag.CHOSEN), "what AWS documents is no option"
    assert line.summary.partition(" ")[0] in ("which", "whether", "how", "in"), "it completes: the option decides ..."


def test_options_print_themselves_with_their_tags() -> None:
    options = SchedulerOptions(victim_order=VictimOrder.OLDEST, spare_victims=False)
    lines = {line.name: line for line in options.lines()}
    assert lines["head_of_line"].is_default
    assert lines["head_of_line"].tag is Tag.INFERRED
    assert not lines["victim_order"].is_default
    assert str(options).count("\n") == len(NAMES) - 1
    assert "victim_order = oldest (chosen, not the default)" in str(options)
    assert "spare_victims = no (chosen, not the default)" in str(options)
    assert "start_on_free_machines = no (chosen): " in str(options)


def test_options_are_plain_values_in_json() -> None:
    assert SchedulerOptions().to_json().keys() == set(NAMES)
    assert SchedulerOptions().to_json()["visit_order"] == "submitted"
    assert SchedulerOptions().to_json()["spare_victims"] is True


def test_a_choice_may_be_given_by_its_value() -> None:
    assert SchedulerOptions(victim_order="newest") == SchedulerOptions(victim_order=VictimOrder.NEWEST)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"visit_order": "alphabet"}, "visit_order is 'alphabet'; give one of submitted, at_head, round_robin"),
        ({"head_of_line": None}, "head_of_line is None; give one of strict, per_unit, best_effort"),
        ({"spare_victims": "no"}, "spare_victims is 'no'; give True or False"),
        ({"disabled_shares_lend": 1}, "disabled_shares_lend is 1; give True or False"),
    ],
)
def test_fails_for_a_value_that_an_option_does_not_take(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        SchedulerOptions(**values)
