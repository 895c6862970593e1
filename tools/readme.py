"""Write the parts of the documentation that come from the code: ``python -m tools.readme``.

The README's tables stand between ``<!-- name -->`` and ``<!-- /name -->``; the picture is a file of its own.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from quota_model.design import QuotaQueue
from quota_model.rules import CATALOGUE
from quotactl.designs import read_designs
from tools.picture import picture
from tools.site import generated_pages

__all__ = ["generated_files"]

ROOT: Final = Path(__file__).parent.parent
README: Final = ROOT / "README.md"
PICTURE: Final = ROOT / "docs" / "three-shares.svg"


def generated_files() -> dict[Path, str]:
    """Return what each file that is generated, whole or in part, should hold."""
    readme = _with_section(README.read_text(encoding="utf-8"), "rules", rule_table())
    return {README: readme, PICTURE: picture(example_queue()), **generated_pages()}


def rule_table() -> str:
    """Return the rule catalogue as a table in Markdown."""
    rows = [f"| `{rule.id}` | {rule.severity} | {rule.summary} |" for rule in CATALOGUE]
    return "\n".join(["| rule | severity | why |", "|---|---|---|", *rows])


def example_queue() -> QuotaQueue:
    """Return the design of the example stack, read from its template."""
    os.environ.setdefault("CDK_VALIDATION", "false")  # seconds, and the tests judge the stack anyway
    import aws_cdk as cdk

    from stacks.three_quota import ThreeQuotaStack

    with TemporaryDirectory() as directory:
        app = cdk.App(outdir=directory)
        ThreeQuotaStack(app, "ThreeQuota")
        app.synth()
        (located,) = read_designs(Path(directory)).queues
    return located.queue


def _with_section(text: str, name: str, content: str) -> str:
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(f"{re.escape(start)}.*{re.escape(end)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"{README.name} has no section {start} ... {end}; add it where the table belongs")
    return pattern.sub(lambda _: f"{start}\n{content}\n{end}", text)


def main() -> None:
    """Write every generated file that has changed."""
    for path, text in generated_files().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
