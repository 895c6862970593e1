"""All events in any order: after each, the scheduler agrees with a plain reference and I1 to I15 hold."""

from __future__ import annotations

from random import Random

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.quota_model.scheduler import world as w

CHANCE = st.randoms(use_true_random=False)


class SchedulerMachine(RuleBasedStateMachine):
    @initialize(random=CHANCE)
    def open(self, random: Random) -> None:
        self.world = w.World(w.some_queue(random), w.some_options(random))

    @rule(random=CHANCE)
    def submit(self, random: Random) -> None:
        w.step(self.world, w.submit, random)

    @rule(random=CHANCE)
    def submit_another(self, random: Random) -> None:
        w.step(self.world, w.submit, random)

    @rule(random=CHANCE)
    def start(self, random: Random) -> None:
        w.step(self.world, w.start, random)

    @rule(random=CHANCE)
    def end(self, random: Random) -> None:
        w.step(self.world, w.end, random)

    @rule(random=CHANCE)
    def retry(self, random: Random) -> None:
        w.step(self.world, w.retry, random)

    @rule(random=CHANCE)
    def complete_stop(self, random: Random) -> None:
        w.step(self.world, w.complete_stop, random)

    @rule(random=CHANCE)
    def terminate(self, random: Random) -> None:
        w.step(self.world, w.terminate, random)

    @rule(random=CHANCE)
    def expire_time_limit(self, random: Random) -> None:
        w.step(self.world, w.expire, random)

    @rule(random=CHANCE)
    def change_priority(self, random: Random) -> None:
        w.step(self.world, w.change_priority, random)

    @rule(random=CHANCE)
    def replace_share(self, random: Random) -> None:
        w.step(self.world, w.replace_share, random)

    @rule(random=CHANCE)
    def add_share(self, random: Random) -> None:
        w.step(self.world, w.add_share, random)

    @rule(random=CHANCE)
    def remove_share(self, random: Random) -> None:
        w.step(self.world, w.remove_share, random)

    @rule(random=CHANCE)
    def replace_environment(self, random: Random) -> None:
        w.step(self.world, w.replace_environment, random)

    @rule(random=CHANCE)
    def change_queue_state(self, random: Random) -> None:
        w.step(self.world, w.change_queue_state, random)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.decide()


SchedulerMachine.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestSchedulerMachine = SchedulerMachine.TestCase
