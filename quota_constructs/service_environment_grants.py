"""Who may change the capacity that a job queue's shares divide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_batch as refs

from quota_constructs._grants import grant

__all__ = ["ServiceEnvironmentGrants"]

_LINKED_SERVICE: Final = "sagemaker-queuing.batch.amazonaws.com"


class ServiceEnvironmentGrants:
    """Grant access to one service environment: ``environment.grants``, or :meth:`from_service_environment`.

    Example::

        environment.grants.administer(capacity_managers)
    """

    def __init__(self, service_environment: refs.IServiceEnvironmentRef) -> None:
        self._environment = service_environment
        self._arn = service_environment.service_environment_ref.service_environment_arn

    @classmethod
    def from_service_environment(cls, service_environment: refs.IServiceEnvironmentRef) -> Self:
        """Return the grants of any service environment: ours, an L1, or imported."""
        return cls(service_environment)

    def actions(
        self, grantee: iam.IGrantable, actions: Sequence[str], *, resource_arns: Sequence[str] | None = None
    ) -> iam.Grant:
        """Grant actions of your choice.

        :param resource_arns: what to allow them on; the environment alone by default.
        """
        return grant(grantee, self._environment, actions, [self._arn] if resource_arns is None else resource_arns)

    def administer(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant creating, changing and deleting this environment, and no other.

        Allows ``batch:CreateServiceEnvironment``, ``DeleteServiceEnvironment``, ``ListTagsForResource``,
        ``TagResource``, ``UntagResource`` and ``UpdateServiceEnvironment`` on the environment;
        ``iam:CreateServiceLinkedRole`` on Batch's role for SageMaker, which the first environment of an account needs;
        and ``batch:DescribeServiceEnvironments``, which AWS ties to no resource, on ``*``.
        """
        actions = [
            "batch:CreateServiceEnvironment",
            "batch:DeleteServiceEnvironment",
            "batch:ListTagsForResource",
            "batch:TagResource",
            "batch:UntagResource",
            "batch:UpdateServiceEnvironment",
        ]
        given = grant(grantee, self._environment, actions, [self._arn])
        given = given.combine(
            grant(
                grantee,
                self._environment,
                ["iam:CreateServiceLinkedRole"],
                [self._linked_role_arn()],
                {"StringEquals": {"iam:AWSServiceName": _LINKED_SERVICE}},
            )
        )
        return given.combine(grant(grantee, self._environment, ["batch:DescribeServiceEnvironments"], ["*"]))

    def _linked_role_arn(self) -> str:
        return Stack.of(self._environment).format_arn(
            service="iam",
            region="",
            account=self._environment.env.account,
            resource="role",
            resource_name=f"aws-service-role/{_LINKED_SERVICE}/AWSServiceRoleForAWSBatchWithSagemaker",
        )
