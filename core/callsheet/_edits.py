"""The smallest edits between expected and actual items, for failure texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callsheet._alignment import Edit, Test, align
from callsheet._expected import Expected
from callsheet._matching import Matching

# Looking for a moved item compares every missing one with every extra one.
_MOST_MOVED = 50


def edits_in_order(
    expected: Sequence[Expected], actual: Sequence[Any], *, gaps: bool = False, moves: bool = True
) -> list[Edit] | None:
    """Give the shortest script that makes the actual items the expected ones, in order.

    Args:
        expected: What was expected.
        actual: What happened.
        gaps: Whether other items may come in between; they are extra, at no cost.
        moves: Whether a missing and an extra item that match are told as one moved item.

    Returns:
        The script, or None when the lists are too long and too different to tell.
    """
    same = _same(expected, actual)
    script = align(len(expected), len(actual), same, _alike(expected, actual), gaps=gaps)
    return _with_moves(script, same) if script is not None and moves else script


def edits_in_any_order(expected: Sequence[Expected], actual: Sequence[Any], matching: Matching) -> list[Edit]:
    """Give the script of a one-to-one matching; what is left on both sides is paired by tool name."""
    script = [Edit("match", i, j) for i, j in matching.pairs.items()]
    extra = list(matching.extra)
    for i in matching.missing:
        like = next((j for j in extra if _about_the_same(expected[i], actual[j])), None)
        if like is None:
            script.append(Edit("missing", i, None))
        else:
            extra.remove(like)
            script.append(Edit("change", i, like))
    script += [Edit("extra", None, j) for j in extra]
    return sorted(script, key=_place)


def _place(edit: Edit) -> int:
    return edit.expected if edit.expected is not None else edit.actual or 0


def _same(expected: Sequence[Expected], actual: Sequence[Any]) -> Test:
    names = [item.name for item in expected]
    known: dict[tuple[int, int], bool] = {}

    def same(i: int, j: int) -> bool:
        if names[i] is not None and names[i] != actual[j].name:
            return False
        if (i, j) not in known:
            known[i, j] = expected[i].matches(actual[j])
        return known[i, j]

    return same


def _alike(expected: Sequence[Expected], actual: Sequence[Any]) -> Test:
    return lambda i, j: _about_the_same(expected[i], actual[j])


def _about_the_same(expected: Expected, actual: Any) -> bool:
    if expected.name is not None:
        return bool(expected.name == actual.name)
    return actual.name is None and expected.role is not None and bool(expected.role == actual.role)


def _with_moves(script: list[Edit], same: Test) -> list[Edit]:
    """Join a missing and an extra item that match: the call was made, at another place."""
    extra = [(edit, edit.actual) for edit in script if edit.kind == "extra" and edit.actual is not None]
    missing = [
        (edit, edit.expected) for edit in script if edit.kind == "missing" and edit.expected is not None
    ]
    moved: dict[Edit, Edit] = {}
    for lost, i in missing[:_MOST_MOVED]:
        for found, j in extra[:_MOST_MOVED]:
            if found not in moved.values() and same(i, j):
                moved[lost] = found
                break
    gone = set(moved.values())
    return [
        Edit("moved", edit.expected, moved[edit].actual) if edit in moved else edit
        for edit in script
        if edit not in gone
    ]
