"""Expected and actual side by side, around the places where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from callsheet._alignment import Edit
from callsheet._expected import Expected
from callsheet._rendering import expected_text, item_text

_COLUMN = 34
_CONTEXT = 2
_MOST_ROWS = 40
_MARKS = {"change": "✗", "missing": "-", "extra": "+", "moved": "↕"}


def table_lines(
    edits: Sequence[Edit],
    expected: Sequence[Expected],
    actual: Sequence[Any],
    free: AbstractSet[str] = frozenset(),
) -> list[str]:
    """Give the rows near an edit, two columns wide; the other rows are counted instead.

    Args:
        edits: The script between the two sides.
        expected: What was expected.
        actual: What happened.
        free: The kinds of edit the assertion allows; they are no edits here.
    """
    changed = [edit.kind != "match" and edit.kind not in free for edit in edits]
    lines = [_row(" ", f"expected ({len(expected)})", f"actual ({len(actual)})")]
    previous = -1
    for k in _near(changed)[:_MOST_ROWS]:
        lines += _ellipsis(k - previous - 1)
        mark = _MARKS[edits[k].kind] if changed[k] else " "
        lines.append(_edit_row(mark, edits[k], expected, actual))
        previous = k
    return [*lines, *_ellipsis(len(edits) - previous - 1)]


def _near(changed: Sequence[bool]) -> list[int]:
    near = {
        m
        for k, edited in enumerate(changed)
        if edited
        for m in range(max(0, k - _CONTEXT), min(len(changed), k + _CONTEXT + 1))
    }
    return sorted(near)


def _edit_row(mark: str, edit: Edit, expected: Sequence[Expected], actual: Sequence[Any]) -> str:
    left = "" if edit.expected is None else expected_text(expected[edit.expected])
    right = "" if edit.actual is None else item_text(actual[edit.actual])
    return _row(mark, left, right)


def _row(mark: str, left: str, right: str) -> str:
    return f"  {mark} {_cell(left):<{_COLUMN}} | {_cell(right)}".rstrip()


def _cell(text: str) -> str:
    return text if len(text) <= _COLUMN else text[: _COLUMN - 3] + "..."


def _ellipsis(hidden: int) -> list[str]:
    return [f"    ... {hidden} more ..."] if hidden else []
