"""Submit training jobs to a quota share with the SageMaker Python SDK v3 (``pip install sagemaker-train``).

Works the same on a real account and on the local AWS::

    quotactl local exec -- python -m examples.submit_with_sagemaker_sdk <JobQueueName output> --share background

``quotactl local exec`` sets what the SDK needs there: a default bucket and no validation of the role. On a real
account, give --role and --image.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

__all__ = ["main", "trainer"]


def trainer(name: str, *, instance_type: str, role: str, image: str) -> Any:
    """Return a ModelTrainer as one would train it without a queue."""
    from sagemaker.core.training.configs import Compute
    from sagemaker.train.model_trainer import ModelTrainer

    return ModelTrainer(
        training_image=image,
        role=role,
        base_job_name=name,
        compute=Compute(instance_type=instance_type, instance_count=1),
    )


def main() -> int:
    """Submit a job, raise its priority, list the share's jobs, and end it."""
    parser = argparse.ArgumentParser(description="Submit a training job to a quota share with the SageMaker SDK.")
    parser.add_argument("queue", help="the job queue's name: the stack's output JobQueueName")
    parser.add_argument("--share", default="background")
    parser.add_argument("--instance-type", default="ml.g5.xlarge")
    parser.add_argument("--role", default="arn:aws:iam::123456789012:role/training")
    parser.add_argument("--image", default="123456789012.dkr.ecr.us-east-1.amazonaws.com/training:latest")
    arguments = parser.parse_args()
    try:
        from botocore.exceptions import BotoCoreError, ClientError
        from sagemaker.train.aws_batch.training_queue import TrainingQueue
    except ModuleNotFoundError as missing:
        sys.stderr.write(f"there is no package {missing.name}; run: pip install sagemaker-train\n")
        return 2

    model_trainer = trainer("sweep", instance_type=arguments.instance_type, role=arguments.role, image=arguments.image)
    try:
        _submit(TrainingQueue(arguments.queue), model_trainer, arguments.share)
    except (ClientError, BotoCoreError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _submit(queue: Any, model_trainer: Any, share: str) -> None:
    job = queue.submit(training_job=model_trainer, inputs=None, job_name="sweep", priority=1, quota_share_name=share)
    sys.stdout.write(f"submitted {job.job_arn}\n")
    job.update(5)
    for status in ("RUNNABLE", "SCHEDULED", "STARTING", "RUNNING"):
        for listed in queue.list_jobs_by_share(quota_share_name=share, status=status):
            priority = listed.describe()["schedulingPriority"]
            sys.stdout.write(f"{share}: {listed.job_name} is {status}, priority {priority}\n")
    job.terminate(reason="the example is over")


if __name__ == "__main__":
    sys.exit(main())
