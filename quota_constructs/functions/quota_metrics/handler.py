"""Where AWS Lambda enters: on a schedule to measure the queue, and on each preemption to count it."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from .datapoints import measurements, preemption, publish
from .names import EventType, Setting
from .reading import preempted_share, read

_logger = logging.getLogger(__name__)
_logger.setLevel(logging.INFO)


def handle(event: Mapping[str, Any], context: object) -> None:  # noqa: ARG001 - Lambda gives both
    """Publish what an event asks for.

    Whatever goes wrong is raised: the invocation counts as an error of the function, and Lambda tries it again.

    :raises ValueError: if the event is of another type.
    """
    arn, namespace = os.environ[Setting.JOB_QUEUE_ARN], os.environ[Setting.NAMESPACE]
    match event.get("detail-type"):
        case EventType.SCHEDULED:
            data = measurements(read(_batch(), arn), datetime.now(UTC))
        case EventType.PREEMPTION_STARTED:
            job = event["detail"]["preemptedJobArn"]
            share = preempted_share(_batch(), arn, job)
            if share is None:
                _logger.info("%s is of another queue; not counted", job)
                return
            data = preemption(arn.rpartition("/")[2], share, datetime.fromisoformat(event["time"]))
        case other:
            raise ValueError(f"event of type {other!r}; this function takes {', '.join(EventType)}")
    publish(_client("cloudwatch"), namespace, data)
    _logger.info("published %d data of %s", len(data), arn)


def _batch() -> Any:
    batch = _client("batch")
    if not hasattr(batch, "list_quota_shares"):
        raise RuntimeError(
            f"boto3 {boto3.__version__} of this Lambda runtime does not know quota shares; choose a newer runtime"
        )
    return batch


@cache
def _client(service: str) -> Any:
    # The queue is measured again soon: a call that hangs should not last until then.
    config = Config(connect_timeout=5, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 4})
    return boto3.client(service, config=config)
