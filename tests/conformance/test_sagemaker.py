"""The part of SageMaker that Batch touches: training jobs and training plans (SageMaker API reference)."""

from __future__ import annotations

import pytest

from tests.conformance.target import UNIT, Target

pytestmark = pytest.mark.slow


def create(target: Target, **changes: object) -> str:
    name = target.new_name()
    target.sagemaker.create_training_job(**{**target.payload(), "TrainingJobName": name, **changes})
    return name


def describe(target: Target, name: str) -> dict[str, object]:
    return dict(target.sagemaker.describe_training_job(TrainingJobName=name))


def test_a_training_job_runs_through_its_secondary_statuses(target: Target) -> None:
    name = create(target)
    target.wait_until(lambda: describe(target, name)["TrainingJobStatus"] == "Completed")
    job = target.sagemaker.describe_training_job(TrainingJobName=name)
    statuses = [transition["Status"] for transition in job["SecondaryStatusTransitions"]]
    assert statuses[-4:] == ["Downloading", "Training", "Uploading", "Completed"]
    assert job["ResourceConfig"]["InstanceType"] == UNIT
    assert job["TrainingStartTime"] < job["TrainingEndTime"]
    assert job["ModelArtifacts"]["S3ModelArtifacts"].endswith(f"/{name}/output/model.tar.gz")


def test_a_stopped_training_job_is_stopping_and_then_stopped(target: Target) -> None:
    name = create(target)
    target.wait_until(lambda: describe(target, name)["SecondaryStatus"] == "Training")
    target.sagemaker.stop_training_job(TrainingJobName=name)
    assert describe(target, name)["TrainingJobStatus"] in ("Stopping", "Stopped")
    target.wait_until(lambda: describe(target, name)["TrainingJobStatus"] == "Stopped")


def test_a_training_job_is_stopped_at_its_maximum_runtime(target: Target) -> None:
    name = create(target, StoppingCondition={"MaxRuntimeInSeconds": 60})
    target.wait_until(lambda: describe(target, name)["TrainingJobStatus"] == "Stopped")
    assert describe(target, name)["SecondaryStatus"] == "MaxRuntimeExceeded"


@pytest.mark.local_only
def test_a_training_job_fails_for_its_reason(target: Target) -> None:
    payload = target.payload(failures=1, failureReason="AlgorithmError: loss is NaN")
    name = create(target, Environment=payload["Environment"])
    target.wait_until(lambda: describe(target, name)["TrainingJobStatus"] == "Failed")
    assert describe(target, name)["FailureReason"] == "AlgorithmError: loss is NaN"


def test_training_jobs_are_listed_by_name_and_status_newest_first(target: Target) -> None:
    names = [create(target) for _ in range(2)]
    listed = target.sagemaker.list_training_jobs(NameContains="quotactl-test", StatusEquals="InProgress")
    found = [job["TrainingJobName"] for job in listed["TrainingJobSummaries"]]
    assert set(names) <= set(found)
    created = [job["CreationTime"] for job in listed["TrainingJobSummaries"]]
    assert created == sorted(created, reverse=True)
    for name in names:
        target.sagemaker.stop_training_job(TrainingJobName=name)


def test_fails_with_a_name_that_is_taken(target: Target) -> None:
    name = create(target)
    with pytest.raises(target.sagemaker.exceptions.ResourceInUse):
        target.sagemaker.create_training_job(**{**target.payload(), "TrainingJobName": name})
    target.sagemaker.stop_training_job(TrainingJobName=name)


def test_fails_to_find_what_is_not_there(target: Target) -> None:
    with pytest.raises(target.sagemaker.exceptions.ClientError, match="not found"):
        target.sagemaker.describe_training_job(TrainingJobName="no-such-job")


@pytest.mark.local_only
def test_a_training_plan_is_bought_from_an_offering_and_shows_its_use(target: Target) -> None:
    offering = target.sagemaker.search_training_plan_offerings(
        InstanceType="ml.p5.48xlarge", InstanceCount=2, DurationHours=48, TargetResources=["training-job"]
    )["TrainingPlanOfferings"][0]
    name = target.new_name("plan")
    arn = target.sagemaker.create_training_plan(
        TrainingPlanName=name, TrainingPlanOfferingId=offering["TrainingPlanOfferingId"]
    )["TrainingPlanArn"]
    plan = target.sagemaker.describe_training_plan(TrainingPlanName=name)
    assert (plan["Status"], plan["TotalInstanceCount"], plan["InUseInstanceCount"]) == ("Active", 2, 0)
    resources = {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 1, "VolumeSizeInGB": 1, "TrainingPlanArn": arn}
    job = create(target, ResourceConfig=resources)
    target.wait_until(lambda: describe(target, job)["SecondaryStatus"] == "Training")
    assert target.sagemaker.describe_training_plan(TrainingPlanName=name)["InUseInstanceCount"] == 1
    plans = target.sagemaker.list_training_plans(Filters=[{"Name": "Status", "Value": "Active"}])
    assert arn in [listed["TrainingPlanArn"] for listed in plans["TrainingPlanSummaries"]]


@pytest.mark.local_only
def test_fails_with_a_training_plan_that_does_not_exist(target: Target) -> None:
    arn = "arn:aws:sagemaker:us-east-1:123456789012:training-plan/none"
    resources = {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 1, "VolumeSizeInGB": 1, "TrainingPlanArn": arn}
    with pytest.raises(target.sagemaker.exceptions.ClientError, match="does not exist"):
        create(target, ResourceConfig=resources)
