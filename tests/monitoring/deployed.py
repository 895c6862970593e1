"""Monitored queues on the local AWS, deployed by the CDK CLI."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from aws_cdk import App, CfnOutput, Stack
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs

from quota_constructs import QuotaManagedQueue, QuotaMonitoring, ResourceSharing, TrainingJobQueue
from quotactl.local.testing import RunningAws

__all__ = ["UNIT", "Monitored", "deploy", "eventually"]

ROOT = Path(__file__).parents[2]
UNIT = "ml.g5.xlarge"
_PATIENCE_SECONDS = 60


class _MonitoredStack(Stack):
    """AWS's example of three shares, one instance each, with a monitoring whose alarms tell a queue of messages."""

    def __init__(self, app: App, id: str, queue_name: str) -> None:
        super().__init__(app, id)
        gpus = QuotaManagedQueue(self, "Gpus", capacity_limits={UNIT: 3}, job_queue_name=queue_name)
        gpus.add_quota_share(
            "background",
            capacity_limits={UNIT: 1},
            resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
            in_share_preemption=True,
        )
        gpus.add_quota_share("standard", capacity_limits={UNIT: 1}, resource_sharing=ResourceSharing.lend())
        gpus.add_quota_share("reserved", capacity_limits={UNIT: 1}, resource_sharing=ResourceSharing.reserve())
        # Namespaces keep the stacks apart: the local CloudWatch's alarms look at all dimensions of a metric at once.
        monitoring = QuotaMonitoring(self, "Monitoring", queue=gpus.job_queue, namespace=f"Gpus/{id}")
        topic, messages = sns.Topic(self, "Alarms"), sqs.Queue(self, "Messages")
        topic.add_subscription(subscriptions.SqsSubscription(messages))
        monitoring.add_alarm_action(actions.SnsAction(topic))
        monitoring.add_ok_action(actions.SnsAction(topic))
        imported = TrainingJobQueue.from_job_queue_arn(self, "Imported", gpus.job_queue.job_queue_arn)
        again = QuotaMonitoring(self, "MonitoringOfImported", queue=imported, namespace=f"Gpus/{id}/Imported")
        for output, value in {
            "Function": monitoring.function.function_name,
            "FunctionOfImported": again.function.function_name,
            "Dashboard": monitoring.dashboard.dashboard_name,
            "DashboardOfImported": again.dashboard.dashboard_name,
            "MessagesUrl": messages.queue_url,
        }.items():
            CfnOutput(self, output, value=value)


class Monitored:
    """A deployed queue and its monitoring."""

    def __init__(self, aws: RunningAws, stack: str, queue: str) -> None:
        self.aws = aws
        self.queue = queue
        self.namespace = f"Gpus/{stack}"
        self._measured_in = 0
        self.batch = aws.client("batch")
        self.cloudwatch = aws.client("cloudwatch")
        described = aws.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
        self.outputs = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}

    def submit(self, share: str, *, instances: int = 1, priority: int = 1) -> str:
        """Submit a job that trains for days, and return its id."""
        payload = {
            "TrainingJobName": f"{share}-{priority}",
            "RoleArn": "arn:aws:iam::123456789012:role/training",
            "AlgorithmSpecification": {"TrainingInputMode": "File", "TrainingImage": "image"},
            "OutputDataConfig": {"S3OutputPath": "s3://training-output/"},
            "ResourceConfig": {"InstanceType": UNIT, "InstanceCount": instances, "VolumeSizeInGB": 30},
            "StoppingCondition": {"MaxRuntimeInSeconds": 86_400},
        }
        job = self.batch.submit_service_job(
            jobName=f"{share}-{priority}",
            jobQueue=self.queue,
            quotaShareName=share,
            schedulingPriority=priority,
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload=json.dumps(payload),
        )
        return str(job["jobId"])

    def measure(self, function: str = "Function") -> None:
        """Do what the schedule does every minute."""
        eventually(
            lambda: int(time.time()) != self._measured_in, "the next second, as CloudWatch tells no others apart"
        )
        answer = self.aws.client("lambda").invoke(
            FunctionName=self.outputs[function],
            Payload=json.dumps({"detail-type": "Scheduled Event", "source": "aws.events"}).encode(),
        )
        assert "FunctionError" not in answer, answer["Payload"].read()
        self._measured_in = int(time.time())

    def value(self, metric: str, *about: str, statistic: str = "Maximum", namespace: str | None = None) -> float | None:
        """Return a statistic of the last measurement: of a metric of a share, an instance type, or both."""
        names = {
            1: ["InstanceType"] if about and about[0] == UNIT else ["QuotaShare"],
            2: ["QuotaShare", "InstanceType"],
        }
        found = self.cloudwatch.get_metric_data(
            StartTime=time.time() - 3600,
            EndTime=time.time() + 86_400,
            MetricDataQueries=[
                {
                    "Id": "value",
                    "MetricStat": {
                        "Metric": {
                            "Namespace": namespace or self.namespace,
                            "MetricName": metric,
                            "Dimensions": [
                                {"Name": "JobQueue", "Value": self.queue},
                                *(
                                    {"Name": name, "Value": value}
                                    for name, value in zip(names.get(len(about), []), about, strict=True)
                                ),
                            ],
                        },
                        "Period": 1 if statistic != "Sum" else 86_400,
                        "Stat": statistic,
                    },
                }
            ],
        )["MetricDataResults"][0]
        newest = max(zip(found["Timestamps"], found["Values"], strict=True), default=None)
        return None if newest is None else float(newest[1])

    def alarm(self, name: str) -> str:
        """Return the state of an alarm."""
        alarms = self.cloudwatch.describe_alarms()["MetricAlarms"]
        (state,) = [
            alarm["StateValue"]
            for alarm in alarms
            if alarm["Namespace"] == self.namespace and name in alarm["AlarmName"]
        ]
        return str(state)

    def messages(self) -> list[tuple[str, str]]:
        """Return what the alarms told since the last time: metric and new state."""
        url = self.outputs["MessagesUrl"]
        received = self.aws.client("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        told = []
        for message in received:
            alarm = json.loads(json.loads(message["Body"])["Message"])
            told.append((alarm["Trigger"]["MetricName"], alarm["NewStateValue"]))
            self.aws.client("sqs").delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return told


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Ask until something that happens in the background has happened."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {_PATIENCE_SECONDS} s"


def deploy(aws: RunningAws, folder: Path, **queues: str) -> dict[str, Monitored]:
    """Deploy a stack for each name and queue, all at once."""
    app = App(outdir=str(folder / "cdk.out"))
    for stack, queue in queues.items():
        _MonitoredStack(app, stack, queue)
    app.synth()
    tools = [
        str(ROOT / ".venv" / "bin"),
        os.environ["PATH"],
    ]  # The CDK CLI needs a newer Node.js than many systems have.
    environment = {**aws.environment(), "PATH": os.pathsep.join(tools)}
    for arguments in (["bootstrap"], ["deploy", "--all", "--require-approval", "never"]):
        command = [str(ROOT / "node_modules" / ".bin" / "cdk"), *arguments, "--app", app.outdir]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return {stack: Monitored(aws, stack, queue) for stack, queue in queues.items()}
