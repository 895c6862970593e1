"""Who may use a quota share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_batch as refs
from aws_cdk.interfaces import aws_iam as iam_refs

from quota_constructs._arns import queue_arn_of
from quota_constructs._grants import (
    UNSCOPED_READS,
    carried_tags,
    grant,
    not_tagged_otherwise,
    pass_role,
    priority_cap,
    requested_tags,
    service_job_arns,
)

__all__ = ["QuotaShareGrants"]


class QuotaShareGrants:
    """Grant access to one quota share: ``share.grants``, or :meth:`from_quota_share` of an L1 or any other reference.

    Every statement names the exact ARNs of the share and its queue. A pattern such as ``job-queue/*`` would reach
    every share below, since ``*`` in a policy spans slashes. That leaving out the other shares' ARNs denies them
    rests on AWS listing ``quota-share`` as a resource of SubmitServiceJob; AWS has no condition key for a share.

    Example::

        share.grants.submit(role, max_priority=50, job_tags={"team": "vision"}, execution_role=training_role)
        share.grants.manage_jobs(role, max_priority=50, job_tags={"team": "vision"})
        share.grants.view(role)
    """

    def __init__(self, quota_share: refs.IQuotaShareRef, job_queue_arn: str | None = None) -> None:
        self._share = quota_share
        self._arn = quota_share.quota_share_ref.quota_share_arn
        self._queue_arn = queue_arn_of(self._arn) if job_queue_arn is None else job_queue_arn
        env = quota_share.env
        self._jobs = service_job_arns(quota_share, account=env.account, region=env.region)

    @classmethod
    def from_quota_share(cls, quota_share: refs.IQuotaShareRef) -> Self:
        """Return the grants of any quota share: ours, an L1, or imported."""
        return cls(quota_share)

    def actions(
        self, grantee: iam.IGrantable, actions: Sequence[str], *, resource_arns: Sequence[str] | None = None
    ) -> iam.Grant:
        """Grant actions of your choice.

        :param resource_arns: what to allow them on; the share alone by default.
        """
        return grant(grantee, self._share, actions, [self._arn] if resource_arns is None else resource_arns)

    def submit(
        self,
        grantee: iam.IGrantable,
        *,
        max_priority: float | None = None,
        job_tags: Mapping[str, str] | None = None,
        execution_role: iam_refs.IRoleRef | None = None,
    ) -> iam.Grant:
        """Grant submitting jobs to this share.

        Allows ``batch:SubmitServiceJob`` on the queue, the share and the jobs to come; with ``job_tags``
        ``batch:TagResource`` on jobs; with ``execution_role`` ``iam:PassRole`` on that role, to SageMaker alone.

        What AWS leaves open: a submission that names no priority passes the cap, and AWS does not say which priority
        such a job has. Batch, not the submitter, creates the training job, so that conditions on SageMaker actions
        (instance types, networks) do not bind what is submitted; the share's limits and the execution role do.

        :param max_priority: the highest ``schedulingPriority`` that a submission may name, 0 to 9999; any by default.
            Give :meth:`manage_jobs` the same one, or a job's priority can be raised later.
        :param job_tags: the tags that every submission has to carry, which :meth:`manage_jobs` then goes by. Use one
            tag key for all who share an account. Without them, jobs can be submitted only without tags, since
            ``batch:TagResource`` on all jobs would let the grantee take over other teams' jobs. A job that somebody
            may submit without this tag can be tagged, and so be taken over, by the grantee: AWS documents no way to
            allow tags at submission alone. A value may hold policy variables such as ``${aws:PrincipalTag/team}``.
        :param execution_role: the role that the training jobs run with, to be named in their payload.
        :raises QuotaConstructsError: if ``max_priority`` is no job priority, or ``job_tags`` are empty.
        """
        conditions = priority_cap(max_priority)
        if job_tags is not None:
            conditions |= requested_tags(job_tags)
        arns = [self._queue_arn, self._arn, self._jobs]
        given = grant(grantee, self._share, ["batch:SubmitServiceJob"], arns, conditions)
        if job_tags is not None:
            conditions = requested_tags(job_tags) | not_tagged_otherwise(job_tags)
            given = given.combine(grant(grantee, self._share, ["batch:TagResource"], [self._jobs], conditions))
        if execution_role is not None:
            given = given.combine(pass_role(grantee, self._share, execution_role.role_ref.role_arn))
        return given

    def manage_jobs(
        self, grantee: iam.IGrantable, *, job_tags: Mapping[str, str], max_priority: float | None = None
    ) -> iam.Grant:
        """Grant ending jobs and changing their priority, by the tags that the jobs carry.

        Allows ``batch:TerminateServiceJob`` and ``batch:UpdateServiceJob`` on jobs with these tags. Tags are the
        only way to tell jobs apart: a job's ARN names neither its share nor its queue, and AWS does not say that jobs
        inherit a share's tags. Jobs with the same tags in other shares are therefore included.

        :param job_tags: tags that a job must have, those that :meth:`submit` asks for.
        :param max_priority: the highest priority that a job may be given, 0 to 9999; any by default. It does not keep
            the grantee from lowering the priority of a job above it.
        :raises QuotaConstructsError: if ``max_priority`` is no job priority, or ``job_tags`` are empty.
        """
        tagged, capped = carried_tags(job_tags), priority_cap(max_priority)
        if not capped:
            actions = ["batch:TerminateServiceJob", "batch:UpdateServiceJob"]
            return grant(grantee, self._share, actions, [self._jobs], tagged)
        given = grant(grantee, self._share, ["batch:TerminateServiceJob"], [self._jobs], tagged)
        return given.combine(grant(grantee, self._share, ["batch:UpdateServiceJob"], [self._jobs], tagged | capped))

    def view(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant looking at the share, its queue and jobs.

        Allows ``batch:DescribeQuotaShare`` on the share, and on the queue ``batch:GetJobQueueSnapshot`` and
        ``batch:ListQuotaShares``, which show the other shares' limits and use as well.

        AWS ties the rest to no resource, so that it is allowed on ``*`` and shows **all** queues and jobs of the
        account and Region, their payloads included: ``batch:DescribeJobQueues``, ``DescribeSchedulingPolicies``,
        ``DescribeServiceEnvironments``, ``DescribeServiceJob`` and ``ListServiceJobs``.
        """
        on_queue = ["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"]
        given = grant(grantee, self._share, ["batch:DescribeQuotaShare"], [self._arn])
        given = given.combine(grant(grantee, self._share, on_queue, [self._queue_arn]))
        return given.combine(grant(grantee, self._share, UNSCOPED_READS, ["*"]))

    def administer(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant creating, changing and deleting this share, and no other.

        Allows ``batch:CreateQuotaShare`` on the share and its queue; ``batch:DeleteQuotaShare``,
        ``DescribeQuotaShare``, ``ListTagsForResource``, ``TagResource``, ``UntagResource`` and ``UpdateQuotaShare``
        on the share. AWS has no condition on limits: who may change the share may give it any.
        """
        given = grant(grantee, self._share, ["batch:CreateQuotaShare"], [self._queue_arn, self._arn])
        actions = [
            "batch:DeleteQuotaShare",
            "batch:DescribeQuotaShare",
            "batch:ListTagsForResource",
            "batch:TagResource",
            "batch:UntagResource",
            "batch:UpdateQuotaShare",
        ]
        return given.combine(grant(grantee, self._share, actions, [self._arn]))
