"""Names out of ARNs, which may be literal, CDK tokens, or a literal with tokens inside."""

from __future__ import annotations

from aws_cdk import Fn

from quota_constructs._tokens import is_token
from quota_constructs.errors import MalformedArnError

_SHARE = "/quota-share/"


def names_in_arn(arn: str, service: str, *kinds: str) -> tuple[str, ...]:
    """Return the names in an ARN that ends in ``kind/name`` once for each of ``kinds``.

    A quota share's ARN is nested, ``job-queue/Q/quota-share/S``: its kinds are ``job-queue`` and ``quota-share``,
    its names Q and S. Of a token, the names are tokens that split it at deployment.

    Raises :class:`MalformedArnError` if the ARN is literal and not of these kinds.
    """
    names = _literal_names(arn, service, kinds)
    if names is not None:
        return names
    if is_token(arn):
        segments = Fn.split("/", arn)
        return tuple(Fn.select(2 * index + 1, segments) for index in range(len(kinds)))
    shape = "/".join(f"{kind}/<name>" for kind in kinds)
    raise MalformedArnError(
        f"{arn!r} is not the ARN of a {kinds[-1].replace('-', ' ')}; "
        f"give arn:<partition>:{service}:<region>:<account>:{shape}"
    )


def queue_arn_of(quota_share_arn: str) -> str:
    """Return the ARN of a quota share's queue; of a token, a token that splits it at deployment."""
    queue_arn, separator, _ = quota_share_arn.partition(_SHARE)
    return queue_arn if separator else Fn.select(0, Fn.split(_SHARE, quota_share_arn))


def _literal_names(arn: object, service: str, kinds: tuple[str, ...]) -> tuple[str, ...] | None:
    if not isinstance(arn, str) or arn.count(":") < 5:  # None comes from an environment variable that is not set.
        return None
    prefix, _, *rest = arn.split(":", 5)
    if prefix != "arn" or rest[0] != service:
        return None
    path = rest[-1].split("/")
    names = tuple(path[1::2])
    return names if tuple(path[::2]) == kinds and len(names) == len(kinds) and all(names) else None
