"""Minimal edit scripts between expected and actual items (edit distance in a band, Ukkonen 1985)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Test = Callable[[int, int], bool]

# An edit outweighs any number of preferences among equally short scripts.
_EDIT = 1 << 32
_FAR = 1 << 64
_FREE = 0
_REPLACED = 2
_OTHER_EDIT = 1
_MOST_CELLS = 600_000


@dataclass(frozen=True, slots=True)
class Edit:
    """One step of a script: what became of an expected item, an actual one, or a pair of them.

    Args:
        kind: "match", "change" (both there, but different), "missing", "extra", or "moved" (both there
            and equal, at the wrong place).
        expected: The position of the expected item, or None for an extra one.
        actual: The position of the actual item, or None for a missing one.
    """

    kind: Literal["match", "change", "missing", "extra", "moved"]
    expected: int | None
    actual: int | None


def align(expected: int, actual: int, same: Test, alike: Test, *, gaps: bool = False) -> list[Edit] | None:
    """Give the shortest edit script, or None when the lists are too long and too different to tell.

    Args:
        expected: How many expected items there are.
        actual: How many actual items there are.
        same: Whether an expected and an actual item match.
        alike: Whether two items are about the same thing; among equally short scripts, the one that
            changes alike items is given.
        gaps: Whether extra items are allowed, and cost nothing.
    """
    start = 0
    shortest = min(expected, actual)
    while start < shortest and same(start, start):
        start += 1
    end = 0
    while end < shortest - start and same(expected - 1 - end, actual - 1 - end):
        end += 1
    rows, columns = expected - start - end, actual - start - end
    middle = _align_middle(
        rows,
        columns,
        lambda i, j: same(start + i, start + j),
        lambda i, j: alike(start + i, start + j),
        gaps=gaps,
    )
    if middle is None:
        return None
    script = [Edit("match", i, i) for i in range(start)]
    script += [
        Edit(
            edit.kind,
            None if edit.expected is None else edit.expected + start,
            None if edit.actual is None else edit.actual + start,
        )
        for edit in middle
    ]
    script += [Edit("match", expected - end + k, actual - end + k) for k in range(end)]
    return script


def _align_middle(rows: int, columns: int, same: Test, alike: Test, *, gaps: bool) -> list[Edit] | None:
    longest = max(rows, columns)
    # A script of at most `band` edits never leaves the band; free extra items do.
    band = longest if gaps else max(1, abs(rows - columns))
    while True:
        band = min(band, longest)
        if (2 * band + 1) * (rows + 1) > _MOST_CELLS and rows * columns > _MOST_CELLS:
            return None
        cost, moves = _fill(rows, columns, band, same, alike, extra=_FREE if gaps else _EDIT + _OTHER_EDIT)
        if band == longest or cost // _EDIT <= band:
            return _trace_back(rows, columns, moves)
        band *= 2


def _fill(
    rows: int, columns: int, band: int, same: Test, alike: Test, *, extra: int
) -> tuple[int, list[dict[int, str]]]:
    """Give the cost of the cheapest script within the band, and for every cell the move it comes by."""
    missing = _EDIT + _OTHER_EDIT
    costs: dict[int, int] = {j: j * extra for j in range(min(columns, band) + 1)}
    moves: list[dict[int, str]] = [dict.fromkeys(costs, "extra")]
    for i in range(1, rows + 1):
        previous, costs, row = costs, {}, {}
        for j in range(max(0, i - band), min(columns, i + band) + 1):
            best, move = _FAR, ""
            if j - 1 in previous:
                if same(i - 1, j - 1):
                    best, move = previous[j - 1], "match"
                else:
                    best = previous[j - 1] + _EDIT + (_OTHER_EDIT if alike(i - 1, j - 1) else _REPLACED)
                    move = "change"
            if j in previous and previous[j] + missing < best:
                best, move = previous[j] + missing, "missing"
            if j - 1 in costs and costs[j - 1] + extra < best:
                best, move = costs[j - 1] + extra, "extra"
            costs[j], row[j] = best, move
        moves.append(row)
    return costs[columns], moves


def _trace_back(rows: int, columns: int, moves: list[dict[int, str]]) -> list[Edit]:
    script: list[Edit] = []
    i, j = rows, columns
    while i or j:
        move = moves[i][j]
        if move == "extra":
            j -= 1
            script.append(Edit("extra", None, j))
        elif move == "missing":
            i -= 1
            script.append(Edit("missing", i, None))
        else:
            i, j = i - 1, j - 1
            script.append(Edit("match" if move == "match" else "change", i, j))
    return script[::-1]
