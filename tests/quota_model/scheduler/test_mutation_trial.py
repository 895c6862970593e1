from __future__ import annotations

import pytest

from tests.quota_model.scheduler.mutation_trial import MUTATIONS, NAMED, ROOT, SCHEDULER, TESTS, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.rule)
def test_a_mutation_finds_what_it_breaks(mutation: Mutation) -> None:
    source = (ROOT / SCHEDULER / mutation.module).read_text(encoding="utf-8")
    assert source.count(mutation.old) == 1


def test_every_choice_is_tried() -> None:
    files = {path.stem.removeprefix("test_") for path in (ROOT / TESTS).glob("test_choices_of_*.py")}
    assert files <= set(NAMED)
