from __future__ import annotations

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
