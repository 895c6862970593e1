"""Draw the dashboard of the documentation: ``python -m tools.monitored_day``.

Half a day of a queue on the local AWS. The stack is deployed as it is; the queue is measured by the code of the
monitoring's function, told the local clock, and what it publishes is read back through the deployed dashboard.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from quota_constructs.functions.quota_metrics.datapoints import measurements, preemption, publish
from quota_constructs.functions.quota_metrics.reading import read
from quotactl.local.testing import RunningAws, running_local_aws
from tools.dashboard import draw

__all__ = ["monitored_day"]

ROOT: Final = Path(__file__).parent.parent
PICTURE: Final = ROOT / "docs" / "images" / "monitoring-dashboard.svg"
UNIT: Final = "ml.g5.xlarge"
HOURS: Final = 12
STEP: Final = timedelta(minutes=5)

# Hour of submission, share, jobs, instances of each, hours of training, priority.
DAY: Final = (
    (0.0, "background", 6, 1, 2.5, 1),
    (0.5, "standard", 1, 2, 2.0, 1),
    (1.5, "background", 4, 1, 3.0, 1),
    (3.5, "reserved", 1, 1, 1.5, 1),
    (4.0, "standard", 4, 1, 2.5, 1),
    (4.5, "background", 1, 2, 1.0, 9),
    (6.0, "background", 5, 1, 2.0, 1),
    (7.5, "standard", 2, 2, 1.5, 1),
    (8.5, "reserved", 2, 1, 2.0, 1),
    (9.0, "background", 3, 1, 2.0, 1),
)


def monitored_day() -> str:
    """Return the picture of the dashboard after half a day."""
    with running_local_aws(behaviour={"stoppingSeconds": 60}) as aws, TemporaryDirectory() as directory:
        outputs = _deploy(aws, Path(directory))
        start = _now(aws).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        aws.advance((start - _now(aws)).total_seconds())
        _live_through(aws, outputs, start)
        return draw(aws.client("cloudwatch"), outputs["Dashboard"], start, start + timedelta(hours=HOURS))


def _deploy(aws: RunningAws, directory: Path) -> dict[str, str]:
    os.environ.setdefault("CDK_VALIDATION", "false")  # seconds, and the tests judge the construct anyway
    from aws_cdk import App, CfnOutput, Stack

    from quota_constructs import QuotaManagedQueue, QuotaMonitoring, ResourceSharing

    app = App(outdir=str(directory / "cdk.out"))
    stack = Stack(app, "Monitored")
    gpus = QuotaManagedQueue(stack, "Gpus", capacity_limits={UNIT: 8}, job_queue_name="gpus")
    monitoring = QuotaMonitoring(stack, "Monitoring", queue=gpus.job_queue)
    for name, limit, sharing, in_share in (
        ("background", 2, ResourceSharing.lend_and_borrow(borrow_limit=200), True),
        ("standard", 4, ResourceSharing.lend(), False),
        ("reserved", 2, ResourceSharing.reserve(), False),
    ):
        gpus.add_quota_share(
            name, capacity_limits={UNIT: limit}, resource_sharing=sharing, in_share_preemption=in_share
        )
    CfnOutput(stack, "Dashboard", value=monitoring.dashboard.dashboard_name)
    CfnOutput(stack, "JobQueueArn", value=gpus.job_queue.job_queue_arn)
    app.synth()
    path = os.pathsep.join([str(ROOT / ".venv" / "bin"), os.environ["PATH"]])
    for arguments in (["bootstrap"], ["deploy", "--all", "--require-approval", "never"]):
        subprocess.run(
            [str(ROOT / "node_modules" / ".bin" / "cdk"), *arguments, "--app", app.outdir],
            env={**aws.environment(), "PATH": path},
            check=True,
            capture_output=True,
        )
    described = aws.client("cloudformation").describe_stacks(StackName="Monitored")["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}


def _live_through(aws: RunningAws, outputs: dict[str, str], start: datetime) -> None:
    batch, cloudwatch = aws.client("batch"), aws.client("cloudwatch")
    due = list(DAY)
    preempted: dict[str, int] = {}
    for now in _moments(start):
        aws.advance(max(0.0, (now - _now(aws)).total_seconds()))
        while due and start + timedelta(hours=due[0][0]) <= now:
            _, share, jobs, instances, hours, priority = due.pop(0)
            for _ in range(jobs):
                preempted[_submit(batch, share, instances, hours, priority)] = 0
        data = measurements(read(batch, outputs["JobQueueArn"]), now)
        publish(cloudwatch, "QuotaConstructs", [*data, *_new_preemptions(batch, preempted, now)])


def _new_preemptions(batch: Any, preempted: dict[str, int], now: datetime) -> Iterator[dict[str, Any]]:
    """Count what the function learns from events, whose times are not the local clock's."""
    for job_id, before in preempted.items():
        job = batch.describe_service_job(jobId=job_id)
        preempted[job_id] = job.get("preemptionSummary", {}).get("preemptedAttemptCount", 0)
        for _ in range(preempted[job_id] - before):
            yield from preemption("gpus", job["quotaShareName"], now)


def _moments(start: datetime) -> Iterator[datetime]:
    return (start + place * STEP for place in range(int(timedelta(hours=HOURS) / STEP)))


def _submit(batch: Any, share: str, instances: int, hours: float, priority: int) -> str:
    payload = {
        "TrainingJobName": share,
        "RoleArn": "arn:aws:iam::123456789012:role/training",
        "AlgorithmSpecification": {"TrainingInputMode": "File", "TrainingImage": "image"},
        "OutputDataConfig": {"S3OutputPath": "s3://training-output/"},
        "ResourceConfig": {"InstanceType": UNIT, "InstanceCount": instances, "VolumeSizeInGB": 30},
        "StoppingCondition": {"MaxRuntimeInSeconds": 86_400},
        "Environment": {"QUOTACTL_LOCAL": json.dumps({"trainingSeconds": hours * 3600})},
    }
    job = batch.submit_service_job(
        jobName=share,
        jobQueue="gpus",
        quotaShareName=share,
        schedulingPriority=priority,
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=json.dumps(payload),
    )
    return str(job["jobId"])


def _now(aws: RunningAws) -> datetime:
    milliseconds = aws.instance.control("GET", "instance")["now"]
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def main() -> None:
    """Write the picture."""
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(monitored_day(), encoding="utf-8")
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
