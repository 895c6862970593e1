"""What AWS documents of quota management, asked through boto3 alone.

The tests run against the local AWS. ``make test-aws`` runs the same tests against a real account, for whoever has
one and wants to settle what AWS leaves open; it asks first, and says what it creates and costs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.conformance.target import Target

ON_AWS = os.environ.get("QUOTACTL_CONFORMANCE") == "aws"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what only the local AWS can be told to do; on AWS, let assumptions that prove wrong be news, not failures."""
    for item in items:
        if ON_AWS and item.get_closest_marker("local_only"):
            item.add_marker(pytest.mark.skip(reason="a real account cannot be told to behave so"))
        assumed = item.get_closest_marker("assumed")
        if ON_AWS and assumed:
            item.add_marker(pytest.mark.xfail(reason=str(assumed.args[0]), strict=False))


@pytest.fixture(scope="package")
def target() -> Iterator[Target]:
    with ExitStack() as stack:
        yield _real_account(stack) if ON_AWS else _local(stack)


@pytest.fixture(autouse=True)
def _clean_up(target: Target) -> Iterator[None]:
    yield
    target.clean_up()


def _local(stack: ExitStack) -> Target:
    from quotactl.local.testing import running_local_aws

    aws = stack.enter_context(running_local_aws())
    return Target(aws.session(), aws.instance.endpoint, aws.advance)


def _real_account(_stack: ExitStack) -> Target:
    import boto3

    settings = [os.environ[f"QUOTACTL_CONFORMANCE_{name}"] for name in ("ROLE_ARN", "IMAGE", "OUTPUT")]
    return Target(boto3.Session(), None, role_arn=settings[0], image=settings[1], output=settings[2])
