"""A sorted sequence that stays fast with a million entries: buckets of a sorted list."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

__all__ = ["SortedQueue"]

_Entry = TypeVar("_Entry", bound=tuple[Any, ...])
_BUCKET: Final = 512
_last = itemgetter(-1)


class SortedQueue(Generic[_Entry]):
    """Distinct tuples in ascending order. Adding and removing one costs a bisection and moves at most a bucket."""

    __slots__ = ("_buckets", "first")

    def __init__(self) -> None:
        self._buckets: list[list[_Entry]] = []
        self.first: _Entry | None = None
        """The smallest entry, if there is one."""

    def add(self, entry: _Entry) -> bool:
        """Put an entry at its place; return whether it is the smallest."""
        buckets = self._buckets
        if not buckets:
            buckets.append([entry])
            self.first = entry
            return True
        position = len(buckets) - 1
        bucket = buckets[position]
        if entry > bucket[-1]:
            bucket.append(entry)
        else:
            position = bisect_left(buckets, entry, key=_last)
            bucket = buckets[position]
            insort(bucket, entry)
            self.first = buckets[0][0]
        if len(bucket) > _BUCKET:
            half = len(bucket) // 2
            buckets.insert(position + 1, bucket[half:])
            del bucket[half:]
        return self.first is entry

    def pop_first(self) -> _Entry:
        """Take the smallest entry out; raises :class:`IndexError` if there is none."""
        buckets = self._buckets
        bucket = buckets[0]
        entry = bucket.pop(0)
        if bucket:
            self.first = bucket[0]
        else:
            del buckets[0]
            self.first = buckets[0][0] if buckets else None
        return entry

    def remove(self, entry: _Entry) -> None:
        """Take an entry out; raises :class:`KeyError` if it is not there."""
        buckets = self._buckets
        position = bisect_left(buckets, entry, key=_last)
        if position < len(buckets):
            bucket = buckets[position]
            index = bisect_left(bucket, entry)
            if bucket[index] == entry:
                del bucket[index]
                if not bucket:
                    del buckets[position]
                self.first = buckets[0][0] if buckets else None
                return
        raise KeyError(entry)

    def __iter__(self) -> Iterator[_Entry]:
        for bucket in self._buckets:
            yield from bucket

    def __len__(self) -> int:
        return sum(map(len, self._buckets))

    def __bool__(self) -> bool:
        return bool(self._buckets)
