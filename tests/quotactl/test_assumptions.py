from __future__ import annotations

from enum import Enum

import pytest

from quota_model.scheduler import HeadOfLine, SchedulerOptions, VictimOrder
from quotactl.assumptions import AssumptionError, pairs, with_assumptions
from quotactl.local.batch.options import LocalBatchOptions


def test_each_value_goes_to_the_options_that_have_its_name() -> None:
    values = pairs(["victim_order=newest", "head-of-line = per_unit", "borrow_unowned_capacity=yes"])
    values |= pairs(["default_scheduling_priority=7"])
    local, scheduler = with_assumptions(values, LocalBatchOptions(), SchedulerOptions())
    assert scheduler == SchedulerOptions(
        victim_order=VictimOrder.NEWEST, head_of_line=HeadOfLine.PER_UNIT, borrow_unowned_capacity=True
    )
    assert local == LocalBatchOptions(default_scheduling_priority=7)


def values_of_scheduler_options() -> list[tuple[str, str, object]]:
    """Every option with each of its values, as it is given and as it is then."""
    found: list[tuple[str, str, object]] = []
    for name, default in SchedulerOptions().to_json().items():
        if isinstance(default, Enum):
            found += [(name, str(value.value), value) for value in type(default)]
        else:
            found += [(name, "yes", True), (name, "no", False)]
    return found


@pytest.mark.parametrize(("name", "text", "value"), values_of_scheduler_options())
def test_every_option_of_the_scheduler_is_accepted_in_every_value(name: str, text: str, value: object) -> None:
    (options,) = with_assumptions(pairs([f"{name}={text}"]), SchedulerOptions())
    assert getattr(options, name) is value
    (options,) = with_assumptions(pairs([f"{name.replace('_', '-')}={text.upper()}"]), SchedulerOptions())
    assert getattr(options, name) is value


def test_without_values_the_defaults_stay() -> None:
    assert with_assumptions({}, SchedulerOptions()) == (SchedulerOptions(),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("victim_order", "give NAME=VALUE"),
        ("victims=newest", "there is no assumption 'victims'; there are .*victim_order"),
        ("victim_order=random", "give one of kueue, newest"),
        ("borrow_unowned_capacity=perhaps", "give yes or no"),
        ("default_scheduling_priority=-1", "a whole number"),
    ],
)
def test_fails_with_what_is_no_assumption(text: str, message: str) -> None:
    with pytest.raises(AssumptionError, match=message):
        with_assumptions(pairs([text]), LocalBatchOptions(), SchedulerOptions())
