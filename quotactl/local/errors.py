"""The errors that the local AWS answers with, in the shape of each service's protocol."""

from __future__ import annotations

# The classes have the names that AWS's services give their errors.
# ruff: noqa: N818

__all__ = [
    "AwsError",
    "ClientException",
    "ResourceInUse",
    "ResourceNotFound",
    "ResourceNotFoundException",
    "ServerException",
    "UnknownOperationException",
    "ValidationException",
    "not_supported",
]


class AwsError(Exception):
    """An error that a client receives as AWS shapes it: an HTTP status, a code and a message."""

    status = 400
    code = "ClientException"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ClientException(AwsError):
    """Batch's only modelled error for a wrong request (API reference, common to all operations)."""


class ServerException(AwsError):
    """Batch's modelled error for a failure of its own."""

    status = 500
    code = "ServerException"


class ValidationException(AwsError):
    """SageMaker's error for a request that it cannot accept."""

    code = "ValidationException"


class ResourceInUse(AwsError):
    """SageMaker: the name is taken, or the resource is still at work."""

    code = "ResourceInUse"


class ResourceNotFound(AwsError):
    """SageMaker: there is no such resource."""

    code = "ResourceNotFound"


class ResourceNotFoundException(AwsError):
    """Cloud Control: there is no such resource."""

    code = "ResourceNotFoundException"


class UnknownOperationException(AwsError):
    """The service has no such operation, or the local AWS does not support it."""

    code = "UnknownOperationException"


def not_supported(what: str) -> ClientException:
    """Return the refusal of something that AWS has and the local AWS has not."""
    return ClientException(f"{what} is not supported by the local AWS: it runs SageMaker Training queues with quotas.")
