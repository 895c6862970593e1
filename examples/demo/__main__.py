"""Run the demo: ``make demo``, or ``python -m examples.demo`` from the repository.

With ``--picture FILE.svg`` it also draws what the terminal shows while capacity is lent, and the timeline at the end.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from examples.demo import scenario, screenshot
from examples.demo.picture import Story, picture, timeline
from examples.demo.watch import Watch
from quotactl.local.instance import InstanceError
from quotactl.local.running import RunningAws, running_local_aws

_STACK: Final = "ThreeQuota"
_SPEED: Final = 40
"""Seconds of the local clock in one real second: a training job of minutes takes seconds."""
_LOG_WIDTH: Final = 112
_ROOT: Final = Path(__file__).parents[2]
_CDK: Final = str(_ROOT / "node_modules/.bin/cdk")


class _CommandError(Exception):
    """A command failed; the message is its output."""


def main() -> int:
    """Deploy both stacks onto a local AWS, run the scenario there, and destroy them again."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=main.__doc__)
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help="draw what the terminal shows")
    file: Path | None = parser.parse_args().picture
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _LOG_WIDTH  # nobody wraps a log
    started = time.monotonic()
    try:
        with running_local_aws() as aws:
            shown = _demonstrate(console, aws)
        if file is not None:
            screenshot.save(file, *shown)
    except OSError as error:
        console.print(Text(f"\n{file} cannot be written ({error.strerror}); name a file that can", "bold red"))
        return 1
    except (InstanceError, _CommandError, scenario.OutcomeError) as error:
        console.print(Text(f"\nThe demo failed: {error}", "bold red"))
        return 1
    except KeyboardInterrupt:
        console.print("\nStopped; nothing is left running.")
        return 130
    console.print(f"[dim]Nothing is left running. {time.monotonic() - started:.0f} s[/dim]")
    return 0


def _demonstrate(console: Console, aws: RunningAws) -> tuple[RenderableType, ...]:
    """Show everything, and return what a picture of it shows."""
    console.print(Text(f"local AWS at {aws.instance.endpoint}, {_SPEED} times as fast as real time\n", "dim"))
    app = str(aws.instance.state / "cdk.out")

    def cdk(*arguments: str) -> None:
        _run(aws, [_CDK, *arguments, "--ci"])

    with _step(console, "cdk bootstrap, cdk synth"), ThreadPoolExecutor(2) as pool:
        # Away from cdk.json, bootstrap needs no app and does not synthesize a second time.
        bootstrap = [_CDK, "bootstrap", f"aws://{aws.account}/{aws.region}", "--ci"]
        for future in (
            pool.submit(_run, aws, bootstrap, aws.instance.state),
            pool.submit(cdk, "synth", "--all", "--quiet", "--output", app),
        ):
            future.result()
    with _step(console, "quotactl check"):
        _run(aws, [sys.executable, "-m", "quotactl", "check", app])
    with _step(console, "cdk deploy ThreeQuota TrainingPlan"):
        cdk("deploy", "--all", "--app", app, "--require-approval", "never")
    shown = _show_scenario(console, aws)
    with _step(console, "cdk destroy"):
        cdk("destroy", "--all", "--app", app, "--force")
    batch = aws.client("batch")
    if batch.describe_job_queues()["jobQueues"] or batch.list_scheduling_policies()["schedulingPolicies"]:
        raise scenario.OutcomeError("destroying the stacks left something behind")
    return shown


def _show_scenario(console: Console, aws: RunningAws) -> tuple[RenderableType, ...]:
    stack = aws.client("cloudformation").describe_stacks(StackName=_STACK)["Stacks"][0]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    batch, queue, unit = aws.client("batch"), outputs["JobQueueName"], outputs["InstanceType"]
    watch = Watch(batch, queue, lambda: int(aws.instance.control("GET", "instance")["now"]))
    story = Story()
    watch.look()
    lending: list[RenderableType] = []
    with Live(picture(watch, unit, story, console.width), console=console, refresh_per_second=10) as live:

        def show() -> None:
            live.update(picture(watch, unit, story, console.width))
            if not lending and any(share.lent for share in watch.shares) and story.lines[-1][2]:
                lending.append(picture(watch, unit, story, screenshot.WIDTH))

        scenario.run(batch, queue, unit, watch, story, show, lambda seconds: aws.advance(seconds * _SPEED))
        watch.look()
        show()
    console.print(timeline(watch, console.width))
    return (*lending, timeline(watch, screenshot.WIDTH))


@contextmanager
def _step(console: Console, name: str) -> Iterator[None]:
    started = time.monotonic()
    with console.status(name):
        yield
    console.print(f"  [green]✓[/green] {name} [dim]{time.monotonic() - started:.1f} s[/dim]")


def _run(aws: RunningAws, command: list[str], directory: Path = _ROOT) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            env=aws.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except OSError as error:
        raise _CommandError(f"{command[0]} cannot be run ({error.strerror}); run: make setup") from None
    if done.returncode:
        raise _CommandError(f"{' '.join(command)}\n\n{done.stdout}")


if __name__ == "__main__":
    sys.exit(main())
