from __future__ import annotations

import json
from typing import Any

import pytest

from quotactl.local.training.behaviour import BehaviourError, Behaviours, JobBehaviour


def with_variable(value: object) -> dict[str, Any]:
    return {"Environment": {"QUOTACTL_LOCAL": value if isinstance(value, str) else json.dumps(value)}}


def test_a_job_first_finds_no_capacity_then_fails_then_succeeds() -> None:
    behaviour = JobBehaviour(capacity_shortages=2, failures=1, failure_reason="AlgorithmError: no")
    attempts = [behaviour.attempt(shortages, failures) for shortages, failures in ((0, 0), (1, 0), (2, 0), (2, 1))]
    assert [attempt.capacity_shortage for attempt in attempts] == [True, True, False, False]
    assert [attempt.failure for attempt in attempts] == [None, None, "AlgorithmError: no", None]


def test_seconds_become_milliseconds_of_the_clock() -> None:
    assert JobBehaviour(training_seconds=1.5).attempt().training == 1500


def test_what_is_left_out_stays_as_it_was() -> None:
    base = JobBehaviour(training_seconds=7, failures=3)
    assert JobBehaviour.from_json({"failures": 1}, base) == JobBehaviour(training_seconds=7, failures=1)


def test_its_json_form_comes_back_equal() -> None:
    behaviour = JobBehaviour(1, 2, 3, 4, 5, 6, "reason", 7)
    assert JobBehaviour.from_json(behaviour.to_json()) == behaviour


def test_the_latest_pattern_that_matches_the_name_counts() -> None:
    behaviours = Behaviours()
    behaviours.set("*", {"trainingSeconds": 1})
    behaviours.set("sweep-*", {"trainingSeconds": 2})
    behaviours.set("sweep-?", {"trainingSeconds": 3})
    found = [behaviours.of_job(name, {}).training_seconds for name in ("other", "sweep-12", "sweep-1")]
    assert found == [1, 2, 3]


def test_the_variable_goes_before_the_pattern() -> None:
    behaviours = Behaviours()
    behaviours.set("*", {"trainingSeconds": 1, "failures": 2})
    behaviour = behaviours.of_job("job", with_variable({"trainingSeconds": 9}))
    assert (behaviour.training_seconds, behaviour.failures) == (9, 2)


@pytest.mark.parametrize(
    "request_without", [{}, {"Environment": {}}, {"Environment": None}, {"Environment": {"X": "y"}}]
)
def test_a_request_without_the_variable_has_the_default(request_without: dict[str, Any]) -> None:
    assert Behaviours().of_job("job", request_without) == JobBehaviour()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{", "is not JSON"),
        ([], "is a JSON object"),
        ({"training": 1}, "has no 'training'"),
        ({"trainingSeconds": "long"}, "trainingSeconds is 'long'"),
        ({"trainingSeconds": -1}, "trainingSeconds is -1"),
        ({"trainingSeconds": True}, "trainingSeconds is True"),
        ({"failures": 1.5}, "a whole number"),
        ({"failureReason": 1}, "give a text"),
    ],
)
def test_fails_on_what_is_no_behaviour(value: object, message: str) -> None:
    with pytest.raises(BehaviourError, match=message):
        Behaviours().of_job("job", with_variable(value))
