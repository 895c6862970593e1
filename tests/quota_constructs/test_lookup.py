"""Looking up what exists with CDK's Cloud Control context provider, and judging shares by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match, Template

from quota_constructs import ILookedUpQuotaShare, QuotaConstructsError, QuotaShare, ResourceSharing, TrainingJobQueue
from quota_model import design as model
from quota_model.design import UNKNOWN, State

UNIT = "ml.g5.xlarge"
ENV = cdk.Environment(account="111122223333", region="eu-west-1")
QUEUE_ARN = "arn:aws:batch:eu-west-1:111122223333:job-queue/gpus"
ENVIRONMENT_ARN = "arn:aws:batch:eu-west-1:111122223333:service-environment/gpus"


def resource(identifier: str, **properties: object) -> list[dict[str, object]]:
    return [{**properties, "Identifier": identifier}]


def share_properties(limit: int, strategy: str = "LEND", **sharing: object) -> dict[str, object]:
    return {
        "CapacityLimits": [{"CapacityUnit": UNIT, "MaxCapacity": limit}],
        "ResourceSharingConfiguration": {"Strategy": strategy, **sharing},
        "PreemptionConfiguration": {"InSharePreemption": "ENABLED"},
        "State": "ENABLED",
    }


class Account:
    """What exists; answers an assembly's questions as Cloud Control does."""

    def __init__(self, capacity: int, environment: str = ENVIRONMENT_ARN, **shares: dict[str, object]) -> None:
        self._resources: dict[str, dict[str, object]] = {
            QUEUE_ARN: {"ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": environment}]},
            ENVIRONMENT_ARN: {"CapacityLimits": [{"CapacityUnit": UNIT, "MaxCapacity": capacity}], "State": "ENABLED"},
        }
        self._resources |= {f"{QUEUE_ARN}/quota-share/{name}": properties for name, properties in shares.items()}

    def exists(self, arn: str, **properties: object) -> None:
        self._resources[arn] = properties

    def answer(self, query: dict[str, Any]) -> list[dict[str, object]]:
        if "exactIdentifier" in query:
            arn = query["exactIdentifier"]
            return resource(arn, **{name: self._resources[arn][name] for name in query["propertiesToReturn"]})
        assert (query["typeName"], query["resourceModel"]) == ("AWS::Batch::QuotaShare", {"JobQueue": QUEUE_ARN})
        return [{"Identifier": arn} for arn in self._resources if "/quota-share/" in arn]


def missing(app: cdk.App) -> list[dict[str, Any]]:
    manifest = json.loads((Path(app.synth().directory) / "manifest.json").read_text())
    found: list[dict[str, Any]] = manifest.get("missing", [])
    return found


def team_stack(context: dict[str, object]) -> tuple[cdk.App, cdk.Stack]:
    app = cdk.App(context=context)
    return app, cdk.Stack(app, "Team", env=ENV)


def look_up_all(account: Account, define: Any) -> tuple[cdk.Stack, int]:
    """Synthesize as the CDK CLI does, until nothing is missing; return the last stack and the number of rounds."""
    context: dict[str, object] = {}
    for rounds in range(1, 10):
        app, stack = team_stack(context)
        define(stack)
        questions = missing(app)
        if not questions:
            return stack, rounds
        context |= {question["key"]: account.answer(question["props"]) for question in questions}
    raise AssertionError(f"still missing: {questions}")


def add_share(stack: cdk.Stack, name: str, limit: int, unit: str = UNIT) -> None:
    queue = TrainingJobQueue.from_lookup(stack, "Queue", job_queue_name="gpus")
    QuotaShare(stack, name, job_queue=queue, capacity_limits={unit: limit}, resource_sharing=ResourceSharing.lend())


# A share


def looked_up_share(stack: cdk.Stack) -> ILookedUpQuotaShare:
    return QuotaShare.from_lookup(stack, "Vision", job_queue_name="gpus", quota_share_name="vision")


def test_a_share_that_has_not_been_looked_up_yet_is_unknown_but_for_its_name() -> None:
    _, stack = team_stack({})

    share = looked_up_share(stack)

    assert share.design.name == "vision"
    assert share.design.state is UNKNOWN
    assert [limit.max_capacity for limit in share.design.capacity_limits] == [UNKNOWN]


def test_looking_up_a_share_asks_for_its_limits_with_the_lookup_role() -> None:
    app, stack = team_stack({})
    looked_up_share(stack)

    (question,) = missing(app)
    assert question["provider"] == "cc-api-provider"
    assert question["props"]["typeName"] == "AWS::Batch::QuotaShare"
    assert question["props"]["exactIdentifier"] == f"{QUEUE_ARN}/quota-share/vision"
    assert "lookup-role" in question["props"]["lookupRoleArn"]


def test_a_share_that_was_looked_up_has_its_real_limits() -> None:
    shares: list[model.QuotaShare] = []
    vision = share_properties(3, "LEND_AND_BORROW", BorrowLimit=50)

    _, rounds = look_up_all(Account(4, vision=vision), lambda stack: shares.append(looked_up_share(stack).design))

    assert rounds == 2
    assert shares[-1] == model.QuotaShare(
        "vision",
        model.CapacityLimits.of({UNIT: 3}),
        model.ResourceSharing.lend_and_borrow(borrow_limit=50),
        in_share_preemption=True,
        state=State.ENABLED,
    )
    assert shares[-1].capacity_limits.as_instances() == {UNIT: 3}


def test_a_share_that_was_looked_up_is_that_of_its_arn() -> None:
    _, stack = team_stack({})

    share = looked_up_share(stack)

    assert share.quota_share_arn == f"{QUEUE_ARN}/quota-share/vision"
    assert (share.quota_share_name, share.job_queue_arn) == ("vision", QUEUE_ARN)
    assert (share.env.account, share.env.region) == (ENV.account, ENV.region)


def test_the_partition_follows_from_the_region() -> None:
    stack = cdk.Stack(cdk.App(), "Team", env=cdk.Environment(account="111122223333", region="cn-north-1"))

    assert looked_up_share(stack).job_queue_arn.startswith("arn:aws-cn:batch:cn-north-1:")


def test_fails_in_a_stack_without_account_and_region() -> None:
    stack = cdk.Stack(cdk.App(), "Team")

    with pytest.raises(
        QuotaConstructsError,
        match=r"quota share 'vision' cannot be looked up from stack 'Team'.*give the stack env=Environment\(",
    ):
        looked_up_share(stack)
    assert stack.node.try_find_child("Vision") is None


@pytest.mark.parametrize("names", [{"job_queue_name": "Q"}, {"quota_share_name": "S"}])
def test_fails_for_names_that_are_tokens(names: dict[str, str]) -> None:
    _, stack = team_stack({})
    token = cdk.CfnParameter(stack, "Name").value_as_string
    given = {"job_queue_name": "gpus", "quota_share_name": "vision"} | dict.fromkeys(names, token)

    with pytest.raises(QuotaConstructsError, match="give a literal name"):
        QuotaShare.from_lookup(stack, "Share", **given)


@pytest.mark.parametrize("name", ["job_queue_name", "quota_share_name"])
def test_fails_for_names_that_are_no_text_as_of_a_variable_that_is_not_set(name: str) -> None:
    _, stack = team_stack({})
    given: Any = {"job_queue_name": "gpus", "quota_share_name": "vision", name: None}

    with pytest.raises(QuotaConstructsError, match=f"{name} None is not a text; give the "):
        QuotaShare.from_lookup(stack, "Share", **given)


# A queue


def test_a_queue_is_looked_up_with_its_environment_and_shares_in_two_rounds() -> None:
    designs: list[model.QuotaQueue] = []

    def define(stack: cdk.Stack) -> None:
        designs.append(TrainingJobQueue.from_lookup(stack, "Queue", job_queue_name="gpus").design)

    _, rounds = look_up_all(Account(4, vision=share_properties(3), speech=share_properties(1)), define)

    assert rounds == 3  # The last one finds everything there.
    queue = designs[-1]
    assert queue.name == "gpus"
    assert queue.service_environment.capacity_limits == model.CapacityLimits.of({UNIT: 4})
    assert queue.service_environment.name == "gpus"
    assert [share.name for share in queue.quota_shares] == ["vision", "speech"]


def test_a_queue_that_names_its_environment_without_arn_is_looked_up_too() -> None:
    designs: list[model.QuotaQueue] = []

    def define(stack: cdk.Stack) -> None:
        designs.append(TrainingJobQueue.from_lookup(stack, "Queue", job_queue_name="gpus").design)

    look_up_all(Account(4, environment="gpus"), define)

    assert designs[-1].service_environment.capacity_limits == model.CapacityLimits.of({UNIT: 4})


def test_a_share_that_is_added_is_rendered_with_the_queues_arn() -> None:
    stack, _ = look_up_all(Account(2, speech=share_properties(1)), lambda stack: add_share(stack, "Vision", 1))

    Template.from_stack(stack).has_resource_properties(
        "AWS::Batch::QuotaShare", {"JobQueue": QUEUE_ARN, "QuotaShareName": "Vision"}
    )


def test_a_share_that_fits_beside_those_that_exist_gives_no_warning() -> None:
    stack, _ = look_up_all(Account(4, speech=share_properties(3)), lambda stack: add_share(stack, "Vision", 1))

    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())


def test_limits_that_exceed_the_environment_with_those_that_exist_are_warned_of() -> None:
    stack, _ = look_up_all(Account(4, speech=share_properties(3)), lambda stack: add_share(stack, "Vision", 2))

    Annotations.from_stack(stack).has_warning(
        "/Team/Queue", Match.string_like_regexp("add up to 5, the environment has 4")
    )


def test_a_share_that_exists_already_is_not_counted_twice_when_its_stack_defines_it() -> None:
    stack, _ = look_up_all(
        Account(4, speech=share_properties(3), Vision=share_properties(1)),
        lambda stack: add_share(stack, "Vision", 1),
    )

    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())


def test_fails_for_a_share_of_an_instance_type_that_the_environment_lacks() -> None:
    with pytest.raises(RuntimeError, match="share-unit-not-in-environment"):
        look_up_all(Account(4), lambda stack: add_share(stack, "Vision", 1, unit="ml.p5.48xlarge"))


def test_fails_for_a_queue_that_is_not_quota_managed() -> None:
    account = Account(4)
    account.exists(QUEUE_ARN, ServiceEnvironmentOrder=[])

    with pytest.raises(QuotaConstructsError, match="has no service environment, so it takes no quota shares; give"):
        look_up_all(account, lambda stack: add_share(stack, "Vision", 1))


def test_fails_for_the_21st_share_of_a_queue() -> None:
    full = {f"team-{number}": share_properties(1) for number in range(20)}

    with pytest.raises(RuntimeError, match="too-many-quota-shares"):
        look_up_all(Account(30, environment=ENVIRONMENT_ARN, **full), lambda stack: add_share(stack, "Vision", 1))


def test_a_queue_that_is_only_read_is_not_judged() -> None:
    overcommitted = Account(1, speech=share_properties(3))

    def define(stack: cdk.Stack) -> None:
        TrainingJobQueue.from_lookup(stack, "Queue", job_queue_name="gpus")

    stack, _ = look_up_all(overcommitted, define)

    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())


def test_rules_of_the_share_alone_hold_before_anything_is_looked_up() -> None:
    _, stack = team_stack({})

    with pytest.raises(QuotaConstructsError, match="capacity-limit"):
        add_share(stack, "Vision", 0)


def test_fails_to_look_up_a_queue_in_a_stack_without_account_and_region() -> None:
    with pytest.raises(QuotaConstructsError, match="job queue 'gpus' cannot be looked up"):
        TrainingJobQueue.from_lookup(cdk.Stack(cdk.App(), "Team"), "Queue", job_queue_name="gpus")
