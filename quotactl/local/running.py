"""A running local AWS as a Python program uses it: clients, its clock, and what its jobs do."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from quotactl.local.environment import with_environment
from quotactl.local.instance import Instance

if TYPE_CHECKING:
    import boto3

__all__ = ["RunningAws", "running_local_aws"]

_STEP_SECONDS = 10.0


class RunningAws:
    """A local AWS that runs."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    @property
    def account(self) -> str:
        """The account number that it plays."""
        return self.instance.account

    @property
    def region(self) -> str:
        """The Region of its clients."""
        return self.instance.region

    def session(self, account: str = "test", region: str | None = None) -> boto3.Session:
        """Return a boto3 session; an access key of 12 digits stands for an account of that number."""
        import boto3

        return boto3.Session(account, "test", region_name=region or self.region)

    def client(self, service: Any, **settings: Any) -> Any:
        """Return a boto3 client of a service."""
        return self.session(**settings).client(service, endpoint_url=self.instance.endpoint)

    def environment(self) -> dict[str, str]:
        """Return the environment variables for a process that should use it."""
        return with_environment(self.instance)

    def run(self, command: Sequence[str], **settings: Any) -> subprocess.CompletedProcess[str]:
        """Run a command on it, such as ``["npx", "cdk", "deploy"]``, and return its output."""
        return subprocess.run(
            list(command), env=self.environment(), capture_output=True, text=True, check=False, **settings
        )

    def advance(self, seconds: float) -> None:
        """Move its clock on; what falls due on the way happens."""
        self.instance.control("POST", "clock", {"advanceSeconds": seconds})

    def set_behaviour(self, job_name: str = "*", **behaviour: Any) -> None:
        """Say what jobs that are submitted from now on do, by name (``*`` and ``?`` as in a shell).

        :param behaviour: ``trainingSeconds``, ``failures``, ``capacityShortages`` and so on: see
            :class:`quotactl.local.training.behaviour.JobBehaviour`.
        """
        self.instance.control("POST", "behaviours", {"jobName": job_name, **behaviour})

    def wait_until(self, condition: Callable[[], bool], seconds: float = 3600, what: str = "it") -> None:
        """Advance the clock step by step until the condition holds.

        :raises TimeoutError: if it does not within so many seconds of the clock.
        """
        passed = 0.0
        while not condition():
            if passed >= seconds:
                raise TimeoutError(f"{what} did not happen within {seconds:g} s of the local clock")
            self.advance(_STEP_SECONDS)
            passed += _STEP_SECONDS

    def wait_for_job(self, job_id: str, status: str, seconds: float = 3600) -> dict[str, Any]:
        """Advance the clock until a service job has a status, and return its description."""
        batch = self.client("batch")
        found: dict[str, Any] = {}

        def has_status() -> bool:
            found.update(batch.describe_service_job(jobId=job_id))
            return bool(found["status"] == status)

        self.wait_until(has_status, seconds, f"status {status} of job {job_id}")
        return found


@contextmanager
def running_local_aws(
    *,
    speed: float = 0,
    behaviour: dict[str, Any] | None = None,
    assumptions: dict[str, Any] | None = None,
    account: str = "123456789012",
    region: str = "us-east-1",
) -> Iterator[RunningAws]:
    """Run a local AWS on a free port for the length of a ``with`` block.

    :param speed: 0 lets its clock stand still until it is advanced; 1 is real time.
    :param behaviour: what jobs do by default, such as ``{"trainingSeconds": 60}``.
    :param assumptions: what it does where AWS is silent, such as ``{"victim_order": "newest"}``.
    """
    instance = Instance.start(
        0, speed=speed, account=account, region=region, behaviour=behaviour, assumptions=assumptions
    )
    try:
        yield RunningAws(instance)
    finally:
        instance.stop()
