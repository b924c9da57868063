"""The quick way for the usual case: plain `{"name", "args"}` dicts that are the calls made.

Whole columns of values are compared at once, at the speed of `==`. A no here only means that the
expectations have to be read and compared one by one.
"""

from __future__ import annotations

import marshal
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, compress, repeat
from operator import attrgetter, is_, itemgetter
from types import NoneType
from typing import Any

from callsheet._values import ToolCall

_SCALARS = frozenset({str, int, float, bool, NoneType})
_PLAIN = _SCALARS | {dict, list, tuple}
_NUMBERS = frozenset({int, float})
_DEEPEST = 50
_MOST_VALUES = 2_000_000

Column = list[Any]


def surely_the_same(expected: Any, actual: Sequence[ToolCall], *, ordered: bool) -> bool:
    """Say whether expected calls are plain dicts of a name and args, and surely the calls made.

    Args:
        expected: What the user wrote.
        actual: The calls made.
        ordered: Whether the order counts.
    """
    if type(expected) is not list or len(expected) != len(actual) or set(map(type, expected)) != {dict}:
        return False
    if set(map(len, expected)) != {2}:
        return False
    try:
        names, args = list(map(itemgetter("name"), expected)), list(map(itemgetter("args"), expected))
    except KeyError:
        return False
    calls = list(actual) if ordered else _reordered(names, args, actual)
    return plainly_equal(names, list(map(attrgetter("name"), calls))) and plainly_equal(
        args, list(map(attrgetter("args"), calls))
    )


def plainly_equal(left: Column, right: Column) -> bool:
    """Say whether two columns are surely equal.

    `==` alone would take True for 1, so the types have to be the same at every place.
    """
    ones, others = left, right
    dicts: list[tuple[Column, Column]] = []
    found: set[type] = set()
    values = 0
    for _ in range(_DEEPEST):
        types = list(map(type, ones))
        kinds = set(types)
        # A list that holds itself twice has twice as many values on every level.
        values += len(types)
        if values > _MOST_VALUES or not kinds <= _PLAIN or types != list(map(type, others)):
            return False
        found |= kinds
        if kinds <= _SCALARS:
            mixable = bool in found and not found.isdisjoint(_NUMBERS)
            return left == right and _same_keys(dicts, in_order=mixable)
        opened: tuple[Column, Column] = ([], [])
        for kind in kinds - _SCALARS:
            pair = _of_kind(kind, ones, types), _of_kind(kind, others, types)
            if kind is dict:
                dicts.append(pair)
            for inside, containers in zip(opened, pair, strict=True):
                inside.extend(_contents(kind, containers))
        ones, others = opened
    return False


def _of_kind(kind: type, values: Column, types: Sequence[type]) -> Column:
    return list(compress(values, map(is_, types, repeat(kind))))


def _contents(kind: type, containers: Column) -> Iterator[Any]:
    return chain.from_iterable(map(dict.values, containers) if kind is dict else containers)


def _is_bounded(values: Column) -> bool:
    """Say whether values are plain and hold no more, and no deeper, than the quick way reads."""
    count = 0
    for _ in range(_DEEPEST):
        types = list(map(type, values))
        kinds = set(types)
        count += len(types)
        if count > _MOST_VALUES or not kinds <= _PLAIN:
            return False
        if kinds <= _SCALARS:
            return True
        containers = [(kind, _of_kind(kind, values, types)) for kind in kinds - _SCALARS]
        values = list(chain.from_iterable(_contents(kind, group) for kind, group in containers))
    return False


def _same_keys(dicts: Sequence[tuple[Column, Column]], *, in_order: bool) -> bool:
    """Say whether equal dicts have only text for keys, and in the same order where that matters."""
    for ones, others in dicts:
        keys = list(chain.from_iterable(ones))
        if not set(map(type, keys)) <= {str}:
            return False
        if in_order and keys != list(chain.from_iterable(others)):
            return False
    return True


def _reordered(names: Column, args: Column, actual: Sequence[ToolCall]) -> Sequence[ToolCall]:
    """Give the calls in the order in which they look like the expected ones, or as they are.

    What `marshal` writes is only what they look like: whether they are equal is decided afterwards.
    """
    called, made = list(map(attrgetter("name"), actual)), list(map(attrgetter("args"), actual))
    if not ({*map(type, names), *map(type, called)} <= {str} and _is_bounded(args) and _is_bounded(made)):
        return actual
    try:
        # Version 2 writes a value alike however often it is shared.
        wanted = zip(list(map(marshal.dumps, args, repeat(2))), names, strict=True)
        looks = list(map(marshal.dumps, made, repeat(2)))
    except ValueError:  # a key is not plain
        return actual
    waiting: defaultdict[tuple[bytes, Any], list[ToolCall]] = defaultdict(list)
    for key, call in zip(zip(reversed(looks), reversed(called), strict=True), reversed(actual), strict=True):
        waiting[key].append(call)
    reordered = []
    for sought in wanted:
        alike = waiting.get(sought)
        if not alike:
            return actual
        reordered.append(alike.pop())
    return reordered
