"""Prints a digest of all decisions on the first jobs of the Philly trace; run under different hash seeds."""

from __future__ import annotations

import hashlib
import sys

from benchmarks._philly import jobs, queue
from benchmarks._replay import replay


def main() -> None:
    digest = hashlib.sha256()
    replay(jobs()[: int(sys.argv[1])], queue(), tell=lambda decision: digest.update(repr(decision).encode()))
    sys.stdout.write(digest.hexdigest())


if __name__ == "__main__":
    main()
