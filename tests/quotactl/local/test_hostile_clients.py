"""Requests that no SDK would send: each gets a clean error, and the state stays whole."""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
from http.client import HTTPConnection
from typing import Any

import pytest

from quotactl.local.testing import RunningAws, local_aws  # noqa: F401

pytestmark = pytest.mark.slow

AUTHORIZATION = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/{}/aws4_request, SignedHeaders=host, Signature=0"
UNIT = "ml.g5.xlarge"


def post(aws: RunningAws, path: str, body: bytes, service: str = "batch", **headers: str) -> tuple[int, dict[str, Any]]:
    connection = HTTPConnection("127.0.0.1", aws.instance.port, timeout=120)
    try:
        given = {"Authorization": AUTHORIZATION.format(service), "Content-Type": "application/json"}
        connection.request("POST", path, body, {**given, **headers})
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"{}")
    finally:
        connection.close()


@pytest.fixture(scope="module")
def aws(local_aws: RunningAws) -> RunningAws:  # noqa: F811
    """A local AWS with a queue and a share of one instance."""
    batch = local_aws.client("batch")
    policy = batch.create_scheduling_policy(name="policy", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
    limits = [{"capacityUnit": UNIT, "maxCapacity": 1}]
    batch.create_service_environment(
        serviceEnvironmentName="environment", serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=limits
    )
    batch.create_job_queue(
        jobQueueName="queue",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy["arn"],
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "environment"}],
    )
    batch.create_quota_share(
        quotaShareName="share",
        jobQueue="queue",
        capacityLimits=limits,
        resourceSharingConfiguration={"strategy": "RESERVE"},
        preemptionConfiguration={"inSharePreemption": "DISABLED"},
    )
    return local_aws


def submission(name: str = "job") -> dict[str, Any]:
    request = {
        "ResourceConfig": {"InstanceType": UNIT, "InstanceCount": 1},
        "OutputDataConfig": {"S3OutputPath": "s3://x"},
    }
    payload = json.dumps({**request, "TrainingJobName": name, "RoleArn": "arn:aws:iam::123456789012:role/training"})
    return {
        "jobName": name,
        "jobQueue": "queue",
        "quotaShareName": "share",
        "serviceJobType": "SAGEMAKER_TRAINING",
        "serviceRequestPayload": payload,
    }


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"jobName": ' + b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"jobQueue": {"a": 1}}',
        b'{"jobQueue": "q", "maxResults": "ten"}',
        b'{"jobQueue": "q", "maxResults": 1e400}',
        b'{"jobQueue": "q", "maxResults": NaN}',
        b'{"jobQueue": "queue", "nextToken": "' + base64.urlsafe_b64encode(b'["", Infinity]') + b'"}',
        b'{"jobQueue": "queue", "nextToken": "' + base64.urlsafe_b64encode(b"[" * 20_000) + b'"}',
        b'{"jobQueue": "q", "unknown": 1}',
        b'{"jobQueue": "' + b"x" * 2_000_000 + b'"}',
    ],
)
def test_a_body_that_is_no_request_is_a_client_exception(aws: RunningAws, body: bytes) -> None:
    status, answer = post(aws, "/v1/listservicejobs", body)
    assert (status, answer["__type"]) == (400, "ClientException")


@pytest.mark.parametrize("path", ["/v1/nosuchoperation", "/v1/", "/v1/../v1/x", "/v1/SubmitServiceJob"])
def test_an_operation_that_does_not_exist_is_a_client_exception(aws: RunningAws, path: str) -> None:
    status, answer = post(aws, path, b"{}")
    assert (status, answer["__type"]) == (400, "ClientException")


@pytest.mark.parametrize("operation", ["submitjob", "createcomputeenvironment", "registerjobdefinition", "listjobs"])
def test_what_batch_has_and_the_local_one_has_not_says_so(aws: RunningAws, operation: str) -> None:
    status, answer = post(aws, f"/v1/{operation}", b"{}")
    assert status == 400
    assert "is not supported by the local AWS" in answer["message"]


def test_a_service_that_is_not_there_says_so_in_its_own_protocol(aws: RunningAws) -> None:
    absent = (
        ("rds", "describe_db_instances"),
        ("dynamodbstreams", "list_streams"),
        ("sesv2", "list_email_identities"),
    )
    for service, operation in absent:
        client = aws.client(service)
        with pytest.raises(client.exceptions.ClientError, match="is not supported by the local AWS"):
            getattr(client, operation)()


@pytest.mark.parametrize(
    "changes",
    [
        {"schedulingPriority": 10**30},
        {"serviceRequestPayload": "{" * 5000},
        {"serviceRequestPayload": "[" * 9000},
        {"serviceRequestPayload": json.dumps({"ResourceConfig": [UNIT]})},
        {"serviceRequestPayload": json.dumps({"ResourceConfig": {"InstanceType": UNIT, "InstanceCount": 1.5}})},
        {"serviceRequestPayload": json.dumps({"ResourceConfig": {"InstanceType": UNIT, "InstanceCount": True}})},
        {"serviceRequestPayload": f'{{"ResourceConfig": {{"InstanceType": "{UNIT}", "InstanceCount": 1{"0" * 400}}}}}'},
        {"serviceRequestPayload": '{"a": "\ud800"}'},
        {"jobName": "a\x00b"},
        {"jobName": "\ud800"},
        {"quotaShareName": "../share"},
        {"tags": {"": "x"}},
        {"tags": {"x": "\ud800"}},
        {"tags": {"\ud800": "x"}},
        {"timeoutConfig": {"attemptDurationSeconds": 0}},
        {"timeoutConfig": {"attemptDurationSeconds": 10**12}},
        {"preemptionConfiguration": {"preemptionRetriesBeforeTermination": 10**400}},
    ],
)
def test_a_submission_that_makes_no_sense_is_a_client_exception(aws: RunningAws, changes: dict[str, Any]) -> None:
    status, answer = post(aws, "/v1/submitservicejob", json.dumps({**submission(), **changes}).encode())
    assert (status, answer["__type"]) == (400, "ClientException"), answer
    assert post(aws, "/v1/listservicejobs", b'{"jobQueue": "queue", "jobStatus": "RUNNABLE"}')[0] == 200, "harmed"


@pytest.mark.parametrize(
    ("operation", "request_body"),
    [
        ("ListTrainingJobs", {"CreationTimeAfter": "yesterday"}),
        ("ListTrainingJobs", {"NextToken": base64.urlsafe_b64encode(b"quotactl:x").decode()}),
        ("SearchTrainingPlanOfferings", {"StartTimeAfter": 1e300}),
        ("SearchTrainingPlanOfferings", {"DurationHours": 10**9}),
        ("CreateTrainingPlan", {"TrainingPlanName": "p", "TrainingPlanOfferingId": "none"}),
        ("DescribeTrainingJob", {"TrainingJobName": "\ud800"}),
        ("DescribeTrainingJob", {"TrainingJobName": "a b"}),
        ("DescribeTrainingJob", {"TrainingJobName": "a" * 64}),
    ],
)
def test_a_request_that_sagemaker_cannot_read_is_a_client_error(
    aws: RunningAws, operation: str, request_body: dict[str, Any]
) -> None:
    wanted = {"InstanceType": "ml.p5.48xlarge", "DurationHours": 24, "TargetResources": ["training-job"]}
    body = {**wanted, **request_body} if operation.startswith("Search") else request_body
    target = {"X-Amz-Target": f"SageMaker.{operation}"}
    status, answer = post(aws, "/", json.dumps(body).encode(), "sagemaker", **target)
    assert status == 400, answer


def test_a_request_over_30_kib_is_refused(aws: RunningAws) -> None:
    body = json.dumps({**submission(), "tags": {f"k{n}": "v" * 250 for n in range(50)}, "clientToken": "t"})
    padded = body[:-1] + ", " + json.dumps({"shareIdentifier": "x" * 30_000})[1:]
    status, answer = post(aws, "/v1/submitservicejob", padded.encode())
    assert status == 400
    assert "bytes" in answer["message"]


def test_a_client_that_vanishes_changes_nothing(aws: RunningAws) -> None:
    batch = aws.client("batch")
    before = len(jobs(batch))
    body = json.dumps(submission("vanished")).encode()
    head = (
        f"POST /v1/submitservicejob HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {AUTHORIZATION.format('batch')}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    for part in (body[:20], b""):
        with socket.create_connection(("127.0.0.1", aws.instance.port)) as connection:
            connection.sendall(head.encode() + part)
            # Reset the connection instead of ending it.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert len(jobs(batch)) == before


def test_what_is_no_http_harms_nothing(aws: RunningAws) -> None:
    for noise in (b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"\x00" * 4096):
        with socket.create_connection(("127.0.0.1", aws.instance.port)) as connection:
            connection.sendall(noise)
    assert aws.instance.answers()


def test_concurrent_calls_leave_the_state_whole(aws: RunningAws) -> None:
    batch = aws.client("batch")
    before = {job["jobId"] for job in jobs(batch)}
    submitted: list[str] = []

    def work(worker: int) -> None:
        client = aws.client("batch")
        for number in range(10):
            job = client.submit_service_job(**submission(f"job-{worker}-{number}"))["jobId"]
            submitted.append(job)
            client.update_service_job(jobId=job, schedulingPriority=number)
            client.get_job_queue_snapshot(jobQueue="queue")
            if number % 3 == 0:
                client.terminate_service_job(jobId=job, reason="enough")

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {job["jobId"] for job in jobs(batch)} == before | set(submitted)
    assert len(submitted) == 60
    usage = batch.get_job_queue_snapshot(jobQueue="queue")["queueUtilization"]["totalCapacityUsage"]
    assert usage == [{"capacityUnit": UNIT, "quantity": 1.0}]


def jobs(batch: Any) -> list[dict[str, Any]]:
    pages = batch.get_paginator("list_service_jobs").paginate(
        jobQueue="queue", filters=[{"name": "QUOTA_SHARE_NAME", "values": ["share"]}]
    )
    return [job for page in pages for job in page["jobSummaryList"]]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
    ],
)
def test_fails_for_a_web_page(aws: RunningAws, headers: dict[str, str]) -> None:
    status, _ = post(aws, "/v1/describejobqueues", b"{}", **headers)
    assert status == 403


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("clock", b"{"),
        ("clock", b'{"advanceSeconds": -1}'),
        ("clock", b'{"advanceSeconds": "x"}'),
        ("clock", b'{"advanceSeconds": 1e300}'),
        ("behaviours", b'{"trainingSeconds": "long"}'),
        ("behaviours", b'{"nonsense": 1}'),
        ("behaviours", b"[]"),
        ("behaviours", b"x" * 100_000),
    ],
)
def test_fails_to_control_it_with_nonsense(aws: RunningAws, name: str, body: bytes) -> None:
    status, answer = post(aws, f"/_quotactl/{name}", body)
    assert status == 400
    assert answer["message"]
