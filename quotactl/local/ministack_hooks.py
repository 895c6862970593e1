"""Where the local AWS is put into ministack: the one module that knows ministack's insides.

ministack has no plug-in API. What is used of it are these module dictionaries and functions, each pinned by a test
that fails when a version moves it:

- ``ministack.app.SERVICE_HANDLERS`` and ``router.SERVICE_PATTERNS``: the handler of each service, and how its
  requests are known;
- ``provisioners._RESOURCE_HANDLERS`` and ``._REPLACING_PROPERTIES``: CloudFormation's types;
- ``drift._DRIFT_READERS``: drift detection;
- ``stepfunctions._AWS_SDK_SERVICE_MAP`` and ``._REST_JSON_ACTION_PATHS``: which service a state machine can call;
- ``eventbridge._put_events``: an event with a source that only AWS may use;
- ``responses.get_account_id``, ``.get_region`` and ``.request_scope``: whose request it is.
"""

# ministack's calls decide the parameters of what it calls.
# ruff: noqa: ARG001

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from quotactl.local import cloud_control
from quotactl.local.batch import api as batch_api
from quotactl.local.cloudformation import TYPES, ResourceType
from quotactl.local.errors import AwsError, ClientException, ServerException, ValidationException, not_supported
from quotactl.local.requests import operations_by_uri, read_json
from quotactl.local.training import api as training_api

if TYPE_CHECKING:
    from quotactl.local.aws import LocalAws
    from quotactl.local.batch.batch import Batch

__all__ = ["Events", "configure", "install"]

Response = tuple[int, dict[str, str], bytes]
Handler = Callable[[str, str, dict[str, str], bytes, dict[str, list[str]]], Awaitable[Response]]

_SERVICES: Final = (
    "batch,cloudcontrol,cloudformation,cloudtrail,dynamodb,ecr,events,iam,kms,lambda,logs,monitoring,s3,scheduler,"
    "secretsmanager,sns,sqs,ssm,states,sts"
)
"""What of ministack is offered: what a stack around a queue is made of. The rest starts servers of its own."""
_LARGEST_BODY: Final = 1024 * 1024
_WAITED_FOR: Final = ("ExecuteChangeSet", "DeleteStack", "CreateStack", "UpdateStack")
_LONGEST_WAIT_SECONDS: Final = 60


class _Service(NamedTuple):
    """A service that is ours: how its requests are read, and what answers them."""

    content_type: str
    malformed: type[AwsError]
    """The error for a body that cannot be read."""
    call: Callable[[Batch, str, dict[str, Any]], dict[str, Any]]
    """Carries an operation out with its parameters."""
    target_prefix: str | None = None
    """What stands before the operation in ``x-amz-target``; ``None`` where the path names it (rest-json)."""


_OWN_SERVICES: Final = {
    "batch": _Service("application/json", ClientException, batch_api.call),
    "sagemaker": _Service(
        "application/x-amz-json-1.1",
        ValidationException,
        lambda batch, operation, parameters: training_api.call(batch.training_jobs, operation, parameters),
        "SageMaker.",
    ),
    "cloudcontrol": _Service("application/x-amz-json-1.0", ValidationException, cloud_control.call, "CloudApiService."),
}


def configure(port: int, account: str, region: str, state: Path) -> None:
    """Set what ministack reads from the environment when it is imported: loopback alone, and no file outside
    ``state``.
    """
    temporary = state / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    os.environ.update(
        {
            "GATEWAY_PORT": str(port),
            "BIND_HOST": "127.0.0.1",
            "MINISTACK_ACCOUNT_ID": account,
            "MINISTACK_REGION": region,
            "SERVICES": _SERVICES,
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
            "PERSIST_STATE": "0",
            "DOCKER_HOST": f"unix://{state}/no-docker.sock",
            "TMPDIR": str(temporary),
            "S3_DATA_DIR": str(state / "s3"),
            "STATE_DIR": str(state / "ministack"),
            "LOG_LEVEL": os.environ.get("QUOTACTL_LOCAL_LOG_LEVEL", "WARNING"),
        }
    )


class Events:
    """Puts events on the default bus of their account and Region, after the turn in which they happen."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None

    def send(self, account: str, region: str, detail_type: str, resource: str, detail: dict[str, Any]) -> None:
        """Have an event delivered as soon as the server's loop comes to it."""
        if self.loop is not None and not self.loop.is_closed():
            entry = {"Source": "aws.batch", "DetailType": detail_type, "Resources": [resource]}
            self.loop.call_soon_threadsafe(_put_event, account, region, {**entry, "Detail": json.dumps(detail)})


def _put_event(account: str, region: str, entry: dict[str, Any]) -> None:
    from ministack.core.responses import request_scope
    from ministack.services import eventbridge

    with request_scope(account, region):
        eventbridge._put_events({"Entries": [entry]}, allow_aws_source=True)


def install(aws: LocalAws) -> None:
    """Put the local Batch, SageMaker and the CloudFormation types into ministack; call :func:`configure` first."""
    import ministack.app
    from ministack.core import router
    from ministack.services.cloudformation import drift, provisioners

    # Without a pattern of its own, the first request takes seconds: ministack then looks through all of botocore.
    router.SERVICE_PATTERNS["sagemaker"] = {"target_prefixes": ["SageMaker."], "credential_scope": "sagemaker"}
    handlers = _Offered(ministack.app.SERVICE_HANDLERS)
    ministack.app.SERVICE_HANDLERS = handlers
    for name, service in _OWN_SERVICES.items():
        handlers[name] = _handler(aws, service)
    handlers["cloudformation"] = _answering_when_done(handlers["cloudformation"])
    _let_state_machines_call_batch()
    for name, resource_type in TYPES.items():
        provisioners._RESOURCE_HANDLERS[name] = _provisioner(aws, resource_type)
        provisioners._REPLACING_PROPERTIES[name] = resource_type.replacing
        drift._DRIFT_READERS[name] = (_drift_reader(aws, resource_type), resource_type.readable())


def _let_state_machines_call_batch() -> None:
    from ministack.services import stepfunctions

    stepfunctions._AWS_SDK_SERVICE_MAP["batch"] = {"protocol": "rest-json", "service_key": "batch"}
    stepfunctions._REST_JSON_ACTION_PATHS["batch"] = {
        operation: uri for (_, uri), operation in operations_by_uri("batch").items() if "{" not in uri
    }


class _Offered(dict[str, Handler]):
    """The handlers of the services that are offered; every other service is refused in its own protocol."""

    def get(self, service: str, _default: Any = None) -> Handler:
        return super().get(service) or _refusing(service)


def _refusing(service: str) -> Handler:
    async def handle(
        method: str, path: str, headers: dict[str, str], body: bytes, query: dict[str, list[str]]
    ) -> Response:
        error = not_supported(f"The service {service}")
        if "x-amz-target" in headers or "json" in headers.get("content-type", ""):
            return _error_response(error, headers.get("content-type", "application/json"))
        xml = (
            f"<ErrorResponse><Error><Code>{error.code}</Code><Message>{error.message}</Message></Error></ErrorResponse>"
        )
        return error.status, {"Content-Type": "text/xml"}, xml.encode()

    return handle


def _batch_of_request(aws: LocalAws) -> Batch:
    from ministack.core.responses import get_account_id, get_region

    return aws.batch(get_account_id(), get_region())


def _handler(aws: LocalAws, service: _Service) -> Handler:
    """Return the handler of a service of ours, for the account and Region of each request."""

    async def handle(
        method: str, path: str, headers: dict[str, str], body: bytes, query: dict[str, list[str]]
    ) -> Response:
        batch = _batch_of_request(aws)

        def answer() -> dict[str, Any]:
            if len(body) > _LARGEST_BODY:
                raise service.malformed(f"The request has {len(body)} bytes; it can have at most {_LARGEST_BODY}.")
            if service.target_prefix is None:
                operation, parameters = batch_api.read_request(method, path, body, query)
            else:
                operation = headers.get("x-amz-target", "").removeprefix(service.target_prefix)
                parameters = read_json(body, service.malformed)
            return service.call(batch, operation, parameters)

        return await _answered(answer, service.content_type)

    return handle


async def _answered(answer: Callable[[], dict[str, Any]], content_type: str) -> Response:
    """Answer on a thread, so that waiting for the clock's turn never holds the server up."""
    try:
        response = await asyncio.to_thread(answer)
    except AwsError as error:
        return _error_response(error, content_type)
    except Exception:
        import logging

        logging.getLogger("quotactl").exception("the local AWS failed at a request")
        return _error_response(
            ServerException("The local AWS failed at this request; its log says where."), content_type
        )
    return 200, {"Content-Type": content_type}, json.dumps(response).encode()


def _error_response(error: AwsError, content_type: str) -> Response:
    headers = {"Content-Type": content_type, "x-amzn-ErrorType": error.code}
    return error.status, headers, json.dumps({"__type": error.code, "message": error.message}).encode()


def _answering_when_done(handler: Handler) -> Handler:
    """Return CloudFormation's handler so that it answers an execution or deletion when its work is done: clients then
    find the stack finished at their first look.
    """

    async def handle(
        method: str, path: str, headers: dict[str, str], body: bytes, query: dict[str, list[str]]
    ) -> Response:
        before = asyncio.all_tasks()
        response = await handler(method, path, headers, body, query)
        if any(f"Action={action}".encode() in body for action in _WAITED_FOR):
            work = [task for task in asyncio.all_tasks() - before if _is_stack_work(task)]
            if work:
                await asyncio.wait(work, timeout=_LONGEST_WAIT_SECONDS)
        return response

    return handle


def _is_stack_work(task: asyncio.Task[Any]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and f"{os.sep}cloudformation{os.sep}" in code.co_filename


def _provisioner(aws: LocalAws, resource_type: ResourceType) -> dict[str, Callable[..., Any]]:
    def create(logical_id: str, properties: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        return resource_type.created(_batch_of_request(aws), logical_id, properties, stack)

    def update(
        physical_id: str, before: dict[str, Any], after: dict[str, Any], stack: str
    ) -> tuple[str, dict[str, str]]:
        return resource_type.updated(_batch_of_request(aws), physical_id, before, after)

    def delete(physical_id: str, properties: dict[str, Any]) -> None:
        resource_type.deleted(_batch_of_request(aws), physical_id)

    return {"create": create, "update": update, "delete": delete}


def _drift_reader(aws: LocalAws, resource_type: ResourceType) -> Callable[[str, dict[str, Any]], dict[str, Any] | None]:
    def read(physical_id: str, properties: dict[str, Any]) -> dict[str, Any] | None:
        return resource_type.read(_batch_of_request(aws), physical_id, properties)

    return read
