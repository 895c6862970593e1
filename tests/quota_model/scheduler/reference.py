"""The scheduling model once more, as plainly as it can be written: everything is added up anew each time.

It shares the events, the options and the design with the scheduler, and no code. Tests compare the two. Its books,
its heads and its rules are in the modules next to it; what each event does is here.
"""

from __future__ import annotations

from quota_model.design import State
from quota_model.scheduler import (
    EnvironmentReplaced,
    Event,
    JobEnded,
    JobRetried,
    JobStarted,
    JobSubmitted,
    JobTerminated,
    PriorityChanged,
    QueueStateChanged,
    ShareAdded,
    ShareRemoved,
    ShareReplaced,
    StopCompleted,
    TimeLimitExpired,
)
from tests.quota_model.scheduler.reference_books import RefJob, RefShare
from tests.quota_model.scheduler.reference_rules import Rules


class Reference(Rules):
    def leave(self, job: RefJob) -> None:
        """Let a job hold nothing."""
        if job in self.nominated:
            self.nominated.remove(job)
        job.stops = []
        for other in self.nominated:
            if job in other.stops:
                other.stops.remove(job)

    def fail(self, job: RefJob) -> None:
        self.leave(job)
        del self.jobs[job.id]
        self.said.append(("fail", job.id))

    def requeue(self, job: RefJob, cause: str) -> None:
        self.leave(job)
        job.phase = "waiting"
        job.running = False
        if not self.options.returned_jobs_keep_their_place and cause != "nomination_withdrawn":
            job.sequence = self.sequence
            self.sequence += 1
        self.said.append(("requeue", job.id, cause))

    def withdraw(self) -> None:
        for job in list(self.nominated):
            if self.options.changes_withdraw_nominations or self.never_fits(job):
                self.requeue(job, "nomination_withdrawn")

    def terminate(self, job: RefJob) -> None:
        if job.on_machines:
            job.terminating = True
        else:
            self.fail(job)

    def apply(self, event: Event) -> None:
        self.now = event.time
        match event:
            case JobSubmitted(_, job_id, name, request, priority, retries):
                job = RefJob(job_id, self.share(name), dict(request), priority, self.sequence, retries)
                self.jobs[job_id] = job
                self.sequence += 1
            case JobStarted(_, job_id):
                self.jobs[job_id].running = True
            case JobEnded(_, job_id):
                self.leave(self.jobs.pop(job_id))
            case JobRetried(_, job_id):
                self.requeue(self.jobs[job_id], "retried")
            case StopCompleted(_, job_id):
                job = self.jobs[job_id]
                if job.terminating or (job.retries is not None and job.preemptions > job.retries):
                    self.fail(job)
                else:
                    self.requeue(job, "preempted")
            case JobTerminated(_, job_id):
                self.terminate(self.jobs[job_id])
            case TimeLimitExpired(_, job_id):
                self.fail(self.jobs[job_id])
            case PriorityChanged(_, job_id, priority):
                self.jobs[job_id].priority = priority
            case ShareAdded(_, design):
                self.start_nominated()
                self.shares.append(RefShare(str(design.name), design))
                self.withdraw()
            case ShareReplaced(_, design):
                self.start_nominated()
                share = self.share(str(design.name))
                old, share.design = share.design, design
                share.limits = design.capacity_limits.as_instances()
                if (old.capacity_limits, old.resource_sharing) != (design.capacity_limits, design.resource_sharing):
                    self.withdraw()
            case ShareRemoved(_, name):
                self.start_nominated()
                share = self.share(name)
                share.removed = True
                for job in [job for job in self.jobs.values() if job.share is share]:
                    if job.phase == "dispatched" and not job.terminating:
                        self.said.append(("stop", job.id))
                    self.terminate(job)
                self.withdraw()
            case EnvironmentReplaced(_, environment):
                self.start_nominated()
                self.environment = environment
                self.capacities = environment.capacity_limits.as_instances()
                self.withdraw()
            case QueueStateChanged(_, state):
                self.queue_enabled = state is State.ENABLED
