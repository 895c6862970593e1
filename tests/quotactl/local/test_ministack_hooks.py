"""Each place where the local AWS is put into ministack: a version that moves one fails here, and says which."""

from __future__ import annotations

import asyncio
import json
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ministack.app
import pytest
from ministack.core import responses, router
from ministack.services import eventbridge, stepfunctions
from ministack.services.cloudformation import drift, provisioners

PROJECT = Path(__file__).parents[3]
KIND = "Test::Batch::Thing"


def test_the_version_is_the_pinned_one() -> None:
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert f"ministack=={version('ministack')}" in extras["local"]


def test_requests_are_dispatched_by_service_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handler(*request: Any) -> tuple[int, dict[str, str], bytes]:
        return 200, {"Content-Type": "application/json"}, json.dumps(request[1]).encode()

    monkeypatch.setattr(ministack.app, "SERVICE_HANDLERS", {"batch": handler})
    headers = {"authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/batch/aws4_request"}
    dispatched = ministack.app._dispatch_service_request("POST", "/v1/describejobqueues", headers, b"{}", {}, "id")
    status, _, body = asyncio.run(dispatched)
    assert (status, json.loads(body)) == (200, "/v1/describejobqueues")


def test_a_service_is_known_by_its_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(router.SERVICE_PATTERNS, "sagemaker", {"target_prefixes": ["SageMaker."]})
    headers = {"x-amz-target": "SageMaker.CreateTrainingJob"}
    assert router.detect_service("POST", "/", headers, {}) == "sagemaker"


def test_resources_are_provisioned_by_resource_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []

    def note(name: str) -> Any:
        def handle(*arguments: Any) -> tuple[str, dict[str, str]]:
            calls.append((name, *arguments))
            return "id", {}

        return handle

    monkeypatch.setitem(
        provisioners._RESOURCE_HANDLERS, KIND, {name: note(name) for name in ("create", "update", "delete")}
    )
    provisioners._provision_resource(KIND, "Logical", {"A": 1}, "stack")
    provisioners._update_resource(KIND, "id", {"A": 1}, {"A": 2}, "stack", "Logical")
    provisioners._delete_resource(KIND, "id", {"A": 2}, "stack", "Logical")
    assert calls == [
        ("create", "Logical", {"A": 1}, "stack"),
        ("update", "id", {"A": 1}, {"A": 2}, "stack"),
        ("delete", "id", {"A": 2}),
    ]


def test_a_replacing_property_replaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(provisioners._REPLACING_PROPERTIES, KIND, ("Name",))
    assert provisioners._property_recreation(KIND, "Name") == "Always"
    assert provisioners._property_recreation(KIND, "State") == "Never"


def test_drift_is_found_by_drift_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(drift._DRIFT_READERS, KIND, (lambda *_: {"A": 2}, frozenset({"A"})))
    record = {"ResourceType": KIND, "PhysicalResourceId": "id", "Properties": {"A": 1}}
    found = drift.detect_resource_drift({"StackId": "stack"}, "Logical", record, "now")
    assert found["StackResourceDriftStatus"] == "MODIFIED"


def test_only_an_emitter_of_aws_may_send_events_of_aws() -> None:
    entry = {"Source": "aws.batch", "DetailType": "Test", "Detail": "{}"}

    def failures(**settings: bool) -> int:
        _, _, body = eventbridge._put_events({"Entries": [entry]}, **settings)
        return int(json.loads(body)["FailedEntryCount"])

    with responses.request_scope("111122223333", "eu-west-1"):
        assert failures() == 1
        assert failures(allow_aws_source=True) == 0


def test_a_request_has_an_account_and_a_region() -> None:
    with responses.request_scope("111122223333", "eu-west-1"):
        assert (responses.get_account_id(), responses.get_region()) == ("111122223333", "eu-west-1")


def test_state_machines_know_services_by_two_tables() -> None:
    assert isinstance(stepfunctions._AWS_SDK_SERVICE_MAP, dict)
    assert isinstance(stepfunctions._REST_JSON_ACTION_PATHS, dict)
    assert {entry["protocol"] for entry in stepfunctions._AWS_SDK_SERVICE_MAP.values()} >= {"rest-json"}
