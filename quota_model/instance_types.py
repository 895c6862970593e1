"""The instance types that SageMaker Training accepts, as botocore's model lists them."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

__all__ = ["TRAINING_INSTANCE_TYPE", "known_training_instance_types"]

TRAINING_INSTANCE_TYPE: Final = re.compile(r"ml\.[a-z0-9-]+\.[a-z0-9]+")
"""The shape of every training instance type that SageMaker has had so far."""


@cache
def known_training_instance_types() -> frozenset[str] | None:
    """Return the training instance types that the installed botocore knows, or ``None`` without botocore.

    The list grows with every botocore release, so a type that is not in it is a reason to ask, never to refuse.
    botocore's data is read as a file: importing botocore would cost everyone who only wants to check a design.
    """
    spec = find_spec("botocore")
    if spec is None or spec.origin is None:
        return None
    for path in sorted((Path(spec.origin).parent / "data" / "sagemaker").glob("*/service-2.json*"), reverse=True):
        text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
        # The model has megabytes of other shapes: decode the one that matters.
        start = text.find('"TrainingInstanceType":{')
        if start >= 0:
            shape, _ = json.JSONDecoder().raw_decode(text, text.index("{", start))
            return frozenset(shape["enum"])
    return None
