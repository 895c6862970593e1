from __future__ import annotations

import threading

import pytest

from quotactl.local.clock import Clock


class Wall:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_time_passes_speed_times_as_fast_as_on_the_wall() -> None:
    wall = Wall()
    clock = Clock(60, start=1000, wall=wall)
    wall.seconds = 2.5
    assert clock.now() == 1000 + 150_000


def test_at_speed_zero_time_stands_still_until_it_is_advanced() -> None:
    wall = Wall()
    clock = Clock(0, start=5, wall=wall)
    wall.seconds = 1e6
    assert clock.now() == 5
    assert clock.advance(10) == 15
    assert clock.now() == 15


def test_what_falls_due_while_advancing_happens_in_order_and_at_its_time() -> None:
    clock = Clock(0, start=0)
    happened: list[tuple[str, int]] = []
    clock.call_at(20, lambda: happened.append(("late", clock.now())))
    clock.call_at(10, lambda: happened.append(("early", clock.now())))
    clock.call_at(10, lambda: happened.append(("early too", clock.now())))
    clock.call_at(31, lambda: happened.append(("later", clock.now())))
    clock.advance(30)
    assert happened == [("early", 10), ("early too", 10), ("late", 20)]


def test_what_happens_while_advancing_can_make_more_happen() -> None:
    clock = Clock(0, start=0)
    times: list[int] = []

    def again() -> None:
        times.append(clock.now())
        clock.call_at(clock.now() + 10, again)

    clock.call_at(0, again)
    clock.advance(35)
    assert times == [0, 10, 20, 30]


def test_a_cancelled_timer_does_not_fire() -> None:
    clock = Clock(0, start=0)
    happened: list[int] = []
    clock.call_at(1, lambda: happened.append(1)).cancel()
    clock.advance(10)
    assert happened == []


def test_a_turn_sees_one_instant_after_everything_that_was_due() -> None:
    wall = Wall()
    clock = Clock(1, start=0, wall=wall)
    happened: list[int] = []
    clock.call_at(500, lambda: happened.append(clock.now()))
    wall.seconds = 1
    with clock.turn() as instant:
        wall.seconds = 2
        assert happened == [500]
        assert (instant, clock.now()) == (1000, 1000)
        with clock.turn() as inner:
            assert inner == 1000
    assert clock.now() == 2000


def test_a_started_clock_runs_timers_by_itself() -> None:
    clock = Clock(1000)
    fired = threading.Event()
    clock.start()
    try:
        clock.call_at(clock.now() + 5000, fired.set)
        assert fired.wait(60)
    finally:
        clock.stop()


def test_what_is_due_in_ten_thousand_years_does_not_keep_the_rest_from_happening() -> None:
    clock = Clock(1)
    clock.call_at(clock.now() + 10_000 * 365 * 86_400_000, lambda: None)
    fired = threading.Event()
    clock.start()
    try:
        clock.call_at(clock.now() + 1, fired.set)
        assert fired.wait(60)
    finally:
        clock.stop()


def test_turns_of_different_threads_do_not_mix() -> None:
    clock = Clock(0, start=0)
    inside = []
    seen = []

    def work() -> None:
        for _ in range(200):
            with clock.turn():
                inside.append(1)
                seen.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) == {1}


@pytest.mark.parametrize("speed", [-1, float("nan"), float("inf"), 1e9])
def test_fails_at_a_speed_that_no_clock_has(speed: float) -> None:
    with pytest.raises(ValueError, match="cannot run at speed"):
        Clock(speed)


def test_fails_to_run_backwards() -> None:
    with pytest.raises(ValueError, match="cannot go back"):
        Clock(0).advance(-1)
