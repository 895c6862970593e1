"""What ``check`` finds, where it says it is, and its JSON form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quota_model import rules
from quota_model.rules import Severity
from quotactl.check import check
from tests.quotactl.batch_templates import capacity_limits, environment, policy, queue, share, template

Write = Callable[[Any], Path]

BROKEN = template(
    Policy=policy(Name="bad policy", FairsharePolicy={}),
    Environment=environment(capacity_limits({"ml.g5.xlarge": 0}), ServiceEnvironmentName="bad environment"),
    Queue=queue(JobQueueName="gpus", Priority=5000),
    Vision=share("vision", CapacityLimits=capacity_limits({"ml.p5.48xlarge": 1})),
    Language=share("bad share", ResourceSharingConfiguration={"Strategy": "LEND", "BorrowLimit": 5}),
)


def test_the_whole_catalogue_is_asked_about_each_design(write: Write) -> None:
    report = check(write(BROKEN))

    (checked,) = report.queues
    found = [found.finding for found in checked.findings]
    assert found == list(rules.check(checked.located.queue))
    assert report.count(Severity.ERROR) >= 6


def test_each_finding_says_where_the_part_that_it_is_about_is_declared(write: Write) -> None:
    (checked,) = check(write(BROKEN)).queues

    declared = {(found.finding.rule.id, found.place.logical_id) for found in checked.findings}
    assert declared >= {
        ("name-invalid", "Policy"),
        ("name-invalid", "Environment"),
        ("name-invalid", "Language"),
        ("capacity-limit-whole-number", "Environment"),
        ("fair-share-policy", "Queue"),
        ("queue-priority-range", "Queue"),
        ("share-unit-not-in-environment", "Vision"),
        ("borrow-limit-needs-lend-and-borrow", "Language"),
    }


def test_a_service_environment_of_two_queues_is_an_error_where_the_environment_is(write: Write) -> None:
    report = check(write(template(Second=queue())))

    found = [(found.finding.rule.id, found.place.logical_id) for queue in report.queues for found in queue.findings]
    assert found == [("environment-serves-one-queue", "Environment")] * 2


@pytest.mark.parametrize("count", [0, 2])
def test_a_queue_of_no_or_several_service_environments_is_an_error(write: Write, count: int) -> None:
    order = [{"Order": n, "ServiceEnvironment": {"Ref": "Environment"}} for n in range(count)]
    (checked,) = check(write(template(Queue=queue(ServiceEnvironmentOrder=order)))).queues

    assert [found.finding.rule.id for found in checked.findings] == ["queue-has-one-environment"]


def test_a_share_without_its_queue_is_judged_by_itself(write: Write) -> None:
    lonely = share("bad share", JobQueue="arn:aws:batch:eu-west-1:123456789012:job-queue/theirs")
    report = check(write({"Resources": {"Share": lonely}}))

    (checked,) = report.loose_shares
    assert [found.finding.rule.id for found in checked.findings] == ["name-invalid"]
    assert report.count(Severity.ERROR) == 1


def test_what_only_a_deployment_decides_gives_no_finding(write: Write) -> None:
    unknown = {"Ref": "Unset"}
    document = template(
        Policy=policy(Name=unknown, QuotaSharePolicy=unknown),
        Environment=environment(capacity_limits({"ml.g5.xlarge": unknown}), ServiceEnvironmentName=unknown),
        Queue=queue(JobQueueName=unknown, Priority=unknown),
        Share=share(unknown, CapacityLimits=[{"CapacityUnit": unknown, "MaxCapacity": unknown}]),
    )
    document["Parameters"] = {"Unset": {"Type": "String"}}

    assert [checked.findings for checked in check(write(document)).queues] == [()]


def test_the_json_form_is_stable(write: Write) -> None:
    path = write(
        template(
            Environment=environment(capacity_limits({"ml.g5.xlarge": 2})),
            Vision=share("vision", CapacityLimits=capacity_limits({"ml.g5.xlarge": {"Ref": "AWS::Region"}})),
            Theirs=share("theirs", JobQueue="theirs", CapacityLimits=capacity_limits({"ml.g5.xlarge": 0})),
        )
    )
    file = str(path)

    def place(logical_id: str) -> dict[str, Any]:
        return {"file": file, "stack": None, "logicalId": logical_id, "constructPath": None}

    def share_design(name: str, limit: int | None) -> dict[str, Any]:
        return {
            "quotaShareName": name,
            "capacityLimits": [{"capacityUnit": "ml.g5.xlarge", "maxCapacity": limit}],
            "resourceSharingConfiguration": {"strategy": "LEND"},
            "preemptionConfiguration": {"inSharePreemption": "DISABLED"},
            "state": "ENABLED",
        }

    assert check(path).to_json() == {
        "source": file,
        "errors": 1,
        "warnings": 0,
        "queues": [
            {
                "place": place("Queue"),
                "sharePlaces": [place("Vision")],
                "design": {
                    "state": "ENABLED",
                    "priority": 1,
                    "schedulingPolicy": {"kind": "QUOTA_SHARE"},
                    "serviceEnvironment": {
                        "capacityLimits": [{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 2}],
                        "state": "ENABLED",
                    },
                    "quotaShares": [share_design("vision", None)],
                    "jobStateTimeLimitActions": [],
                },
                "findings": [],
            }
        ],
        "looseShares": [
            {
                "place": place("Theirs"),
                "design": share_design("theirs", 0),
                "findings": [
                    {
                        "rule": "capacity-limit-whole-number",
                        "severity": "error",
                        "place": "quota share 'theirs'",
                        "message": "capacity limit 0 of ml.g5.xlarge is not a whole number of at least 1",
                        "remedy": "give whole instances, or drop the limit if the type is not to be used",
                        "declaredAt": place("Theirs"),
                    }
                ],
            }
        ],
        "remarks": [{"place": place("Theirs"), "text": "its job queue theirs is not declared here; judged by itself"}],
    }
