"""``quotactl`` as a user calls it: exit codes, output, what it imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from quota_model.design import QuotaQueue
from quotactl.check import check
from quotactl.check_table import print_report
from quotactl.cli import app
from tests.quotactl.batch_templates import capacity_limits, environment, share, template

Write = Callable[[Any], Path]

DESIGN = """\
jobQueueName: gpus
serviceEnvironment: {capacityLimits: {ml.g5.xlarge: 3, ml.p5.48xlarge: 2}}
quotaShares:
- quotaShareName: background
  capacityLimits: {ml.g5.xlarge: 1}
  resourceSharingConfiguration: {strategy: LEND_AND_BORROW, borrowLimit: 200}
  preemptionConfiguration: {inSharePreemption: ENABLED}
- quotaShareName: standard
  capacityLimits: {ml.g5.xlarge: 1, ml.p5.48xlarge: 2}
  resourceSharingConfiguration: {strategy: LEND}
- quotaShareName: reserved
  capacityLimits: {ml.g5.xlarge: 1}
  resourceSharingConfiguration: {strategy: RESERVE}
  state: DISABLED
- quotaShareName: greedy
  capacityLimits: {ml.g5.xlarge: null}
  resourceSharingConfiguration: {strategy: LEND_AND_BORROW}
"""


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _rows(output: str) -> list[list[str]]:
    return [line.split() for line in output.splitlines() if line.strip()]


def test_the_shares_of_a_queue_are_a_table(tmp_path: Path) -> None:
    path = tmp_path / "design.yaml"
    path.write_text(DESIGN, encoding="utf-8")

    result = _run("check", path)

    assert _rows(result.output) == [
        ["job", "queue", "gpus", *str(path).split()],
        ["quota", "ml.g5.", "ml.p5.", "idle", "borrow", "in-share"],
        ["share", "xlarge", "48xlarge", "capacity", "limit", "preemption", "state"],
        ["background", "1", "LEND_AND_BORROW", "200", "%", "on"],
        ["standard", "1", "2", "LEND", "off"],
        ["reserved", "1", "RESERVE", "off", "DISABLED"],
        ["greedy", "?", "LEND_AND_BORROW", "unlimited", "off"],
        ["environment", "3", "2"],
        ["no", "findings"],
        ["1", "job", "queue:", "no", "findings"],
    ]
    assert result.exit_code == 0


def test_every_finding_has_severity_id_place_and_remedy(write: Write) -> None:
    document = template(
        Vision=share("vision", ResourceSharingConfiguration={"Strategy": "LEND", "BorrowLimit": 5}),
        Language=share("language", CapacityLimits=capacity_limits({"ml.g5.xlarge": 2})),
    )
    result = _run("check", write(document))
    words = " ".join(result.output.split())

    assert result.exit_code == 1
    assert "error borrow-limit-needs-lend-and-borrow quota share 'vision': borrow limit 5 has no effect" in words
    assert "or drop the borrow limit Vision" in words
    assert words.endswith("1 job queue: 1 error, 0 warnings")


def test_warnings_alone_pass(write: Write) -> None:
    result = _run("check", write(template(Environment=environment(), Share=share())))

    assert (result.exit_code, "0 errors, 1 warning" in result.output) == (0, True)


def test_what_is_not_judged_is_said(write: Write) -> None:
    result = _run("check", write({"Resources": {"Share": share(JobQueue="theirs")}}))

    assert "note  Share: its job queue theirs is not declared here; judged by itself" in result.output
    assert "0 job queues, 1 quota share without a queue: no findings" in result.output


@pytest.mark.parametrize("limit", [1, 0])
def test_json_tells_the_same_and_gives_the_design_back(write: Write, limit: int) -> None:
    path = write(template(Share=share(CapacityLimits=capacity_limits({"ml.g5.xlarge": limit}))))
    result = _run("check", "--json", path)

    report = json.loads(result.stdout)
    assert result.exit_code == (0 if limit else 1)
    assert report["errors"] == (0 if limit else 1)
    assert QuotaQueue.from_json(report["queues"][0]["design"]).quota_shares[0].name == "vision"


def test_the_design_in_the_json_can_be_checked_again(write: Write, tmp_path: Path) -> None:
    first = json.loads(_run("check", "--json", write(template(Share=share()))).stdout)
    again = tmp_path / "design.json"
    again.write_text(json.dumps(first["queues"][0]["design"]), encoding="utf-8")

    assert json.loads(_run("check", "--json", again).stdout)["queues"][0]["design"] == first["queues"][0]["design"]


def test_fails_with_2_and_one_line_on_unusable_input(tmp_path: Path) -> None:
    result = _run("check", tmp_path / "nowhere.json")

    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"quotactl: {tmp_path}/nowhere.json does not exist; name a template, a cdk.out or a design file"
    ]
    assert result.stdout == ""


def test_a_name_does_nothing_to_the_terminal(write: Write) -> None:
    hostile = share("[bold]\x1b[31m\ud800\n[/nonsense]:smile:")
    result = _run("check", write(template(Share=hostile)))

    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "[bold]" in result.output
    assert ":smile:" in result.output


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_terminal_is_too_narrow_for_five_instance_types(write: Write, width: int) -> None:
    types = [f"ml.p4d.{size}4xlarge" for size in (1, 2, 3, 4, 5)]
    limits = capacity_limits({type_: 1000 + number for number, type_ in enumerate(types)})
    path = write(template(Environment=environment(limits), Vision=share("vision", CapacityLimits=limits)))
    output = StringIO()
    print_report(check(path), Console(file=output, width=width, markup=False, highlight=False))

    text = output.getvalue()
    assert max(len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    words = text.split()
    assert {"vision", "environment"} <= set(words)
    assert [words.count(str(1000 + number)) for number in range(5)] == [2] * 5


def test_without_a_command_it_says_what_there_is() -> None:
    result = _run()

    assert "check" in result.output
    assert "Judge quotas before they are deployed." in result.output


def test_the_version_is_that_of_the_distribution() -> None:
    assert _run("--version").output.startswith("quotactl 0.")


def _python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_help_imports_neither_the_cdk_nor_anything_heavy() -> None:
    """These would cost more than the start is allowed to; see benchmarks/startup.py."""
    code = "import sys; sys.argv = ['quotactl', '--help']; from quotactl.__main__ import main\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    code += (
        "print('imported:', *({'aws_cdk', 'jsii', 'boto3', 'botocore', 'rich', 'yaml', 'pydantic'} & set(sys.modules)))"
    )

    assert _python("-c", code).stdout.splitlines()[-1].split() == ["imported:"]


def test_check_imports_neither_the_cdk_nor_boto3(write: Write) -> None:
    path = write(template(Share=share()))
    code = f"import sys; sys.argv = ['quotactl', 'check', {str(path)!r}]; from quotactl.__main__ import main\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    code += "print('imported:', *({'aws_cdk', 'jsii', 'boto3', 'botocore'} & set(sys.modules)))"

    assert _python("-c", code).stdout.splitlines()[-1].split() == ["imported:"]


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("typer", "cli", ["--help"]),
        ("yaml", "cli", ["check", "design.yaml"]),
        ("rich", "cli", ["check", "design.yaml"]),
    ],
)
def test_fails_without_an_extra_in_one_line_that_says_how_to_get_it(
    tmp_path: Path, package: str, extra: str, arguments: list[str]
) -> None:
    (tmp_path / "design.yaml").write_text(DESIGN, encoding="utf-8")
    code = f"import os, sys; sys.modules[{package!r}] = None; sys.argv = ['quotactl', *{arguments!r}]\n"
    code += f"os.chdir({str(tmp_path)!r}); from quotactl.__main__ import main; main()"
    result = _python("-c", code)

    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        f"quotactl needs the package {package} for this; run: pip install 'quota-constructs[{extra}]'"
    ]


def test_a_module_of_its_own_that_is_missing_is_no_missing_extra() -> None:
    code = "import sys; sys.modules['quotactl.cli'] = None; from quotactl.__main__ import main; main()"

    assert "pip install" not in _python("-c", code).stderr
