"""Optimal one-to-one assignment: maximum matching in a bipartite graph by augmenting paths (Kuhn, 1955)."""

from __future__ import annotations

from collections.abc import Callable

Fits = Callable[[int, int], bool]


def maximum_matching(
    left: int, right: int, fits: Fits, row: Callable[[int], int] | None = None
) -> dict[int, int]:
    """Pair as many of `left` items with distinct `right` items as can be paired at all.

    Args:
        left: How many items there are on the left, known by position.
        right: How many there are on the right.
        fits: Whether a left and a right position may be paired.
        row: All right positions a left one may be paired with, as a bit mask, where that is cheaper to
            find than by asking `fits` for each.

    Returns:
        Left position -> right position.
    """
    # Most lists are nearly in order: position i with position i settles them without asking for every pair.
    matched = {i: i for i in range(min(left, right)) if fits(i, i)}
    taken = {j: i for i, j in matched.items()}
    rows: dict[int, int] = {}

    def known_row(i: int) -> int:
        if i not in rows:
            rows[i] = row(i) if row is not None else sum(1 << j for j in range(right) if fits(i, j))
        return rows[i]

    for i in range(left):
        if i not in matched and len(taken) < right:
            _augment(i, right, known_row, matched, taken)
    return matched


def _augment(
    start: int, right: int, row: Callable[[int], int], matched: dict[int, int], taken: dict[int, int]
) -> None:
    """Find the shortest alternating path from a free left item to a free right one, and flip it."""
    unvisited = (1 << right) - 1
    reached_from: dict[int, int] = {}
    frontier = [start]
    while frontier:
        following: list[int] = []
        for i in frontier:
            candidates = row(i) & unvisited
            unvisited &= ~candidates
            while candidates:
                lowest = candidates & -candidates
                candidates ^= lowest
                j = lowest.bit_length() - 1
                reached_from[j] = i
                if j not in taken:
                    _flip(j, reached_from, matched, taken)
                    return
                following.append(taken[j])
        frontier = following


def _flip(free: int, reached_from: dict[int, int], matched: dict[int, int], taken: dict[int, int]) -> None:
    j: int | None = free
    while j is not None:
        i = reached_from[j]
        previous = matched.get(i)
        matched[i], taken[j] = j, i
        j = previous
