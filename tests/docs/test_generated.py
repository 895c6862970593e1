"""What the site shows of the code is made of the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from quota_model.scheduler import SchedulerOptions
from tools.docstrings import MarkdownDocstrings, _markdown
from tools.readme import generated_files
from tools.site import _FIRST_OPTIONS


@pytest.mark.parametrize("path", generated_files(), ids=lambda path: path.name)
def test_what_is_generated_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == generated_files()[path], "run: make readme"


def test_every_heading_among_the_options_stands_before_one_that_there_is() -> None:
    assert _FIRST_OPTIONS.keys() <= {line.name for line in SchedulerOptions().lines()}


# Docstrings


def test_references_in_docstrings_become_code() -> None:
    assert MarkdownDocstrings.__doc__
    assert _markdown("See :class:`~a.B` and :meth:`c.d`.") == "See `B` and `c.d`."


def test_examples_in_docstrings_become_code_blocks() -> None:
    text = "Summary.\n\nExample::\n\n    queue.publish()\n\n    more()\n\n:param x: a thing"

    expected = "Summary.\n\nExample:\n\n```python\nqueue.publish()\n\nmore()\n```\n\n:param x: a thing"
    assert _markdown(text) == expected
