"""Compiles the scheduler into the wheel with mypyc, for those who ask for it: docs/guides/compiled.md.

It is the same source and decides the same. mypyc works on a copy in a directory of its own, so that no extension is
left among the sources, where Python would import it in their place.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGE: Final = "quota_model"
_NATIVE_CLASS: Final = re.compile(r"^\n(?=class \w+(\((?!NamedTuple|Enum).+\))?:)", re.MULTILINE)
"""A class that mypyc makes a native one, with the blank line before it."""
_FUTURE: Final = "from __future__ import annotations\n\n"


class CompiledScheduler(BuildHookInterface[Any]):
    """Adds to a wheel, beside their sources, the extensions of the modules that the option ``modules`` names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together."""
        if version == "editable":
            self.app.abort("An editable install runs the sources as they are; compile for a wheel, without --editable.")
        if (reason := why_not()) is not None:
            self.app.abort(f"The scheduler cannot be compiled: {reason}.")
        self._directory = tempfile.TemporaryDirectory()
        directory = Path(self._directory.name)
        shutil.copytree(Path(self.root, _PACKAGE), directory / _PACKAGE)
        built = _compile(directory, self.config["modules"])
        for extension in built.rglob(f"*{EXTENSION_SUFFIXES[0]}"):
            build_data["force_include"][str(extension)] = extension.relative_to(built).as_posix()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Clean up once they are in the wheel."""
        self._directory.cleanup()


def why_not() -> str | None:
    """Return why nothing can be compiled for this Python here, or ``None``."""
    from setuptools import Extension
    from setuptools.errors import BaseError, CCompilerError

    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        Path("trial.c").write_text("#include <Python.h>\nvoid *PyInit_trial(void) { return 0; }\n", encoding="utf-8")
        try:
            _build([Extension("trial", ["trial.c"])])
        except (BaseError, CCompilerError) as error:
            return f"it takes a C compiler and Python's headers ({error})"
    return None


def _compile(directory: Path, modules: list[str]) -> Path:
    """Compile modules below a directory, and return where their extensions are."""
    from mypyc.build import mypycify

    for module in modules:
        path = directory / module
        path.write_text(_with_python_instances(path.read_text(encoding="utf-8")), encoding="utf-8")
    with contextlib.chdir(directory):
        options = ["--config-file=", "--no-error-summary"]
        _build(mypycify([*options, *modules], debug_level="0", group_name=f"{_PACKAGE}_scheduler"))
    return directory / "built"


def _with_python_instances(source: str) -> str:
    """Have instances made as Python does, step by step: pickle needs that, and thereby the copy of a scheduler.

    The decorator takes one of the blank lines, so that tracebacks name the right line of the source.
    """
    imported = f"{_FUTURE[:-2]}; import typing\nif typing.TYPE_CHECKING: from mypy_extensions import mypyc_attr\n"
    return _NATIVE_CLASS.sub("@mypyc_attr(allow_interpreted_subclasses=True)\n", source).replace(_FUTURE, imported, 1)


def _build(extensions: list[Any]) -> None:
    """Build C extensions into the directory ``built``."""
    from setuptools import Distribution

    command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = "built", "temporary"
    command.ensure_finalized()
    command.run()
