"""Starting, finding and stopping a local AWS on this machine.

Each instance has a directory of its own in the user's temporary directory, named after its port. It holds what the
server writes, its log and ``instance.json``, and is removed when the instance stops.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import socket
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, Self

from quotactl.local.front import CONTROL
from quotactl.local.processes import is_alive, is_server, launch
from quotactl.local.server import Settings

__all__ = ["DEFAULT_PORT", "Instance", "InstanceError"]

DEFAULT_PORT: Final = 4566
_START_SECONDS: Final = 60
_STOP_SECONDS: Final = 10
_POLL_SECONDS: Final = 0.05


class InstanceError(Exception):
    """A local AWS that cannot be started, found or stopped; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A local AWS that runs."""

    port: int
    pid: int
    state: Path
    account: str
    region: str
    speed: float

    @property
    def endpoint(self) -> str:
        """The URL of every service."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.state / "log"

    @classmethod
    def start(
        cls,
        port: int = DEFAULT_PORT,
        *,
        speed: float = 1.0,
        account: str = "123456789012",
        region: str = "us-east-1",
        behaviour: dict[str, Any] | None = None,
        assumptions: dict[str, Any] | None = None,
        detached: bool = False,
    ) -> Self:
        """Start a local AWS in the background and return it when it answers.

        :param port: on 127.0.0.1; 0 takes a free one.
        :param assumptions: what it does where AWS is silent, by the names of ``LocalBatchOptions`` and
            ``SchedulerOptions``.
        :param detached: whether it goes on when the process that starts it has ended.
        :raises InstanceError: if the port is taken, ministack is not installed, or the server does not start.
        """
        _require_ministack()
        with _listen(port) as listening:
            port = listening.getsockname()[1]
            state = _new_directory(port)
            settings = Settings(
                port, listening.fileno(), str(state), speed, account, region, behaviour, assumptions, not detached
            )
            instance = None
            try:
                instance = cls(port, launch(settings), state, account, region, speed)
                (state / "instance.json").write_text(json.dumps(instance._to_json()))
                listening.close()  # the server alone has it now: when it dies, nobody listens
                instance._wait_until_it_answers()
            except BaseException as error:
                last_words = _last_words(state)
                if instance is not None:
                    instance.stop()
                shutil.rmtree(state, ignore_errors=True)
                if isinstance(error, InstanceError):
                    raise InstanceError(": ".join([str(error), *last_words])) from None
                raise
        return instance

    @classmethod
    def find(cls, port: int = DEFAULT_PORT) -> Self:
        """Return the local AWS on this port.

        :raises InstanceError: if there is none, or it has died; what a dead one left is removed.
        """
        state = _directory(port)
        try:
            known = json.loads((state / "instance.json").read_text())
            instance = cls(**{**known, "state": state})
        except (OSError, ValueError, TypeError):
            raise InstanceError(
                f"no local AWS runs on port {port}; start one with: quotactl local up --detach"
                + (f" --port {port}" if port != DEFAULT_PORT else "")
            ) from None
        if not instance.answers():
            instance.stop()
            raise InstanceError(
                f"the local AWS on port {port} had died; start it again with: quotactl local up --detach"
            )
        return instance

    def answers(self) -> bool:
        """Return whether this very instance answers."""
        try:
            return bool(self.control("GET", "instance").get("pid") == self.pid)
        except (OSError, ValueError, TypeError, HTTPException, InstanceError):  # nobody, or somebody else
            return False

    def control(self, method: str, name: str, value: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask the instance something of its own, such as to advance its clock.

        :raises InstanceError: if it refuses.
        """
        body = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(f"{self.endpoint}{CONTROL}{name}", body, method=method)  # noqa: S310
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as response:
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            refusal = json.load(error)
            raise InstanceError(str(refusal.get("message", error) if isinstance(refusal, dict) else error)) from error

    def wait(self, until: Callable[[], bool] = lambda: False) -> None:
        """Wait until the instance has ended, or until ``until`` says so."""
        while is_alive(self.pid) and not until():
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """End the instance with all its processes, and remove its directory."""
        if is_server(self.pid):
            for number in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(self.pid, number)
                deadline = time.monotonic() + _STOP_SECONDS
                while is_alive(self.pid) and time.monotonic() < deadline:
                    time.sleep(_POLL_SECONDS)
                if not is_alive(self.pid):
                    break
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)  # what the server started and left, such as a Lambda function
        shutil.rmtree(self.state, ignore_errors=True)
        with contextlib.suppress(OSError):  # others of the user's still run
            self.state.parent.rmdir()

    def _to_json(self) -> dict[str, Any]:
        values = {"port": self.port, "pid": self.pid, "account": self.account}
        return {**values, "region": self.region, "speed": self.speed}

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self.answers():
            if not is_alive(self.pid):
                raise InstanceError("the local AWS ended while it was starting")
            if time.monotonic() > deadline:
                raise InstanceError(f"the local AWS did not answer within {_START_SECONDS} s")
            time.sleep(_POLL_SECONDS)


def _last_words(state: Path) -> list[str]:
    """Return the last line of a server's log, if it has one."""
    try:
        return (state / "log").read_text(errors="replace").strip().splitlines()[-1:]
    except OSError:
        return []


def _directory(port: int) -> Path:
    return Path(tempfile.gettempdir()) / f"quotactl-local-{os.getuid()}" / str(port)


def _new_directory(port: int) -> Path:
    """Make the directory of a new instance, for this user's eyes alone."""
    try:
        directory = _directory(port)
        directory.parent.mkdir(mode=0o700, exist_ok=True)
        if directory.parent.lstat().st_uid != os.getuid() or directory.parent.is_symlink():
            raise InstanceError(
                f"{directory.parent} belongs to somebody else; remove it, or set TMPDIR to a directory of yours"
            )
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(mode=0o700)
    except OSError as error:
        raise InstanceError(
            f"there is no room for what it writes ({error}); set TMPDIR to a directory of yours"
        ) from None
    return directory


def _require_ministack() -> None:
    from importlib.util import find_spec

    if find_spec("ministack") is None:
        raise InstanceError("the local AWS needs ministack; run: pip install 'quota-constructs[local]'")


def _listen(port: int) -> socket.socket:
    """Return the socket that the server will answer on: taken before it starts, so that nobody else can take it."""
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise InstanceError(
                f"port {port} of 127.0.0.1 is in use; stop what uses it (quotactl local down --port {port} if it is a "
                "local AWS), or give another --port"
            ) from None
        raise InstanceError(
            f"port {port} of 127.0.0.1 cannot be used ({error.strerror}); give another --port"
        ) from None
    return listening
