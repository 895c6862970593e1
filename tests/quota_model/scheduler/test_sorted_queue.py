from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from quota_model.scheduler import sorted_queue
from quota_model.scheduler.sorted_queue import SortedQueue

ENTRIES = st.lists(st.integers(0, 200), unique=True, max_size=60)


@given(ENTRIES, st.data())
def test_holds_what_a_sorted_list_holds(numbers: list[int], data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_queue, "_BUCKET", 4)
        queue: SortedQueue[tuple[int]] = SortedQueue()
        kept: list[tuple[int]] = []
        for number in numbers:
            queue.add((number,))
            kept = sorted([*kept, (number,)])
            if number % 2:
                gone: tuple[int] = data.draw(st.sampled_from(kept))
                kept.remove(gone)
                queue.remove(gone)
            if kept and number % 3:
                assert queue.pop_first() == kept.pop(0)
            assert list(queue) == kept
            assert len(queue) == len(kept)
            assert bool(queue) is bool(kept)
            assert queue.first == (kept[0] if kept else None)


def test_fails_to_remove_what_is_not_there() -> None:
    queue: SortedQueue[tuple[int]] = SortedQueue()
    queue.add((1,))
    for entry in ((0,), (2,)):
        with pytest.raises(KeyError):
            queue.remove(entry)
