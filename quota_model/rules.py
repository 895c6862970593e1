"""The rule catalogue: what AWS refuses in a quota design, what can never work, and what is probably not meant.

Each rule has a stable id, a severity, one sentence of why, and its source. The constructs, the local AWS Batch
and ``quotactl check`` all ask here, so the same fact is judged the same way everywhere, and
:data:`CATALOGUE` is what the documentation prints.

A value that is :data:`~quota_model.unknown.UNKNOWN` never gives a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Generic, NamedTuple, TypeGuard, TypeVar

from quota_model.design import (
    UNLIMITED,
    CapacityLimits,
    JobStateTimeLimitAction,
    QuotaQueue,
    QuotaShare,
    ResourceSharing,
    SchedulingPolicy,
    SchedulingPolicyKind,
    ServiceEnvironment,
    Unknown,
)
from quota_model.instance_types import TRAINING_INSTANCE_TYPE, known_training_instance_types
from quota_model.rulebook import Finding, Rule, RuleBook, Said, Severity

__all__ = [
    "CATALOGUE",
    "MAX_CAPACITY_LIMITS",
    "MAX_QUOTA_SHARES",
    "NAME",
    "TIME_LIMIT_REASONS",
    "Finding",
    "Rule",
    "Severity",
    "check",
    "check_job_queue",
    "check_job_queue_environments",
    "check_quota_share",
    "check_quota_share_in_queue",
    "check_scheduling_policy",
    "check_service_environment",
    "check_service_environment_use",
    "check_whole_queue",
]

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
"""What a name of any of the four resources consists of."""
MAX_CAPACITY_LIMITS: Final = 5
"""Capacity limits of one quota share or quota-managed service environment, at most."""
MAX_QUOTA_SHARES: Final = 20
"""Quota shares of one job queue, at most; AWS does not raise it."""
MIN_TIME_LIMIT_SECONDS: Final = 600
MAX_TIME_LIMIT_SECONDS: Final = 86_400
MAX_QUEUE_PRIORITY: Final = 1_000
TIME_LIMIT_REASONS: Final = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
)
"""The reasons that a job-state time-limit action of a SageMaker Training queue may have."""

_GUIDE: Final = "https://docs.aws.amazon.com/batch/latest/userguide/"
_API: Final = "https://docs.aws.amazon.com/batch/latest/APIReference/API_"


_Subject = TypeVar("_Subject")


class _At(NamedTuple, Generic[_Subject]):
    """A part of a design that several resources have, and the resource that it belongs to."""

    place: str
    value: _Subject


def _named(kind: str, name: str | Unknown | None) -> str:
    return f"{kind} {name!r}" if isinstance(name, str) else kind


def _share_place(share: QuotaShare) -> str:
    return _named("quota share", share.name)


def _environment_place(environment: ServiceEnvironment) -> str:
    return _named("service environment", environment.name)


def _queue_place(queue: QuotaQueue) -> str:
    return _named("job queue", queue.name)


_names = RuleBook[_At[str | Unknown | None]](lambda at: at.place)
_limits = RuleBook[_At[CapacityLimits]](lambda at: at.place)
_shares = RuleBook[QuotaShare](_share_place)
_time_limits = RuleBook[_At[JobStateTimeLimitAction]](lambda at: at.place)
_queues = RuleBook[QuotaQueue](_queue_place)
_shares_of_queues = RuleBook[tuple[QuotaShare, QuotaQueue]](lambda pair: _share_place(pair[0]))
_whole_queues = RuleBook[QuotaQueue](_queue_place)
_uses_of_environments = RuleBook[_At[int]](lambda at: at.place)
_environments_of_queues = RuleBook[_At[int]](lambda at: at.place)


def check_quota_share(share: QuotaShare) -> tuple[Finding, ...]:
    """Judge a quota share by itself, without its queue."""
    return tuple(_share_findings(share))


def check_service_environment(environment: ServiceEnvironment) -> tuple[Finding, ...]:
    """Judge a service environment by itself."""
    return tuple(_environment_findings(environment))


def check_service_environment_use(environment: ServiceEnvironment, queues: int) -> tuple[Finding, ...]:
    """Judge a service environment by the number of job queues that refer to it."""
    return tuple(_uses_of_environments.findings(_At(_environment_place(environment), queues)))


def check_job_queue_environments(queue_name: str | Unknown | None, environments: int) -> tuple[Finding, ...]:
    """Judge a job queue by the number of service environments that it refers to."""
    return tuple(_environments_of_queues.findings(_At(_named("job queue", queue_name), environments)))


def check_scheduling_policy(policy: SchedulingPolicy) -> tuple[Finding, ...]:
    """Judge a scheduling policy by itself."""
    return tuple(_names.findings(_At(_named("scheduling policy", policy.name), policy.name)))


def check_job_queue(queue: QuotaQueue) -> tuple[Finding, ...]:
    """Judge a queue's own properties: name, priority, the kind of its policy, time-limit actions."""
    return tuple(_queue_findings(queue))


def check_quota_share_in_queue(share: QuotaShare, queue: QuotaQueue) -> tuple[Finding, ...]:
    """Judge one of a queue's shares against the queue's environment and its other shares."""
    return tuple(_shares_of_queues.findings((share, queue)))


def check_whole_queue(queue: QuotaQueue) -> tuple[Finding, ...]:
    """Judge what only the queue with its environment and all its shares shows, of each share and in sum."""
    return tuple(_whole_queue_findings(queue))


def check(queue: QuotaQueue) -> tuple[Finding, ...]:
    """Judge a whole design by every rule of the catalogue."""
    findings = [*check_scheduling_policy(queue.scheduling_policy), *_environment_findings(queue.service_environment)]
    findings += _queue_findings(queue)
    for share in queue.quota_shares:
        findings += _share_findings(share)
    return (*findings, *_whole_queue_findings(queue))


def _share_findings(share: QuotaShare) -> Iterator[Finding]:
    yield from _names.findings(_At(_share_place(share), share.name))
    yield from _limits.findings(_At(_share_place(share), share.capacity_limits))
    yield from _shares.findings(share)


def _environment_findings(environment: ServiceEnvironment) -> Iterator[Finding]:
    yield from _names.findings(_At(_environment_place(environment), environment.name))
    yield from _limits.findings(_At(_environment_place(environment), environment.capacity_limits))


def _queue_findings(queue: QuotaQueue) -> Iterator[Finding]:
    yield from _names.findings(_At(_queue_place(queue), queue.name))
    for action in queue.job_state_time_limit_actions:
        yield from _time_limits.findings(_At(_queue_place(queue), action))
    yield from _queues.findings(queue)


def _whole_queue_findings(queue: QuotaQueue) -> Iterator[Finding]:
    for share in queue.quota_shares:
        yield from check_quota_share_in_queue(share, queue)
    yield from _whole_queues.findings(queue)


# Names


@_names.error(
    "name-invalid",
    "A name is 1 to 128 letters, digits, hyphens and underscores.",
    f"{_API}CreateQuotaShare.html",
)
def _name_is_valid(at: _At[str | Unknown | None]) -> Iterator[Said]:
    if isinstance(at.value, str) and not NAME.fullmatch(at.value):
        refused = next((character for character in at.value if not NAME.fullmatch(character)), None)
        problem = (
            f"has {len(at.value)} characters" if refused is None else f"has {refused!r}, which AWS does not accept"
        )
        yield Said(f"its name {problem}", "use 1 to 128 letters (a to z, A to Z), digits, hyphens and underscores")


# Capacity limits of a service environment or a quota share


@_limits.error(
    "capacity-limits-count",
    "A quota share or quota-managed service environment has 1 to 5 capacity limits.",
    f"{_GUIDE}service_limits.html",
)
def _limits_are_few(at: _At[CapacityLimits]) -> Iterator[Said]:
    if not at.value:
        yield Said("it has no capacity limit", f"give 1 to {MAX_CAPACITY_LIMITS}, one for each instance type")
    elif len(at.value) > MAX_CAPACITY_LIMITS:
        yield Said(
            f"it has {len(at.value)} capacity limits",
            f"keep at most {MAX_CAPACITY_LIMITS}, and put further instance types on another queue",
        )


@_limits.error(
    "capacity-unit-duplicate",
    "Each instance type has one capacity limit.",
    f"AWS does not say; {_API}QuotaShareCapacityLimit.html defines one limit per unit",
)
def _units_are_unique(at: _At[CapacityLimits]) -> Iterator[Said]:
    units = [limit.capacity_unit for limit in at.value]
    for unit in at.value.units:
        if units.count(unit) > 1:
            yield Said(f"{unit} has {units.count(unit)} capacity limits", "keep one of them")


@_limits.error(
    "capacity-limit-whole-number",
    "A capacity limit is a whole number of instances, at least 1.",
    f"{_API}QuotaShareCapacityLimit.html; for service environments AWS names no minimum, but 0 runs nothing",
)
def _capacities_are_whole(at: _At[CapacityLimits]) -> Iterator[Said]:
    for limit in at.value:
        if not isinstance(limit.max_capacity, Unknown) and not _is_whole(limit.max_capacity, minimum=1):
            yield Said(
                f"capacity limit {limit.max_capacity} of {limit.capacity_unit} is not a whole number of at least 1",
                "give whole instances, or drop the limit if the type is not to be used",
            )


@_limits.error(
    "capacity-unit-not-an-instance-type",
    "Under quota management a capacity unit is a SageMaker Training instance type, never NUM_INSTANCES.",
    f"{_GUIDE}create-quota-management-resources.html",
)
def _units_are_instance_types(at: _At[CapacityLimits]) -> Iterator[Said]:
    for unit in at.value.units:
        if not unit.startswith("ml."):
            yield Said(
                f"capacity unit {unit!r} is not an instance type",
                "name a SageMaker Training instance type such as ml.g5.xlarge",
            )


@_limits.warning(
    "instance-type-unknown",
    "SageMaker Training is not known to accept this instance type.",
    "botocore's SageMaker model, TrainingInstanceType, when botocore is installed",
)
def _instance_types_are_known(at: _At[CapacityLimits]) -> Iterator[Said]:
    for unit in at.value.units:
        if unit.startswith("ml.") and not _is_known_instance_type(unit):
            yield Said(
                f"{unit!r} is not a SageMaker Training instance type that is known here",
                "correct it, or upgrade botocore if the type is new",
            )


def _is_known_instance_type(unit: str) -> bool:
    known = known_training_instance_types()
    return bool(TRAINING_INSTANCE_TYPE.fullmatch(unit)) if known is None else unit in known


# A quota share by itself


@_shares.error(
    "borrow-limit-needs-lend-and-borrow",
    "Only a LEND_AND_BORROW share has a borrow limit.",
    f"{_API}QuotaShareResourceSharingConfiguration.html",
)
def _borrow_limit_has_an_effect(share: QuotaShare) -> Iterator[Said]:
    sharing = share.resource_sharing
    if sharing.borrow_limit is not None and not isinstance(sharing.strategy, Unknown) and not sharing.borrows:
        yield Said(
            f"borrow limit {sharing.borrow_limit} has no effect with {sharing.strategy}",
            f"use LEND_AND_BORROW with borrow limit {sharing.borrow_limit}, or drop the borrow limit",
        )


@_shares.error(
    "borrow-limit-whole-number",
    "A borrow limit is a whole percentage of at least 0, or -1 for no limit.",
    f"{_API}QuotaShareResourceSharingConfiguration.html",
)
def _borrow_limit_is_whole(share: QuotaShare) -> Iterator[Said]:
    borrow_limit = share.resource_sharing.borrow_limit
    if borrow_limit is None or isinstance(borrow_limit, Unknown):
        return
    if not _is_whole(borrow_limit, minimum=UNLIMITED):
        yield Said(
            f"borrow limit {borrow_limit} is not a whole percentage",
            "give a whole number of at least 0, or -1 for no limit",
        )


@_shares.warning(
    "borrow-limit-rounds-to-nothing",
    "A borrow limit that comes to less than one instance lets the share borrow nothing.",
    f"{_GUIDE}sm_job_stuck_in_runnable_misconfiguration.html; that parts of an instance are dropped is assumed",
)
def _borrow_limit_is_an_instance(share: QuotaShare) -> Iterator[Said]:
    percent = _known_borrow_limit(share.resource_sharing)
    if percent is None or percent == UNLIMITED:
        return
    for limit in share.capacity_limits:
        capacity = limit.max_capacity
        if not isinstance(capacity, Unknown) and _is_whole(capacity, minimum=1) and capacity * percent < 100:
            yield Said(
                f"borrow limit {percent} of {capacity} {limit.capacity_unit} comes to less than one instance",
                f"raise it to {-(-100 // int(capacity))} or more, or use LEND if the share is not to borrow",
            )


def _known_borrow_limit(sharing: ResourceSharing) -> int | None:
    """Return the valid borrow limit of a share that borrows; ``None`` where there is none to judge."""
    borrow_limit = sharing.borrow_limit
    if not sharing.borrows or borrow_limit is None or isinstance(borrow_limit, Unknown):
        return None
    return int(borrow_limit) if _is_whole(borrow_limit, minimum=UNLIMITED) else None


# A job queue by itself


@_queues.error(
    "fair-share-policy",
    "A quota-managed queue has a quota-share policy: a fair-share policy can never serve it.",
    f"{_GUIDE}create-quota-management-resources.html",
)
def _policy_is_not_fair_share(queue: QuotaQueue) -> Iterator[Said]:
    if queue.scheduling_policy.kind is SchedulingPolicyKind.FAIR_SHARE:
        yield Said(
            "its scheduling policy is a fair-share policy", "give it a scheduling policy with a quota-share policy"
        )


@_queues.error(
    "quota-share-policy-missing",
    "A quota-managed queue has a quota-share policy from the start: none can be added later.",
    f"{_API}UpdateJobQueue.html",
)
def _policy_is_quota_share(queue: QuotaQueue) -> Iterator[Said]:
    if queue.scheduling_policy.kind is SchedulingPolicyKind.NONE:
        yield Said(
            "it has no scheduling policy with a quota-share policy",
            "give it one, and a new name if the queue exists already, since AWS adds no policy to an existing queue",
        )


@_queues.error(
    "queue-priority-range",
    "A job queue's priority is a whole number from 0 to 1000.",
    f"{_API}CreateJobQueue.html",
)
def _priority_is_in_range(queue: QuotaQueue) -> Iterator[Said]:
    priority = queue.priority
    if isinstance(priority, Unknown) or (_is_whole(priority, minimum=0) and priority <= MAX_QUEUE_PRIORITY):
        return
    yield Said(
        f"priority {priority} is not a whole number from 0 to {MAX_QUEUE_PRIORITY}",
        "use 1: it has no effect, since a quota-managed environment serves one queue alone",
    )


_TIME_LIMITS: Final = f"{_GUIDE}sm_job_stuck_in_runnable_time_limit_actions.html"


@_time_limits.error(
    "time-limit-reason", "A time-limit action has one of three reasons on a SageMaker Training queue.", _TIME_LIMITS
)
def _time_limit_has_a_reason(at: _At[JobStateTimeLimitAction]) -> Iterator[Said]:
    if not isinstance(at.value.reason, Unknown) and at.value.reason not in TIME_LIMIT_REASONS:
        yield Said(f"time-limit reason {at.value.reason!r} is not accepted", f"use {_one_of(TIME_LIMIT_REASONS)}")


@_time_limits.error(
    "time-limit-action", "The action of a time limit is TERMINATE on a SageMaker Training queue.", _TIME_LIMITS
)
def _time_limit_terminates(at: _At[JobStateTimeLimitAction]) -> Iterator[Said]:
    if not isinstance(at.value.action, Unknown) and at.value.action != "TERMINATE":
        yield Said(f"time-limit action {at.value.action!r} is not accepted", "use TERMINATE")


@_time_limits.error("time-limit-state", "A time limit watches jobs in state RUNNABLE, and no other.", _TIME_LIMITS)
def _time_limit_watches_runnable(at: _At[JobStateTimeLimitAction]) -> Iterator[Said]:
    if not isinstance(at.value.state, Unknown) and at.value.state != "RUNNABLE":
        yield Said(f"time-limit state {at.value.state!r} is not accepted", "use RUNNABLE")


@_time_limits.error("time-limit-seconds", "A time limit is 600 to 86400 whole seconds.", _TIME_LIMITS)
def _time_limit_is_in_range(at: _At[JobStateTimeLimitAction]) -> Iterator[Said]:
    seconds = at.value.max_time_seconds
    if isinstance(seconds, Unknown):
        return
    if not _is_whole(seconds, minimum=MIN_TIME_LIMIT_SECONDS) or seconds > MAX_TIME_LIMIT_SECONDS:
        yield Said(
            f"time limit of {seconds} seconds is out of range",
            f"use {MIN_TIME_LIMIT_SECONDS} (10 minutes) to {MAX_TIME_LIMIT_SECONDS} (a day) whole seconds",
        )


# The whole queue: its shares against each other and against the environment


@_whole_queues.error(
    "too-many-quota-shares", "A job queue has at most 20 quota shares.", f"{_GUIDE}service_limits.html"
)
def _shares_are_few(queue: QuotaQueue) -> Iterator[Said]:
    if len(queue.quota_shares) > MAX_QUOTA_SHARES:
        yield Said(
            f"it has {len(queue.quota_shares)} quota shares",
            f"keep at most {MAX_QUOTA_SHARES}, which AWS does not raise, and put the others on another queue",
        )


@_whole_queues.error(
    "quota-share-name-duplicate",
    "The quota shares of a queue have different names.",
    f"{_API}CreateQuotaShare.html",
)
def _share_names_are_unique(queue: QuotaQueue) -> Iterator[Said]:
    names = [share.name for share in queue.quota_shares]
    for name in dict.fromkeys(names):
        if not isinstance(name, Unknown) and names.count(name) > 1:
            yield Said(f"{names.count(name)} quota shares are named {name!r}", "give each its own name")


@_shares_of_queues.error(
    "share-unit-not-in-environment",
    "A share's limit for an instance type that the environment lacks can never be used.",
    f"{_API}CapacityLimit.html; whether AWS refuses the share is not documented",
)
def _units_are_in_the_environment(pair: tuple[QuotaShare, QuotaQueue]) -> Iterator[Said]:
    share, queue = pair
    environment = queue.service_environment.capacity_limits
    for unit in share.capacity_limits.units:
        if environment.of_unit(unit) is None:
            yield Said(
                f"the service environment has no capacity limit for {unit}, so its jobs never run",
                f"add {unit} to the environment ({', '.join(environment.units) or 'none so far'}), or drop it here",
            )


@_shares_of_queues.warning(
    "share-limit-exceeds-environment",
    "A share cannot use more instances than the environment has.",
    f"{_GUIDE}sm_job_stuck_in_runnable_misconfiguration.html",
)
def _limits_fit_the_environment(pair: tuple[QuotaShare, QuotaQueue]) -> Iterator[Said]:
    share, queue = pair
    for unit in share.capacity_limits.units:
        limit, capacity = _known(share.capacity_limits, unit), _known(queue.service_environment.capacity_limits, unit)
        if limit is not None and capacity is not None and limit > capacity:
            yield Said(
                f"its limit of {limit} {unit} is more than the environment's {capacity}",
                "lower it, or raise the environment's limit",
            )


@_shares_of_queues.warning(
    "nobody-lends",
    "A LEND_AND_BORROW share borrows nothing of an instance type that no other share lends.",
    f"{_GUIDE}sm_job_stuck_in_runnable_misconfiguration.html",
)
def _somebody_lends(pair: tuple[QuotaShare, QuotaQueue]) -> Iterator[Said]:
    share, queue = pair
    if not share.resource_sharing.borrows:
        return
    others = [other for other in queue.quota_shares if other is not share]
    for unit in share.capacity_limits.units:
        if not any(_may_lend(other, unit) for other in others):
            yield Said(
                f"no other share lends {unit}, so there is nothing to borrow",
                "let another share of that type LEND or LEND_AND_BORROW, or use LEND or RESERVE here",
            )


def _may_lend(share: QuotaShare, unit: str) -> bool:
    strategy = share.resource_sharing
    return (strategy.lends or isinstance(strategy.strategy, Unknown)) and (
        share.capacity_limits.of_unit(unit) is not None
    )


@_whole_queues.warning(
    "limits-exceed-environment",
    "Shares whose limits add up to more than the environment cannot all use them at once.",
    "AWS does not say whether it accepts this; the environment's limit binds every dispatch",
)
def _sum_fits_the_environment(queue: QuotaQueue) -> Iterator[Said]:
    for unit, capacity in _known_capacities(queue.service_environment):
        total = sum(_known(share.capacity_limits, unit) or 0 for share in queue.quota_shares)
        if total > capacity:
            yield Said(
                f"the shares' limits of {unit} add up to {total}, the environment has {capacity}",
                f"raise the environment to {total}, or lower the shares by {total - capacity} in all",
            )


@_whole_queues.warning(
    "environment-capacity-unowned",
    "Environment capacity that no share owns stays idle.",
    f"inferred from AWS's example of borrowable capacity in {_GUIDE}sm_job_stuck_in_runnable_misconfiguration.html",
)
def _capacity_is_owned(queue: QuotaQueue) -> Iterator[Said]:
    if not queue.quota_shares:
        return  # Nothing is divided yet: the shares may come from elsewhere.
    for unit, capacity in _known_capacities(queue.service_environment):
        owners = [share for share in queue.quota_shares if share.capacity_limits.of_unit(unit) is not None]
        owned = [_known(share.capacity_limits, unit) for share in owners]
        idle = capacity - sum(limit or 0 for limit in owned)
        if None not in owned and idle > 0:
            yield Said(
                f"no share owns {idle} of the environment's {capacity} {unit}, so nobody can use them",
                "raise a share's limit, or lower the environment's",
            )


def _known_capacities(environment: ServiceEnvironment) -> Iterator[tuple[str, int]]:
    for unit in environment.capacity_limits.units:
        capacity = _known(environment.capacity_limits, unit)
        if capacity is not None:
            yield unit, capacity


def _known(limits: CapacityLimits, unit: str) -> int | None:
    """Return the limit for a unit if it is known and valid; other rules judge the invalid."""
    limit = limits.of_unit(unit)
    return None if limit is None or isinstance(limit, Unknown) or not _is_whole(limit, minimum=1) else limit


def _is_whole(value: float, *, minimum: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= minimum


def _one_of(values: tuple[str, ...]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}"


# Service environments and their queues


@_uses_of_environments.error(
    "environment-serves-one-queue",
    "A quota-managed service environment serves one job queue alone.",
    f"{_GUIDE}create-quota-management-resources.html",
)
def _environment_serves_one_queue(at: _At[int]) -> Iterator[Said]:
    if at.value > 1:
        yield Said(f"{at.value} job queues refer to it", "give each queue an environment of its own")


@_environments_of_queues.error(
    "queue-has-one-environment",
    "A quota-managed job queue has exactly one service environment.",
    f"{_GUIDE}service_limits.html",
)
def _queue_has_one_environment(at: _At[int]) -> Iterator[Said]:
    if at.value != 1:
        yield Said(
            f"it names {at.value} service environments",
            "name one, which has a capacity limit for each of the queue's instance types",
        )


CATALOGUE: Final[tuple[Rule, ...]] = tuple(
    rule
    for book in (
        _names,
        _limits,
        _shares,
        _queues,
        _time_limits,
        _shares_of_queues,
        _whole_queues,
        _uses_of_environments,
        _environments_of_queues,
    )
    for rule in book.rules
)
"""Every rule there is: about names, capacity limits, a share, a queue, the whole queue, then several queues."""
