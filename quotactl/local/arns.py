"""The ARNs of Batch's resources in one account and Region: how they are made and how they are resolved."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Arns", "partition_of"]


def partition_of(region: str) -> str:
    """Return the partition of a Region, as botocore's endpoint data has it by prefix."""
    prefixes = {"cn-": "aws-cn", "us-gov-": "aws-us-gov", "eusc-": "aws-eusc"}
    return next((partition for prefix, partition in prefixes.items() if region.startswith(prefix)), "aws")


@dataclass(frozen=True, slots=True)
class Arns:
    """The ARNs of one account and Region."""

    account: str
    region: str

    def of(self, resource: str, service: str = "batch") -> str:
        """Return the ARN of a resource such as ``job-queue/gpus``."""
        return f"arn:{partition_of(self.region)}:{service}:{self.region}:{self.account}:{resource}"

    def name(self, kind: str, name_or_arn: str) -> str | None:
        """Return the name within an ARN of this kind (``job-queue``), a plain name as it is, else ``None``.

        ``None`` means an ARN of another kind, account or Region.
        """
        if not name_or_arn.startswith("arn:"):
            return name_or_arn
        prefix = self.of(f"{kind}/")
        return name_or_arn.removeprefix(prefix) if name_or_arn.startswith(prefix) else None
