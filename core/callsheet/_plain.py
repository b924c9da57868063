"""The quick way for the usual case: plain `{"name", "args"}` dicts that are the calls made.

Whole columns of values are compared at once, at the speed of `==`. A no here only means that the
expectations have to be read and compared one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, compress, repeat
from operator import attrgetter, is_, itemgetter
from types import NoneType
from typing import Any

from callsheet._values import ToolCall

_SCALARS = frozenset({str, int, float, bool, NoneType})
_PLAIN = _SCALARS | {dict, list, tuple}
_DEEPEST = 50

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
    bools = False
    for _ in range(_DEEPEST):
        types = list(map(type, ones))
        kinds = set(types)
        if not kinds <= _PLAIN or types != list(map(type, others)):
            return False
        bools = bools or bool in kinds
        if kinds <= _SCALARS:
            return left == right and _same_keys(dicts, in_order=bools)
        opened: tuple[Column, Column] = ([], [])
        for kind in kinds - _SCALARS:
            places = list(map(is_, types, repeat(kind)))
            pair = list(compress(ones, places)), list(compress(others, places))
            if kind is dict:
                dicts.append(pair)
            for inside, containers in zip(opened, pair, strict=True):
                inside.extend(
                    chain.from_iterable(map(dict.values, containers) if kind is dict else containers)
                )
        ones, others = opened
    return False


def _same_keys(dicts: Sequence[tuple[Column, Column]], *, in_order: bool) -> bool:
    """Say whether equal dicts have only text for keys, and in the same order where that matters."""
    for ones, others in dicts:
        if not set(map(type, set().union(*ones))) <= {str}:
            return False
        if in_order and list(chain.from_iterable(ones)) != list(chain.from_iterable(others)):
            return False
    return True


def _reordered(names: Column, args: Column, actual: Sequence[ToolCall]) -> Sequence[ToolCall]:
    """Give the calls in the order in which they look like the expected ones, or as they are."""
    waiting: defaultdict[Any, list[ToolCall]] = defaultdict(list)
    for call in reversed(actual):
        waiting[_looks(call.name, call.args)].append(call)
    reordered = []
    for name, values in zip(names, args, strict=True):
        alike = waiting.get(_looks(name, values))
        if not alike:
            return actual
        reordered.append(alike.pop())
    return reordered


def _looks(name: Any, args: Any) -> Any:
    """Give something hashable that calls with equal values in the same order share."""
    if type(name) is not str or type(args) is not dict:
        return None
    looks = (name, *args.values())
    try:
        hash(looks)
    except TypeError:
        return (name, *[value if type(value) in _SCALARS else repr(value) for value in looks])
    return looks
