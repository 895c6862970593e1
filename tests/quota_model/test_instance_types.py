"""The instance types that SageMaker Training accepts are read from botocore's model without importing it."""

from __future__ import annotations

import subprocess
import sys

import botocore.loaders

from quota_model.instance_types import TRAINING_INSTANCE_TYPE, known_training_instance_types


def test_they_are_the_ones_of_botocores_own_loader() -> None:
    model = botocore.loaders.Loader().load_service_model("sagemaker", "service-2")

    assert known_training_instance_types() == frozenset(model["shapes"]["TrainingInstanceType"]["enum"])


def test_every_one_of_them_has_the_known_shape() -> None:
    assert all(TRAINING_INSTANCE_TYPE.fullmatch(name) for name in known_training_instance_types() or ())


def test_reading_them_does_not_import_botocore() -> None:
    program = (
        "import sys, quota_model.instance_types as types; types.known_training_instance_types();"
        "print('botocore' in sys.modules)"
    )

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed == "False\n"


def test_without_botocore_nothing_is_known() -> None:
    program = (
        "import quota_model.instance_types as types; types.find_spec = lambda name: None;"
        "print(types.known_training_instance_types())"
    )

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed == "None\n"
