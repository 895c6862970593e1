"""What the grants of shares, queues and environments have in common: statements, and the conditions they carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from aws_cdk import ArnFormat, Stack, Tokenization, Validations
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_batch as refs
from constructs import IConstruct

from quota_constructs._construction import expect
from quota_constructs._tokens import is_token
from quota_constructs.errors import RULE_PREFIX, QuotaConstructsError

Conditions: TypeAlias = dict[str, dict[str, str]]
Granted: TypeAlias = refs.IQuotaShareRef | refs.IJobQueueRef | refs.IServiceEnvironmentRef

MAX_JOB_PRIORITY: Final = 9999
"""The highest ``schedulingPriority`` that AWS Batch takes; the lowest is 0 (SubmitServiceJob)."""

UNSCOPED_READS: Final = (
    "batch:DescribeJobQueues",
    "batch:DescribeSchedulingPolicies",
    "batch:DescribeServiceEnvironments",
    "batch:DescribeServiceJob",
    "batch:ListServiceJobs",
)
"""Reads that AWS ties to no resource (Service Authorization Reference): a policy can allow them on ``*`` only."""


def grant(
    grantee: iam.IGrantable,
    resource: Granted,
    actions: Iterable[str],
    arns: Iterable[str],
    conditions: Conditions | None = None,
) -> iam.Grant:
    """Allow actions in the grantee's own policy: AWS Batch has no resource policies.

    A principal without policies of its own, such as a service, gets nothing, and neither does one of another account; a
    warning on the resource says so.
    """
    actions = sorted(actions)  # CDK sorts them only with a feature flag.
    given = iam.Grant.add_to_principal(
        grantee=grantee, actions=actions, resource_arns=list(arns), conditions=conditions
    )
    if not given.success:
        _warn(resource, actions, "a principal that has no policy of its own", "the role that the principal uses")
        return given
    account, home = grantee.grant_principal.principal_account, resource.env.account
    if account is not None and not is_token(account) and not is_token(home) and account != home:
        remedy = f"a role of account {home}, which the principal assumes"
        _warn(resource, actions, f"a principal of account {account}, in account {home},", remedy)
    return given


def _warn(resource: IConstruct, actions: Iterable[str], whom: str, whom_instead: str) -> None:
    Validations.of(resource).add_warning(
        f"{RULE_PREFIX}grant-without-effect",
        f"{', '.join(actions)} granted to {whom} has no effect, as AWS Batch has no resource policies; "
        f"grant it to {whom_instead}",
    )


def pass_role(grantee: iam.IGrantable, resource: Granted, role_arn: str) -> iam.Grant:
    """Allow a role to be passed to SageMaker, and to no other service."""
    return grant(
        grantee,
        resource,
        ["iam:PassRole"],
        [role_arn],
        {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
    )


def service_job_arns(resource: IConstruct, *, account: str, region: str) -> str:
    """Return the pattern of all service jobs of one account and Region: Batch makes up a job's id when it is submitted."""
    return Stack.of(resource).format_arn(
        service="batch",
        resource="service-job",
        resource_name="*",
        account=account,
        region=region,
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )


def priority_cap(max_priority: float | None) -> Conditions:
    """Return the condition that a job's priority be at most this, if one is given with the request."""
    if max_priority is None:
        return {}
    if is_token(max_priority):
        cap = Tokenization.stringify_number(max_priority)
    elif not _is_priority(max_priority):
        raise QuotaConstructsError(f"max_priority {max_priority!r} is not a job priority; give 0 to {MAX_JOB_PRIORITY}")
    else:
        cap = str(int(max_priority))
    return {"NumericLessThanEqualsIfExists": {"batch:SchedulingPriority": cap}}


def requested_tags(job_tags: Mapping[str, str]) -> Conditions:
    """Return the condition that the request gives a job these tags."""
    return {"StringEquals": _tag_keys("aws:RequestTag", job_tags)}


def carried_tags(job_tags: Mapping[str, str]) -> Conditions:
    """Return the condition that a job has these tags."""
    return {"StringEquals": _tag_keys("aws:ResourceTag", job_tags)}


def not_tagged_otherwise(job_tags: Mapping[str, str]) -> Conditions:
    """Return the condition that a job has these tags or, as one that is just submitted, no such tags at all."""
    return {"StringEqualsIfExists": _tag_keys("aws:ResourceTag", job_tags)}


def _is_priority(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= MAX_JOB_PRIORITY and not value % 1


def _tag_keys(prefix: str, job_tags: Mapping[str, str]) -> dict[str, str]:
    expect(isinstance(job_tags, Mapping), "job_tags", job_tags, "a mapping", "give one such as {'team': 'vision'}")
    if not job_tags:
        raise QuotaConstructsError("job_tags is empty; name at least one tag, such as {'team': 'vision'}")
    for key, value in job_tags.items():
        expect(isinstance(key, str), "job tag key", key, "a text", "give one such as 'team'")
        if not key or is_token(key):
            raise QuotaConstructsError(f"job tag key {key!r} is empty or not known at synthesis; give a literal key")
        # CDK leaves out a condition on None: the statement would then reach the jobs of everybody.
        expect(isinstance(value, str), f"job_tags[{key!r}]", value, "a text", "give a tag's value")
    return {f"{prefix}/{key}": value for key, value in job_tags.items()}
