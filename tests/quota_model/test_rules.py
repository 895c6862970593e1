"""The rule catalogue: which designs it finds something in, and which it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from quota_model import rules
from quota_model.design import (
    UNKNOWN,
    CapacityLimit,
    CapacityLimits,
    JobStateTimeLimitAction,
    QuotaQueue,
    QuotaShare,
    ResourceSharing,
    SchedulingPolicy,
    SchedulingPolicyKind,
    ServiceEnvironment,
)
from quota_model.rules import CATALOGUE, Finding, Severity

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"


def environment(limits: Mapping[str, float], name: str | None = None) -> ServiceEnvironment:
    return ServiceEnvironment(CapacityLimits.of(limits), name)


def share(
    name: str = "vision",
    limits: Mapping[str, float] | None = None,
    sharing: ResourceSharing | None = None,
) -> QuotaShare:
    return QuotaShare(name, CapacityLimits.of(limits or {G5: 1}), sharing or ResourceSharing.reserve())


def queue(capacity: Mapping[str, float], *shares: QuotaShare) -> QuotaQueue:
    return QuotaQueue(environment(capacity), shares)


THREE_SHARES = queue(
    {G5: 3},
    share("background", sharing=ResourceSharing.lend_and_borrow(borrow_limit=200)),
    share("standard", sharing=ResourceSharing.lend()),
    share("reserved", sharing=ResourceSharing.reserve()),
)
"""AWS's own three-quota example."""


def ids(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.rule.id for finding in findings]


class TestCatalogue:
    def test_ids_are_unique(self) -> None:
        assert len({rule.id for rule in CATALOGUE}) == len(CATALOGUE)

    @pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.id)
    def test_every_rule_is_one_sentence_with_a_source(self, rule: rules.Rule) -> None:
        assert rule.summary.endswith(".")
        assert ". " not in rule.summary
        assert "docs.aws.amazon.com" in rule.source or "AWS does not say" in rule.source or "botocore" in rule.source

    def test_a_finding_reads_as_place_problem_and_remedy(self) -> None:
        wrong = share("Standard", sharing=replace(ResourceSharing.lend(), borrow_limit=200))

        (finding,) = rules.check_quota_share(wrong)

        assert str(finding) == (
            "quota share 'Standard': borrow limit 200 has no effect with LEND; "
            "use LEND_AND_BORROW with borrow limit 200, or drop the borrow limit"
        )


class TestLegalDesigns:
    def test_awss_three_quota_example_has_no_finding(self) -> None:
        assert rules.check(THREE_SHARES) == ()

    def test_a_queue_without_shares_has_no_finding_since_they_may_come_from_elsewhere(self) -> None:
        assert rules.check(queue({G5: 3})) == ()

    def test_five_instance_types_and_twenty_shares_are_allowed(self) -> None:
        units = [G5, P5, "ml.g5.2xlarge", "ml.g5.4xlarge", "ml.g5.8xlarge"]
        shares = [share(f"team-{n}", dict.fromkeys(units, 1)) for n in range(20)]

        assert rules.check(queue(dict.fromkeys(units, 20), *shares)) == ()

    def test_every_value_unknown_until_deployment_has_no_finding(self) -> None:
        limits = CapacityLimits((CapacityLimit(UNKNOWN, UNKNOWN),))
        unknown = QuotaQueue(
            ServiceEnvironment(limits, UNKNOWN, UNKNOWN),
            (
                QuotaShare(UNKNOWN, limits, ResourceSharing(UNKNOWN, UNKNOWN), UNKNOWN, UNKNOWN),
                QuotaShare(UNKNOWN, limits, ResourceSharing.lend_and_borrow(borrow_limit=50)),
            ),
            UNKNOWN,
            SchedulingPolicy(UNKNOWN, UNKNOWN),
            UNKNOWN,
            UNKNOWN,
            (JobStateTimeLimitAction(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),),
        )

        assert rules.check(unknown) == ()

    def test_a_unit_that_is_only_known_at_deployment_may_be_the_one_a_share_asks_for(self) -> None:
        limits = CapacityLimits((CapacityLimit(UNKNOWN, 3),))

        assert rules.check(QuotaQueue(ServiceEnvironment(limits), (share(),))) == ()


class TestNames:
    @pytest.mark.parametrize("name", ["a", "A-b_9", "x" * 128])
    def test_accepts_letters_digits_hyphens_and_underscores(self, name: str) -> None:
        assert rules.check_quota_share(share(name)) == ()

    @pytest.mark.parametrize("name", ["", "x" * 129, "has space", "dot.ted", "umläut", "new\nline", "end\n"])
    def test_fails_for_other_characters_and_lengths_on_all_four_resources(self, name: str) -> None:
        assert ids(rules.check_quota_share(share(name))) == ["name-invalid"]
        assert ids(rules.check_service_environment(environment({G5: 1}, name))) == ["name-invalid"]
        assert ids(rules.check_scheduling_policy(SchedulingPolicy(name=name))) == ["name-invalid"]
        assert ids(rules.check_job_queue(replace(THREE_SHARES, name=name))) == ["name-invalid"]

    def test_a_generated_name_has_no_finding(self) -> None:
        assert rules.check_service_environment(environment({G5: 1})) == ()


class TestCapacityLimits:
    def test_fails_without_any(self) -> None:
        bare = QuotaShare("vision", CapacityLimits(), ResourceSharing.reserve())

        assert ids(rules.check_quota_share(bare)) == ["capacity-limits-count"]

    def test_fails_for_six(self) -> None:
        six = dict.fromkeys([G5, P5, "ml.g5.2xlarge", "ml.g5.4xlarge", "ml.g5.8xlarge", "ml.g5.12xlarge"], 1)

        assert ids(rules.check_quota_share(share(limits=six))) == ["capacity-limits-count"]
        assert ids(rules.check_service_environment(environment(six))) == ["capacity-limits-count"]

    def test_fails_for_a_unit_given_twice(self) -> None:
        twice = ServiceEnvironment(CapacityLimits((CapacityLimit(G5, 1), CapacityLimit(G5, 2))))

        assert ids(rules.check_service_environment(twice)) == ["capacity-unit-duplicate"]

    @pytest.mark.parametrize("capacity", [0, -1, 0.5, 2.5, float("nan"), float("inf"), True])
    def test_fails_for_anything_but_whole_instances(self, capacity: float) -> None:
        assert ids(rules.check_quota_share(share(limits={G5: capacity}))) == ["capacity-limit-whole-number"]
        assert ids(rules.check_service_environment(environment({G5: capacity}))) == ["capacity-limit-whole-number"]

    @pytest.mark.parametrize("unit", ["NUM_INSTANCES", "g5.xlarge", "", "ML.G5.XLARGE"])
    def test_fails_for_units_that_are_no_instance_type(self, unit: str) -> None:
        (finding,) = rules.check_service_environment(environment({unit: 1}))

        assert (finding.rule.id, finding.rule.severity) == ("capacity-unit-not-an-instance-type", Severity.ERROR)

    def test_warns_of_an_instance_type_that_training_is_not_known_to_accept(self) -> None:
        (finding,) = rules.check_quota_share(share(limits={"ml.g99.xlarge": 1}))

        assert (finding.rule.id, finding.rule.severity) == ("instance-type-unknown", Severity.WARNING)

    def test_without_botocore_only_the_shape_of_an_instance_type_is_judged(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rules, "known_training_instance_types", lambda: None)

        assert rules.check_quota_share(share(limits={"ml.g99.xlarge": 1})) == ()
        assert ids(rules.check_quota_share(share(limits={"ml.g5": 1}))) == ["instance-type-unknown"]


class TestBorrowLimit:
    @pytest.mark.parametrize("borrow_limit", [-1, 100, 200, 100_000])
    def test_accepts_percentages_and_minus_one(self, borrow_limit: int) -> None:
        assert rules.check_quota_share(share(sharing=ResourceSharing.lend_and_borrow(borrow_limit=borrow_limit))) == ()

    @pytest.mark.parametrize("sharing", [ResourceSharing.lend(), ResourceSharing.reserve()])
    @pytest.mark.parametrize("borrow_limit", [-1, 0, 200, UNKNOWN])
    def test_fails_with_any_strategy_that_does_not_borrow(self, sharing: ResourceSharing, borrow_limit: float) -> None:
        given = share(sharing=replace(sharing, borrow_limit=borrow_limit))

        assert ids(rules.check_quota_share(given)) == ["borrow-limit-needs-lend-and-borrow"]

    @pytest.mark.parametrize("borrow_limit", [-2, 0.5, float("nan")])
    def test_fails_below_minus_one_and_between_whole_percents(self, borrow_limit: float) -> None:
        given = share(sharing=ResourceSharing.lend_and_borrow(borrow_limit=borrow_limit))

        assert ids(rules.check_quota_share(given)) == ["borrow-limit-whole-number"]

    @pytest.mark.parametrize(
        ("limit", "borrow_limit", "warns"),
        [(1, 99, True), (1, 100, False), (3, 33, True), (3, 34, False), (8, 0, True)],
    )
    def test_warns_when_it_comes_to_less_than_one_instance(self, limit: int, borrow_limit: int, warns: bool) -> None:
        given = share(limits={G5: limit}, sharing=ResourceSharing.lend_and_borrow(borrow_limit=borrow_limit))

        assert ids(rules.check_quota_share(given)) == ["borrow-limit-rounds-to-nothing"] * warns

    def test_the_remedy_for_too_small_a_borrow_limit_is_enough(self) -> None:
        given = share(limits={G5: 3}, sharing=ResourceSharing.lend_and_borrow(borrow_limit=10))

        (finding,) = rules.check_quota_share(given)

        assert "raise it to 34 or more" in finding.remedy


class TestJobQueue:
    def test_fails_with_a_fair_share_policy(self) -> None:
        fair = replace(THREE_SHARES, scheduling_policy=SchedulingPolicy(SchedulingPolicyKind.FAIR_SHARE))

        assert ids(rules.check(fair)) == ["fair-share-policy"]

    def test_fails_without_a_policy(self) -> None:
        bare = replace(THREE_SHARES, scheduling_policy=SchedulingPolicy(SchedulingPolicyKind.NONE))

        assert ids(rules.check(bare)) == ["quota-share-policy-missing"]

    @pytest.mark.parametrize("priority", [0, 1000])
    def test_accepts_priorities_from_0_to_1000(self, priority: int) -> None:
        assert rules.check(replace(THREE_SHARES, priority=priority)) == ()

    @pytest.mark.parametrize("priority", [-1, 1001, 0.5])
    def test_fails_for_other_priorities(self, priority: float) -> None:
        assert ids(rules.check(replace(THREE_SHARES, priority=priority))) == ["queue-priority-range"]


class TestTimeLimitActions:
    @staticmethod
    def found(action: JobStateTimeLimitAction) -> list[str]:
        return ids(rules.check(replace(THREE_SHARES, job_state_time_limit_actions=(action,))))

    @pytest.mark.parametrize(
        "reason",
        [
            "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
            "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
            "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
        ],
    )
    @pytest.mark.parametrize("seconds", [600, 86_400])
    def test_accepts_awss_three_reasons_from_ten_minutes_to_a_day(self, reason: str, seconds: int) -> None:
        assert self.found(JobStateTimeLimitAction(reason, seconds)) == []

    def test_fails_for_a_reason_of_ec2_queues(self) -> None:
        reason = "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE"

        assert self.found(JobStateTimeLimitAction(reason, 600)) == ["time-limit-reason"]

    def test_fails_for_the_action_of_ec2_queues(self) -> None:
        action = JobStateTimeLimitAction("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", 600, action="CANCEL")

        assert self.found(action) == ["time-limit-action"]

    def test_fails_for_another_state_than_runnable(self) -> None:
        action = JobStateTimeLimitAction("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", 600, state="RUNNING")

        assert self.found(action) == ["time-limit-state"]

    @pytest.mark.parametrize("seconds", [599, 86_401, 600.5, float("nan")])
    def test_fails_outside_ten_minutes_to_a_day(self, seconds: float) -> None:
        action = JobStateTimeLimitAction("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", seconds)

        assert self.found(action) == ["time-limit-seconds"]


class TestWholeQueue:
    def test_fails_for_twenty_one_shares(self) -> None:
        shares = [share(f"team-{n}") for n in range(21)]

        assert ids(rules.check(queue({G5: 21}, *shares))) == ["too-many-quota-shares"]

    def test_fails_for_two_shares_of_one_name(self) -> None:
        assert ids(rules.check(queue({G5: 2}, share("a"), share("a")))) == ["quota-share-name-duplicate"]

    def test_fails_for_a_unit_that_the_environment_lacks(self) -> None:
        (finding,) = rules.check(queue({G5: 1}, share("a"), share("b", {P5: 1})))

        assert finding.rule.id == "share-unit-not-in-environment"
        assert finding.place == "quota share 'b'"
        assert P5 in finding.message
        assert G5 in finding.remedy

    def test_warns_when_limits_add_up_to_more_than_the_environment(self) -> None:
        (finding,) = rules.check(queue({G5: 3}, share("a", {G5: 2}), share("b", {G5: 2})))

        assert (finding.rule.id, finding.rule.severity) == ("limits-exceed-environment", Severity.WARNING)
        assert "raise the environment to 4" in finding.remedy

    def test_warns_of_a_share_larger_than_the_environment(self) -> None:
        found = ids(rules.check(queue({G5: 3}, share("a", {G5: 4}))))

        assert found == ["share-limit-exceeds-environment", "limits-exceed-environment"]

    def test_warns_of_capacity_that_no_share_owns(self) -> None:
        found = ids(rules.check(queue({G5: 3, P5: 1}, share("a", {G5: 2}))))

        assert found == ["environment-capacity-unowned", "environment-capacity-unowned"]

    def test_capacity_may_be_owned_by_a_share_whose_limit_is_not_known_yet(self) -> None:
        unknown = QuotaShare("b", CapacityLimits((CapacityLimit(G5, UNKNOWN),)), ResourceSharing.reserve())

        assert rules.check(queue({G5: 3}, share("a"), unknown)) == ()

    @pytest.mark.parametrize("lender", [ResourceSharing.lend(), ResourceSharing.lend_and_borrow()])
    def test_a_borrower_with_a_lender_has_no_finding(self, lender: ResourceSharing) -> None:
        design = queue({G5: 3}, share("a", sharing=ResourceSharing.lend_and_borrow()), share("b", {G5: 2}, lender))

        assert "nobody-lends" not in [finding.rule.id for finding in rules.check(design) if "'a'" in finding.place]

    def test_warns_when_nobody_lends_what_a_share_may_borrow(self) -> None:
        borrower = share("a", {G5: 1, P5: 1}, ResourceSharing.lend_and_borrow())
        lender = share("b", {P5: 1}, ResourceSharing.lend())

        (finding,) = rules.check(queue({G5: 2, P5: 2}, borrower, lender, share("c", {G5: 1})))

        assert finding.rule.id == "nobody-lends"
        assert G5 in finding.message

    def test_a_share_is_no_lender_to_itself(self) -> None:
        alone = queue({G5: 1}, share("a", sharing=ResourceSharing.lend_and_borrow()))

        assert ids(rules.check(alone)) == ["nobody-lends"]

    def test_an_unknown_strategy_may_lend(self) -> None:
        borrower = share("a", sharing=ResourceSharing.lend_and_borrow())

        assert rules.check(queue({G5: 2}, borrower, share("b", sharing=ResourceSharing(UNKNOWN)))) == ()


class TestUseOfEnvironments:
    @pytest.mark.parametrize("queues", [0, 1])
    def test_an_environment_of_one_queue_or_none_has_no_finding(self, queues: int) -> None:
        assert rules.check_service_environment_use(environment({G5: 1}), queues) == ()

    def test_fails_for_two_queues(self) -> None:
        (finding,) = rules.check_service_environment_use(environment({G5: 1}, "gpus"), 2)

        assert finding.rule.id == "environment-serves-one-queue"
        assert str(finding) == (
            "service environment 'gpus': 2 job queues refer to it; give each queue an environment of its own"
        )

    def test_a_queue_of_one_environment_has_no_finding(self) -> None:
        assert rules.check_job_queue_environments("gpus", 1) == ()

    @pytest.mark.parametrize("environments", [0, 2])
    def test_fails_for_a_queue_of_none_or_several(self, environments: int) -> None:
        (finding,) = rules.check_job_queue_environments("gpus", environments)

        assert finding.rule.id == "queue-has-one-environment"
        assert f"job queue 'gpus': it names {environments} service environments" in str(finding)
