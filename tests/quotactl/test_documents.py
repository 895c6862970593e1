"""What happens to files that hold no design, and how YAML is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from quotactl.designs import UnusableInputError, read_designs
from quotactl.designs.documents import MAX_BYTES, read_document


def _file(tmp_path: Path, content: str | bytes, name: str = "design.yaml") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "neither a template"),
        ("[]", "neither a template"),
        ("just words", "neither a template"),
        ('{"Resources": []}', "neither a template"),
        ('{"Resources": {}}', "declares no quota-managed job queue and no quota share"),
        ('{"a": 1', r"broken JSON in line 1, column 8"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1, "a": 2}', "key 'a' is given twice"),
        ('{"a": 1e999}', "a number is too large"),
        ('{"a": ' + "9" * 5000 + "}", "a number is too large"),
        ("a: " + "9" * 5000, "a number cannot be read"),
        ("a: [1", "broken YAML in line 2"),
        ("a: 1\na: 2", "key 'a' is given twice"),
        ("? [1]\n: 2", "a key is a text"),
        ("a: &x 1\nb: *x", r"the alias \*x is not supported"),
        ("a: &x [*x]", r"the alias \*x is not supported"),
        ("a: !!binary aGk=", "tag"),
        ("a: !!python/object:os.system x", "tag"),
        ("a: \x07", "YAML"),
        ("---\na: 1\n---\nb: 1", "YAML"),
        (b"\x7fELF\x00\xff", "is not a text file"),
        ("[" * 2000 + "]" * 2000, "nested too deeply"),
        ('{"a":' * 120 + "1" + "}" * 120, "nested too deeply"),
        ("- " * 300 + "1", "nested too deeply"),
    ],
)
def test_fails_on_what_is_no_design_with_one_sentence(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(UnusableInputError, match=message) as raised:
        read_designs(_file(tmp_path, content))

    assert "\n" not in str(raised.value)
    assert "design.yaml" in str(raised.value)


def test_fails_on_a_file_that_does_not_exist() -> None:
    with pytest.raises(UnusableInputError, match=r"nowhere\.json does not exist; name a template"):
        read_designs(Path("nowhere.json"))


def test_fails_on_a_directory_that_is_no_cloud_assembly(tmp_path: Path) -> None:
    with pytest.raises(UnusableInputError, match=r"has no manifest\.json.*run `cdk synth`"):
        read_designs(tmp_path)


def test_fails_on_a_file_larger_than_any_template(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)

    with pytest.raises(UnusableInputError, match="has more than 32 MB"):
        read_designs(path)


def test_fails_fast_on_a_small_yaml_that_stands_for_an_endless_one(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 60)]

    with pytest.raises(UnusableInputError, match="alias"):
        read_designs(_file(tmp_path, "\n".join(lines)))


def test_short_tags_are_functions(tmp_path: Path) -> None:
    text = "a: !Ref Queue\nb: !GetAtt Queue.JobQueueArn\nc: !Join ['', [x, !Sub '${A}-b']]\nd: !If [C, 1, 2]\n"

    assert read_document(_file(tmp_path, text)) == {
        "a": {"Ref": "Queue"},
        "b": {"Fn::GetAtt": ["Queue", "JobQueueArn"]},
        "c": {"Fn::Join": ["", ["x", {"Fn::Sub": "${A}-b"}]]},
        "d": {"Fn::If": ["C", 1, 2]},
    }


def test_yaml_keys_and_dates_stay_the_texts_that_they_are(tmp_path: Path) -> None:
    text = "AWSTemplateFormatVersion: 2010-09-09\n012345678901: account\non: yes\n"

    assert read_document(_file(tmp_path, text)) == {
        "AWSTemplateFormatVersion": "2010-09-09",
        "012345678901": "account",
        "on": True,
    }


def test_a_byte_order_mark_is_not_content(tmp_path: Path) -> None:
    assert read_document(_file(tmp_path, b"\xef\xbb\xbf{}")) == {}
