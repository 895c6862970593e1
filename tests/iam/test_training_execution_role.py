"""What jobs that run with a training execution role may do, evaluated by an IAM simulator with AWS's action data."""

from __future__ import annotations

import pytest
from aws_cdk import Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from quota_constructs import TrainingExecutionRole
from tests.iam.scene import QUEUE, SHARE
from tests.iam.simulator import Principal, Request, Simulator, pass_role, submit_service_job, use_key
from tests.iam.templates import ACCOUNT, REGION
from tests.synthesis import template_of

LOGS = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group"
JOBS = f"{LOGS}:/aws/sagemaker/TrainingJobs"
IMAGES = f"arn:aws:ecr:{REGION}:{ACCOUNT}:repository"
AWS_IMAGES = f"arn:aws:ecr:{REGION}:763104351884:repository/pytorch-training"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key"
METRICS = {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}


@pytest.fixture(scope="module")
def job(simulator: Simulator, module_stack: Stack) -> Principal:
    stack = module_stack
    data = s3.Bucket.from_bucket_attributes(
        stack,
        "Data",
        bucket_arn="arn:aws:s3:::data",
        encryption_key=kms.Key.from_key_arn(stack, "DataKey", f"{KEY}/data"),
    )
    results = s3.Bucket.from_bucket_attributes(
        stack,
        "Results",
        bucket_arn="arn:aws:s3:::results",
        encryption_key=kms.Key.from_key_arn(stack, "ResultsKey", f"{KEY}/results"),
    )
    role = TrainingExecutionRole(stack, "Grantee")
    role.add_input(data, "datasets/")
    role.add_output(results, "models/")
    role.add_checkpoints(results, "checkpoints/")
    role.add_image(ecr.Repository.from_repository_name(stack, "Images", "trainer"))
    role.add_image(ecr.Repository.from_repository_arn(stack, "AwsImages", AWS_IMAGES))
    return simulator.grantee_of(template_of(stack))


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(Request("logs:CreateLogGroup", JOBS), id="create the log group"),
        pytest.param(Request("logs:CreateLogStream", f"{JOBS}:log-stream:job/algo-1"), id="create a log stream"),
        pytest.param(Request("logs:PutLogEvents", f"{JOBS}:log-stream:job/algo-1"), id="write logs"),
        pytest.param(Request("cloudwatch:PutMetricData", "*", METRICS), id="write metrics"),
        pytest.param(Request("s3:GetObject", "arn:aws:s3:::data/datasets/a"), id="read data"),
        pytest.param(Request("s3:ListBucket", "arn:aws:s3:::data", {"s3:prefix": "datasets/"}), id="list data"),
        pytest.param(Request("s3:ListBucket", "arn:aws:s3:::data", {"s3:prefix": "datasets"}), id="list without slash"),
        pytest.param(use_key("kms:Decrypt", f"{KEY}/data"), id="decrypt data"),
        pytest.param(Request("s3:PutObject", "arn:aws:s3:::results/models/m.tar.gz"), id="write models"),
        pytest.param(use_key("kms:GenerateDataKey", f"{KEY}/results"), id="encrypt models"),
        pytest.param(Request("s3:PutObject", "arn:aws:s3:::results/checkpoints/1"), id="save checkpoints"),
        pytest.param(Request("s3:GetObject", "arn:aws:s3:::results/checkpoints/1"), id="load checkpoints"),
        pytest.param(Request("ecr:BatchGetImage", f"{IMAGES}/trainer"), id="pull the image"),
        pytest.param(Request("ecr:GetDownloadUrlForLayer", AWS_IMAGES), id="pull AWS's image"),
        pytest.param(Request("ecr:GetAuthorizationToken"), id="log in to pull"),
    ],
)
def test_allows_what_training_jobs_need(job: Principal, call: Request) -> None:
    assert job.may(call)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(Request("logs:PutLogEvents", f"{LOGS}:/aws/lambda/x:log-stream:y"), id="write other logs"),
        pytest.param(Request("logs:GetLogEvents", f"{JOBS}:log-stream:job/algo-1"), id="read logs"),
        pytest.param(Request("logs:DeleteLogGroup", JOBS), id="delete logs"),
        pytest.param(
            Request("cloudwatch:PutMetricData", "*", {"cloudwatch:namespace": "Billing"}), id="write other metrics"
        ),
        pytest.param(Request("s3:GetObject", "arn:aws:s3:::data/secrets/a"), id="read other data"),
        pytest.param(Request("s3:PutObject", "arn:aws:s3:::data/datasets/a"), id="overwrite data"),
        pytest.param(Request("s3:ListBucket", "arn:aws:s3:::data", {"s3:prefix": "secrets/"}), id="list other data"),
        pytest.param(Request("s3:ListBucket", "arn:aws:s3:::data"), id="list everything"),
        pytest.param(use_key("kms:Encrypt", f"{KEY}/data"), id="encrypt with the data's key"),
        pytest.param(Request("s3:GetObject", "arn:aws:s3:::results/models/m.tar.gz"), id="read other jobs' models"),
        pytest.param(Request("s3:DeleteObject", "arn:aws:s3:::results/checkpoints/1"), id="delete checkpoints"),
        pytest.param(Request("ecr:BatchGetImage", f"{IMAGES}/other"), id="pull another image"),
        pytest.param(Request("ecr:PutImage", f"{IMAGES}/trainer"), id="push an image"),
        pytest.param(submit_service_job(QUEUE, SHARE), id="submit jobs"),
        pytest.param(pass_role(), id="pass roles"),
    ],
)
def test_fails_beyond_that(job: Principal, call: Request) -> None:
    assert not job.may(call)
