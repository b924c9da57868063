"""Comparing expected calls or steps with actual ones: in order, as a sub-sequence, or one to one."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from callsheet._assignment import maximum_matching
from callsheet._expected import Expected


@dataclass(frozen=True)
class Matching:
    """Which expected position is met by which actual one, and what is left on both sides."""

    pairs: dict[int, int]
    missing: list[int]
    extra: list[int]


def match_in_order(expected: Sequence[Expected], actual: Sequence[Any]) -> bool:
    """Say whether both have the same length and match position by position."""
    return len(expected) == len(actual) and all(
        wanted.matches(item) for wanted, item in zip(expected, actual, strict=True)
    )


def match_subsequence(expected: Sequence[Expected], actual: Sequence[Any]) -> Matching:
    """Find the expected items in order, gaps allowed; each is met by the earliest actual item it can be.

    Taking the earliest is optimal: whatever a later choice leaves over, the earliest leaves over too.
    """
    pairs: dict[int, int] = {}
    position = 0
    for i, wanted in enumerate(expected):
        while position < len(actual) and not wanted.matches(actual[position]):
            position += 1
        if position == len(actual):
            break
        pairs[i] = position
        position += 1
    return _matching(pairs, len(expected), len(actual))


def match_one_to_one(expected: Sequence[Expected], actual: Sequence[Any]) -> Matching:
    """Pair as many expected items as possible with distinct actual ones, whatever the order."""
    keys = [wanted.key() for wanted in expected]
    if None not in keys and len({key[0] for key in keys}) == 1:
        actual_keys = [expected[0].key_of(item) for item in actual]
        if None not in actual_keys:
            return _matching(_pair_equal_keys(keys, actual_keys), len(expected), len(actual))
    pairs = maximum_matching(
        len(expected),
        len(actual),
        lambda i, j: expected[i].matches(actual[j]),
        _Rows(expected, keys, actual).row,
    )
    return _matching(pairs, len(expected), len(actual))


def _matching(pairs: dict[int, int], expected: int, actual: int) -> Matching:
    taken = set(pairs.values())
    return Matching(
        pairs,
        [i for i in range(expected) if i not in pairs],
        [j for j in range(actual) if j not in taken],
    )


def _pair_equal_keys(expected: Sequence[Any], actual: Sequence[Any]) -> dict[int, int]:
    positions: defaultdict[Any, deque[int]] = defaultdict(deque)
    for j, key in enumerate(actual):
        positions[key].append(j)
    pairs: dict[int, int] = {}
    for i, key in enumerate(expected):
        if positions.get(key):
            pairs[i] = positions[key].popleft()
    return pairs


class _Rows:
    """Which actual items each expected one accepts, as bit masks.

    Literal expectations are looked up; only matchers, and actual values that have no hashable form, are
    compared one by one.
    """

    def __init__(self, expected: Sequence[Expected], keys: Sequence[Any], actual: Sequence[Any]) -> None:
        self._expected = expected
        self._keys = keys
        self._actual = actual
        self._by_name: defaultdict[Any, list[int]] = defaultdict(list)
        for j, item in enumerate(actual):
            self._by_name[item.name].append(j)
        self._shapes: dict[tuple[str, ...], tuple[dict[Any, int], list[int]]] = {}

    def row(self, i: int) -> int:
        """Give the mask of the actual positions that expected position `i` accepts."""
        wanted, key = self._expected[i], self._keys[i]
        if key is None:
            candidates = range(len(self._actual)) if wanted.name is None else self._by_name[wanted.name]
            return self._compared(wanted, candidates)
        masks, others = self._shape(wanted, key[0])
        return masks.get(key, 0) | self._compared(wanted, others)

    def _shape(self, wanted: Expected, fields: tuple[str, ...]) -> tuple[dict[Any, int], list[int]]:
        if fields not in self._shapes:
            masks: defaultdict[Any, int] = defaultdict(int)
            others: list[int] = []
            for j, item in enumerate(self._actual):
                key = wanted.key_of(item)
                if key is None:
                    others.append(j)
                else:
                    masks[key] |= 1 << j
            self._shapes[fields] = masks, others
        return self._shapes[fields]

    def _compared(self, wanted: Expected, candidates: Sequence[int]) -> int:
        return sum(1 << j for j in candidates if wanted.matches(self._actual[j]))
