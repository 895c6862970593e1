"""An AWS to ask: the local one, or a real account. Tests see boto3 clients and nothing behind them."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

__all__ = ["UNIT", "Target"]

UNIT = "ml.m5.large"
"""The instance type of all tests: on a real account it costs about 0.12 USD an hour."""
OTHER_UNIT = "ml.t3.medium"


class Target:
    """Clients, and helpers that create what a test needs and remember it for the cleanup."""

    def __init__(
        self,
        session: Any,
        endpoint: str | None = None,
        pass_time: Callable[[float], None] = time.sleep,
        role_arn: str = "arn:aws:iam::123456789012:role/training",
        image: str = "123456789012.dkr.ecr.us-east-1.amazonaws.com/training:latest",
        output: str = "s3://training-output/",
    ) -> None:
        self.batch = session.client("batch", endpoint_url=endpoint)
        self.sagemaker = session.client("sagemaker", endpoint_url=endpoint)
        self.is_local = endpoint is not None
        self._pass_time = pass_time
        self.role_arn, self.image, self.output = role_arn, image, output
        self._shares: list[str] = []
        self._queues: list[str] = []
        self._environments: list[str] = []
        self._policies: list[str] = []

    @property
    def refused(self) -> type[Exception]:
        """The one error that Batch has for a wrong request."""
        error: type[Exception] = self.batch.exceptions.ClientException
        return error

    @staticmethod
    def new_name(prefix: str = "quotactl-test") -> str:
        return f"{prefix}-{uuid.uuid4().hex[:10]}"

    def wait_until(self, condition: Callable[[], Any], seconds: float = 1800) -> None:
        """Let time pass until a condition holds; real minutes on a real account."""
        waited = 0.0
        while not condition():
            assert waited < seconds, f"not within {seconds} s"
            self._pass_time(10)
            waited += 10

    # What a queue is made of

    def policy(self, **properties: Any) -> str:
        name = self.new_name()
        properties = properties or {"quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"}}
        arn = self.batch.create_scheduling_policy(name=name, **properties)["arn"]
        self._policies.append(arn)
        return str(arn)

    def environment(self, limits: dict[str, int] | None = None) -> str:
        name = self.new_name()
        response = self.batch.create_service_environment(
            serviceEnvironmentName=name,
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=capacity_limits(limits or {UNIT: 3}),
        )
        self._environments.append(name)
        self.wait_until(lambda: self.describe_environment(name)["status"] == "VALID")
        return str(response["serviceEnvironmentArn"])

    def queue(self, limits: dict[str, int] | None = None, **properties: Any) -> str:
        name = self.new_name()
        request: dict[str, Any] = {
            "jobQueueType": "SAGEMAKER_TRAINING",
            "priority": 1,
            "schedulingPolicyArn": properties.pop("schedulingPolicyArn", None) or self.policy(),
            "serviceEnvironmentOrder": properties.pop("serviceEnvironmentOrder", None)
            or [{"order": 1, "serviceEnvironment": self.environment(limits)}],
            **properties,
        }
        self.batch.create_job_queue(jobQueueName=name, **request)
        self._queues.append(name)
        self.wait_until(lambda: self.describe_queue(name)["status"] == "VALID")
        return name

    def share(self, queue: str, name: str | None = None, limits: dict[str, int] | None = None, **sharing: Any) -> str:
        """Create a share and return its ARN; ``strategy``, ``borrowLimit`` and ``inSharePreemption`` as AWS names them."""
        preemption = sharing.pop("inSharePreemption", "DISABLED")
        response = self.batch.create_quota_share(
            quotaShareName=name or self.new_name(),
            jobQueue=queue,
            capacityLimits=capacity_limits(limits or {UNIT: 1}),
            resourceSharingConfiguration={"strategy": "RESERVE", **sharing},
            preemptionConfiguration={"inSharePreemption": preemption},
        )
        arn = str(response["quotaShareArn"])
        self._shares.append(arn)
        self.wait_until(lambda: self.describe_share(arn)["status"] == "VALID")
        return arn

    def describe_environment(self, name: str) -> dict[str, Any]:
        found = self.batch.describe_service_environments(serviceEnvironments=[name])["serviceEnvironments"]
        return dict(found[0]) if found else {"status": None}

    def describe_queue(self, name: str) -> dict[str, Any]:
        found = self.batch.describe_job_queues(jobQueues=[name])["jobQueues"]
        return dict(found[0]) if found else {"status": None}

    def describe_share(self, arn: str) -> dict[str, Any]:
        return dict(self.batch.describe_quota_share(quotaShareArn=arn))

    # Their end

    def delete_share(self, arn: str) -> None:
        if not self.share_exists(arn):
            return
        if self.describe_share(arn)["status"] != "DELETING":
            self.batch.update_quota_share(quotaShareArn=arn, state="DISABLED")
            self.wait_until(lambda: self.describe_share(arn)["status"] == "VALID")
            self.batch.delete_quota_share(quotaShareArn=arn)
        self.wait_until(lambda: not self.share_exists(arn))

    def share_exists(self, arn: str) -> bool:
        try:
            self.describe_share(arn)
        except self.refused as error:
            if "does not exist" in str(error):
                return False
            raise
        return True

    def delete_queue(self, name: str) -> None:
        if self.describe_queue(name)["status"] in (None, "DELETED"):
            return
        self.batch.update_job_queue(jobQueue=name, state="DISABLED")
        self.wait_until(lambda: self.describe_queue(name)["status"] == "VALID")
        self.batch.delete_job_queue(jobQueue=name)
        self.wait_until(lambda: self.describe_queue(name)["status"] in (None, "DELETED"))

    def delete_environment(self, name: str) -> None:
        if self.describe_environment(name)["status"] in (None, "DELETED"):
            return
        self.batch.update_service_environment(serviceEnvironment=name, state="DISABLED")
        self.wait_until(lambda: self.describe_environment(name)["status"] == "VALID")
        self.batch.delete_service_environment(serviceEnvironment=name)
        self.wait_until(lambda: self.describe_environment(name)["status"] in (None, "DELETED"))

    def clean_up(self) -> None:
        """Delete everything that was created, in the order that AWS asks for; report all that could not be."""
        deletions = (
            (self._shares, self.delete_share),
            (self._queues, self.delete_queue),
            (self._environments, self.delete_environment),
            (self._policies, lambda arn: self.batch.delete_scheduling_policy(arn=arn)),
        )
        problems = []
        for created, delete in deletions:
            while created:
                try:
                    delete(created.pop())
                except Exception as error:  # noqa: BLE001
                    problems.append(str(error))
        assert not problems, problems

    # Jobs

    def payload(self, instances: int = 1, unit: str = UNIT, seconds: float = 300, **local: Any) -> dict[str, Any]:
        """Return a training request that sleeps; ``local`` is what only the local AWS can be told (failures and so on)."""
        behaviour = {"trainingSeconds": seconds, **local}
        return {
            "TrainingJobName": "quotactl-test",
            "RoleArn": self.role_arn,
            "AlgorithmSpecification": {
                "TrainingImage": self.image,
                "TrainingInputMode": "File",
                "ContainerEntrypoint": ["sleep", str(int(seconds))],
            },
            "OutputDataConfig": {"S3OutputPath": self.output},
            "ResourceConfig": {"InstanceType": unit, "InstanceCount": instances, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
            "Environment": {"QUOTACTL_LOCAL": json.dumps(behaviour)},
        }

    def submit(
        self, queue: str, share: str, *, payload: dict[str, Any] | None = None, name: str | None = None, **more: Any
    ) -> str:
        """Submit a job to the share of this name or ARN and return its id."""
        request = {
            "jobName": name or self.new_name(),
            "jobQueue": queue,
            "serviceJobType": "SAGEMAKER_TRAINING",
            "quotaShareName": share.rpartition("/")[2],
            "serviceRequestPayload": json.dumps(payload or self.payload()),
        }
        return str(self.batch.submit_service_job(**{**request, **more})["jobId"])

    def describe(self, job: str) -> dict[str, Any]:
        return dict(self.batch.describe_service_job(jobId=job))

    def status(self, job: str) -> str:
        return str(self.describe(job)["status"])

    def wait_for(self, job: str, *statuses: str, seconds: float = 3600) -> dict[str, Any]:
        self.wait_until(lambda: self.status(job) in statuses, seconds)
        return self.describe(job)


def capacity_limits(limits: dict[str, int]) -> list[dict[str, Any]]:
    return [{"capacityUnit": unit, "maxCapacity": count} for unit, count in limits.items()]
