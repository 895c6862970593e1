"""The role that training jobs run with."""

from __future__ import annotations

from typing import ClassVar, Final

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.interfaces import aws_ecr as ecr_refs
from constructs import Construct

from quota_constructs._construction import expect
from quota_constructs._injection import property_injectable
from quota_constructs._tokens import is_token
from quota_constructs.errors import QuotaConstructsError
from quota_constructs.nag import acknowledge_wildcard

__all__ = ["TrainingExecutionRole"]

_LOG_GROUP: Final = "/aws/sagemaker/TrainingJobs"
_METRIC_NAMESPACE: Final = "/aws/sagemaker/TrainingJobs"


class TrainingExecutionRole(iam.Role):
    """Define a role that SageMaker assumes for training jobs, with no more than these jobs need.

    SageMaker alone may assume it, for training jobs of this account and Region. It may write logs and metrics where
    SageMaker keeps those of training jobs, and use the data and images that are added to it. What a job needs beyond
    that is granted the usual way (``table.grant_read_data(role)``); a job in a VPC needs the ``ec2`` actions that
    SageMaker's guide on execution roles lists.

    AWS's guide is "How to use SageMaker execution roles", CreateTrainingJob, narrowed to the log group and metric
    namespace that SageMaker documents for training jobs.

    Example::

        role = TrainingExecutionRole(self, "Training")
        role.add_image(repository)
        role.add_input(bucket, "datasets/")
        role.add_checkpoints(bucket, "checkpoints/")
        role.add_output(bucket, "models/")
        share.grants.submit(researchers, execution_role=role)

    :param scope: where the role is defined.
    :param id: its id in that scope.
    :param role_name: the role's name; CloudFormation generates one by default. Changing it replaces the role.
    :param description: what the role is for; a sentence that says so by default. Changing it updates it in place.
    :param permissions_boundary: a policy that the role can never exceed; none by default. Changing it updates the role
        in place.
    """

    PROPERTY_INJECTION_ID: ClassVar[str] = "quota_constructs.TrainingExecutionRole"
    """What a property injector names to give defaults to this class."""

    @property_injectable
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        role_name: str | None = None,
        description: str = "Runs SageMaker Training jobs",
        permissions_boundary: iam.IManagedPolicy | None = None,
    ) -> None:
        stack = Stack.of(scope)
        jobs = stack.format_arn(service="sagemaker", resource="training-job", resource_name="*")
        super().__init__(
            scope,
            id,
            # Without the condition, SageMaker could be made to use it on behalf of another account.
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com", conditions={"ArnLike": {"aws:SourceArn": jobs}}),
            role_name=role_name,
            description=description,
            permissions_boundary=permissions_boundary,
        )
        # What this class allows has a policy of its own: acknowledging its wildcards hides none that others add.
        self._policy = iam.Policy(self, "Training", roles=[self])
        self._has_images = False
        self._allow_logs(stack)
        self._allow_metrics()

    def add_input(self, bucket: s3.IBucket, prefix: str = "") -> None:
        """Let jobs read training data (``InputDataConfig``).

        Allows ``s3:GetObject`` under the prefix, ``s3:ListBucket`` for keys that begin with it and, if the bucket has
        a KMS key known to CDK, ``kms:Decrypt`` on that.

        :param prefix: what the objects' keys begin with, such as ``datasets/``; all of the bucket by default.
        """
        self._allow_objects(bucket, prefix, ["s3:GetObject"], ["kms:Decrypt"])

    def add_output(self, bucket: s3.IBucket, prefix: str = "") -> None:
        """Let jobs write their model artifacts (``OutputDataConfig``).

        Allows ``s3:PutObject`` under the prefix and, if the bucket has a KMS key known to CDK, ``kms:Decrypt`` (S3
        needs it for uploads in parts), ``kms:Encrypt`` and ``kms:GenerateDataKey`` on that.

        :param prefix: what the objects' keys begin with, such as ``models/``; all of the bucket by default.
        """
        keys = ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"]
        self._allow_objects(bucket, prefix, ["s3:PutObject"], keys, listing=False)

    def add_checkpoints(self, bucket: s3.IBucket, prefix: str = "") -> None:
        """Let jobs save checkpoints and go on from them after a preemption (``CheckpointConfig``).

        Allows what :meth:`add_input` and :meth:`add_output` do. It does not allow deleting, which AWS's guide does not
        ask for: what a job removes from its checkpoint folder may stay in the bucket.

        :param prefix: what the objects' keys begin with, such as ``checkpoints/``; all of the bucket by default.
        """
        keys = ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"]
        self._allow_objects(bucket, prefix, ["s3:GetObject", "s3:PutObject"], keys)

    def add_image(self, repository: ecr_refs.IRepositoryRef) -> None:
        """Let jobs run images of an ECR repository (``AlgorithmSpecification.TrainingImage``).

        Allows pulling from this repository, and once ``ecr:GetAuthorizationToken``, which AWS ties to no repository.

        :param repository: any repository, such as ``ecr.Repository.from_repository_arn(...)`` for AWS's own images.
        """
        arn = repository.repository_ref.repository_arn
        self._allow(["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"], [arn])
        if not self._has_images:
            self._has_images = True
            self._allow(["ecr:GetAuthorizationToken"], ["*"])

    def _allow_logs(self, stack: Stack) -> None:
        group = stack.format_arn(
            service="logs", resource="log-group", resource_name=_LOG_GROUP, arn_format=ArnFormat.COLON_RESOURCE_NAME
        )
        actions = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
        self._allow(actions, [group, f"{group}:*"])
        acknowledge_wildcard(self._policy, f"{group}:*", "SageMaker names the log streams of training jobs")

    def _allow_metrics(self) -> None:
        condition = {"StringEquals": {"cloudwatch:namespace": _METRIC_NAMESPACE}}
        self._allow(["cloudwatch:PutMetricData"], ["*"], condition)
        acknowledge_wildcard(
            self._policy, "*", "AWS ties cloudwatch:PutMetricData and ecr:GetAuthorizationToken to no resource"
        )

    def _allow_objects(
        self, bucket: s3.IBucket, prefix: str, actions: list[str], key_actions: list[str], *, listing: bool = True
    ) -> None:
        expect(isinstance(prefix, str), "prefix", prefix, "a text", "give one such as 'datasets/'")
        if not is_token(prefix) and (prefix.startswith(("/", "s3://")) or set(prefix) & set("*?")):
            raise QuotaConstructsError(
                f"prefix {prefix!r} is no beginning of object keys; give one such as 'datasets/'"
            )
        objects = bucket.arn_for_objects(f"{prefix}*")
        self._allow(actions, [objects])
        acknowledge_wildcard(self._policy, objects, "training jobs read and write any object under this prefix")
        if listing:
            # A job may name its data with or without the slash at the end.
            begins = {"StringLike": {"s3:prefix": f"{prefix.rstrip('/')}*"}} if prefix else None
            self._allow(["s3:ListBucket"], [bucket.bucket_arn], begins)
        if bucket.encryption_key is not None:
            self._allow(key_actions, [bucket.encryption_key.key_arn])

    def _allow(
        self, actions: list[str], resources: list[str], conditions: dict[str, dict[str, str]] | None = None
    ) -> None:
        self._policy.add_statements(iam.PolicyStatement(actions=actions, resources=resources, conditions=conditions))
