"""What the packages must agree on for every design, shown on random ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import botocore.session
import pytest
from aws_cdk import App, Stack
from botocore.validate import ParamValidator
from cfnlint.jsonschema import StandardValidator
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from hypothesis import given, settings
from hypothesis import strategies as st

from quota_constructs import RefusedDesignError
from quota_model.design import QuotaQueue
from quota_model.rules import CATALOGUE, Severity, check
from quotactl.designs import read_designs
from tests.iam.templates import resolved
from tests.properties.designs import BREAKERS, declare, partly_unknown_designs, sound_designs

pytestmark = pytest.mark.slow
each_takes_a_synthesis = settings(deadline=None, max_examples=40)
Template = dict[str, Any]


def synthesized(queue: QuotaQueue, directory: str) -> Template:
    app = App(outdir=directory)
    stack = Stack(app, "Stack")
    declare(stack, queue)
    return cast("Template", app.synth().get_stack_artifact(stack.artifact_id).template)


def errors_in(queue: QuotaQueue) -> set[str]:
    return {finding.rule.id for finding in check(queue) if finding.rule.severity is Severity.ERROR}


@each_takes_a_synthesis
@given(queue=sound_designs())
def test_a_design_without_errors_is_accepted_everywhere(queue: QuotaQueue) -> None:
    """By the constructs, by CloudFormation's schemas, and by the API's shapes."""
    assert errors_in(queue) == set()

    with TemporaryDirectory() as directory:
        template = synthesized(queue, directory)
    assert list(schema_findings(template)) == []
    assert list(api_findings(template)) == []


@each_takes_a_synthesis
@given(queue=sound_designs())
def test_a_design_survives_the_way_through_constructs_template_and_reader(queue: QuotaQueue) -> None:
    with TemporaryDirectory() as directory:
        synthesized(queue, directory)
        (read,) = read_designs(Path(directory)).queues

    assert read.queue == queue


@each_takes_a_synthesis
@given(queue=partly_unknown_designs())
def test_a_design_survives_with_what_only_a_deployment_knows(queue: QuotaQueue) -> None:
    """Nothing is refused for a value nobody has seen yet, and the reader finds the same to be unknown."""
    assert errors_in(queue) == set()

    with TemporaryDirectory() as directory:
        synthesized(queue, directory)
        (read,) = read_designs(Path(directory)).queues
    assert read.queue == queue


@each_takes_a_synthesis
@given(queue=partly_unknown_designs())
def test_the_constructs_see_the_design_that_they_declare(queue: QuotaQueue) -> None:
    assert declare(Stack(App(), "Stack"), queue).design == queue


def test_every_error_of_the_catalogue_is_broken_below() -> None:
    errors = {rule.id for rule in CATALOGUE if rule.severity is Severity.ERROR}

    # A mapping from instance type to number cannot hold a type twice, and one design has one queue.
    assert set(BREAKERS) == errors - {
        "capacity-unit-duplicate",
        "environment-serves-one-queue",
        "queue-has-one-environment",
    }


@pytest.mark.parametrize("rule", BREAKERS)
@settings(deadline=None, max_examples=8)
@given(queue=sound_designs(), data=st.data())
def test_fails_on_a_design_with_an_error_under_that_rules_id(rule: str, queue: QuotaQueue, data: st.DataObject) -> None:
    broken = data.draw(st.sampled_from(BREAKERS[rule]))(queue)
    errors = errors_in(broken)
    assert rule in errors

    refused = refusal_of(broken)
    assert refused
    assert refused <= errors
    assert rule in refused or len(errors) > 1  # Where one mistake makes another, the first that is met is reported.


def refusal_of(queue: QuotaQueue) -> set[str]:
    """Return the rules by which the constructs refuse a design: when they are made, or when the app is synthesized."""
    with TemporaryDirectory() as directory:
        try:
            synthesized(queue, directory)
        except RefusedDesignError as error:
            return set(error.rule_ids)
        except RuntimeError as error:
            return {rule.id for rule in CATALOGUE if f"quota-constructs:{rule.id}: " in str(error)}
    return set()


@cache
def schema_of(resource_type: str) -> StandardValidator:
    return StandardValidator(PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", resource_type).schema)


@cache
def batch_model() -> Any:
    return botocore.session.get_session().get_service_model("batch")


def batch_resources(template: Template) -> Iterator[tuple[str, Template]]:
    for resource in template["Resources"].values():
        if resource["Type"].startswith("AWS::Batch::"):
            yield resource["Type"], resolved(template, resource["Properties"])


def schema_findings(template: Template) -> Iterator[str]:
    """Yield what the CloudFormation schemas of cfn-lint find."""
    for resource_type, properties in batch_resources(template):
        for error in schema_of(resource_type).iter_errors(properties):
            yield f"{resource_type}: {error.message}"


def api_findings(template: Template) -> Iterator[str]:
    """Yield what botocore would refuse to send, were CloudFormation to create the resources with it."""
    for resource_type, properties in batch_resources(template):
        operation = batch_model().operation_model(f"Create{resource_type.rpartition('::')[2]}")
        shape = operation.input_shape
        parameters = camel_case(properties)
        for name in shape.required_members:
            if name.lower().endswith("name"):  # CloudFormation generates it.
                parameters.setdefault(name, "generated")
        report = ParamValidator().validate(parameters, shape)
        if report.has_errors():
            yield f"{resource_type}: {report.generate_report()}"
        yield from (f"{resource_type}: the API has no {name}" for name in parameters if name not in shape.members)


def camel_case(value: Any) -> Any:
    if isinstance(value, list):
        return [camel_case(item) for item in value]
    if isinstance(value, dict):
        return {name[0].lower() + name[1:]: camel_case(item) for name, item in value.items()}
    return value


def test_fails_if_a_schema_or_a_shape_is_broken() -> None:
    """Shows that the tests above can fail."""
    share = {
        "QuotaShareName": "a",
        "JobQueue": "arn:aws:batch:us-east-1:111122223333:job-queue/q",
        "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 0}],
        "ResourceSharingConfiguration": {"BorrowLimit": 1},
        "PreemptionConfiguration": {"InSharePreemption": "ENABLED"},
    }
    template = {"Resources": {"Share": {"Type": "AWS::Batch::QuotaShare", "Properties": share}}}

    assert any("0 is less than the minimum of 1" in finding for finding in schema_findings(template))
    assert any("strategy" in finding for finding in api_findings(template))
