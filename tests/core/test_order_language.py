"""Order patterns decide exactly the language they describe: compared with enumeration by definition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, product
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from callsheet import ToolCall
from callsheet._order_edits import smallest_edits
from callsheet._order_pattern import BothOf, EitherOf, Pattern
from callsheet._order_run import fits
from callsheet.order import AnyOrder, Before, Immediately, InOrder, Never, Optional, Parallel, Times

# A way to meet a pattern: the positions of the calls it uses, and of those that must not be extras.
Way = tuple[frozenset[int], frozenset[int]]
NOTHING: Way = (frozenset(), frozenset())


class Trajectory:
    """Batches of tool names; positions count calls across batches."""

    def __init__(self, batches: list[list[str]]) -> None:
        numbered = iter(range(sum(map(len, batches))))
        self.batches = [[(next(numbered), name) for name in batch] for batch in batches]

    def positions(self, low: int, high: int, name: str | None = None) -> frozenset[int]:
        stretch = self.batches[low:high]
        return frozenset(p for batch in stretch for p, each in batch if name is None or each == name)

    def calls(self) -> list[ToolCall]:
        return [ToolCall(name, turn=turn) for turn, batch in enumerate(self.batches) for _, name in batch]


def accepted(pattern: Any, trajectory: Trajectory, *, extras: bool) -> bool:
    whole = len(trajectory.batches)
    everything = trajectory.positions(0, whole)
    return any(
        barred <= used if extras else used == everything
        for used, barred in ways(pattern, trajectory, 0, whole, extras)
    )


def ways(pattern: Any, t: Trajectory, low: int, high: int, extras: bool) -> set[Way]:  # noqa: C901
    match pattern:
        case str():
            return {(frozenset({p}), frozenset()) for p in t.positions(low, high, pattern)}
        case InOrder() | Immediately():
            return set(sequence(list(pattern.items), t, low, high, extras, isinstance(pattern, Immediately)))
        case AnyOrder():
            return together([ways(item, t, low, high, extras) for item in pattern.items], disjoint=True)
        case Parallel():
            inner = AnyOrder(*pattern.items)
            found = {way for b in range(low, high) for way in ways(inner, t, b, b + 1, extras)}
            return found | ({NOTHING} if ways(inner, t, low, low, extras) else set())
        case Before():
            first, second = pattern.items
            return ways(InOrder(AnyOrder(first, Never(second)), second), t, low, high, extras)
        case Optional():
            return {NOTHING} | ways(pattern.items[0], t, low, high, extras)
        case Never():
            hits = ways(pattern.items[0], t, low, high, True)
            return set() if any(barred <= used for used, barred in hits) else {NOTHING}
        case Times():
            return times(pattern, t, low, high, extras)
        case BothOf():
            return together([ways(item, t, low, high, extras) for item in pattern.items], disjoint=False)
        case EitherOf():
            return {way for item in pattern.items for way in ways(item, t, low, high, extras)}
    raise AssertionError(pattern)


def together(choices: list[set[Way]], *, disjoint: bool) -> set[Way]:
    found = set()
    for picked in product(*choices):
        used = frozenset().union(*(way[0] for way in picked))
        barred = frozenset().union(*(way[1] for way in picked))
        if not disjoint or len(used) == sum(len(way[0]) for way in picked):
            found.add((used, barred))
    return found


def times(pattern: Times, t: Trajectory, low: int, high: int, extras: bool) -> set[Way]:
    item, least, most = pattern.items[0], pattern.min, pattern.max
    if most == 0:
        return ways(Never(item), t, low, high, extras)
    if isinstance(item, str):
        hits = t.positions(low, high, item)
        return {
            (frozenset(used), hits - set(used) if most is not None else frozenset())
            for size in range(least, (len(hits) if most is None else min(most, len(hits))) + 1)
            for used in combinations(sorted(hits), size)
        }
    reach = least + len(t.batches) if most is None else most
    if extras:
        found = repeated(item, least, t, low, high, extras)
        if most is not None:
            too_many = repeated(item, most + 1, t, low, high, True)
            if any(barred <= used for used, barred in too_many):
                return set()
        return found
    return {way for count in range(least, reach + 1) for way in repeated(item, count, t, low, high, extras)}


def repeated(item: Any, count: int, t: Trajectory, low: int, high: int, extras: bool) -> set[Way]:
    if count == 0:
        return {NOTHING}
    return ways(item if count == 1 else InOrder(*[item] * count), t, low, high, extras)


def is_gap(item: Any) -> bool:
    """Whether an item uses no call, whatever the trajectory, and only rules calls out."""
    match item:
        case str():
            return False
        case Never():
            return True
        case Times() if item.max == 0:
            return True
        case _:
            return all(is_gap(inner) for inner in item.items)


def sequence(
    items: list[Any], t: Trajectory, low: int, high: int, extras: bool, immediate: bool
) -> Iterator[Way]:
    merged: list[Any] = []
    for item in items:
        if merged and is_gap(item) and is_gap(merged[-1]):
            merged[-1] = AnyOrder(merged[-1], item)
        else:
            merged.append(item)
    if len(merged) == 1:
        yield from ways(merged[0], t, low, high, extras)
        return
    gaps = [is_gap(item) for item in merged]
    for cuts in combinations_with_ends(low, high, len(merged)):
        spans = list(pairwise(cuts))
        wide = [k for k, (start, stop) in enumerate(spans) if start < stop]
        options = []
        for k, (start, stop) in enumerate(spans):
            found = ways(merged[k], t, start, stop, extras)
            if start == stop:
                found = {NOTHING} if NOTHING in found or any(not way[0] for way in found) else set()
            elif not gaps[k]:
                before = max((w for w in wide if w < k), default=None)
                after = min((w for w in wide if w > k), default=None)
                last = len(merged) - 1 if after is None else after
                if any(gaps[k + 1 : last + 1]) or (immediate and after is not None):
                    found = {way for way in found if way[0] & t.positions(stop - 1, stop)}
                if any(gaps[(before or 0) : k]) or (immediate and before is not None):
                    found = {way for way in found if way[0] & t.positions(start, start + 1)}
            options.append(found)
        yield from together(options, disjoint=True)


def combinations_with_ends(low: int, high: int, count: int) -> Iterator[tuple[int, ...]]:
    for inner in combinations(range(low, high + count), count - 1):
        cuts = tuple(cut - k for k, cut in enumerate(inner))
        if all(low <= cut <= high for cut in cuts):
            yield (low, *cuts, high)


NAMES = st.sampled_from("abc")
PATTERNS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.builds(lambda items: InOrder(*items), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda items: AnyOrder(*items), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda items: Parallel(*items), st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda items: Immediately(*items), st.lists(inner, min_size=2, max_size=3)),
        st.builds(Before, inner, inner),
        st.builds(Optional, inner),
        st.builds(Never, inner),
        st.builds(
            lambda i, n, m: Times(i, n, None if m is None else n + m),
            inner,
            st.integers(0, 2),
            st.none() | st.integers(0, 1),
        ),
        st.builds(BothOf, inner, inner),
        st.builds(EitherOf, inner, inner),
    ),
    max_leaves=4,
).filter(lambda pattern: isinstance(pattern, Pattern))
BATCHES = st.lists(st.lists(NAMES, min_size=1, max_size=2), max_size=4)


@given(PATTERNS, BATCHES, st.booleans())
@settings(max_examples=300, deadline=None)
@example(InOrder("a", Never("b")), [["a"], ["b"]], True)
@example(InOrder(Never("b"), "a"), [["b"], ["a"]], True)
@example(InOrder("a", "b"), [["a", "b"]], True)
@example(Before("a", "b"), [["b"], ["a"], ["b"]], True)
def test_the_verdict_is_that_of_the_enumeration(
    pattern: Pattern, batches: list[list[str]], extras: bool
) -> None:
    trajectory = Trajectory(batches)
    assert fits(pattern, trajectory.calls(), extras=extras) == accepted(pattern, trajectory, extras=extras)


@given(PATTERNS, BATCHES, st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_edit_is_needed_exactly_when_the_calls_fit(
    pattern: Pattern, batches: list[list[str]], extras: bool
) -> None:
    calls = Trajectory(batches).calls()
    edits = smallest_edits(pattern, calls, extras=extras)
    assert (edits == []) == fits(pattern, calls, extras=extras)
    if edits and all(edit.kind == "extra" for edit in edits):
        needless = {edit.position for edit in edits}
        kept = [call for position, call in enumerate(calls) if position not in needless]
        assert fits(pattern, kept, extras=extras)
