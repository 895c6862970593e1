"""From the resources of templates to designs: which shares, environment and policy belong to which queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from quota_model.design import (
    UNKNOWN,
    CapacityLimit,
    CapacityLimits,
    DesignError,
    QuotaQueue,
    QuotaShare,
    SchedulingPolicy,
    SchedulingPolicyKind,
    ServiceEnvironment,
    Unknown,
)
from quotactl.designs.declared import ENVIRONMENT, POLICY, QUEUE, SHARE, Declared, Resources
from quotactl.designs.documents import JsonObject, UnusableInputError
from quotactl.designs.found import Designs, LocatedQueue, LocatedShare, Place, Remark
from quotactl.designs.templates import Template

__all__ = ["designs_in"]

_NUMBERS: Final = frozenset({"maxCapacity", "borrowLimit", "priority", "maxTimeSeconds"})
_UNKNOWN_LIMITS: Final = CapacityLimits((CapacityLimit(UNKNOWN, UNKNOWN),))


def designs_in(templates: Sequence[Template]) -> Designs:
    """Return every quota-managed queue that the templates declare, and say what else there is.

    Raises :class:`UnusableInputError` if a property does not have the shape that CloudFormation takes.
    """
    return _Reader(Resources(templates)).read()


class _Reader:
    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._remarks = list(resources.remarks)
        self._loose: list[LocatedShare] = []
        self._queues_of: Counter[Declared] = Counter()

    def read(self) -> Designs:
        shares_of = self._shares_by_queue()
        for queue in self._resources.of_type(QUEUE):
            environment = self._environment_of(queue)
            if isinstance(environment, Declared):
                self._queues_of[environment] += 1
        queues = [
            self._queue(queue, shares_of.get(queue, []))
            for queue in self._resources.of_type(QUEUE)
            if self._is_quota_managed(queue, shares_of.get(queue, []))
        ]
        for environment in self._resources.of_type(ENVIRONMENT):
            if environment not in self._queues_of and _has_instance_types(environment.properties):
                self._remark(environment, "no job queue here uses this service environment; not judged")
        return Designs(tuple(queues), tuple(self._loose), tuple(self._remarks))

    def _remark(self, declared: Declared, text: str) -> None:
        self._remarks.append(Remark(declared.place, text))

    def _refer(self, declared: Declared, value: Any, type_: str) -> Declared | str | Unknown:
        return self._resources.referred(value, type_, declared.template)

    def _shares_by_queue(self) -> dict[Declared, list[Declared]]:
        shares: dict[Declared, list[Declared]] = {}
        for share in self._resources.of_type(SHARE):
            queue = self._refer(share, share.properties.get("JobQueue"), QUEUE)
            if isinstance(queue, Declared) and not self._is_for_compute(queue):
                shares.setdefault(queue, []).append(share)
                continue
            self._loose.append(LocatedShare(self._share(share), share.place))
            if isinstance(queue, Declared):
                why = f"its job queue {queue.place} is not for SageMaker Training"
            else:
                why = f"its job queue {queue} is not declared here"
            self._remark(share, f"{why}; judged by itself")
        return shares

    def _is_for_compute(self, queue: Declared) -> bool:
        kind = self._resources.plain(queue.properties.get("JobQueueType"))
        if isinstance(kind, str):
            return kind.upper() != "SAGEMAKER_TRAINING"
        return "ServiceEnvironmentOrder" not in queue.properties

    def _is_quota_managed(self, queue: Declared, shares: list[Declared]) -> bool:
        """Whether the queue is quota-managed, or means to be; the others are remarked on."""
        if self._is_for_compute(queue):
            self._remark(queue, "skipped: a queue for compute environments has no quota shares")
            return False
        kind = self._policy(queue)[0].kind
        if shares or kind in (SchedulingPolicyKind.QUOTA_SHARE, UNKNOWN):
            return True
        environment = self._environment_of(queue)
        if isinstance(environment, Declared) and _has_instance_types(environment.properties):
            return True
        scheduled = "by a fair-share policy" if kind is SchedulingPolicyKind.FAIR_SHARE else "first in, first out"
        self._remark(queue, f"skipped: this queue is scheduled {scheduled}, not by quota shares")
        return False

    def _queue(self, declared: Declared, shares: list[Declared]) -> LocatedQueue:
        environment, environment_place = self._environment(declared)
        policy, policy_place = self._policy(declared)
        form = self._form(declared, ("JobQueueName", "State", "Priority", "JobStateTimeLimitActions"))
        form["jobStateTimeLimitActions"] = _known_list(form.get("jobStateTimeLimitActions", []))
        form["serviceEnvironment"] = environment.to_json()
        form["schedulingPolicy"] = policy.to_json()
        form["quotaShares"] = [self._share(share).to_json() for share in shares]
        queue = _read(QuotaQueue.from_json, form, declared)
        places = tuple(share.place for share in shares)
        referred = self._environment_of(declared)
        queues = self._queues_of[referred] if isinstance(referred, Declared) else 1
        order = declared.properties.get("ServiceEnvironmentOrder")
        environments = len(order) if isinstance(order, list) else 1
        return LocatedQueue(queue, declared.place, environment_place, policy_place, places, queues, environments)

    def _share(self, declared: Declared) -> QuotaShare:
        names = ("QuotaShareName", "CapacityLimits", "ResourceSharingConfiguration", "PreemptionConfiguration", "State")
        form = self._form(declared, names)
        form["capacityLimits"] = _capacity_limits(form.get("capacityLimits"))
        if form.get("resourceSharingConfiguration", ...) is None:
            form["resourceSharingConfiguration"] = {"strategy": None, "borrowLimit": None}
        if form.get("preemptionConfiguration", ...) is None:
            form["preemptionConfiguration"] = {"inSharePreemption": None}
        return _read(QuotaShare.from_json, form, declared)

    def _environment_of(self, queue: Declared) -> Declared | str | Unknown:
        order = queue.properties.get("ServiceEnvironmentOrder")
        entries = [entry for entry in order if isinstance(entry, dict)] if isinstance(order, list) else []
        if len(entries) != 1:
            return UNKNOWN
        return self._refer(queue, entries[0].get("ServiceEnvironment"), ENVIRONMENT)

    def _environment(self, queue: Declared) -> tuple[ServiceEnvironment, Place | None]:
        declared = self._environment_of(queue)
        if not isinstance(declared, Declared):
            self._remark(queue, f"its service environment {declared} is not declared here; judged without its limits")
            return ServiceEnvironment(_UNKNOWN_LIMITS, UNKNOWN, UNKNOWN), None
        form = self._form(declared, ("ServiceEnvironmentName", "CapacityLimits", "State"))
        form["capacityLimits"] = _capacity_limits(form.get("capacityLimits"))
        return _read(ServiceEnvironment.from_json, form, declared), declared.place

    def _policy(self, queue: Declared) -> tuple[SchedulingPolicy, Place | None]:
        if "SchedulingPolicyArn" not in queue.properties:
            return SchedulingPolicy(SchedulingPolicyKind.NONE), None
        declared = self._refer(queue, queue.properties["SchedulingPolicyArn"], POLICY)
        if not isinstance(declared, Declared):
            name = declared.rpartition("/")[2] if isinstance(declared, str) else UNKNOWN
            return SchedulingPolicy(UNKNOWN, name), None
        name = self._form(declared, ("Name",)).get("name", ...)
        known = None if name is ... else UNKNOWN if name is None else name
        return SchedulingPolicy(_policy_kind(declared.properties), known), declared.place

    def _form(self, declared: Declared, properties: Iterable[str]) -> JsonObject:
        """Return properties in the form of AWS Batch's API, which :mod:`quota_model.design` reads."""
        given = {key: declared.properties[key] for key in properties if key in declared.properties}
        form = self._api_form(given)
        for key in ("quotaShareName", "jobQueueName", "serviceEnvironmentName", "name"):
            if isinstance(form.get(key), int | float):
                form[key] = str(form[key])  # as CloudFormation does
        return form  # type: ignore[no-any-return] # an object gives an object

    def _api_form(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            members = {name[:1].lower() + name[1:]: item for name, item in value.items()}
            return {name: self._api_form(item, name) for name, item in members.items()}
        if isinstance(value, list):
            return [self._api_form(item) for item in value]
        plain = self._resources.plain(value)
        if isinstance(plain, str) and key in _NUMBERS:
            return _number(plain)
        return None if plain is UNKNOWN else plain


_Value = TypeVar("_Value")


def _read(read: Callable[[object, str], _Value], form: JsonObject, declared: Declared) -> _Value:
    place = declared.place
    try:
        return read(form, f"{place.file}, {place.logical_id}")
    except DesignError as error:
        raise UnusableInputError(str(error)) from None


def _policy_kind(properties: JsonObject) -> SchedulingPolicyKind | Unknown:
    if UNKNOWN in (properties.get("FairsharePolicy"), properties.get("QuotaSharePolicy")):
        return UNKNOWN
    if "FairsharePolicy" in properties:
        return SchedulingPolicyKind.FAIR_SHARE
    return SchedulingPolicyKind.QUOTA_SHARE if "QuotaSharePolicy" in properties else SchedulingPolicyKind.NONE


def _has_instance_types(properties: JsonObject) -> bool:
    limits = properties.get("CapacityLimits")
    units = (
        [limit.get("CapacityUnit") for limit in limits if isinstance(limit, dict)] if isinstance(limits, list) else []
    )
    return any(isinstance(unit, str) and unit.startswith("ml.") for unit in units)


def _capacity_limits(value: Any) -> Any:
    """Return limits with unknown ones in the place of what only a deployment decides."""
    unknown = {"capacityUnit": None, "maxCapacity": None}
    if value is None:
        return [unknown]
    return [unknown if item is None else item for item in value] if isinstance(value, list) else value


def _known_list(value: Any) -> Any:
    """Return a list without what only a deployment decides."""
    return [item for item in value if item is not None] if isinstance(value, list) else [] if value is None else value


def _number(text: str) -> Any:
    """Return the number that a text holds, as CloudFormation reads it; another text stays for the reader to refuse."""
    try:
        return int(text)
    except ValueError:
        return text
