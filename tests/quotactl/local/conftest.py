"""A local AWS within the test's own process, whose clock stands still until the test moves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from quotactl.local.aws import LocalAws
from quotactl.local.batch.api import call
from quotactl.local.batch.batch import Batch
from quotactl.local.clock import Clock

ACCOUNT = "123456789012"
REGION = "us-east-1"
START = 1_800_000_000_000

Call = Callable[..., dict[str, Any]]


class SentEvents(list[tuple[str, str, dict[str, Any]]]):
    """The events sent so far: detail-type, resource, detail."""

    def send(self, _account: str, _region: str, detail_type: str, resource: str, detail: dict[str, Any]) -> None:
        self.append((detail_type, resource, detail))

    def details(self, detail_type: str) -> list[dict[str, Any]]:
        return [detail for kind, _, detail in self if kind == detail_type]


@pytest.fixture
def events() -> SentEvents:
    return SentEvents()


@pytest.fixture
def aws(events: SentEvents) -> LocalAws:
    return LocalAws(Clock(0, start=START), events.send)


@pytest.fixture
def batch(aws: LocalAws) -> Batch:
    return aws.batch(ACCOUNT, REGION)


@pytest.fixture
def api(batch: Batch) -> Call:
    """Call an operation of AWS Batch: ``api("CreateJobQueue", jobQueueName=...)``."""
    return lambda operation, **parameters: call(batch, operation, parameters)
