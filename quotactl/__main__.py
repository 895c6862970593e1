"""The entry point of ``quotactl`` and ``python -m quotactl``."""

from __future__ import annotations

import sys
from typing import Final

__all__ = ["main"]

_OURS: Final = ("quotactl", "quota_model")
_EXTRA_OF: Final = {"ministack": "local", "hypercorn": "local"}
"""The extra that brings a package; the others come with ``[cli]``."""


def main() -> None:
    """Run the command line; where an extra is not installed, say in one line how to get it, and exit with 1."""
    try:
        from quotactl.cli import app

        app()
    except KeyboardInterrupt:  # while it was still being imported; typer sees to it from then on
        sys.exit(130)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if not package or package in _OURS:
            raise
        extra = _EXTRA_OF.get(package, "cli")
        sys.exit(f"quotactl needs the package {package} for this; run: pip install 'quota-constructs[{extra}]'")


if __name__ == "__main__":
    main()
