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
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, Self

from quotactl.local.front import CONTROL
from quotactl.local.server import Settings

__all__ = ["DEFAULT_PORT", "Instance", "InstanceError"]

DEFAULT_PORT: Final = 4566
_START_SECONDS: Final = 60
_STOP_SECONDS: Final = 10
_POLL_SECONDS: Final = 0.05
_SERVER: Final = "quotactl.local.server"
_started: Final[dict[int, subprocess.Popen[bytes]]] = {}
"""The servers that this process started, by process id: their end has to be collected."""


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
                process = _launch(settings)
                instance = cls(port, process.pid, state, account, region, speed)
                (state / "instance.json").write_text(json.dumps(instance._to_json()))
                listening.close()  # the server alone has it now: when it dies, nobody listens
                instance._wait_until_it_answers(process)
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
        while self._is_alive() and not until():
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """End the instance with all its processes, and remove its directory."""
        if self._is_ours():
            for number in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(self.pid, number)
                deadline = time.monotonic() + _STOP_SECONDS
                while self._is_alive() and time.monotonic() < deadline:
                    time.sleep(_POLL_SECONDS)
                if not self._is_alive():
                    break
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)  # what the server started and left, such as a Lambda function
        shutil.rmtree(self.state, ignore_errors=True)
        with contextlib.suppress(OSError):  # others of the user's still run
            self.state.parent.rmdir()

    def _to_json(self) -> dict[str, Any]:
        values = {"port": self.port, "pid": self.pid, "account": self.account}
        return {**values, "region": self.region, "speed": self.speed}

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self.answers():
            if process.poll() is not None:
                raise InstanceError("the local AWS ended while it was starting")
            if time.monotonic() > deadline:
                raise InstanceError(f"the local AWS did not answer within {_START_SECONDS} s")
            time.sleep(_POLL_SECONDS)

    def _is_alive(self) -> bool:
        if self.pid in _started:
            process = _started[self.pid]
            if process.poll() is None:
                return True
            if process.stdin is not None:
                process.stdin.close()
            del _started[self.pid]
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # another user's process has the number now
            return False
        return not _has_ended(self.pid)

    def _is_ours(self) -> bool:
        """Return whether the process with our number is the server, and not one that got its number later."""
        if not self._is_alive():
            return False
        try:
            return self.pid in _started or (os.getpgid(self.pid) == self.pid and _SERVER in _command_of(self.pid))
        except ProcessLookupError:
            return False


def _launch(settings: Settings) -> subprocess.Popen[bytes]:
    """Start the server as a process group of its own, with its log in its directory."""
    state = Path(settings.state)
    with (state / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", _SERVER, json.dumps(asdict(settings))],
            stdin=subprocess.PIPE if settings.follows_starter else subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=state,
            env=_server_environment(),
            pass_fds=[settings.socket],
        )
    _started[process.pid] = process
    return process


def _command_of(pid: int) -> str:
    """Return the command line of a process, as far as the system tells it."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        asked = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, check=False)
        return asked.stdout.decode(errors="replace")


def _last_words(state: Path) -> list[str]:
    """Return the last line of a server's log, if it has one."""
    try:
        return (state / "log").read_text(errors="replace").strip().splitlines()[-1:]
    except OSError:
        return []


def _has_ended(pid: int) -> bool:
    """Return whether a process has ended and only waits for its parent to notice, where the system can tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _directory(port: int) -> Path:
    return Path(tempfile.gettempdir()) / f"quotactl-local-{os.getuid()}" / str(port)


def _new_directory(port: int) -> Path:
    """Make the directory of a new instance, for this user's eyes alone."""
    directory = _directory(port)
    directory.parent.mkdir(mode=0o700, exist_ok=True)
    if directory.parent.lstat().st_uid != os.getuid() or directory.parent.is_symlink():
        raise InstanceError(
            f"{directory.parent} belongs to somebody else; remove it, or set TMPDIR to a directory of yours"
        )
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=0o700)
    return directory


def _require_ministack() -> None:
    from importlib.util import find_spec

    if find_spec("ministack") is None:
        raise InstanceError("the local AWS needs ministack; run: pip install 'quota-constructs[local]'")


def _server_environment() -> dict[str, str]:
    """Return the environment of the server: nothing in it may point at a real AWS account."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "MINISTACK_", "LAMBDA_"))}


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
