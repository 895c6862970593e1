"""The environment variables with which any command works on a local AWS instead of a real account."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Final

from quotactl.local.instance import Instance

__all__ = ["environment_of", "exports", "with_environment"]

_REMOVED: Final = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_CA_BUNDLE",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
)
"""What would lead a client elsewhere, and with it every variable of :data:`_ENDPOINT_OF_ONE_SERVICE`."""
_ENDPOINT_OF_ONE_SERVICE: Final = "AWS_ENDPOINT_URL_"


def environment_of(instance: Instance) -> dict[str, str]:
    """Return the variables to set, and write the files that they name. The account's keys are dummies."""
    nothing = instance.state / "no-aws-config"
    nothing.touch()
    sagemaker = instance.state / "sagemaker.yaml"
    bucket = f"sagemaker-{instance.region}-{instance.account}"
    sagemaker.write_text(
        "SchemaVersion: '1.0'\nSageMaker:\n  PythonSDK:\n    Modules:\n      Session:\n"
        f"        DefaultS3Bucket: {bucket}\n"
    )
    return {
        "AWS_ENDPOINT_URL": instance.endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": instance.region,
        "AWS_DEFAULT_REGION": instance.region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(nothing),
        "AWS_SHARED_CREDENTIALS_FILE": str(nothing),
        "CDK_DEFAULT_ACCOUNT": instance.account,
        "CDK_DEFAULT_REGION": instance.region,
        "CDK_HOME": str(instance.state / "cdk"),
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "true",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "SAGEMAKER_USER_CONFIG_OVERRIDE": str(sagemaker),
        "SAGEMAKER_VALIDATE_ROLE": "false",
    }


def with_environment(instance: Instance, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a process: ``base`` (the present one) with the local AWS in place of any other."""
    given = os.environ if base is None else base
    removed = _removed(given)
    return {**{key: value for key, value in given.items() if key not in removed}, **environment_of(instance)}


def exports(instance: Instance) -> str:
    """Return the shell commands that set the same in a shell: ``eval "$(quotactl local env)"``."""
    unset = f"unset {' '.join(_removed(os.environ))}"
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment_of(instance).items()]
    return "\n".join([unset, *lines])


def _removed(given: Mapping[str, str]) -> list[str]:
    return [*_REMOVED, *sorted(key for key in given if key.startswith(_ENDPOINT_OF_ONE_SERVICE))]
