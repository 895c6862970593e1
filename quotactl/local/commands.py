"""``quotactl local``: start, use and stop the local AWS."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(
    name="local",
    help="AWS on your machine: deploy, submit and preempt without an account.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)

_Port = Annotated[int, typer.Option(help="The port on 127.0.0.1.")]
_DEFAULT_PORT = 4566


def _failed(message: str) -> typer.Exit:
    typer.echo(f"quotactl local: {message}", err=True)
    return typer.Exit(2)


@app.command()
def up(
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 takes a free one.")] = _DEFAULT_PORT,
    speed: Annotated[float, typer.Option(help="Seconds of its clock in one real second; 0 stands still.")] = 1.0,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Return when it runs.")] = False,
    account: Annotated[str, typer.Option(help="The account number it plays.")] = "123456789012",
    region: Annotated[str, typer.Option(help="The Region it plays unless a client names another.")] = "us-east-1",
    assume: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="What it does where AWS is silent, such as victim_order=newest."),
    ] = None,
) -> None:
    """Start the local AWS, and stop it at Ctrl-C unless detached."""
    from quota_model.scheduler import SchedulerOptions
    from quotactl.assumptions import AssumptionError, pairs, with_assumptions
    from quotactl.local.batch.options import LocalBatchOptions
    from quotactl.local.clock import FASTEST
    from quotactl.local.instance import Instance, InstanceError

    if not 0 <= speed <= FASTEST:
        raise _failed(f"--speed is {speed:g}; give 0 (the clock stands still) to {FASTEST}")
    if not 0 <= port < 65536:
        raise _failed(f"--port {port} is no port; give 1 to 65535, or 0 for a free one")
    if not re.fullmatch("[0-9]{12}", account):
        raise _failed(f"--account {account} is no account number; give 12 digits")
    if not re.fullmatch("[a-z]+(-[a-z]+)+-[0-9]+", region):
        raise _failed(f"--region {region} is no Region; give one such as us-east-1")
    told = threading.Event()
    if not detach:
        _exit_when_told(told)
    try:
        assumptions = pairs(assume or [])
        with_assumptions(assumptions, LocalBatchOptions(), SchedulerOptions())
        instance = Instance.start(
            port, speed=speed, account=account, region=region, assumptions=assumptions, detached=detach
        )
    except (AssumptionError, InstanceError) as error:
        raise _failed(str(error)) from None
    try:
        where = "" if instance.port == _DEFAULT_PORT else f" --port {instance.port}"
        typer.echo(f"local AWS at {instance.endpoint}, account {account}, {region}, speed {speed:g}")
        typer.echo(f"  use it:   quotactl local exec{where} -- npx cdk deploy --all")
        typer.echo(f"  stop it:  quotactl local down{where}" if detach else "  stop it:  Ctrl-C")
        if not detach:
            instance.wait(told.is_set)
    finally:
        if not detach:
            instance.stop()


def _exit_when_told(told: threading.Event) -> None:
    """Let Ctrl-C, the end of the terminal and SIGTERM end this process in order, wherever it just is.

    What comes after the first of them is ignored, since the end is under way. ``told`` is for the rare place where
    Python drops what a signal raises, such as a finalizer.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def end(*_: object) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        told.set()
        sys.exit(0)

    for number in numbers:
        signal.signal(number, end)


@app.command()
def down(port: _Port = _DEFAULT_PORT) -> None:
    """Stop the local AWS and forget all that is in it."""
    from quotactl.local.instance import Instance, InstanceError

    try:
        Instance.find(port).stop()
    except InstanceError as error:
        raise _failed(str(error)) from None
    typer.echo(f"local AWS on port {port} stopped")


@app.command("exec", context_settings={"allow_interspersed_args": False})
def execute(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")], port: _Port = _DEFAULT_PORT
) -> None:
    """Run a command on the local AWS, such as: quotactl local exec -- npx cdk deploy --all."""
    from quotactl.local.environment import with_environment
    from quotactl.local.instance import Instance, InstanceError

    try:
        environment = with_environment(Instance.find(port))
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and no other program expects that
            signal.signal(number, signal.SIG_DFL)
        # In place of this process: signals, the terminal and the exit code are the command's own.
        os.execvpe(command[0], command, environment)  # noqa: S606
    except InstanceError as error:
        raise _failed(str(error)) from None
    except (OSError, ValueError) as error:
        raise _failed(f"{command[0]!r} cannot be run: {getattr(error, 'strerror', None) or error}") from None


@app.command()
def env(port: _Port = _DEFAULT_PORT) -> None:
    """Print the exports that make a shell use the local AWS: eval "$(quotactl local env)"."""
    from quotactl.local.environment import exports
    from quotactl.local.instance import Instance, InstanceError

    try:
        typer.echo(exports(Instance.find(port)))
    except InstanceError as error:
        raise _failed(str(error)) from None


@app.command()
def advance(
    seconds: Annotated[float, typer.Argument(help="How far to move its clock on.")], port: _Port = _DEFAULT_PORT
) -> None:
    """Move the local AWS's clock on at once; what falls due on the way happens."""
    from quotactl.local.instance import Instance, InstanceError

    try:
        Instance.find(port).control("POST", "clock", {"advanceSeconds": seconds})
    except InstanceError as error:
        raise _failed(str(error)) from None
