"""``make test-aws`` says what it would do, and does nothing unless somebody types the account's number."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from quotactl.local.testing import RunningAws, local_aws  # noqa: F401

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
SETTINGS = {f"QUOTACTL_CONFORMANCE_{name}": "x" for name in ("ROLE_ARN", "IMAGE", "OUTPUT")}


def asked(environment: dict[str, str], answer: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run it with somebody who answers at a terminal, or with nobody there."""
    terminal, stdin = pty.openpty() if answer is not None else (None, subprocess.DEVNULL)
    try:
        if terminal is not None:
            os.write(terminal, f"{answer}\n".encode())
        return subprocess.run(
            [sys.executable, "-m", "tests.conformance"],
            cwd=PROJECT,
            env=environment,
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        if terminal is not None:
            os.close(terminal)
            os.close(stdin)


def test_it_says_what_it_needs(local_aws: RunningAws) -> None:  # noqa: F811
    ran = asked(local_aws.environment())
    assert ran.returncode == 2
    assert all(name in ran.stderr for name in SETTINGS)


def test_it_says_what_it_creates_and_costs_and_does_nothing_where_nobody_can_answer(
    local_aws: RunningAws,  # noqa: F811
) -> None:
    ran = asked({**local_aws.environment(), **SETTINGS})
    assert ran.returncode == 2
    assert f"AWS account {local_aws.account}, Region {local_aws.region}" in ran.stdout
    assert "USD" in ran.stdout
    assert "nobody to ask" in ran.stderr


@pytest.mark.parametrize("answer", ["", "yes", "210987654321"])
def test_it_does_nothing_unless_the_account_is_typed(local_aws: RunningAws, answer: str) -> None:  # noqa: F811
    ran = asked({**local_aws.environment(), **SETTINGS}, answer)
    assert ran.returncode == 1
    assert ran.stdout.endswith("nothing was done\n")
    assert local_aws.client("batch").describe_job_queues()["jobQueues"] == []


def test_it_has_no_traceback_where_there_is_no_account(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    nowhere = {"AWS_EC2_METADATA_DISABLED": "true", "HOME": str(tmp_path)}
    ran = asked({**kept, **SETTINGS, **nowhere})
    assert ran.returncode == 2
    assert ran.stderr.startswith("no AWS account to test with: ")
