"""What stands in front of the local AWS: it lets nobody in but programs of this machine, and answers for itself.

A web page that the user visits can send requests to 127.0.0.1 too, and the local AWS runs Lambda functions. So
requests that a browser made for a page, and requests for another host name, are refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from quotactl.local.aws import LocalAws
from quotactl.local.errors import not_supported
from quotactl.local.training.behaviour import BehaviourError

__all__ = ["CONTROL", "in_front_of"]

CONTROL: Final = "/_quotactl/"
"""The path below which the local AWS answers for itself: ``instance``, ``clock`` and ``behaviours``."""
_LOCAL_HOST: Final = re.compile(r"([\w.-]+\.)?(localhost|127\.0\.0\.1)(:\d+)?")
_LARGEST_CONTROL_BODY: Final = 64 * 1024
_REFUSED: Final = {
    "/_ministack/reset": "Reset is not supported; run quotactl local down, then up.",
    "/v2/email": not_supported("The service ses").message,
}
"""Paths that ministack answers whatever services it is told to offer, and why they are refused."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class _RefusedError(Exception):
    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message, self.status = message, status


def in_front_of(app: App, aws: LocalAws, instance: dict[str, Any]) -> App:
    """Return an ASGI application that guards ``app`` and answers what is below :data:`CONTROL`."""

    async def front(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(app, scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            _refuse_strangers(headers)
            if scope["type"] == "http" and scope["path"].startswith(CONTROL):
                await _respond(send, 200, await _control(aws, instance, scope, receive))
                return
            for path, why in _REFUSED.items():
                if scope["path"].startswith(path):
                    raise _RefusedError(why)
        except _RefusedError as refusal:
            if scope["type"] == "http":
                await _respond(send, refusal.status, {"message": refusal.message})
            return
        await app(scope, receive, send)

    return front


class _EndedError(Exception):
    pass


async def _live(app: App, scope: Message, receive: Receive, send: Send) -> None:
    """Let ``app`` start up; at the end there is nothing to save, so it is not asked to take leave."""

    async def until_shutdown() -> Message:
        message = await receive()
        if message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            raise _EndedError
        return message

    with contextlib.suppress(_EndedError):
        await app(scope, until_shutdown, send)


def _refuse_strangers(headers: dict[str, str]) -> None:
    if not _LOCAL_HOST.fullmatch(headers.get("host", "")):
        raise _RefusedError("The local AWS answers to 127.0.0.1 and localhost alone.", 403)
    if "origin" in headers or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise _RefusedError("The local AWS answers to no web page.", 403)


async def _control(aws: LocalAws, instance: dict[str, Any], scope: Message, receive: Receive) -> dict[str, Any]:
    name = scope["path"].removeprefix(CONTROL)
    if scope["method"] == "GET" and name == "instance":
        return {**instance, "pid": os.getpid(), "now": aws.clock.now(), "speed": aws.clock.speed}
    if scope["method"] == "POST" and name == "clock":
        return {"now": await asyncio.to_thread(_advance, aws, await _object(receive))}
    if scope["method"] == "POST" and name == "behaviours":
        given = await _object(receive)
        try:
            return aws.behaviours.set(str(given.pop("jobName", "*")), given).to_json()
        except BehaviourError as error:
            raise _RefusedError(f"{error}.") from error
    raise _RefusedError(f"There is no {scope['method']} {scope['path']}.", 404)


def _advance(aws: LocalAws, given: dict[str, Any]) -> int:
    seconds = given.get("advanceSeconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < 1e9:
        raise _RefusedError("The clock advances by a number of seconds of at least 0 and below 1000000000.")
    return aws.clock.advance(round(seconds * 1000))


async def _object(receive: Receive) -> dict[str, Any]:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > _LARGEST_CONTROL_BODY or message["type"] == "http.disconnect":
            raise _RefusedError("The body is too large.")
    try:
        value = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise _RefusedError("The body is not a JSON object.")
    return value


async def _respond(send: Send, status: int, value: dict[str, Any]) -> None:
    body = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
