"""Reading designs of quota-managed queues from synthesized templates, cloud assemblies and design files."""

from __future__ import annotations

from pathlib import Path

from quota_model.design import DesignError, QuotaQueue
from quotactl.designs.documents import UnusableInputError, read_document
from quotactl.designs.found import Designs, LocatedQueue, LocatedShare, Place, Remark
from quotactl.designs.queues import designs_in
from quotactl.designs.templates import read_assembly, read_template

__all__ = ["Designs", "LocatedQueue", "LocatedShare", "Place", "Remark", "UnusableInputError", "read_designs"]


def read_designs(path: Path) -> Designs:
    """Return the designs in a template, a cloud assembly (``cdk.out``) or a design file, in JSON or YAML.

    A value that only a deployment decides is ``UNKNOWN``. Raises :class:`UnusableInputError`, whose message is
    one sentence, for anything that holds no design.
    """
    try:
        designs = _read(path)
    except RecursionError:
        raise UnusableInputError(f"{path} is nested too deeply for a template") from None
    if not (designs.queues or designs.loose_shares):
        left_out = "".join(f"; {remark.place}: {remark.text}" for remark in designs.remarks)
        raise UnusableInputError(f"{path} declares no quota-managed job queue and no quota share{left_out}")
    return designs


def _read(path: Path) -> Designs:
    if path.is_dir():
        return designs_in(read_assembly(path))
    if path.name == "manifest.json":
        return designs_in(read_assembly(path.parent))
    document = read_document(path)
    if isinstance(document, dict) and isinstance(document.get("Resources"), dict):
        return designs_in(read_template(path, document))
    if isinstance(document, dict) and "serviceEnvironment" in document:
        return Designs((_design(path, document),))
    raise UnusableInputError(
        f"{path} is neither a template (it has no Resources) nor a design (it has no serviceEnvironment)"
    )


def _design(path: Path, document: object) -> LocatedQueue:
    try:
        queue = QuotaQueue.from_json(document, str(path))
    except DesignError as error:
        raise UnusableInputError(str(error)) from None
    place = Place(str(path))
    return LocatedQueue(queue, place, place, place, (place,) * len(queue.quota_shares))
