"""A pytest plugin that refuses to test the sources: ``-p tests.compiled`` tests the compiled scheduler or nothing."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from quota_model.scheduler import passes


def pytest_sessionstart() -> None:
    if not passes.__file__.endswith(EXTENSION_SUFFIXES[0]):
        raise pytest.UsageError(f"{passes.__file__} is not compiled")
