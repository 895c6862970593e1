"""Asks EventBridge's TestEventPattern, as the local AWS answers it, whether a rule's pattern matches an event."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from ministack.services import eventbridge


def matches(pattern: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    """Return whether an event matches; fails for a pattern that EventBridge would refuse."""
    body = json.dumps({"EventPattern": json.dumps(pattern), "Event": json.dumps(event)}).encode()
    headers = {"x-amz-target": "AWSEvents.TestEventPattern"}
    status, _, answer = asyncio.run(eventbridge.handle_request("POST", "/", headers, body, {}))
    if status != 200:
        raise ValueError(f"EventBridge refuses the pattern: {answer}")
    return bool(json.loads(answer)["Result"])
