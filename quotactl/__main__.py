"""The entry point of ``quotactl`` and ``python -m quotactl``."""

from __future__ import annotations

import sys

__all__ = ["main"]

_NEEDS_CLI = "quotactl needs the command line's packages (no {package} here); run: pip install 'quota-constructs[cli]'"


def main() -> None:
    """Run the command line; without the extra ``[cli]``, say in one line how to get it and exit with 2."""
    try:
        from quotactl.cli import app
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] in ("quotactl", "quota_model"):
            raise
        sys.exit(_NEEDS_CLI.format(package=missing.name))
    app()


if __name__ == "__main__":
    main()
