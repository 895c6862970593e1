"""A design as a value: its JSON form, its short forms, and what it refuses to read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quota_model import rules
from quota_model.design import (
    UNKNOWN,
    CapacityLimit,
    CapacityLimits,
    DesignError,
    JobStateTimeLimitAction,
    QuotaQueue,
    QuotaShare,
    ResourceSharing,
    SchedulingPolicy,
    SchedulingPolicyKind,
    ServiceEnvironment,
    SharingStrategy,
    State,
)

# Anything a template can hold, the wrong included, and what only a deployment knows.
names = st.text(max_size=10) | st.just(UNKNOWN)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x % 1) | st.just(UNKNOWN)
limits = st.builds(CapacityLimits, st.lists(st.builds(CapacityLimit, names, numbers), max_size=4).map(tuple))
states = st.sampled_from(State) | st.just(UNKNOWN)
shares = st.builds(
    QuotaShare,
    names,
    limits,
    st.builds(ResourceSharing, st.sampled_from(SharingStrategy) | st.just(UNKNOWN), numbers | st.none()),
    st.booleans() | st.just(UNKNOWN),
    states,
)
queues = st.builds(
    QuotaQueue,
    st.builds(ServiceEnvironment, limits, names | st.none(), states),
    st.lists(shares, max_size=3).map(tuple),
    names | st.none(),
    st.builds(SchedulingPolicy, st.sampled_from(SchedulingPolicyKind) | st.just(UNKNOWN), names | st.none()),
    numbers,
    states,
    st.lists(st.builds(JobStateTimeLimitAction, names, numbers, names, names), max_size=2).map(tuple),
)


class TestJsonForm:
    @given(queues)
    def test_reading_back_what_was_written_gives_an_equal_design(self, queue: QuotaQueue) -> None:
        assert QuotaQueue.from_json(json.loads(json.dumps(queue.to_json()))) == queue

    def test_it_uses_the_field_names_of_awss_api(self) -> None:
        share = QuotaShare(
            "background",
            CapacityLimits.of({"ml.g5.xlarge": 1}),
            ResourceSharing.lend_and_borrow(borrow_limit=200),
            in_share_preemption=True,
        )

        assert share.to_json() == {
            "quotaShareName": "background",
            "capacityLimits": [{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 1}],
            "resourceSharingConfiguration": {"strategy": "LEND_AND_BORROW", "borrowLimit": 200},
            "preemptionConfiguration": {"inSharePreemption": "ENABLED"},
            "state": "ENABLED",
        }

    def test_a_borrow_limit_that_was_not_given_stays_out(self) -> None:
        assert ResourceSharing.lend_and_borrow().to_json() == {"strategy": "LEND_AND_BORROW"}

    def test_a_borrow_limit_of_zero_stays_in(self) -> None:
        assert ResourceSharing.lend_and_borrow(borrow_limit=0).to_json()["borrowLimit"] == 0

    def test_null_is_what_only_the_deployment_knows(self) -> None:
        limits = CapacityLimits.from_json([{"capacityUnit": "ml.g5.xlarge", "maxCapacity": None}])

        assert limits.of_unit("ml.g5.xlarge") is UNKNOWN

    def test_capacity_limits_have_a_short_form(self) -> None:
        assert CapacityLimits.from_json({"ml.g5.xlarge": 3}) == CapacityLimits.of({"ml.g5.xlarge": 3})

    def test_what_is_left_out_takes_awss_default(self) -> None:
        share = {
            "quotaShareName": "a",
            "capacityLimits": {"ml.g5.xlarge": 1},
            "resourceSharingConfiguration": {"strategy": "lend"},
        }

        queue = QuotaQueue.from_json(
            {"serviceEnvironment": {"capacityLimits": {"ml.g5.xlarge": 1}}, "quotaShares": [share]}
        )

        assert queue == QuotaQueue(
            ServiceEnvironment(CapacityLimits.of({"ml.g5.xlarge": 1})),
            (QuotaShare("a", CapacityLimits.of({"ml.g5.xlarge": 1}), ResourceSharing.lend()),),
        )

    @pytest.mark.parametrize(
        ("value", "says"),
        [
            ([], r"design: \[\] is not an object; write one with jobQueueName, "),
            ({}, "design: serviceEnvironment is missing; add it"),
            ({"jobQueue": "x"}, "design: unknown field 'jobQueue'; the fields are "),
            ({"serviceEnvironment": {}}, "design.serviceEnvironment: capacityLimits is missing"),
            ({"serviceEnvironment": {"capacityLimits": 3}}, "capacityLimits: 3 is not a list"),
            ({"serviceEnvironment": {"capacityLimits": [{}]}}, r"capacityLimits\[0\]: capacityUnit is missing"),
            ({"serviceEnvironment": {"capacityLimits": {"ml.g5.xlarge": "3"}}}, "xlarge: '3' is not a number"),
            ({"serviceEnvironment": {"capacityLimits": {"ml.g5.xlarge": True}}}, "True is not a number"),
            ({"serviceEnvironment": {"capacityLimits": {}, "state": "ON"}}, "'ON' is not one of ENABLED, DISABLED"),
            ({"serviceEnvironment": {"capacityLimits": {}, "state": 1}}, "1 is not one of ENABLED, DISABLED"),
            # Strategies are read in any case, as CloudFormation does; states are not.
            ({"serviceEnvironment": {"capacityLimits": {}}, "state": "enabled"}, "'enabled' is not one of ENABLED"),
            ({"serviceEnvironment": {"capacityLimits": {}}, "jobQueueName": 1}, "jobQueueName: 1 is not a text"),
        ],
    )
    def test_fails_for_another_shape_and_says_where(self, value: Any, says: str) -> None:
        with pytest.raises(DesignError, match=says):
            QuotaQueue.from_json(value)

    def test_fails_for_a_strategy_that_aws_does_not_have(self) -> None:
        with pytest.raises(DesignError, match="'BORROW' is not one of RESERVE, LEND, LEND_AND_BORROW; use one of them"):
            ResourceSharing.from_json({"strategy": "BORROW"})


class TestAnyDesign:
    @given(queues)
    def test_can_be_judged_by_the_rules(self, queue: QuotaQueue) -> None:
        assert all(str(finding) for finding in rules.check(queue))


class TestCapacityLimits:
    def test_a_unit_without_a_limit_has_none(self) -> None:
        assert CapacityLimits.of({"ml.g5.xlarge": 1}).of_unit("ml.p5.48xlarge") is None

    def test_as_instances_gives_whole_numbers_by_type(self) -> None:
        assert CapacityLimits.of({"ml.g5.xlarge": 1}).as_instances() == {"ml.g5.xlarge": 1}

    @pytest.mark.parametrize(
        ("limits", "says"),
        [
            ([CapacityLimit(UNKNOWN, 1)], "known only at deployment"),
            ([CapacityLimit("ml.g5.xlarge", UNKNOWN)], "known only at deployment"),
            ([CapacityLimit("ml.g5.xlarge", 1.5)], "1.5 of ml.g5.xlarge is not a whole number"),
            ([CapacityLimit("ml.g5.xlarge", 1), CapacityLimit("ml.g5.xlarge", 1)], "two capacity limits"),
        ],
    )
    def test_fails_to_count_what_is_not_whole_instances(self, limits: list[CapacityLimit], says: str) -> None:
        with pytest.raises(DesignError, match=says):
            CapacityLimits(tuple(limits)).as_instances()


class TestQuotaQueue:
    def test_a_share_is_found_by_its_name(self) -> None:
        share = QuotaShare("a", CapacityLimits.of({"ml.g5.xlarge": 1}), ResourceSharing.lend())

        assert QuotaQueue(ServiceEnvironment(CapacityLimits()), (share,)).share("a") is share

    def test_fails_for_a_share_that_is_not_there(self) -> None:
        with pytest.raises(DesignError, match="no quota share 'b'; it has none"):
            QuotaQueue(ServiceEnvironment(CapacityLimits())).share("b")
