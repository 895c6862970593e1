"""How designs are read out of one template."""

from __future__ import annotations

from typing import Any

import pytest

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
    State,
)
from quotactl.designs import UnusableInputError
from tests.quotactl.batch_templates import capacity_limits, environment, policy, queue, share, template
from tests.quotactl.conftest import Read

G5_X1 = CapacityLimits.of({"ml.g5.xlarge": 1})


def _only_queue(read: Read, document: Any) -> QuotaQueue:
    (located,) = read(document).queues
    return located.queue


def test_every_property_of_a_queue_is_read(read: Read) -> None:
    document = template(
        Policy=policy(Name="fifo", QuotaSharePolicy={"IdleResourceAssignmentStrategy": "FIFO"}),
        Environment=environment(
            capacity_limits({"ml.g5.xlarge": 2, "ml.p5.48xlarge": 4}), ServiceEnvironmentName="gpus", State="DISABLED"
        ),
        Queue=queue(
            JobQueueName="training",
            Priority=7,
            State="DISABLED",
            JobStateTimeLimitActions=[
                {
                    "Action": "TERMINATE",
                    "MaxTimeSeconds": 600,
                    "Reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
                    "State": "RUNNABLE",
                }
            ],
        ),
        Vision=share(
            "vision",
            CapacityLimits=capacity_limits({"ml.g5.xlarge": 1, "ml.p5.48xlarge": 4}),
            ResourceSharingConfiguration={"Strategy": "LEND_AND_BORROW", "BorrowLimit": 0},
            PreemptionConfiguration={"InSharePreemption": "ENABLED"},
            State="DISABLED",
        ),
        Language=share("language", ResourceSharingConfiguration={"Strategy": "RESERVE"}),
    )

    assert _only_queue(read, document) == QuotaQueue(
        name="training",
        priority=7,
        state=State.DISABLED,
        scheduling_policy=SchedulingPolicy(SchedulingPolicyKind.QUOTA_SHARE, "fifo"),
        service_environment=ServiceEnvironment(
            CapacityLimits.of({"ml.g5.xlarge": 2, "ml.p5.48xlarge": 4}), "gpus", State.DISABLED
        ),
        job_state_time_limit_actions=(JobStateTimeLimitAction("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", 600),),
        quota_shares=(
            QuotaShare(
                "vision",
                CapacityLimits.of({"ml.g5.xlarge": 1, "ml.p5.48xlarge": 4}),
                ResourceSharing.lend_and_borrow(borrow_limit=0),
                in_share_preemption=True,
                state=State.DISABLED,
            ),
            QuotaShare("language", G5_X1, ResourceSharing.reserve()),
        ),
    )


def test_names_that_cloudformation_generates_are_none(read: Read) -> None:
    design = _only_queue(read, template(Share=share()))

    assert (design.name, design.scheduling_policy.name, design.service_environment.name) == (None, None, None)


def test_numbers_written_as_texts_are_numbers_as_in_cloudformation(read: Read) -> None:
    design = _only_queue(
        read, template(Queue=queue(Priority="3"), Share=share(CapacityLimits=capacity_limits({"ml.g5.xlarge": "2"})))
    )

    assert design.priority == 3
    assert design.quota_shares[0].capacity_limits == CapacityLimits.of({"ml.g5.xlarge": 2})


def test_a_name_written_as_a_number_is_a_text_as_in_cloudformation(read: Read) -> None:
    assert _only_queue(read, template(Share=share(7))).quota_shares[0].name == "7"


def test_each_part_says_where_it_is_declared(read: Read) -> None:
    vision = share()
    vision["Metadata"] = {"aws:cdk:path": "Gpus/Training/Vision/Resource"}
    (located,) = read(template(Vision=vision)).queues

    assert located.place.logical_id == "Queue"
    assert located.environment_place is not None
    assert located.environment_place.logical_id == "Environment"
    assert located.policy_place is not None
    assert located.policy_place.logical_id == "Policy"
    assert [str(place) for place in located.share_places] == ["Gpus/Training/Vision"]


def test_several_queues_each_have_their_own_shares(read: Read) -> None:
    other = queue(ServiceEnvironmentOrder=[{"Order": 1, "ServiceEnvironment": {"Ref": "OtherEnvironment"}}])
    document = template(
        A=share("a"),
        B=share("b", JobQueue={"Ref": "Other"}),
        Other=other,
        OtherEnvironment=environment(capacity_limits({"ml.p5.48xlarge": 1})),
    )
    shares = {queue.place.logical_id: [s.name for s in queue.queue.quota_shares] for queue in read(document).queues}

    assert shares == {"Queue": ["a"], "Other": ["b"]}


# How a share names its queue

QUEUE_ARN_OF_NAME = {"Fn::Sub": "arn:${AWS::Partition}:batch:${AWS::Region}:${AWS::AccountId}:job-queue/training"}
REFERENCES: list[Any] = [
    {"Ref": "Queue"},
    {"Fn::GetAtt": ["Queue", "JobQueueArn"]},
    {"Fn::GetAtt": "Queue.JobQueueArn"},
    {"Fn::Sub": "${Queue}"},
    {"Fn::Sub": "${Queue.JobQueueArn}"},
    {"Fn::Sub": ["${Q}", {"Q": {"Ref": "Queue"}}]},
    {"Fn::Join": ["", [{"Ref": "Queue"}]]},
    # Its name, cut out of the ARN as the CDK does it.
    {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "Queue"}]}]},
    {"Fn::Select": ["1", {"Fn::Split": ["/", {"Fn::Select": [5, {"Fn::Split": [":", {"Ref": "Queue"}]}]}]}]},
    # The ARN put together again.
    {
        "Fn::Join": [
            "",
            [
                "arn:",
                {"Ref": "AWS::Partition"},
                ":batch:",
                {"Ref": "AWS::Region"},
                ":",
                {"Ref": "AWS::AccountId"},
                ":job-queue/",
                {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "Queue"}]}]},
            ],
        ]
    },
    {"Fn::If": ["Unknowable", {"Ref": "Queue"}, {"Fn::GetAtt": ["Queue", "JobQueueArn"]}]},
    # By the name that the template gives it.
    "training",
    QUEUE_ARN_OF_NAME,
    "arn:aws:batch:eu-west-1:123456789012:job-queue/training",
    {"Ref": "QueueName"},
    {"Fn::FindInMap": ["Names", "queue", "name"]},
]


@pytest.mark.parametrize("reference", REFERENCES, ids=str)
def test_a_share_finds_its_queue_however_it_names_it(read: Read, reference: Any) -> None:
    document = template(Queue=queue(JobQueueName="training"), Share=share(JobQueue=reference))
    document["Parameters"] = {"QueueName": {"Type": "String", "Default": "training"}}
    document["Mappings"] = {"Names": {"queue": {"name": "training"}}}
    designs = read(document)

    assert [len(found.queue.quota_shares) for found in designs.queues] == [1]
    assert not designs.loose_shares


@pytest.mark.parametrize(
    "reference",
    [
        "other",
        "arn:aws:batch:eu-west-1:123456789012:job-queue/other",
        "arn:aws:batch:eu-west-1:123456789012:job-queue/training/quota-share/x",
        "arn:aws:batch:eu-west-1:123456789012:scheduling-policy/training",
        {"Ref": "Unset"},
        {"Ref": "Nothing"},
        {"Ref": "Environment"},
        {"Fn::GetAtt": ["Queue", "Arn"]},
        {"Fn::ImportValue": "TrainingQueue"},
        {"Fn::GetStackOutput": {"StackName": "Other", "OutputName": "Queue"}},
        {"Fn::Join": ["-", [{"Ref": "Queue"}, "x"]]},
        {"Fn::Join": ["", [{"Ref": "Unset"}, {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "Queue"}]}]}]]},
        {"Fn::Select": [9, {"Fn::Split": ["/", {"Ref": "Queue"}]}]},
        {"Fn::Select": [1, {"Fn::Split": ["-", {"Ref": "Queue"}]}]},
        {"Fn::If": ["Unknowable", {"Ref": "Queue"}, "other"]},
        {"Fn::Transform": {"Name": "x"}},
        {"Fn::Split": 3},
        17,
    ],
    ids=str,
)
def test_a_share_of_a_queue_that_is_not_here_is_kept_by_itself_and_said(read: Read, reference: Any) -> None:
    document = template(Queue=queue(JobQueueName="training"), Share=share(JobQueue=reference))
    document["Parameters"] = {"Unset": {"Type": "String"}}
    designs = read(document)

    assert [found.queue.quota_shares for found in designs.queues] == [()]
    assert [loose.share.name for loose in designs.loose_shares] == ["vision"]
    assert "is not declared here; judged by itself" in designs.remarks[0].text


# What only a deployment decides


@pytest.mark.parametrize(
    "unknown",
    [
        {"Ref": "Unset"},
        {"Ref": "FromSsm"},
        {"Fn::GetAtt": ["Something", "Value"]},
        {"Fn::ImportValue": "Elsewhere"},
        {"Fn::Join": ["", ["a", {"Ref": "Unset"}]]},
        {"Fn::Sub": "a-${AWS::Region}"},
        {"Fn::If": ["Unknowable", 1, 2]},
        {"Ref": "Itself"},
    ],
    ids=str,
)
def test_a_value_that_only_a_deployment_decides_is_unknown(read: Read, unknown: Any) -> None:
    document = template(
        Environment=environment([{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": unknown}]),
        Queue=queue(JobQueueName=unknown, Priority=unknown, State=unknown),
        Share=share(
            unknown,
            CapacityLimits=[{"CapacityUnit": unknown, "MaxCapacity": 1}, {"Fn::If": ["Unknowable", 1, 2]}],
            ResourceSharingConfiguration={"Strategy": unknown, "BorrowLimit": unknown},
            PreemptionConfiguration={"InSharePreemption": unknown},
        ),
    )
    document["Parameters"] = {
        "Unset": {"Type": "String"},
        "FromSsm": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/quota/limit"},
        "Itself": {"Type": "String", "Default": {"Ref": "Itself"}},
    }
    design = _only_queue(read, document)

    assert (design.name, design.priority, design.state) == (UNKNOWN, UNKNOWN, UNKNOWN)
    assert design.service_environment.capacity_limits == CapacityLimits((CapacityLimit("ml.g5.xlarge", UNKNOWN),))
    assert design.quota_shares == (
        QuotaShare(
            UNKNOWN,
            CapacityLimits((CapacityLimit(UNKNOWN, 1), CapacityLimit(UNKNOWN, UNKNOWN))),
            ResourceSharing(UNKNOWN, UNKNOWN),
            in_share_preemption=UNKNOWN,
        ),
    )


def test_whole_structures_may_be_unknown(read: Read) -> None:
    unknown = {"Fn::If": ["Unknowable", {"a": 1}, {"b": 1}]}
    document = template(
        Share=share(CapacityLimits=unknown, ResourceSharingConfiguration=unknown, PreemptionConfiguration=unknown)
    )

    assert _only_queue(read, document).quota_shares == (
        QuotaShare(
            "vision",
            CapacityLimits((CapacityLimit(UNKNOWN, UNKNOWN),)),
            ResourceSharing(UNKNOWN, UNKNOWN),
            in_share_preemption=UNKNOWN,
        ),
    )


def test_a_parameter_has_its_default_unless_a_deployment_gives_another(read: Read) -> None:
    document = template(Share=share(CapacityLimits=capacity_limits({"ml.g5.xlarge": {"Ref": "Limit"}})))
    document["Parameters"] = {"Limit": {"Type": "Number", "Default": 1}}

    assert _only_queue(read, document).quota_shares[0].capacity_limits == G5_X1


@pytest.mark.parametrize(
    ("condition", "limit"),
    [
        ({"Fn::Equals": [{"Ref": "Size"}, "large"]}, 2),
        ({"Fn::Not": [{"Fn::Equals": [{"Ref": "Size"}, "large"]}]}, 1),
        ({"Fn::And": [{"Fn::Equals": ["a", "a"]}, {"Condition": "Large"}]}, 2),
        ({"Fn::Or": [{"Fn::Equals": [{"Ref": "AWS::Region"}, "x"]}, {"Condition": "Large"}]}, 2),
        ({"Fn::And": [{"Fn::Equals": [{"Ref": "AWS::Region"}, "x"]}, {"Condition": "Large"}]}, UNKNOWN),
        ({"Fn::And": [{"Fn::Equals": [{"Ref": "AWS::Region"}, "x"]}, {"Fn::Equals": ["a", "b"]}]}, 1),
        ({"Condition": "Wanted"}, UNKNOWN),
    ],
)
def test_a_condition_decides_as_far_as_it_is_known(read: Read, condition: Any, limit: Any) -> None:
    value = {"Fn::If": ["Wanted", 2, 1]}
    document = template(Share=share(CapacityLimits=capacity_limits({"ml.g5.xlarge": value})))
    document["Parameters"] = {"Size": {"Type": "String", "Default": "large"}}
    document["Conditions"] = {"Wanted": condition, "Large": {"Fn::Equals": [{"Ref": "Size"}, "large"]}}

    assert _only_queue(read, document).quota_shares[0].capacity_limits.of_unit("ml.g5.xlarge") == limit


def test_a_property_set_to_no_value_is_not_given(read: Read) -> None:
    sharing = {"Strategy": "LEND_AND_BORROW", "BorrowLimit": {"Ref": "AWS::NoValue"}}
    design = _only_queue(read, template(Share=share(ResourceSharingConfiguration=sharing)))

    assert design.quota_shares[0].resource_sharing == ResourceSharing.lend_and_borrow()


def test_a_resource_whose_condition_is_false_is_not_there(read: Read) -> None:
    document = template(A=share("a"), B={**share("b"), "Condition": "Never"})
    document["Conditions"] = {"Never": {"Fn::Equals": ["a", "b"]}}

    assert [found.name for found in _only_queue(read, document).quota_shares] == ["a"]


def test_a_resource_whose_condition_is_unknown_is_judged_and_said(read: Read) -> None:
    document = template(A={**share("a"), "Condition": "Perhaps"})
    document["Conditions"] = {"Perhaps": {"Fn::Equals": [{"Ref": "AWS::Region"}, "eu-west-1"]}}
    designs = read(document)

    assert [found.name for found in designs.queues[0].queue.quota_shares] == ["a"]
    assert [remark.text for remark in designs.remarks] == [
        "condition Perhaps is known only at deployment; judged as if it held"
    ]


def test_conditions_that_ask_one_another_again_and_again_are_decided_once(read: Read) -> None:
    document = template(Share={**share(), "Condition": "C0"})
    chain = {f"C{n}": {"Fn::And": [{"Condition": f"C{n + 1}"}, {"Condition": f"C{n + 1}"}]} for n in range(60)}
    document["Conditions"] = {**chain, "C60": {"Fn::Equals": ["a", "a"]}}

    assert len(_only_queue(read, document).quota_shares) == 1


# Policies, environments and queues of other kinds

NUM_INSTANCES = environment(capacity_limits({"NUM_INSTANCES": 5}))


@pytest.mark.parametrize(
    ("resource", "kind"),
    [
        (policy(), SchedulingPolicyKind.QUOTA_SHARE),
        (policy(QuotaSharePolicy={}), SchedulingPolicyKind.QUOTA_SHARE),
        (policy(FairsharePolicy={"ShareDecaySeconds": 60}), SchedulingPolicyKind.FAIR_SHARE),
        (policy(Name="neither"), SchedulingPolicyKind.NONE),
        (policy(QuotaSharePolicy={"Fn::If": ["Unknowable", {}, {"Ref": "AWS::NoValue"}]}), UNKNOWN),
    ],
)
def test_the_kind_of_the_policy_is_read(read: Read, resource: Any, kind: Any) -> None:
    assert _only_queue(read, template(Policy=resource, Share=share())).scheduling_policy.kind == kind


def test_a_queue_without_a_policy_has_none(read: Read) -> None:
    design = _only_queue(read, template(Queue=queue(SchedulingPolicyArn=None), Share=share()))

    assert design.scheduling_policy == SchedulingPolicy(SchedulingPolicyKind.NONE)


def test_a_policy_from_elsewhere_is_unknown_but_for_its_name(read: Read) -> None:
    arn = "arn:aws:batch:eu-west-1:123456789012:scheduling-policy/ours"
    design = _only_queue(read, template(Queue=queue(SchedulingPolicyArn=arn)))

    assert design.scheduling_policy == SchedulingPolicy(UNKNOWN, "ours")


def test_a_service_environment_from_elsewhere_is_unknown_and_said(read: Read) -> None:
    order = [{"Order": 1, "ServiceEnvironment": "gpus"}]
    designs = read(template(Queue=queue(ServiceEnvironmentOrder=order), Share=share()))

    assert designs.queues[0].queue.service_environment.capacity_limits.of_unit("ml.g5.xlarge") is UNKNOWN
    assert [remark.text for remark in designs.remarks] == [
        "its service environment gpus is not declared here; judged without its limits",
        "no job queue here uses this service environment; not judged",
    ]


def test_the_queues_of_a_service_environment_are_counted_whatever_their_kind(read: Read) -> None:
    order = [{"Order": 1, "ServiceEnvironment": {"Ref": "NumInstances"}}]
    first_in_first_out = queue(SchedulingPolicyArn=None, ServiceEnvironmentOrder=order)
    document = template(NumInstances=NUM_INSTANCES, Alone=queue(ServiceEnvironmentOrder=order), Fifo=first_in_first_out)
    counts = {found.place.logical_id: found.queues_of_environment for found in read(document).queues}

    assert counts == {"Queue": 1, "Alone": 2}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (
            template(Queue=queue(JobQueueType="ECS", ComputeEnvironmentOrder=[], ServiceEnvironmentOrder=None)),
            "for compute environments",
        ),
        (template(Queue=queue(JobQueueType=None, ServiceEnvironmentOrder=None)), "for compute environments"),
        (
            template(Policy=policy(FairsharePolicy={}), Environment=NUM_INSTANCES),
            "scheduled by a fair-share policy",
        ),
        (template(Queue=queue(SchedulingPolicyArn=None), Environment=NUM_INSTANCES), "first in, first out"),
    ],
)
def test_a_queue_that_is_not_quota_managed_is_skipped_and_said(read: Read, document: Any, reason: str) -> None:
    document["Resources"]["Managed"] = queue()
    document["Resources"]["Managed"]["Properties"]["SchedulingPolicyArn"] = {"Ref": "Quotas"}
    document["Resources"]["Quotas"] = policy()
    designs = read(document)

    assert [found.place.logical_id for found in designs.queues] == ["Managed"]
    assert any(reason in remark.text for remark in designs.remarks if str(remark.place) == "Queue")


@pytest.mark.parametrize(
    "document",
    [
        template(Policy=policy(FairsharePolicy={}), Share=share()),
        template(Policy=policy(FairsharePolicy={})),
        template(Queue=queue(SchedulingPolicyArn=None)),
        template(Queue=queue(JobQueueType="sagemaker_training")),
    ],
)
def test_a_queue_that_means_to_be_quota_managed_is_judged(read: Read, document: Any) -> None:
    assert len(read(document).queues) == 1


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        (
            share(CapacityLimits=[{"CapacityUnit": "ml.g5.xlarge"}]),
            r"Share\.capacityLimits\[0\]: maxCapacity is missing",
        ),
        (share(CapacityLimits=capacity_limits({"ml.g5.xlarge": "many"})), "'many' is not a number"),
        (share(CapacityLimits="ml.g5.xlarge"), "is not a list"),
        (share(ResourceSharingConfiguration={"Strategy": "SHARE"}), "'SHARE' is not one of RESERVE"),
        (share(ResourceSharingConfiguration={"Strategie": "LEND"}), "unknown field 'strategie'"),
        (share(ResourceSharingConfiguration=None), "resourceSharingConfiguration is missing"),
    ],
)
def test_fails_on_a_property_of_the_wrong_shape(read: Read, resource: Any, message: str) -> None:
    with pytest.raises(UnusableInputError, match=message):
        read(template(Share=resource))
