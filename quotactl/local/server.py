"""The server process of the local AWS: ``python -m quotactl.local.server`` with its settings as JSON.

Started by :mod:`quotactl.local.instance`; users start it with ``quotactl local up``.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quota_model.scheduler import SchedulerOptions
from quotactl.assumptions import with_assumptions
from quotactl.local.aws import LocalAws
from quotactl.local.batch.options import LocalBatchOptions
from quotactl.local.clock import Clock
from quotactl.local.training.behaviour import Behaviours, JobBehaviour

__all__ = ["Settings", "serve"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How one local AWS is served.

    :param port: on 127.0.0.1; never another address.
    :param socket: the file descriptor of the socket that listens on the port.
    :param speed: seconds of the local clock in one real second; at 0 it stands still until it is advanced.
    :param state: a directory for everything that it writes.
    :param behaviour: what jobs do unless told otherwise, as :class:`JobBehaviour` reads it.
    """

    port: int
    socket: int
    state: str
    speed: float = 1.0
    account: str = "123456789012"
    region: str = "us-east-1"
    behaviour: dict[str, Any] | None = None
    assumptions: dict[str, Any] | None = None
    """Values of :class:`LocalBatchOptions` and :class:`SchedulerOptions`, by name."""
    follows_starter: bool = False
    """Whether it ends when who started it does: when nobody holds the other end of its standard input any more."""


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, and leave neither files nor processes behind."""
    from quotactl.local import ministack_hooks

    ministack_hooks.configure(settings.port, settings.account, settings.region, Path(settings.state))
    default = JobBehaviour.from_json(settings.behaviour or {})
    events = ministack_hooks.Events()
    batch, scheduler = with_assumptions(settings.assumptions or {}, LocalBatchOptions(), SchedulerOptions())
    aws = LocalAws(Clock(settings.speed), events.send, batch, scheduler, Behaviours(default))
    ministack_hooks.install(aws)
    aws.clock.start()
    try:
        asyncio.run(_serve(aws, events, settings))
    finally:
        aws.clock.stop()
        shutil.rmtree(settings.state, ignore_errors=True)
        _end_own_processes()


def _end_own_processes() -> None:
    """End what the server has started, such as the process of a Lambda function: they are in its process group."""
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)


async def _serve(aws: LocalAws, events: Any, settings: Settings) -> None:
    from hypercorn.asyncio import serve as serve_asgi
    from hypercorn.config import Config
    from ministack.app import app

    from quotactl.local.front import in_front_of

    loop = asyncio.get_running_loop()
    events.loop = loop
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    if settings.follows_starter:
        loop.add_reader(sys.stdin.fileno(), stopped.set)  # readable at its end alone: nobody writes there
    config = Config()
    config.bind = [f"fd://{settings.socket}"]
    config.graceful_timeout = 0.2
    config.shutdown_timeout = 0.5
    config.loglevel = "WARNING"
    instance = {
        key: value for key, value in asdict(settings).items() if key not in ("behaviour", "follows_starter", "socket")
    }
    application: Any = in_front_of(app, aws, instance)
    await serve_asgi(application, config, shutdown_trigger=stopped.wait)


if __name__ == "__main__":
    serve(Settings(**json.loads(sys.argv[1])))
