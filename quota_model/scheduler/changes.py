"""What each kind of event does to the state. Every function checks the event before it changes anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from quota_model.design import State as DesignState
from quota_model.scheduler import configuration, reasons
from quota_model.scheduler import events as happened
from quota_model.scheduler.decisions import RequeueCause, Stop
from quota_model.scheduler.job import DISPATCHED, NOMINATED, STOPPING, WAITING, Job, Phase
from quota_model.scheduler.share import Share
from quota_model.scheduler.state import State, end, fail, requeue, stop_completed, withdraw_nominations

__all__ = ["SchedulerError", "apply", "job_of", "rank"]

_MAX_PRIORITY: Final = 9999


class SchedulerError(ValueError):
    """An event that makes no sense in the present state; nothing has changed, and the message says what is wrong."""


def rank(state: State, event: happened.Event) -> tuple[int, int]:
    """Return the place of an event among those of its instant: ends, configuration, priorities, submissions, and
    within each kind by the sequence of the job.
    """
    kind = type(event)
    if kind is happened.JobSubmitted:
        return 3, 0
    job = state.jobs.get(getattr(event, "job_id", ""))
    sequence = job.sequence if job is not None else state.next_sequence
    if kind is happened.PriorityChanged:
        return 2, sequence
    return (1, 0) if kind in _CONFIGURATION else (0, sequence)


def apply(state: State, event: happened.Event) -> None:
    """Let one event happen; if it makes no sense now, nothing changes."""
    before, now = state.now, event.time
    if now < before:
        raise SchedulerError(f"{event!r} is earlier than {before}, the time of the last event; keep them in order")
    state.now = now
    try:
        _CHANGES[type(event)](state, event)
    except ValueError:
        state.now = before
        raise


def job_of(state: State, job_id: str) -> Job:
    """Return a job that has not ended."""
    job = state.jobs.get(job_id)
    if job is None:
        raise SchedulerError(f"there is no job {job_id!r}: it was never submitted or has ended")
    return job


def _submitted(state: State, event: happened.JobSubmitted) -> None:
    _, job_id, name, request, priority, preemption_retries = event
    share = state.shares.get(name) or _share(state, name)
    if job_id in state.jobs:
        raise SchedulerError(f"job {job_id!r} was submitted already; give each job an id of its own")
    if not (share.enabled and state.queue_enabled):
        what = "the job queue" if share.enabled else f"quota share {name!r}"
        raise SchedulerError(f"job {job_id!r}: {what} is DISABLED and takes no new jobs; enable it")
    if not 0 <= priority <= _MAX_PRIORITY:
        _check_priority(priority)
    key = tuple(request.items())
    shape = share.shapes.get(key)
    if shape is None:
        _check_request(job_id, request)
        shape = configuration.shape(state, share, key)
    if preemption_retries is not None and preemption_retries < 0:
        raise SchedulerError(f"job {job_id!r}: {preemption_retries} preemption retries; give 0 or more, or none")
    job = Job(job_id, share, shape, priority, state.next_sequence, preemption_retries)
    state.next_sequence += 1
    state.jobs[job_id] = job
    share.live += 1
    if share.add_waiting(job):
        state.heads.touched[share] = None


def _started(state: State, event: happened.JobStarted) -> None:
    job = _in_phase(state, event.job_id, (DISPATCHED, STOPPING), "start")
    job.running = True
    job.rank_as_victim()


def _ended(state: State, event: happened.JobEnded) -> None:
    job = state.jobs.get(event.job_id)
    if job is None or job.phase is not DISPATCHED:
        job = _in_phase(state, event.job_id, (DISPATCHED,), "end")
    end(state, job)


def _retried(state: State, event: happened.JobRetried) -> None:
    job = _in_phase(state, event.job_id, (DISPATCHED,), "be retried")
    if job.terminating:
        raise SchedulerError(f"job {job.id!r} is being terminated and cannot be retried; tell StopCompleted")
    requeue(state, job, RequeueCause.RETRIED)


def _stop_completed(state: State, event: happened.StopCompleted) -> None:
    job = _in_phase(state, event.job_id, (DISPATCHED, STOPPING), "have stopped")
    if job.phase is DISPATCHED and not job.terminating:
        raise SchedulerError(f"job {job.id!r} was not told to stop; tell JobEnded if it ended by itself")
    stop_completed(state, job)


def _terminated(state: State, event: happened.JobTerminated) -> None:
    _terminate(state, job_of(state, event.job_id), reasons.TERMINATED)


def _terminate(state: State, job: Job, status_reason: str) -> None:
    if job.phase in (WAITING, NOMINATED):
        fail(state, job, status_reason)
    else:
        job.terminating = True
        job.rank_as_victim()


def _time_limit_expired(state: State, event: happened.TimeLimitExpired) -> None:
    job = _in_phase(state, event.job_id, (WAITING,), "exceed a time limit of RUNNABLE jobs")
    fail(state, job, reasons.time_limit(event.reason))


def _priority_changed(state: State, event: happened.PriorityChanged) -> None:
    job = job_of(state, event.job_id)
    _check_priority(event.priority)
    share = job.share
    if job.phase is WAITING:
        share.remove_waiting(job)
        job.priority = event.priority
        share.add_waiting(job)
    elif job.phase is STOPPING:
        job.priority = event.priority
    else:
        for account, _ in job.parts:
            account.strike(job)
        job.priority = event.priority
        job.rank_as_victim()
        for account, instances in job.parts:
            account.enter(job, instances)
    state.heads.touched[share] = None


def _share_added(state: State, event: happened.ShareAdded) -> None:
    configuration.add_share(state, event.share)
    withdraw_nominations(state)


def _share_replaced(state: State, event: happened.ShareReplaced) -> None:
    old = _share(state, str(event.share.name)).design
    configuration.replace_share(state, event.share)
    if (old.capacity_limits, old.resource_sharing) != (event.share.capacity_limits, event.share.resource_sharing):
        withdraw_nominations(state)


def _share_removed(state: State, event: happened.ShareRemoved) -> None:
    share = _share(state, event.name)
    configuration.remove_share(state, share)
    for job in [job for job in state.jobs.values() if job.share is share]:
        if job.phase is DISPATCHED and not job.terminating:
            state.decisions.append(Stop(state.now, job.id, share.name, reasons.SHARE_REMOVED))
        _terminate(state, job, reasons.SHARE_REMOVED)
    withdraw_nominations(state)


def _environment_replaced(state: State, event: happened.EnvironmentReplaced) -> None:
    configuration.set_environment(state, event.environment)
    withdraw_nominations(state)


def _queue_state_changed(state: State, event: happened.QueueStateChanged) -> None:
    state.queue_enabled = event.state is DesignState.ENABLED


_CHANGES: Final[dict[type, Callable[[State, Any], None]]] = {
    happened.JobSubmitted: _submitted,
    happened.JobStarted: _started,
    happened.JobEnded: _ended,
    happened.JobRetried: _retried,
    happened.StopCompleted: _stop_completed,
    happened.JobTerminated: _terminated,
    happened.TimeLimitExpired: _time_limit_expired,
    happened.PriorityChanged: _priority_changed,
    happened.ShareAdded: _share_added,
    happened.ShareReplaced: _share_replaced,
    happened.ShareRemoved: _share_removed,
    happened.EnvironmentReplaced: _environment_replaced,
    happened.QueueStateChanged: _queue_state_changed,
}
_CONFIGURATION: Final = frozenset(
    (
        happened.ShareAdded,
        happened.ShareReplaced,
        happened.ShareRemoved,
        happened.EnvironmentReplaced,
        happened.QueueStateChanged,
    )
)


def _share(state: State, name: str) -> Share:
    share = state.shares.get(name)
    if share is None:
        names = ", ".join(state.shares) or "none"
        raise SchedulerError(f"the queue has no quota share {name!r}; it has {names}")
    return share


def _in_phase(state: State, job_id: str, phases: tuple[Phase, ...], verb: str) -> Job:
    job = job_of(state, job_id)
    if job.phase not in phases:
        raise SchedulerError(f"job {job_id!r} is {job.phase.value} and cannot {verb}")
    return job


def _check_priority(priority: int) -> None:
    if not 0 <= priority <= _MAX_PRIORITY:
        raise SchedulerError(f"priority {priority} is out of range; give 0 to {_MAX_PRIORITY}")


def _check_request(job_id: str, request: Mapping[str, int]) -> None:
    if not request:
        raise SchedulerError(f"job {job_id!r} asks for no instances; give at least one instance type")
    for unit, instances in request.items():
        if type(instances) is not int or instances < 1:  # True is no number of instances
            raise SchedulerError(f"job {job_id!r} asks for {instances!r} of {unit}; give a whole number from 1 up")
