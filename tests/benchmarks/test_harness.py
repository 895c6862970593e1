"""The benchmarks' harness; what it measures is no business of the tests."""

from __future__ import annotations

from benchmarks.__main__ import as_json, as_table, topics
from benchmarks.measurement import Measurement, fastest


def test_topics_are_the_modules_that_measure() -> None:
    assert "startup" in topics()
    assert {"measurement", "__main__"}.isdisjoint(topics())


def test_a_measurement_has_its_ratio_to_the_reference_of_the_same_run() -> None:
    (entry,) = as_json([("topic", Measurement("name", 3.0, "ms", 2.0, "reference", "at most twice", met=True))])

    assert entry == {
        "topic": "topic",
        "name": "name",
        "value": 3.0,
        "unit": "ms",
        "reference": 2.0,
        "against": "reference",
        "ratio": 1.5,
        "goal": "at most twice",
        "met": True,
    }


def test_a_measurement_against_nothing_has_no_ratio() -> None:
    assert Measurement("name", 3.0, "ms", 0.0, "nothing").ratio is None


def test_what_could_not_be_measured_says_why() -> None:
    missing = Measurement("name", None, "ms", None, "not measured: it takes a C compiler")

    (entry,) = as_json([("topic", missing)])
    (row,) = [list(column.cells) for column in as_table([("topic", missing)]).columns[-2:-1]]
    assert (entry["value"], entry["ratio"], entry["met"]) == (None, None, None)
    assert row == ["not measured: it takes a C compiler"]


def test_subjects_take_turns() -> None:
    turns: list[str] = []

    assert len(fastest(lambda: turns.append("a"), lambda: turns.append("b"), rounds=2)) == 2
    assert turns == ["a", "b", "a", "b"]
