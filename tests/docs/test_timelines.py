"""The pictures of the concepts show what their captions say."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from tools.timelines import SCENARIOS, run, timeline


def story(name: str) -> list[str]:
    return [f"{at // 60_000} {sentence}" for at, sentence in run(SCENARIOS[name]).said]


def test_idle_capacity_is_lent_and_reserved_capacity_is_not() -> None:
    happened = story("lending")

    assert "1 two starts on borrowed capacity" in happened
    assert "10 three starts on borrowed capacity" in happened  # Not at 1, though reserved was idle.
    assert not [sentence for sentence in happened if "stopped" in sentence]


def test_what_is_lent_is_taken_back_from_the_borrower_with_the_lower_priority() -> None:
    happened = story("reclaiming")

    assert "8 two, which borrows, is stopped for daily" in happened
    assert "10 daily starts on what standard owns" in happened
    assert "18 two starts on borrowed capacity" in happened


def test_a_raised_priority_takes_the_place_of_a_lower_one() -> None:
    happened = story("in-share-preemption")

    assert "11 sweep, which has a lower priority, is stopped for fix" in happened
    assert "23 sweep starts on what background owns" in happened


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_instance_is_used_twice_at_once(name: str) -> None:
    scenario = SCENARIOS[name]
    bars = [bar for bar in run(scenario).bars if bar.kind != "waits"]

    for moment in range(0, run(scenario).end, 60_000):
        busy = [bar for bar in bars if bar.start <= moment < (bar.end or 0)]
        assert len(busy) <= len(scenario.sharing)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_picture_tells_in_words_what_it_shows(name: str) -> None:
    drawn = ElementTree.fromstring(timeline(SCENARIOS[name]))

    space = "{http://www.w3.org/2000/svg}"
    assert drawn.findtext(f"{space}title") == SCENARIOS[name].title
    told = drawn.findtext(f"{space}desc") or ""
    assert all(sentence in told for _, sentence in run(SCENARIOS[name]).said)
