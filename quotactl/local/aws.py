"""The local AWS without a server: Batch and SageMaker of every account and Region, on one clock."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from quota_model.scheduler import SchedulerOptions
from quotactl.local.arns import Arns
from quotactl.local.batch.batch import Batch
from quotactl.local.batch.options import LocalBatchOptions
from quotactl.local.clock import Clock
from quotactl.local.training.behaviour import Behaviours
from quotactl.local.training.jobs import TrainingJobs
from quotactl.local.training.plans import TrainingPlans

__all__ = ["LocalAws", "SendEvent"]

SendEvent = Callable[[str, str, str, str, dict[str, Any]], None]
"""Called with account, Region, detail-type, the resource's ARN and the detail of an event of source ``aws.batch``."""


def _nowhere(account: str, region: str, detail_type: str, resource: str, detail: dict[str, Any]) -> None:
    pass


class LocalAws:
    """Batch and SageMaker, each account and Region apart, on one clock and with one set of job behaviours."""

    def __init__(
        self,
        clock: Clock | None = None,
        send_event: SendEvent = _nowhere,
        options: LocalBatchOptions | None = None,
        scheduler_options: SchedulerOptions | None = None,
        behaviours: Behaviours | None = None,
    ) -> None:
        self.clock = clock or Clock()
        self.behaviours = behaviours or Behaviours()
        self.send_event = send_event
        self.options = options
        self.scheduler_options = scheduler_options
        self._batches: dict[tuple[str, str], Batch] = {}

    def batch(self, account: str, region: str) -> Batch:
        """Return AWS Batch of one account and Region, new and empty at first."""
        if (account, region) in self._batches:  # without waiting for a turn
            return self._batches[account, region]
        with self.clock.turn():
            if (account, region) not in self._batches:
                arns = Arns(account, region)
                training = TrainingJobs(arns, self.clock, self.behaviours, TrainingPlans(arns, self.clock))
                self._batches[account, region] = Batch(
                    arns,
                    self.clock,
                    training,
                    partial(self.send_event, account, region),
                    self.options,
                    self.scheduler_options,
                )
            return self._batches[account, region]

    def training(self, account: str, region: str) -> TrainingJobs:
        """Return SageMaker's training jobs and plans of one account and Region."""
        return self.batch(account, region).training_jobs
