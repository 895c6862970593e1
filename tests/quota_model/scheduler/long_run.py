"""The long version of the state machine, by hand: ``python -m tests.quota_model.scheduler.long_run --steps 1000000``."""

from __future__ import annotations

import argparse
import sys
import time
from random import Random

from tests.quota_model.scheduler.happenings import CONFIGURATION, OFTEN, SELDOM, some_options, some_queue, step
from tests.quota_model.scheduler.world import World


def run(seed: int, steps: int) -> None:
    """Take one world through some steps; the configuration changes in two worlds of three."""
    random = Random(seed)
    world = World(some_queue(random), some_options(random))
    makers = OFTEN * 3 + SELDOM + (CONFIGURATION if seed % 3 else ())
    for _ in range(steps):
        step(world, random.choice(makers), random)
    world.decide()


def main() -> int:
    """Run worlds of 200 steps until the steps are done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    begin = time.monotonic()
    for index in range(0, arguments.steps, 200):
        seed = arguments.seed + index // 200
        try:
            run(seed, 200)
        except Exception:
            print(f"the world of seed {seed} fails: --seed {seed} --steps 200", flush=True)  # noqa: T201
            raise
        if index % 20_000 == 0:
            print(f"{index + 200} steps, {time.monotonic() - begin:.0f} s", flush=True)  # noqa: T201
    print(f"{arguments.steps} steps clean")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
