"""QuotaShare: API reference and user guide, "Quota shares"."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.target import OTHER_UNIT, UNIT, Target, capacity_limits

pytestmark = pytest.mark.slow


def test_a_share_is_described_as_it_was_created(target: Target) -> None:
    queue = target.queue()
    arn = target.share(queue, "vision", strategy="LEND_AND_BORROW", borrowLimit=200, inSharePreemption="ENABLED")
    share = target.describe_share(arn)
    queue_arn = target.describe_queue(queue)["jobQueueArn"]
    assert arn == f"{queue_arn}/quota-share/vision"
    assert share["quotaShareArn"] == arn
    assert share["jobQueueArn"] == queue_arn
    assert share["quotaShareName"] == "vision"
    assert share["capacityLimits"] == capacity_limits({UNIT: 1})
    assert share["resourceSharingConfiguration"] == {"strategy": "LEND_AND_BORROW", "borrowLimit": 200}
    assert share["preemptionConfiguration"] == {"inSharePreemption": "ENABLED"}
    assert (share["state"], share["status"]) == ("ENABLED", "VALID")


def test_the_shares_of_a_queue_are_listed_page_by_page_without_tags(target: Target) -> None:
    queue = target.queue()
    arns = {target.share(queue) for _ in range(3)}
    pages = list(
        target.batch.get_paginator("list_quota_shares").paginate(jobQueue=queue, PaginationConfig={"PageSize": 2})
    )
    assert [len(page["quotaShares"]) for page in pages] == [2, 1]
    listed = [share for page in pages for share in page["quotaShares"]]
    assert {share["quotaShareArn"] for share in listed} == arns
    assert all("tags" not in share for share in listed)


def test_an_update_keeps_what_it_does_not_name(target: Target) -> None:
    arn = target.share(target.queue(), strategy="LEND_AND_BORROW", borrowLimit=50)
    target.batch.update_quota_share(quotaShareArn=arn, capacityLimits=capacity_limits({UNIT: 2}))
    target.wait_until(lambda: target.describe_share(arn)["status"] == "VALID")
    share = target.describe_share(arn)
    assert share["capacityLimits"] == capacity_limits({UNIT: 2})
    assert share["resourceSharingConfiguration"] == {"strategy": "LEND_AND_BORROW", "borrowLimit": 50}


def test_its_strategy_preemption_and_state_change_in_place(target: Target) -> None:
    arn = target.share(target.queue(), strategy="LEND_AND_BORROW", borrowLimit=50)
    target.batch.update_quota_share(
        quotaShareArn=arn,
        resourceSharingConfiguration={"strategy": "LEND"},
        preemptionConfiguration={"inSharePreemption": "ENABLED"},
        state="DISABLED",
    )
    target.wait_until(lambda: target.describe_share(arn)["status"] == "VALID")
    share = target.describe_share(arn)
    assert share["resourceSharingConfiguration"]["strategy"] == "LEND"
    assert share["preemptionConfiguration"] == {"inSharePreemption": "ENABLED"}
    assert share["state"] == "DISABLED"


def test_a_deleted_share_does_not_exist(target: Target) -> None:
    arn = target.share(target.queue())
    target.delete_share(arn)
    with pytest.raises(target.refused, match="does not exist"):
        target.describe_share(arn)


def test_two_queues_have_shares_of_the_same_name(target: Target) -> None:
    first, second = target.queue(), target.queue()
    assert target.share(first, "vision") != target.share(second, "vision")


def test_resources_and_shares_are_tagged(target: Target) -> None:
    queue = target.queue(tags={"team": "vision"})
    arns = [target.describe_queue(queue)["jobQueueArn"], target.share(queue)]
    for arn in arns:
        target.batch.tag_resource(resourceArn=arn, tags={"cost": "1", "owner": "me"})
        target.batch.untag_resource(resourceArn=arn, tagKeys=["cost", "absent"])
        assert target.batch.list_tags_for_resource(resourceArn=arn)["tags"]["owner"] == "me"
        assert "cost" not in target.batch.list_tags_for_resource(resourceArn=arn)["tags"]
    assert target.describe_queue(queue)["tags"]["team"] == "vision"
    assert target.describe_share(arns[1])["tags"] == {"owner": "me"}


def test_fails_with_a_name_that_is_taken(target: Target) -> None:
    queue = target.queue()
    target.share(queue, "vision")
    with pytest.raises(target.refused, match="already exists"):
        target.share(queue, "vision")


def test_fails_with_a_twenty_first_share(target: Target) -> None:
    queue = target.queue({UNIT: 21})
    for _ in range(20):
        target.share(queue)
    with pytest.raises(target.refused):
        target.share(queue)


@pytest.mark.parametrize(
    "limits",
    [
        [],
        [{"capacityUnit": UNIT, "maxCapacity": 0}],
        [{"capacityUnit": f"ml.c{number}.large", "maxCapacity": 1} for number in range(3, 9)],
    ],
)
def test_fails_with_other_than_one_to_five_limits_of_at_least_1(target: Target, limits: list[dict[str, Any]]) -> None:
    queue = target.queue()
    with pytest.raises(target.refused):
        target.batch.create_quota_share(
            quotaShareName="wrong",
            jobQueue=queue,
            capacityLimits=limits,
            resourceSharingConfiguration={"strategy": "RESERVE"},
            preemptionConfiguration={"inSharePreemption": "DISABLED"},
        )


def test_fails_with_a_strategy_that_only_borrows(target: Target) -> None:
    with pytest.raises(target.refused):
        target.share(target.queue(), strategy="BORROW")


def test_fails_with_a_borrow_limit_below_minus_one(target: Target) -> None:
    with pytest.raises(target.refused):
        target.share(target.queue(), strategy="LEND_AND_BORROW", borrowLimit=-2)


def test_fails_to_be_deleted_while_it_is_enabled(target: Target) -> None:
    arn = target.share(target.queue())
    with pytest.raises(target.refused):
        target.batch.delete_quota_share(quotaShareArn=arn)


def test_fails_in_a_queue_that_does_not_exist(target: Target) -> None:
    with pytest.raises(target.refused):
        target.share("no-such-queue")


def test_a_share_has_limits_for_up_to_five_instance_types(target: Target) -> None:
    limits = {UNIT: 1, OTHER_UNIT: 1, "ml.c5.xlarge": 1, "ml.c5.2xlarge": 1, "ml.c5.4xlarge": 1}
    arn = target.share(target.queue(limits), limits=limits)
    assert target.describe_share(arn)["capacityLimits"] == capacity_limits(limits)
