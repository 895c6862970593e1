"""Whatever a file holds, ``quotactl check`` ends with a report or with one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from quotactl.cli import app
from tests.quotactl.batch_templates import environment, policy, queue, share

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-10, 5000)
    | st.floats(-10, 10)
    | st.text(max_size=8)
    | st.sampled_from(
        ["Queue", "Environment", "Policy", "Parameter", "Queue.JobQueueArn", "ml.g5.xlarge", "LEND", "${Queue}"]
    )
)
_FUNCTIONS = st.sampled_from(
    [
        "Ref",
        "Fn::GetAtt",
        "Fn::Join",
        "Fn::Split",
        "Fn::Select",
        "Fn::Sub",
        "Fn::If",
        "Fn::FindInMap",
        "Fn::ImportValue",
        "Fn::GetStackOutput",
        "Fn::Equals",
        "Fn::And",
        "Condition",
    ]
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5) | _FUNCTIONS, inner, max_size=3)
        | st.builds(lambda name, argument: {name: argument}, _FUNCTIONS, inner)
    ),
    max_leaves=12,
)
_PROPERTIES = st.sampled_from(
    [
        "QuotaShareName",
        "JobQueue",
        "JobQueueName",
        "JobQueueType",
        "CapacityLimits",
        "ResourceSharingConfiguration",
        "PreemptionConfiguration",
        "SchedulingPolicyArn",
        "ServiceEnvironmentOrder",
        "ServiceEnvironmentName",
        "QuotaSharePolicy",
        "FairsharePolicy",
        "JobStateTimeLimitActions",
        "Name",
        "Priority",
        "State",
    ]
)


@st.composite
def _templates(draw: st.DrawFn) -> dict[str, Any]:
    """A good template with some values in it replaced by anything."""
    resources = {"Policy": policy(), "Environment": environment(), "Queue": queue(), "Share": share()}
    for resource in resources.values():
        resource["Properties"].update(draw(st.dictionaries(_PROPERTIES, _VALUES, max_size=2)))
        resource.update(draw(st.dictionaries(st.sampled_from(["Condition", "Metadata", "Type"]), _VALUES, max_size=1)))
    sections = draw(
        st.dictionaries(st.sampled_from(["Parameters", "Mappings", "Conditions", "Outputs"]), _VALUES, max_size=2)
    )
    return {"Resources": resources, **sections}


_ANY_DOCUMENT = (
    _VALUES
    | _templates()
    | st.fixed_dictionaries({"Resources": _VALUES})
    | st.fixed_dictionaries({"serviceEnvironment": _VALUES, "quotaShares": _VALUES})
    | st.fixed_dictionaries(
        {"serviceEnvironment": st.just({"capacityLimits": {"ml.g5.xlarge": 1}}), "priority": _VALUES}
    )
)
_shared_tmp_path = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=150
)


def _ends_well(path: Path, *options: str) -> None:
    result = CliRunner().invoke(app, ["check", str(path), *options])

    assert isinstance(result.exception, SystemExit | None), result.exception
    if result.exit_code == 2:
        assert len(result.stderr.splitlines()) == 1
        assert result.stdout == ""
    else:
        assert result.exit_code in (0, 1)
        assert result.stderr == ""


@_shared_tmp_path
@given(document=_ANY_DOCUMENT)
def test_any_json_gives_a_report_or_one_sentence(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "any.json"
    path.write_text(json.dumps(document), encoding="utf-8")

    _ends_well(path)


@_shared_tmp_path
@given(document=_templates())
def test_any_template_gives_json_or_one_sentence(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "any.json"
    path.write_text(json.dumps(document), encoding="utf-8")

    _ends_well(path, "--json")


@_shared_tmp_path
@given(content=st.binary(max_size=200) | st.text(alphabet="{}[]:,-&*!?|>'\"#%@ \n\tab01", max_size=60).map(str.encode))
def test_any_bytes_give_one_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(content)

    _ends_well(path)


@_shared_tmp_path
@given(manifest=st.fixed_dictionaries({"artifacts": st.dictionaries(st.text(max_size=5), _VALUES, max_size=3)}))
def test_any_manifest_gives_a_report_or_one_sentence(manifest: Any, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    _ends_well(tmp_path)
