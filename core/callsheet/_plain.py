"""The quick way for the usual case: plain `{"name", "args"}` dicts that are the calls made.

`==` takes True for 1, and asking every value for its type takes longer than comparing. So both sides are
written down in C, types and order of keys included: what is written alike is equal. Nothing written is
ever read back. A no here only means that the expectations have to be read and compared one by one.
"""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from pickle import Pickler, PicklingError
from typing import Any

from callsheet._values import ToolCall

_MOST_WRITTEN = 32_000_000

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
        names, wanted = [item["name"] for item in expected], [item["args"] for item in expected]
    except KeyError:
        return False
    called, made = [call.name for call in actual], [call.args for call in actual]
    if set(map(type, names)) != {str}:
        return False
    if ordered:
        return names == called and plainly_equal(wanted, made)
    return Counter(names) == Counter(called) and _hold_the_same((names, wanted), (called, made))


def plainly_equal(left: Column, right: Column) -> bool:
    """Say whether two columns of values are plain, and surely equal."""
    try:
        return _written(left) == _written(right)
    except _UNWRITABLE:
        return False


# The last two are for values that hold themselves or nest too deeply.
_UNWRITABLE = (PicklingError, RecursionError, ValueError)


class _Writer(Pickler):
    def reducer_override(self, obj: Any) -> Any:  # noqa: ARG002
        """Refuse what is not of a plain type: it may have its own idea of what it equals."""
        raise PicklingError


class _Sheet:
    def __init__(self) -> None:
        self.parts: list[Any] = []
        self._room = _MOST_WRITTEN

    def write(self, part: Any) -> None:
        # A list that holds another twice, which holds another twice, has 2 to the depth values.
        self._room -= len(part)
        if self._room < 0:
            raise PicklingError
        self.parts.append(part)


def _written(values: Column) -> list[Any]:
    sheet = _Sheet()
    # Protocol 5 would write any buffer as if it was bytes.
    writer = _Writer(sheet, 4)
    # Without it, a value that occurs twice is written as a reference the second time.
    writer.fast = True
    writer.dump(values)
    return sheet.parts


def _hold_the_same(expected: tuple[Column, Column], actual: tuple[Column, Column]) -> bool:
    """Say whether names and arguments are plain, and equal in some order."""
    try:
        # pickle refuses what marshal would write as something else, or would never finish.
        _written(expected[1])
        _written(actual[1])
        return _counted(expected) == _counted(actual)
    except _UNWRITABLE:
        return False


def _counted(columns: tuple[Column, Column]) -> Counter[bytes]:
    # Version 2 has no references.
    return Counter(map(marshal.dumps, zip(*columns, strict=True), repeat(2)))
