"""The server's process as seen from outside: starting it, and knowing whether it lives and is ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from quotactl.local.server import Settings

__all__ = ["is_alive", "is_server", "launch"]

_SERVER: Final = "quotactl.local.server"
_started: Final[dict[int, subprocess.Popen[bytes]]] = {}
"""The servers that this process started, by process id: their end has to be collected."""


def launch(settings: Settings) -> int:
    """Start the server as a process group of its own, with its log in its directory; return its process id."""
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
    return process.pid


def is_alive(pid: int) -> bool:
    """Return whether a process with this number has not ended yet."""
    if pid in _started:
        process = _started[pid]
        if process.poll() is None:
            return True
        if process.stdin is not None:
            process.stdin.close()
        del _started[pid]
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's process has the number now
        return False
    return not _has_ended(pid)


def is_server(pid: int) -> bool:
    """Return whether the process with this number is a server of ours, and not one that got its number later."""
    if not is_alive(pid):
        return False
    try:
        return pid in _started or (os.getpgid(pid) == pid and _SERVER in _command_of(pid))
    except ProcessLookupError:
        return False


def _command_of(pid: int) -> str:
    """Return the command line of a process, as far as the system tells it."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        asked = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, check=False)
        return asked.stdout.decode(errors="replace")


def _has_ended(pid: int) -> bool:
    """Return whether a process has ended and only waits for its parent to notice, where the system can tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _server_environment() -> dict[str, str]:
    """Return the environment of the server: nothing in it may point at a real AWS account."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "MINISTACK_", "LAMBDA_"))}
