"""Random designs, sound and broken, and the constructs that declare them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from aws_cdk import CfnParameter, Duration, Stack
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces import aws_batch as refs
from hypothesis import strategies as st

from quota_constructs import (
    JobStateTimeLimitAction,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    ResourceSharing,
    ServiceEnvironment,
    State,
    TrainingJobQueue,
)
from quota_model import design as model
from quota_model.design import UNKNOWN, CapacityLimits, SchedulingPolicyKind, SharingStrategy
from quota_model.rules import TIME_LIMIT_REASONS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Dataclass = TypeVar("_Dataclass", bound="DataclassInstance")

UNITS = ("ml.g5.xlarge", "ml.g5.48xlarge", "ml.p4d.24xlarge", "ml.p5.48xlarge", "ml.trn1.32xlarge", "ml.c5.xlarge")


def _whole(least: int, most: int) -> st.SearchStrategy[int]:
    return st.sampled_from([least, most]) | st.integers(least, most)


def sound_designs() -> st.SearchStrategy[model.QuotaQueue]:
    """Return designs in which no rule finds an error; there may be something to warn of."""
    return _designs(lambda values: values)


def partly_unknown_designs() -> st.SearchStrategy[model.QuotaQueue]:
    """Return sound designs in which any value may be one that only a deployment knows."""
    return _designs(lambda values: values | st.just(UNKNOWN))


@st.composite
def _designs(draw: st.DrawFn, known: Callable[[st.SearchStrategy[Any]], st.SearchStrategy[Any]]) -> model.QuotaQueue:
    names = known(st.text("abzABZ059-_", min_size=1, max_size=12) | st.just("n" * 128))
    states = known(st.sampled_from(State))

    def limits(units: tuple[str, ...], most: int) -> st.SearchStrategy[CapacityLimits]:
        limit = st.builds(model.CapacityLimit, known(st.sampled_from(units)), known(_whole(1, most)))
        limits = st.lists(limit, min_size=1, max_size=5, unique_by=lambda limit: limit.capacity_unit)
        return limits.map(tuple).map(CapacityLimits)

    borrow_limit = st.none() | known(st.sampled_from([-1, 0, 1, 100, 200]) | st.integers(0, 10_000))
    sharing = st.one_of(
        st.builds(ResourceSharing.reserve),
        st.builds(ResourceSharing.lend),
        st.builds(ResourceSharing.lend_and_borrow, borrow_limit=borrow_limit),
    )
    time_limit = st.builds(
        model.JobStateTimeLimitAction, known(st.sampled_from(TIME_LIMIT_REASONS)), known(_whole(600, 86_400))
    )
    environment = model.ServiceEnvironment(draw(limits(UNITS, 1_000)), draw(st.none() | names), draw(states))
    share = st.builds(
        model.QuotaShare,
        names,
        limits(environment.capacity_limits.units or UNITS, 1_200),
        sharing,
        st.booleans(),
        states,
    )
    return model.QuotaQueue(
        environment,
        tuple(draw(st.lists(share, max_size=6, unique_by=lambda share: share.name))),
        draw(st.none() | names),
        model.SchedulingPolicy(name=draw(st.none() | names)),
        draw(known(_whole(0, 1_000))),
        draw(states),
        tuple(draw(st.lists(time_limit, max_size=3))),
    )


def _first_share(**fields: Any) -> Callable[[model.QuotaQueue], model.QuotaQueue]:
    def change(queue: model.QuotaQueue) -> model.QuotaQueue:
        first, *others = queue.quota_shares or (_share("first", queue),)
        return _replace(queue, quota_shares=(_replace(first, **fields), *others))

    return change


def _environment(**fields: Any) -> Callable[[model.QuotaQueue], model.QuotaQueue]:
    return lambda queue: _replace(queue, service_environment=_replace(queue.service_environment, **fields))


def _time_limit(**fields: Any) -> Callable[[model.QuotaQueue], model.QuotaQueue]:
    action = _replace(model.JobStateTimeLimitAction(TIME_LIMIT_REASONS[0], 600), **fields)
    return _queue(job_state_time_limit_actions=(action,))


def _queue(**fields: Any) -> Callable[[model.QuotaQueue], model.QuotaQueue]:
    return lambda queue: _replace(queue, **fields)


def _many_shares(queue: model.QuotaQueue) -> model.QuotaQueue:
    return _replace(queue, quota_shares=tuple(_share(f"share{number}", queue) for number in range(21)))


def _twins(queue: model.QuotaQueue) -> model.QuotaQueue:
    return _replace(queue, quota_shares=(_share("twin", queue), _share("twin", queue)))


def _share(name: str, queue: model.QuotaQueue) -> model.QuotaShare:
    unit = queue.service_environment.capacity_limits.units[0]
    return model.QuotaShare(name, CapacityLimits.of({unit: 1}), ResourceSharing.lend())


def _replace(value: _Dataclass, **fields: Any) -> _Dataclass:
    return dataclasses.replace(value, **fields)


BREAKERS: dict[str, list[Callable[[model.QuotaQueue], model.QuotaQueue]]] = {
    "name-invalid": [
        _queue(name="two words"),
        _queue(scheduling_policy=model.SchedulingPolicy(name="")),
        _environment(name="n" * 129),
        _first_share(name="a.b"),
    ],
    "capacity-limits-count": [
        _environment(capacity_limits=CapacityLimits.of(dict.fromkeys(UNITS, 1))),
        _first_share(capacity_limits=CapacityLimits()),
    ],
    "capacity-limit-whole-number": [
        _environment(capacity_limits=CapacityLimits.of({UNITS[0]: 0})),
        _first_share(capacity_limits=CapacityLimits.of({UNITS[0]: 1.5})),
        _first_share(capacity_limits=CapacityLimits.of({UNITS[0]: -1})),
    ],
    "capacity-unit-not-an-instance-type": [
        _environment(capacity_limits=CapacityLimits.of({"NUM_INSTANCES": 3})),
        _first_share(capacity_limits=CapacityLimits.of({"g5.xlarge": 3})),
    ],
    "borrow-limit-needs-lend-and-borrow": [
        _first_share(resource_sharing=ResourceSharing(SharingStrategy.RESERVE, 0)),
        _first_share(resource_sharing=ResourceSharing(SharingStrategy.LEND, 100)),
    ],
    "borrow-limit-whole-number": [
        _first_share(resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=-2)),
        _first_share(resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=12.5)),
    ],
    "fair-share-policy": [_queue(scheduling_policy=model.SchedulingPolicy(SchedulingPolicyKind.FAIR_SHARE))],
    "quota-share-policy-missing": [_queue(scheduling_policy=model.SchedulingPolicy(SchedulingPolicyKind.NONE))],
    "queue-priority-range": [_queue(priority=-1), _queue(priority=1001), _queue(priority=0.5)],
    "time-limit-reason": [_time_limit(reason="MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE")],
    "time-limit-action": [_time_limit(action="CANCEL")],
    "time-limit-state": [_time_limit(state="STARTING")],
    "time-limit-seconds": [_time_limit(max_time_seconds=599), _time_limit(max_time_seconds=86_401)],
    "too-many-quota-shares": [_many_shares],
    "quota-share-name-duplicate": [_twins],
    "share-unit-not-in-environment": [_first_share(capacity_limits=CapacityLimits.of({"ml.m5.large": 1}))],
}
"""What breaks a rule of severity error, by its id."""


def declare(stack: Stack, queue: model.QuotaQueue) -> TrainingJobQueue:
    """Define the constructs that declare a design; what is unknown in it is a parameter of the stack."""
    values = _Values(stack)
    environment = ServiceEnvironment(
        stack,
        "Environment",
        capacity_limits=values.mapping(queue.service_environment.capacity_limits),
        service_environment_name=values.name(queue.service_environment.name),
        state=values.text(queue.service_environment.state),
    )
    job_queue = TrainingJobQueue(
        stack,
        "Queue",
        scheduling_policy=_policy(stack, queue.scheduling_policy, values),
        service_environment=environment,
        job_queue_name=values.name(queue.name),
        priority=values.number(queue.priority),
        state=values.text(queue.state),
        job_state_time_limit_actions=[
            JobStateTimeLimitAction(
                values.text(action.reason),
                Duration.seconds(values.number(action.max_time_seconds)),
                values.text(action.action),
                values.text(action.state),
            )
            for action in queue.job_state_time_limit_actions
        ],
    )
    for number, share in enumerate(queue.quota_shares):
        QuotaShare(
            stack,
            f"Share{number}",
            job_queue=job_queue,
            capacity_limits=values.mapping(share.capacity_limits),
            resource_sharing=values.sharing(share.resource_sharing),
            in_share_preemption=share.in_share_preemption is True,
            quota_share_name=values.text(share.name),
            state=values.text(share.state),
        )
    return job_queue


def _policy(stack: Stack, policy: model.SchedulingPolicy, values: _Values) -> refs.ISchedulingPolicyRef:
    if policy.kind is SchedulingPolicyKind.FAIR_SHARE:
        return batch.FairshareSchedulingPolicy(stack, "Policy")
    if policy.kind is SchedulingPolicyKind.NONE:
        return batch.CfnSchedulingPolicy(stack, "Policy")
    return QuotaShareSchedulingPolicy(stack, "Policy", scheduling_policy_name=values.name(policy.name))


class _Values:
    """Gives a design's values as properties: a parameter of the stack where the design has UNKNOWN."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._parameters = 0

    def _parameter(self, kind: str) -> CfnParameter:
        self._parameters += 1
        return CfnParameter(self._stack, f"Parameter{self._parameters}", type=kind)

    def text(self, value: str | model.Unknown) -> str:
        return self._parameter("String").value_as_string if isinstance(value, model.Unknown) else value

    def name(self, value: str | model.Unknown | None) -> str | None:
        return None if value is None else self.text(value)

    def number(self, value: float | model.Unknown) -> float:
        return self._parameter("Number").value_as_number if isinstance(value, model.Unknown) else value

    def mapping(self, limits: CapacityLimits) -> dict[str, float]:
        return {self.text(limit.capacity_unit): self.number(limit.max_capacity) for limit in limits}

    def sharing(self, sharing: ResourceSharing) -> ResourceSharing:
        borrow_limit = sharing.borrow_limit
        return dataclasses.replace(sharing, borrow_limit=None if borrow_limit is None else self.number(borrow_limit))
