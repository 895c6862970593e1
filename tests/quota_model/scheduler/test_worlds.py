"""Worlds of the long run: the same events as the state machine's, from fixed seeds."""

from __future__ import annotations

import pytest

from tests.quota_model.scheduler.long_run import run


@pytest.mark.parametrize("seed", range(24))
def test_worlds_of_the_long_run_stay_in_order(seed: int) -> None:
    run(seed, 200)
