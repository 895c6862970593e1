"""SageMaker's operations on training jobs and plans; everything else is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from quotactl.local.errors import ResourceInUse, ResourceNotFound, UnknownOperationException, ValidationException
from quotactl.local.paging import page
from quotactl.local.requests import problem_with
from quotactl.local.training.jobs import TrainingJob, TrainingJobs
from quotactl.local.training.plans import TrainingPlan

__all__ = ["call"]

_TIMES: Final = ("After", "Before")
_YEAR_10000: Final = 253_402_300_800


def call(training: TrainingJobs, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out one operation in a turn of the clock."""
    if operation not in _OPERATIONS:
        raise UnknownOperationException(
            f"SageMaker {operation} is not supported by the local AWS: it has the training jobs and plans of Batch."
        )
    problem = _time_problem(request) or problem_with("sagemaker", operation, _without_times(request))
    if problem is not None:
        raise ValidationException(problem)
    with training.clock.turn():
        return _OPERATIONS[operation](training, request)


def _without_times(request: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in request.items() if not key.endswith(_TIMES)}


def _time_problem(request: dict[str, Any]) -> str | None:
    """Return what is wrong with a time that the request gives: SageMaker's protocol has them as epoch seconds."""
    for key in request.keys() - _without_times(request).keys():
        value = request[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _YEAR_10000:
            return f"{key} is {str(value)[:50]!r}; give epoch seconds before the year 10000."
    return None


def _create_training_job(training: TrainingJobs, request: dict[str, Any]) -> dict[str, Any]:
    return {"TrainingJobArn": training.create(request).arn}


def _describe_training_job(training: TrainingJobs, request: dict[str, Any]) -> dict[str, Any]:
    return training.get(request["TrainingJobName"]).describe()


def _stop_training_job(training: TrainingJobs, request: dict[str, Any]) -> dict[str, Any]:
    training.stop(training.get(request["TrainingJobName"]))
    return {}


def _delete_training_job(training: TrainingJobs, request: dict[str, Any]) -> dict[str, Any]:
    job = training.get(request["TrainingJobName"])
    if not job.has_ended:
        raise ResourceInUse(f"Training job {job.name} is {job.status}; stop it first.")
    training.forget(job)
    return {}


def _list_training_jobs(training: TrainingJobs, request: dict[str, Any]) -> dict[str, Any]:
    descending = request.get("SortOrder", "Descending") == "Descending"
    key: Callable[[TrainingJob], Any] = {
        "Name": lambda job: job.name,
        "CreationTime": lambda job: job.created_at,
        "Status": lambda job: job.status,
    }[request.get("SortBy", "CreationTime")]
    matching = [job for job in training.jobs.values() if _matches(job, request)]
    found, following = _page(sorted(matching, key=key, reverse=descending), request)
    return {"TrainingJobSummaries": [job.summary() for job in found], **following}


def _matches(job: TrainingJob, request: dict[str, Any]) -> bool:
    created, changed = job.created_at / 1000, job.changed_at / 1000
    plan = job.request.get("ResourceConfig", {}).get("TrainingPlanArn")
    return (
        request.get("NameContains", "").lower() in job.name.lower()
        and request.get("StatusEquals", job.status) == job.status
        and request.get("TrainingPlanArnEquals", plan) == plan
        and created >= request.get("CreationTimeAfter", created)
        and created <= request.get("CreationTimeBefore", created)
        and changed >= request.get("LastModifiedTimeAfter", changed)
        and changed <= request.get("LastModifiedTimeBefore", changed)
    )


def _search_training_plan_offerings(training: TrainingJobs, request: dict[str, Any]) -> dict[str, Any]:
    return {"TrainingPlanOfferings": [training.plans.offering(request)]}


def _create_training_plan(training: TrainingJobs, request: dict[str, Any]) -> dict[str, Any]:
    if request["TrainingPlanName"] in training.plans.plans:
        raise ResourceInUse(f"Training plan {request['TrainingPlanName']} already exists.")
    return {
        "TrainingPlanArn": training.plans.create(request["TrainingPlanName"], request["TrainingPlanOfferingId"]).arn
    }


def _describe_training_plan(training: TrainingJobs, request: dict[str, Any]) -> dict[str, Any]:
    plan = training.plans.plans.get(request["TrainingPlanName"])
    if plan is None:
        raise ResourceNotFound("Requested resource not found.")
    return _described(training, plan)


def _list_training_plans(training: TrainingJobs, request: dict[str, Any]) -> dict[str, Any]:
    described = [_described(training, plan) for plan in training.plans.plans.values()]
    for condition in request.get("Filters", []):
        described = [plan for plan in described if plan["Status"] == condition["Value"]]
    found, following = _page(described, request)
    return {"TrainingPlanSummaries": list(found), **following}


def _described(training: TrainingJobs, plan: TrainingPlan) -> dict[str, Any]:
    return plan.describe(training.clock.now(), sum(_instances(training.jobs.values(), plan)))


def _instances(jobs: Iterable[TrainingJob], plan: TrainingPlan) -> Iterable[int]:
    for job in jobs:
        resources = job.request.get("ResourceConfig", {})
        if resources.get("TrainingPlanArn") == plan.arn and not job.has_ended and job.secondary != "Pending":
            yield resources.get("InstanceCount", 0)


def _page(items: list[Any], request: dict[str, Any]) -> tuple[list[Any], dict[str, str]]:
    given = {"maxResults": request.get("MaxResults", 10)} | (
        {"nextToken": request["NextToken"]} if "NextToken" in request else {}
    )
    found, following = page(items, given)
    return list(found), {"NextToken": following["nextToken"]} if following else {}


_OPERATIONS: Final[dict[str, Callable[[TrainingJobs, dict[str, Any]], dict[str, Any]]]] = {
    "CreateTrainingJob": _create_training_job,
    "DescribeTrainingJob": _describe_training_job,
    "StopTrainingJob": _stop_training_job,
    "DeleteTrainingJob": _delete_training_job,
    "ListTrainingJobs": _list_training_jobs,
    "SearchTrainingPlanOfferings": _search_training_plan_offerings,
    "CreateTrainingPlan": _create_training_plan,
    "DescribeTrainingPlan": _describe_training_plan,
    "ListTrainingPlans": _list_training_plans,
}
