"""Who may look at a job queue, and who may run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_batch as refs

from quota_constructs._grants import UNSCOPED_READS, carried_tags, grant, service_job_arns

__all__ = ["JobQueueGrants"]


class JobQueueGrants:
    """Grant access to one job queue: ``queue.grants``, or :meth:`from_job_queue` of an L1 or any other reference.

    Submitting is granted by share: see :class:`~quota_constructs.QuotaShareGrants`.

    Example::

        queue.grants.view(researchers)
        queue.grants.operate(on_call)
    """

    def __init__(self, job_queue: refs.IJobQueueRef) -> None:
        self._queue = job_queue
        self._arn = job_queue.job_queue_ref.job_queue_arn
        self._shares = f"{self._arn}/quota-share/*"

    @classmethod
    def from_job_queue(cls, job_queue: refs.IJobQueueRef) -> Self:
        """Return the grants of any job queue: ours, an L1, an upstream one, or imported."""
        return cls(job_queue)

    def actions(
        self, grantee: iam.IGrantable, actions: Sequence[str], *, resource_arns: Sequence[str] | None = None
    ) -> iam.Grant:
        """Grant actions of your choice.

        :param resource_arns: what to allow them on; the queue alone by default.
        """
        return grant(grantee, self._queue, actions, [self._arn] if resource_arns is None else resource_arns)

    def view(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant looking at the queue, its shares and jobs.

        Allows ``batch:GetJobQueueSnapshot`` and ``batch:ListQuotaShares`` on the queue, and
        ``batch:DescribeQuotaShare`` on its shares.

        AWS ties the rest to no resource, so that it is allowed on ``*`` and shows **all** queues and jobs of the
        account and Region, their payloads included: ``batch:DescribeJobQueues``, ``DescribeSchedulingPolicies``,
        ``DescribeServiceEnvironments``, ``DescribeServiceJob`` and ``ListServiceJobs``.
        """
        given = grant(grantee, self._queue, ["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"], [self._arn])
        given = given.combine(grant(grantee, self._queue, ["batch:DescribeQuotaShare"], [self._shares]))
        return given.combine(grant(grantee, self._queue, UNSCOPED_READS, ["*"]))

    def operate(self, grantee: iam.IGrantable, *, job_tags: Mapping[str, str] | None = None) -> iam.Grant:
        """Grant running the queue: all that :meth:`view` grants, stopping and changing the queue, its shares and jobs.

        Allows ``batch:UpdateJobQueue`` on the queue (to pause it, say; another scheduling policy cannot be attached,
        but AWS ties the service environment of an update to no resource), ``batch:UpdateQuotaShare`` on its shares
        (state and limits), and ``batch:TerminateServiceJob`` and ``batch:UpdateServiceJob`` on jobs.

        A job's ARN names no queue: unless ``job_tags`` narrow it, the last two are allowed for **all** service jobs
        of the account and Region.

        :param job_tags: tags that a job must have to be ended or changed; none by default.
        :raises QuotaConstructsError: if ``job_tags`` are empty.
        """
        env = self._queue.env
        jobs = service_job_arns(self._queue, account=env.account, region=env.region)
        tagged = None if job_tags is None else carried_tags(job_tags)
        given = self.view(grantee)
        given = given.combine(grant(grantee, self._queue, ["batch:UpdateJobQueue"], [self._arn]))
        given = given.combine(grant(grantee, self._queue, ["batch:UpdateQuotaShare"], [self._shares]))
        on_jobs = ["batch:TerminateServiceJob", "batch:UpdateServiceJob"]
        return given.combine(grant(grantee, self._queue, on_jobs, [jobs], tagged))
