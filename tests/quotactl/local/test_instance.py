"""``quotactl local`` as a user runs it: up, exec, env, advance, down, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quotactl.local.instance import Instance, InstanceError
from quotactl.local.testing import running_local_aws
from tests.conformance.target import Target

pytestmark = pytest.mark.slow

PATIENCE = 120
"""Seconds until a test gives up on what takes a few, on a machine that has much else to do."""


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def quotactl(
    *arguments: str, temporary: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quotactl", "local", *arguments]
    given = {**os.environ, **(environment or {}), **({} if temporary is None else {"TMPDIR": str(temporary)})}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=given)


def port_in(line: str) -> int:
    """Return the port that ``quotactl local up`` says it has taken."""
    found = re.match(r"local AWS at http://127\.0\.0\.1:(\d+),", line)
    assert found, line
    return int(found[1])


def eventually(condition: Callable[[], object]) -> None:
    """Wait for what another process does, and leave the machine to it meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a local AWS that was started with --detach."""
    started = quotactl("up", "--detach", "--port", "0", "--speed", "0")
    assert started.returncode == 0, started.stderr
    port = port_in(started.stdout)
    yield port
    quotactl("down", "--port", str(port))


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_command_runs_on_the_local_aws_and_its_exit_code_is_kept(port: int) -> None:
    script = "import boto3, sys; print(boto3.client('sts').get_caller_identity()['Account']); sys.exit(3)"
    ran = quotactl("exec", "--port", str(port), "--", sys.executable, "-c", script)
    assert (ran.stdout.strip(), ran.returncode) == ("123456789012", 3)


ELSEWHERE = {
    "AWS_PROFILE": "production",
    "AWS_ENDPOINT_URL_S3": "https://s3.example",
    "all_proxy": "http://proxy.example",
    "no_proxy": "",
}
"""What leads a client away from the local AWS."""


def test_the_exports_lead_a_shell_there_and_nowhere_else(port: int) -> None:
    shell = subprocess.run(
        ["sh", "-c", f'eval "$({sys.executable} -m quotactl local env --port {port})"; env'],
        env={**os.environ, **ELSEWHERE},
        capture_output=True,
        text=True,
        check=True,
    )
    exported = dict(line.split("=", 1) for line in shell.stdout.splitlines() if "=" in line)
    assert exported["AWS_ENDPOINT_URL"] == f"http://127.0.0.1:{port}"
    assert exported["no_proxy"] == "127.0.0.1,localhost"
    assert not exported.keys() & (ELSEWHERE.keys() - {"no_proxy"})


def test_a_command_is_led_there_and_nowhere_else(port: int) -> None:
    script = "import json, os; print(json.dumps(dict(os.environ)))"
    ran = quotactl("exec", "--port", str(port), "--", sys.executable, "-c", script, environment=ELSEWHERE)
    environment = json.loads(ran.stdout)
    assert environment["AWS_ENDPOINT_URL"] == f"http://127.0.0.1:{port}"
    assert environment["no_proxy"] == "127.0.0.1,localhost"
    assert not environment.keys() & (ELSEWHERE.keys() - {"no_proxy"})


def test_a_command_ends_quietly_when_nobody_reads_its_output(port: int) -> None:
    ran = quotactl("exec", "--port", str(port), "--", "sh", "-c", "yes | head -n 1")
    assert (ran.stdout, ran.stderr) == ("y\n", "")


def test_a_command_is_told_what_the_one_who_runs_it_is_told(port: int) -> None:
    script = (
        "import signal; signal.signal(signal.SIGTERM, lambda *_: exit(7)); print('runs', flush=True); signal.pause()"
    )
    command = [
        sys.executable,
        "-m",
        "quotactl",
        "local",
        "exec",
        "--port",
        str(port),
        "--",
        sys.executable,
        "-c",
        script,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "runs\n"
        process.terminate()
        assert process.wait(PATIENCE) == 7


def test_it_listens_on_one_address_alone(port: int) -> None:
    with socket.socket() as probe:
        probe.settimeout(PATIENCE)
        assert probe.connect_ex(("127.0.0.2", port)) != 0, "who listens on every address is found on this one"


def test_its_clock_is_moved_by_a_command(port: int) -> None:
    before = Instance.find(port).control("GET", "instance")["now"]
    assert quotactl("advance", "90", "--port", str(port)).returncode == 0
    assert Instance.find(port).control("GET", "instance")["now"] == before + 90_000


def test_fails_on_a_port_that_is_in_use(port: int) -> None:
    second = quotactl("up", "--detach", "--port", str(port))
    assert second.returncode == 2
    assert f"port {port} of 127.0.0.1 is in use" in second.stderr
    assert Instance.find(port).answers(), "the first one is unharmed"


@pytest.mark.parametrize("command", [["down"], ["env"], ["advance", "1"], ["exec", "--", "true"]])
def test_fails_where_none_runs_and_says_how_to_start_one(command: list[str]) -> None:
    ran = quotactl(command[0], "--port", str(free_port()), *command[1:])
    assert ran.returncode == 2
    assert "start one with: quotactl local up" in ran.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        ["--speed", "-1"],
        ["--speed", "nan"],
        ["--speed", "1e300"],
        ["--port", "70000"],
        ["--account", "12"],
        ["--region", "moon"],
        ["--assume", "victim_order=random"],
        ["--assume", "default_scheduling_priority=10000"],
        ["--assume", f"remembered_preempted_attempts={'9' * 5000}"],
    ],
)
def test_fails_to_start_with_values_that_cannot_be(wrong: list[str]) -> None:
    ran = quotactl("up", "--detach", *wrong)
    assert ran.returncode == 2
    assert ran.stderr.startswith("quotactl local: ")
    assert len(ran.stderr.splitlines()) == 1


def test_fails_to_start_where_it_cannot_write_and_says_where(tmp_path: Path) -> None:
    (tmp_path / f"quotactl-local-{os.getuid()}").touch()
    ran = quotactl("up", "--detach", "--port", "0", temporary=tmp_path)
    assert ran.returncode == 2
    assert str(tmp_path) in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_fails_to_start_with_a_behaviour_that_cannot_be_read_and_says_why() -> None:
    with pytest.raises(InstanceError, match=r"ended while it was starting: .*a job's behaviour has no 'nonsense'"):
        Instance.start(0, behaviour={"nonsense": 1})


def test_fails_to_run_a_command_that_does_not_exist(port: int) -> None:
    ran = quotactl("exec", "--port", str(port), "--", "no-such-command")
    assert ran.returncode == 2
    assert ran.stderr == "quotactl local: 'no-such-command' cannot be run: No such file or directory\n"


def test_down_leaves_nothing_behind(tmp_path: Path) -> None:
    started = quotactl("up", "--detach", "--port", "0", temporary=tmp_path)
    port = port_in(started.stdout)
    (state,) = tmp_path.glob("*/*")
    pid = json.loads((state / "instance.json").read_text())["pid"]
    assert quotactl("down", "--port", str(port), temporary=tmp_path).returncode == 0
    assert not is_taken(port)
    assert not list(tmp_path.iterdir())
    processes = subprocess.run(["ps", "-o", "stat=", "-g", str(pid)], capture_output=True, text=True, check=False)
    assert all(state.startswith("Z") for state in processes.stdout.split()), "only what init has yet to collect"


@contextmanager
def foreground(temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """Start one in the foreground; no matter what a test finds, it does not go on."""
    command = [sys.executable, "-m", "quotactl", "local", "up", "--port", "0"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_in_the_foreground_it_stops_at_ctrl_c_and_when_it_is_ended(number: signal.Signals, tmp_path: Path) -> None:
    with foreground(tmp_path) as process:
        assert process.stdout is not None
        port = port_in(process.stdout.readline())
        process.send_signal(number)  # it may not have said all yet
        assert process.wait(PATIENCE) == 0
        assert not is_taken(port)
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_being_told_again_and_again_does_not_keep_it_from_stopping_in_order(
    number: signal.Signals, tmp_path: Path
) -> None:
    with foreground(tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while process.poll() is None:
            process.send_signal(number)
        assert process.returncode == 0
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_as_well_while_it_starts(number: signal.Signals, tmp_path: Path) -> None:
    with foreground(tmp_path) as process:
        eventually(lambda: list(tmp_path.glob("*/*/instance.json")))
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert not list(tmp_path.iterdir())


def test_one_that_was_killed_is_noticed_and_cleared_away() -> None:
    instance = Instance.start(0)
    os.kill(instance.pid, signal.SIGKILL)
    with pytest.raises(InstanceError, match="had died"):
        Instance.find(instance.port)
    assert not instance.state.exists()


def left_behind(temporary: Path, port: int, pid: int) -> Path:
    """Make what a local AWS leaves that was killed, or whose machine was; return its directory."""
    state = temporary / f"quotactl-local-{os.getuid()}" / str(port)
    state.mkdir(parents=True)
    known = {"port": port, "pid": pid, "account": "123456789012", "region": "us-east-1", "speed": 1}
    (state / "instance.json").write_text(json.dumps(known))
    return state


def test_a_process_that_has_the_number_of_a_dead_one_is_left_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as stranger:
        port = free_port()
        state = left_behind(tmp_path, port, stranger.pid)
        ran = quotactl("down", "--port", str(port), temporary=tmp_path)
        assert stranger.poll() is None
        stranger.communicate(b"\n")
    assert (stranger.returncode, ran.returncode) == (0, 2)
    assert "had died" in ran.stderr
    assert not state.exists()


@pytest.mark.parametrize("answer", [b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n[]", b"220 mail\r\n", b""])
def test_somebody_else_on_the_port_of_a_dead_one_is_no_local_aws(answer: bytes, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        port = server.getsockname()[1]
        left_behind(tmp_path, port, os.getpid())

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        ran = quotactl("env", "--port", str(port), temporary=tmp_path)
        thread.join()
    assert ran.returncode == 2
    assert "had died" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_it_does_not_outlive_the_program_that_started_it(tmp_path: Path) -> None:
    program = (
        "import os, signal\nfrom quotactl.local.instance import Instance\n"
        "print(Instance.start(0).port, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    port = int(killed.stdout)
    eventually(lambda: not list(tmp_path.glob("*/*")))
    eventually(lambda: not is_taken(port))


def test_two_run_side_by_side_and_know_nothing_of_each_other() -> None:
    with running_local_aws() as first, running_local_aws() as second:
        policy = {"idleResourceAssignmentStrategy": "FIFO"}
        first.client("batch").create_scheduling_policy(name="p", quotaSharePolicy=policy)
        assert second.client("batch").list_scheduling_policies()["schedulingPolicies"] == []


def test_what_it_assumes_can_be_chosen() -> None:
    with running_local_aws(assumptions={"default_scheduling_priority": 7}) as aws:
        target = Target(aws.session(), aws.instance.endpoint, aws.advance)
        queue = target.queue()
        assert target.describe(target.submit(queue, target.share(queue)))["schedulingPriority"] == 7


def test_time_passes_by_itself_at_the_given_speed() -> None:
    with running_local_aws(speed=1000) as aws:
        before = aws.instance.control("GET", "instance")["now"]
        eventually(lambda: aws.instance.control("GET", "instance")["now"] >= before + 60_000)
