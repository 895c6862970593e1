"""A local AWS for tests: a pytest fixture, and a context manager for everything else.

In a ``conftest.py``::

    from quotactl.local.testing import local_aws  # noqa: F401

and in a test::

    def test_a_submitted_job_runs(local_aws):
        batch = local_aws.client("batch")
        job = batch.submit_service_job(...)
        local_aws.wait_for_job(job["jobId"], "RUNNING")

The fixture starts one local AWS for the module on a free port of 127.0.0.1 and stops it after. Its clock stands
still: nothing happens in the middle of a test, and ``local_aws.advance(seconds)`` makes hours pass at once. It needs
the extra ``[local]`` and pytest.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quotactl.local.running import RunningAws, running_local_aws

__all__ = ["RunningAws", "local_aws", "running_local_aws"]


@pytest.fixture(scope="module")
def local_aws() -> Iterator[RunningAws]:
    """Give one module's tests a local AWS whose clock stands still."""
    with running_local_aws() as aws:
        yield aws
