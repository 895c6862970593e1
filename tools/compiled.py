"""Build the compiled wheel (docs/guides/compiled.md) and unpack it beside the sources, to test and measure it there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from hatch_build import why_not

__all__ = ["build", "environment", "why_not"]

_ROOT = Path(__file__).parents[1]


def build(into: Path) -> Path:
    """Build the wheel in a directory, and return the packages unpacked from it."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(into), str(_ROOT)]
    enabled = {**os.environ, "HATCH_BUILD_HOOK_ENABLE_CUSTOM": "true"}
    result = subprocess.run(command, env=enabled, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"the compiled wheel cannot be built:\n{result.stdout}{result.stderr}")
    (wheel,) = into.glob("*.whl")
    packages = into / "packages"
    zipfile.ZipFile(wheel).extractall(packages)
    return packages


def environment(packages: Path) -> dict[str, str]:
    """Return variables with which Python imports such packages rather than the sources here, and tests from here."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(packages), str(_ROOT))), "PYTHONSAFEPATH": "1"}


def main() -> int:
    """Build into ``build/compiled`` and say where the wheel is; 1 if nothing can be compiled here."""
    if (reason := why_not()) is not None:
        sys.stderr.write(f"The scheduler cannot be compiled: {reason}.\n")
        return 1
    into = _ROOT / "build" / "compiled"
    shutil.rmtree(into, ignore_errors=True)
    build(into)
    (wheel,) = into.glob("*.whl")
    sys.stdout.write(f"{wheel.relative_to(_ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
