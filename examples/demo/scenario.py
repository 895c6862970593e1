"""AWS's own scenario of quota management, with boto3: who runs, who borrows, who has to go, and why.

The outcomes that are checked are those of AWS's notebook "SageMaker Training queues: quota management".
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Final

from examples.demo.picture import Story
from examples.demo.watch import Job, Watch

__all__ = ["OutcomeError", "run"]

_TRAINING_SECONDS: Final = {"high": 420, "med": 300, "low": 240, "urgent": 240}
_PATIENCE_SECONDS: Final = 3600
"""Seconds of the local clock within which an outcome has to come true."""
_LOOK_SECONDS: Final = 0.1
_LONGEST_LOOK_SECONDS: Final = 0.25
"""Real seconds that pass at most for the jobs between two looks: on a slow machine nothing happens unseen."""
_PAUSE_SECONDS: Final = 1.5
"""Real seconds for people to read."""


class OutcomeError(AssertionError):
    """Something that AWS documents did not come true."""


class _Scene:
    def __init__(
        self,
        batch: Any,
        queue: str,
        unit: str,
        watch: Watch,
        story: Story,
        show: Callable[[], None],
        pass_time: Callable[[float], None],
    ) -> None:
        self.batch, self.queue, self.unit = batch, queue, unit
        self.watch, self.story, self.show, self.pass_time = watch, story, show, pass_time
        self.looked = time.monotonic()

    def submit(self, name: str, share: str, priority: int) -> Job:
        behaviour = {"trainingSeconds": _TRAINING_SECONDS[name], "stoppingSeconds": 20}
        behaviour |= {"pendingSeconds": 20, "downloadingSeconds": 15, "uploadingSeconds": 5}
        training_request = {
            "TrainingJobName": name,
            "RoleArn": "arn:aws:iam::123456789012:role/training",
            "AlgorithmSpecification": {"TrainingImage": "training:latest", "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": "s3://training-output/"},
            "ResourceConfig": {"InstanceType": self.unit, "InstanceCount": 1, "VolumeSizeInGB": 50},
            "StoppingCondition": {"MaxRuntimeInSeconds": 86_400},
            "Environment": {"QUOTACTL_LOCAL": json.dumps(behaviour)},
        }
        response = self.batch.submit_service_job(
            jobName=name,
            jobQueue=self.queue,
            serviceJobType="SAGEMAKER_TRAINING",
            quotaShareName=share,
            schedulingPriority=priority,
            serviceRequestPayload=json.dumps(training_request),
        )
        return self.watch.add(response["jobId"], name, share)

    def say(self, sentence: str) -> None:
        self.story.tell(self._time(), sentence)

    def expect(self, sentence: str, **statuses: str) -> None:
        """Wait until jobs have these statuses, and hold it for the viewer."""
        deadline = self.watch.time + _PATIENCE_SECONDS * 1000
        while any(self.watch.jobs[name].status != status for name, status in statuses.items()):
            if self.watch.time > deadline:
                found = {name: self.watch.jobs[name].status for name in statuses}
                raise OutcomeError(f"{sentence}: expected {statuses}, found {found}")
            self._look()
        self.story.tell(self._time(), sentence, checked=True)

    def pause(self) -> None:
        until = time.monotonic() + _PAUSE_SECONDS
        while time.monotonic() < until:
            self._look()

    def check(self, what: str, holds: bool) -> None:
        if not holds:
            raise OutcomeError(f"not so: {what}")

    def _look(self) -> None:
        self.watch.look()
        self.show()
        time.sleep(_LOOK_SECONDS)
        before, self.looked = self.looked, time.monotonic()
        self.pass_time(min(self.looked - before, _LONGEST_LOOK_SECONDS))

    def _time(self) -> str:
        return "{:02d}:{:02d}".format(*divmod((self.watch.time - self.watch.start) // 1000, 60))


def run(
    batch: Any,
    queue: str,
    unit: str,
    watch: Watch,
    story: Story,
    show: Callable[[], None],
    pass_time: Callable[[float], None],
) -> None:
    """Run the scenario.

    :param pass_time: lets so many real seconds pass for the jobs too: their clock stands still in between.
    :raises OutcomeError: if an outcome that AWS documents does not come true.
    """
    scene = _Scene(batch, queue, unit, watch, story, show, pass_time)
    scene.say("background submits high (priority 3), med (2) and low (1)")
    for name, priority in (("high", 3), ("med", 2), ("low", 1)):
        scene.submit(name, "background", priority)
    scene.expect(
        "high runs on background's own instance, med borrows standard's; reserved is not lent, so low waits",
        high="RUNNING",
        med="RUNNING",
        low="RUNNABLE",
    )
    scene.check("med borrows", watch.jobs["med"].borrows and not watch.jobs["high"].borrows)
    scene.pause()

    scene.say("standard submits urgent (priority 1): it wants its instance back")
    scene.submit("urgent", "standard", 1)
    scene.expect(
        "cross-share preemption: med gives standard's instance back and waits again",
        urgent="RUNNING",
        med="RUNNABLE",
        high="RUNNING",
        low="RUNNABLE",
    )
    summary = batch.describe_service_job(jobId=watch.jobs["med"].id)["preemptionSummary"]
    reason = summary["recentPreemptedAttempts"][0]["statusReason"]
    scene.check(
        "AWS's reason is on the preempted attempt",
        reason == "Cross-share preemption triggered to reclaim borrowed capacity",
    )
    scene.pause()

    scene.say("low is raised from priority 1 to 4, above high")
    batch.update_service_job(jobId=watch.jobs["low"].id, schedulingPriority=4)
    scene.expect(
        "in-share preemption: high yields background's own instance to low",
        low="RUNNING",
        high="RUNNABLE",
        med="RUNNABLE",
        urgent="RUNNING",
    )
    scene.pause()
    scene.expect("no job is lost: each runs to its end when there is room", **dict.fromkeys(watch.jobs, "SUCCEEDED"))
    scene.check(
        "urgent and low were never preempted", watch.jobs["urgent"].preemptions == watch.jobs["low"].preemptions == 0
    )
    scene.check(
        "high and med were preempted once", watch.jobs["high"].preemptions == watch.jobs["med"].preemptions == 1
    )
