"""``quotactl local`` as a user runs it: up, exec, env, advance, down, and nothing left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quotactl.local.instance import Instance, InstanceError
from quotactl.local.testing import running_local_aws
from tests.conformance.target import Target

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def quotactl(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quotactl", "local", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a local AWS that was started with --detach."""
    port = free_port()
    started = quotactl("up", "--detach", "--port", str(port), "--speed", "0")
    assert started.returncode == 0, started.stderr
    yield port
    quotactl("down", "--port", str(port))


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_command_runs_on_the_local_aws_and_its_exit_code_is_kept(port: int) -> None:
    script = "import boto3, sys; print(boto3.client('sts').get_caller_identity()['Account']); sys.exit(3)"
    ran = quotactl("exec", "--port", str(port), "--", sys.executable, "-c", script)
    assert (ran.stdout.strip(), ran.returncode) == ("123456789012", 3)


def test_the_exports_lead_a_shell_there(port: int) -> None:
    exports = quotactl("env", "--port", str(port)).stdout
    shell = subprocess.run(
        ["sh", "-c", f"{exports}\necho $AWS_ENDPOINT_URL ${{AWS_PROFILE-none}}"],
        env={**os.environ, "AWS_PROFILE": "production"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout.split() == [f"http://127.0.0.1:{port}", "none"]


def test_it_listens_on_loopback_alone(port: int) -> None:
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}
    for address in addresses - {"127.0.0.1"}:
        with socket.socket() as probe:
            assert probe.connect_ex((address, port)) != 0


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
    "wrong", [["--speed", "-1"], ["--port", "70000"], ["--account", "12"], ["--assume", "victim_order=random"]]
)
def test_fails_to_start_with_values_that_cannot_be(wrong: list[str]) -> None:
    ran = quotactl("up", "--detach", *wrong)
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


def test_fails_to_start_with_a_behaviour_that_cannot_be_read_and_says_why() -> None:
    with pytest.raises(InstanceError, match=r"ended while it was starting: .*a job's behaviour has no 'nonsense'"):
        Instance.start(0, behaviour={"nonsense": 1})


def test_fails_to_run_a_command_that_does_not_exist(port: int) -> None:
    ran = quotactl("exec", "--port", str(port), "--", "no-such-command")
    assert ran.returncode == 2
    assert "no-such-command cannot be run" in ran.stderr


def test_down_leaves_nothing_behind() -> None:
    port = free_port()
    assert quotactl("up", "--detach", "--port", str(port)).returncode == 0
    instance = Instance.find(port)
    assert instance.state.exists()
    assert quotactl("down", "--port", str(port)).returncode == 0
    assert not is_taken(port)
    assert not instance.state.exists()
    assert not list(Path(tempfile.gettempdir()).glob(f"*{port}*"))
    processes = subprocess.run(
        ["ps", "-o", "stat=", "-g", str(instance.pid)], capture_output=True, text=True, check=False
    )
    assert all(state.startswith("Z") for state in processes.stdout.split()), "only what init has yet to collect"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_in_the_foreground_it_stops_at_ctrl_c_and_when_it_is_ended(number: signal.Signals) -> None:
    port = free_port()
    command = [sys.executable, "-m", "quotactl", "local", "up", "--port", str(port)]
    foreground = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert foreground.stdout is not None
    with foreground.stdout:
        assert foreground.stdout.readline().startswith(f"local AWS at http://127.0.0.1:{port}")
        os.kill(foreground.pid, number)  # it may not have said all yet
        assert foreground.wait(20) == 0
    assert not is_taken(port)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_as_well_while_it_starts(number: signal.Signals) -> None:
    port = free_port()
    state = Path(tempfile.gettempdir(), f"quotactl-local-{os.getuid()}", str(port))
    command = [sys.executable, "-m", "quotactl", "local", "up", "--port", str(port)]
    starting = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 20
    while not (state / "instance.json").exists():
        assert time.monotonic() < deadline
    os.kill(starting.pid, number)
    assert starting.wait(20) == 0
    assert not is_taken(port)
    assert not state.exists()


def test_one_that_was_killed_is_noticed_and_cleared_away() -> None:
    instance = Instance.start(0)
    os.kill(instance.pid, signal.SIGKILL)
    with pytest.raises(InstanceError, match="had died"):
        Instance.find(instance.port)
    assert not instance.state.exists()


def test_it_does_not_outlive_the_program_that_started_it() -> None:
    program = (
        "import os, signal\nfrom quotactl.local.instance import Instance\n"
        "print(Instance.start(0).port, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    port = int(killed.stdout)
    deadline = time.monotonic() + 20
    while is_taken(port) or Path(tempfile.gettempdir(), f"quotactl-local-{os.getuid()}", str(port)).exists():
        assert time.monotonic() < deadline


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
        deadline = time.monotonic() + 20
        while aws.instance.control("GET", "instance")["now"] < before + 60_000:
            assert time.monotonic() < deadline
