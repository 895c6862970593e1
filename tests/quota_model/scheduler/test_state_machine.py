"""All events in any order: after each, the scheduler agrees with a plain reference and I1 to I15 hold."""

from __future__ import annotations

from random import Random

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.quota_model.scheduler import happenings as happens
from tests.quota_model.scheduler.world import World

CHANCE = st.randoms(use_true_random=False)


class SchedulerMachine(RuleBasedStateMachine):
    @initialize(random=CHANCE)
    def open(self, random: Random) -> None:
        self.world = World(happens.some_queue(random), happens.some_options(random))

    @rule(random=CHANCE)
    def submit(self, random: Random) -> None:
        happens.step(self.world, happens.submit, random)

    @rule(random=CHANCE)
    def submit_another(self, random: Random) -> None:
        happens.step(self.world, happens.submit, random)

    @rule(random=CHANCE)
    def start(self, random: Random) -> None:
        happens.step(self.world, happens.start, random)

    @rule(random=CHANCE)
    def end(self, random: Random) -> None:
        happens.step(self.world, happens.end, random)

    @rule(random=CHANCE)
    def retry(self, random: Random) -> None:
        happens.step(self.world, happens.retry, random)

    @rule(random=CHANCE)
    def complete_stop(self, random: Random) -> None:
        happens.step(self.world, happens.complete_stop, random)

    @rule(random=CHANCE)
    def terminate(self, random: Random) -> None:
        happens.step(self.world, happens.terminate, random)

    @rule(random=CHANCE)
    def expire_time_limit(self, random: Random) -> None:
        happens.step(self.world, happens.expire, random)

    @rule(random=CHANCE)
    def change_priority(self, random: Random) -> None:
        happens.step(self.world, happens.change_priority, random)

    @rule(random=CHANCE)
    def replace_share(self, random: Random) -> None:
        happens.step(self.world, happens.replace_share, random)

    @rule(random=CHANCE)
    def add_share(self, random: Random) -> None:
        happens.step(self.world, happens.add_share, random)

    @rule(random=CHANCE)
    def remove_share(self, random: Random) -> None:
        happens.step(self.world, happens.remove_share, random)

    @rule(random=CHANCE)
    def replace_environment(self, random: Random) -> None:
        happens.step(self.world, happens.replace_environment, random)

    @rule(random=CHANCE)
    def change_queue_state(self, random: Random) -> None:
        happens.step(self.world, happens.change_queue_state, random)

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
