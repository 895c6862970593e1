"""I16: the same input gives the same decisions, to the byte, whatever the hash seed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def digests(jobs: int) -> set[str]:
    return {
        subprocess.run(
            [sys.executable, "-m", "tests.quota_model.scheduler.digest", str(jobs)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1")
    }


def test_hash_seeds_do_not_matter() -> None:
    (digest,) = digests(2_000)
    assert len(digest) == 64


@pytest.mark.slow
def test_hash_seeds_do_not_matter_on_the_whole_trace() -> None:
    (digest,) = digests(82_247)
    assert len(digest) == 64
