"""Failure texts: the smallest edit that would pass first, then expected and actual side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from callsheet._alignment import Edit
from callsheet._colour import painted
from callsheet._edits import edits_in_any_order, edits_in_order
from callsheet._expected import Expected
from callsheet._failure_details import edit_lines
from callsheet._failure_table import table_lines
from callsheet._matching import Matching
from callsheet._rendering import wrapped
from callsheet._showing import shortened
from callsheet._steps import Step
from callsheet._values import ToolCall

_MOST_EDITS = 10
_MOST_NAMES = 20

_STEP_TITLES = {
    "exact": "these steps in this order",
    "ordered_subset": "these steps in this order, others in between allowed",
    "subset": "these steps, others allowed",
    "superset": "no other steps",
    "unordered": "these steps in any order",
}


def calls_failure(
    expected: Sequence[Expected],
    actual: Sequence[ToolCall],
    *,
    ordered: bool = True,
    gaps: bool = False,
    matching: Matching | None = None,
    title: str | None = None,
) -> str:
    """Give the text for tool calls that are not the expected ones.

    Args:
        expected: The expected calls.
        actual: The calls that were made.
        ordered: Whether the order counts.
        gaps: Whether other calls in between are allowed.
        matching: Which expected call is met by which actual one, where the order does not count.
        title: The first words, instead of the usual ones.
    """
    if title is None:
        title = f"Tool calls do not match ({'strict order' if ordered else 'any order'})"
    if matching is None:
        edits = edits_in_order(expected, actual, gaps=gaps)
    else:
        edits = edits_in_any_order(expected, actual, matching)
    return failure_text(title, expected, actual, edits, free={"extra"} if gaps else set())


def steps_failure(
    expected: Sequence[Expected], actual: Sequence[Step], mode: str, matching: Matching | None
) -> str:
    """Give the text for a trajectory that is not the expected one.

    Args:
        expected: The expected steps.
        actual: The steps made.
        mode: The mode they were compared in.
        matching: Which expected step is met by which actual one, where the order does not count.
    """
    free: set[str] = set()
    if matching is None:
        gaps = mode == "ordered_subset"
        edits = edits_in_order(expected, actual, gaps=gaps)
        free = {"extra"} if gaps else set()
    else:
        edits = edits_in_any_order(expected, actual, matching)
        free = {"subset": {"extra"}, "superset": {"missing"}}.get(mode, set())
    title = f"Trajectory mismatch (mode={mode}: {_STEP_TITLES[mode]})"
    return failure_text(title, expected, actual, edits, free=free)


def failure_text(
    title: str,
    expected: Sequence[Expected],
    actual: Sequence[Any],
    edits: list[Edit] | None,
    *,
    free: AbstractSet[str] = frozenset(),
) -> str:
    """Lay out a failure: how many edits away, which, and both sides next to each other.

    Args:
        title: The first words.
        expected: What was expected.
        actual: What happened.
        edits: The script between them, or None when it is out of reach.
        free: The kinds of edit the assertion allows anyway.
    """
    if edits is None:
        first = wrapped("", f"{title}: too many differences to align.", indent=0, deeper=2)
        return "\n".join([*first, *_tally(expected, actual)])
    needed = [edit for edit in edits if edit.kind != "match" and edit.kind not in free]
    count = f"{len(needed)} edit{'' if len(needed) == 1 else 's'} would make it pass"
    lines = wrapped("", f"{title}: {count}", indent=0, deeper=2)
    for edit in needed[:_MOST_EDITS]:
        lines += edit_lines(edit, expected, actual)
    if len(needed) > _MOST_EDITS:
        lines.append(f"  ... and {len(needed) - _MOST_EDITS} more edits")
    return painted("\n".join([*lines, "", *table_lines(edits, expected, actual, free)]))


def names_text(calls: Sequence[ToolCall]) -> str:
    """Give the names of the calls made, in order, as many as fit."""
    names = [shortened(call.name) for call in calls[:_MOST_NAMES]]
    more = f" and {len(calls) - _MOST_NAMES} more" if len(calls) > _MOST_NAMES else ""
    return f"{names}{more}"


def _tally(expected: Sequence[Expected], actual: Sequence[Any]) -> list[str]:
    first = next(
        (k for k, (one, other) in enumerate(zip(expected, actual, strict=False)) if not one.matches(other)),
        min(len(expected), len(actual)),
    )
    wanted = Counter(item.name or item.role or "(matcher)" for item in expected)
    made = Counter(item.name or item.role for item in actual)
    lines = [f"  Expected {len(expected)}, got {len(actual)}; the first difference is at [{first}]."]
    different = [name for name in {**wanted, **made} if wanted[name] != made[name]]
    return lines + [
        f"  {shortened(name, 40)}: expected {wanted[name]}, got {made[name]}"
        for name in different[:_MOST_NAMES]
    ]
