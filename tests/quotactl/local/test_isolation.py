"""Accounts and Regions know nothing of each other, on one local AWS."""

from __future__ import annotations

from quotactl.local.aws import LocalAws
from quotactl.local.batch.api import call

POLICY = {"idleResourceAssignmentStrategy": "FIFO"}


def test_accounts_and_regions_are_apart(aws: LocalAws) -> None:
    places = [("111111111111", "us-east-1"), ("222222222222", "us-east-1"), ("111111111111", "eu-west-1")]
    arns = [
        call(aws.batch(*place), "CreateSchedulingPolicy", {"name": "same", "quotaSharePolicy": POLICY})["arn"]
        for place in places
    ]
    assert len(set(arns)) == 3
    for place, arn in zip(places, arns, strict=True):
        listed = call(aws.batch(*place), "ListSchedulingPolicies", {})["schedulingPolicies"]
        assert [policy["arn"] for policy in listed] == [arn]


def test_arns_have_the_partition_of_their_region(aws: LocalAws) -> None:
    for region, partition in (("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov"), ("eu-west-1", "aws")):
        policy = {"name": "p", "quotaSharePolicy": POLICY}
        arn = call(aws.batch("111111111111", region), "CreateSchedulingPolicy", policy)["arn"]
        assert arn == f"arn:{partition}:batch:{region}:111111111111:scheduling-policy/p"
