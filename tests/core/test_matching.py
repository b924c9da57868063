"""The verdicts of the matching engine, compared with trying everything."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from itertools import combinations, permutations
from pickle import PickleBuffer
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet import ToolCall, assert_tool_call_order, assert_tool_calls, assert_trajectory
from callsheet._assignment import maximum_matching
from callsheet._equality import equal
from callsheet._plain import plainly_equal, surely_the_same
from callsheet.match import Called, OneOf, Regex

VALUES = st.sampled_from([1, True, 1.0, "a", None, [1], [True], {"k": 1}, {"k": True}, (1,)])
ARGS = st.dictionaries(st.sampled_from("xy"), VALUES, max_size=2)
NAMES = st.sampled_from("ab")
CALLS = st.lists(st.builds(ToolCall, NAMES, ARGS), max_size=4)
EXPECTED = st.lists(
    st.one_of(
        NAMES,
        st.builds(lambda name, args: {"name": name, "args": args}, NAMES, ARGS),
        st.builds(lambda name, args: {"args": args, "name": name}, st.just(OneOf("a", "b")), ARGS),
        st.builds(lambda name, value: Called(name, x=value), NAMES, VALUES),
        st.just(ANY),
    ),
    max_size=4,
)


def accepts(expected: Any, call: ToolCall) -> bool:
    if isinstance(expected, str):
        return expected == call.name
    if isinstance(expected, dict):
        return bool(expected["name"] == call.name) and equal(expected["args"], call.args)
    return bool(expected == call)


def passes(check: Callable[..., None], *args: Any, **options: Any) -> bool:
    try:
        check(*args, **options)
    except AssertionError:
        return False
    return True


@pytest.mark.filterwarnings("ignore::callsheet.VacuousAssertionWarning")
@given(EXPECTED, CALLS)
@settings(max_examples=200, deadline=None)
def test_every_mode_agrees_with_trying_everything(expected: list[Any], calls: list[ToolCall]) -> None:
    def fits(ones: Any, others: Any) -> bool:
        return len(ones) == len(others) and all(map(accepts, ones, others))

    exact = fits(expected, calls)
    unordered = any(fits(expected, order) for order in permutations(calls))
    subset = any(fits(expected, part) for part in permutations(calls, len(expected)))
    ordered = any(fits(expected, part) for part in combinations(calls, len(expected)))
    superset = any(fits(part, calls) for part in permutations(expected, len(calls)))
    steps = [item if not isinstance(item, str | dict) else as_step(item) for item in expected]
    assert passes(assert_tool_calls, calls, expected) is exact
    assert passes(assert_tool_calls, calls, expected, strict_order=False) is unordered
    assert passes(assert_tool_call_order, calls, expected) is ordered
    assert passes(assert_trajectory, calls, steps) is exact
    assert passes(assert_trajectory, calls, steps, mode="unordered") is unordered
    assert passes(assert_trajectory, calls, steps, mode="subset") is subset
    assert passes(assert_trajectory, calls, steps, mode="ordered_subset") is ordered
    assert passes(assert_trajectory, calls, steps, mode="superset") is superset


def as_step(item: Any) -> dict[str, Any]:
    return {"role": "tool", "name": item} if isinstance(item, str) else {"role": "tool", **item}


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), max_size=5))
def test_a_maximum_matching_is_as_large_as_any(edges: list[list[bool]]) -> None:
    matched = maximum_matching(len(edges), 4, lambda i, j: edges[i][j])
    assert all(edges[i][j] for i, j in matched.items())
    assert len(set(matched.values())) == len(matched)
    columns = [*range(4), *[None] * len(edges)]
    best = max(
        sum(j is not None and edges[i][j] for i, j in enumerate(order))
        for order in set(permutations(columns, len(edges)))
    )
    assert len(matched) == best


def test_a_chain_of_pairs_is_turned_over_from_end_to_end() -> None:
    size = 300
    matched = maximum_matching(size, size, lambda i, j: j in (i, i + 1) if i else j == size - 1)
    assert len(matched) == size - 1
    matched = maximum_matching(size, size, lambda i, j: j in ((i + 1) % size, i) and (i, j) != (0, 0))
    assert len(matched) == size


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4))
def test_what_is_plainly_equal_is_equal(left: list[Any], right: list[Any]) -> None:
    assert plainly_equal(left, left)
    assert not plainly_equal(left, right) or equal(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([{"a": 1, "b": True}], [{"b": 1, "a": True}]),
        ([{True: 1}], [{1: 1}]),
        ([[1], [True, 2]], [[1, 1], [2]]),
        ([1], [True]),
        ([{"a": 1}], [{"a": ANY}]),
        ([(1,)], [[1]]),
        ([1], [2]),
    ],
)
def test_what_is_not_surely_equal_is_left_to_the_slow_way(left: list[Any], right: list[Any]) -> None:
    assert not plainly_equal(left, right)


class Shout(str):
    """Text that is equal to any text of the same letters, and as a key to none but its own kind."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()

    __hash__ = str.__hash__


class Never(dict[str, Any]):
    """A dict that is equal to nothing, not even itself."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


def holding_itself() -> list[Any]:
    twice: list[Any] = []
    twice += [twice, twice]
    return twice


TRICKY = st.sampled_from(
    [
        True,
        False,
        0,
        1,
        0.0,
        -0.0,
        1.0,
        float("nan"),
        2**70,
        -(2**70),
        float(2**70),
        None,
        "a",
        "\ud800",
        Shout("a"),
        b"a",
    ]
)
TRICKY_KEYS = st.sampled_from(["a", "b", Shout("a"), 1, True, 0])
NESTED = st.recursive(
    TRICKY | st.builds(Never, a=TRICKY) | st.builds(bytearray, st.just(b"a")),
    lambda inside: (
        st.lists(inside, max_size=2) | st.dictionaries(TRICKY_KEYS, inside, max_size=2) | st.tuples(inside)
    ),
    max_leaves=6,
)


def respelt(value: Any, pick: Callable[[list[Any]], Any]) -> Any:
    """Give a value that `==` may take for the same: other numbers for numbers, other order for keys."""
    if type(value) is dict:
        pairs = [(key, respelt(item, pick)) for key, item in value.items()]
        return dict(pick([pairs, pairs[::-1]]))
    if type(value) is list or type(value) is tuple:
        return type(value)(respelt(item, pick) for item in value)
    if type(value) in (bool, int, float):
        return pick([value, *[other for other in (True, False, 0, 1, 0.0, -0.0, 1.0) if other == value]])
    return value


@given(st.lists(st.dictionaries(TRICKY_KEYS, NESTED, max_size=3), min_size=1, max_size=3), st.data())
@settings(max_examples=300, deadline=None)
def test_the_quick_way_and_the_slow_way_give_one_verdict(
    args: list[dict[Any, Any]], data: st.DataObject
) -> None:
    expected = [{"name": "a", "args": values} for values in args]
    calls = [
        ToolCall("a", respelt(values, lambda options: data.draw(st.sampled_from(options)))) for values in args
    ]
    calls = data.draw(st.permutations(calls))
    for ordered in (True, False):
        slow = passes(assert_tool_calls, calls, (item for item in expected), strict_order=ordered)
        assert slow or not surely_the_same(expected, calls, ordered=ordered)
        assert passes(assert_tool_calls, calls, expected, strict_order=ordered) is slow


def test_a_key_that_only_looks_like_text_is_left_to_the_slow_way() -> None:
    assert not plainly_equal([{"a": 1}, {Shout("a"): 1}], [{"a": 1}, {"a": 1}])
    with pytest.raises(AssertionError):
        assert_tool_calls(
            [ToolCall("a", {"a": 1})] * 2,
            [{"name": "a", "args": {"a": 1}}, {"name": "a", "args": {Shout("a"): 1}}],
        )


@pytest.mark.parametrize("ordered", [True, False])
def test_a_list_that_holds_itself_twice_is_left_to_the_slow_way(ordered: bool) -> None:
    expected = [{"name": "a", "args": {"x": holding_itself()}}]
    assert not surely_the_same(expected, [ToolCall("a", {"x": holding_itself()})], ordered=ordered)


def test_a_value_too_deep_to_be_sorted_out_is_left_to_the_slow_way() -> None:
    deep: list[Any] = []
    deep.append(deep)
    expected = [{"name": "a", "args": {"x": deep}}]
    assert not surely_the_same(expected, [ToolCall("a", {"x": deep})], ordered=False)


def test_another_order_of_keys_is_left_to_the_slow_way() -> None:
    assert not plainly_equal([{"a": True, "b": 2}], [{"b": 2, "a": True}])
    assert_tool_calls([ToolCall("a", {"a": True, "b": 2})], [{"name": "a", "args": {"b": 2, "a": True}}])


def test_a_value_too_deep_for_the_quick_way_is_left_to_the_slow_one() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert not plainly_equal([deep], [deep])
    assert_tool_calls([ToolCall("a", {"x": deep})], [{"name": "a", "args": {"x": deep}}])


@pytest.mark.parametrize("ordered", [True, False])
def test_a_value_that_unfolds_to_more_than_fits_is_left_to_the_slow_way(ordered: bool) -> None:
    def unfolding() -> list[Any]:
        value: list[Any] = ["a"]
        for _ in range(45):
            value = [value, value]
        return value

    expected = [{"name": "a", "args": {"x": unfolding()}}]
    calls = [ToolCall("a", {"x": unfolding()})]
    assert not surely_the_same(expected, calls, ordered=ordered)


@pytest.mark.parametrize(
    "value",
    [
        b"a",
        bytearray(b"a"),
        memoryview(b"a"),
        PickleBuffer(b"a"),
        array("B", b"a"),
        Shout("a"),
        int,
        len,
        ...,
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("ordered", [True, False])
def test_what_may_be_written_as_something_else_is_left_to_the_slow_way(value: Any, ordered: bool) -> None:
    for actual in ("a", b"a", value):
        quick = surely_the_same(
            [{"name": "a", "args": {"x": [value]}}], [ToolCall("a", {"x": [actual]})], ordered=ordered
        )
        assert quick is (type(value) is type(actual) is bytes)


def test_how_often_a_value_is_shared_makes_no_difference() -> None:
    shared = ["text " * 3, 1.5]
    assert plainly_equal([{"a": shared, "b": shared}], [{"a": [*shared], "b": ["text " * 3, 1.5]}])


def test_the_quick_way_settles_plain_calls_in_any_order() -> None:
    calls = [ToolCall("a", {"n": n, "deep": {"m": [n]}} if n % 2 else {"n": n}) for n in range(50)]
    expected = [{"name": "a", "args": dict(call.args)} for call in calls]
    assert surely_the_same(expected, calls, ordered=True)
    random.Random(3).shuffle(expected)
    assert surely_the_same(expected, calls, ordered=False)
    assert not surely_the_same(expected, calls, ordered=True)
    assert_tool_calls(calls, expected, strict_order=False)


@pytest.mark.parametrize(
    "expected",
    [
        ({"name": "a", "args": {}},),
        ["a"],
        [{"name": "a"}],
        [{"name": "a", "arg": {}}],
        [{"name": "a", "args": None}],
        [{"name": ["a"], "args": {}}],
        [{"name": Regex("a"), "args": {}}],
        [{"name": "b", "args": {}}],
        [],
    ],
)
def test_everything_else_is_read_and_compared(expected: Any) -> None:
    assert not surely_the_same(expected, [ToolCall("a")], ordered=False)


def test_ten_thousand_literal_calls_with_one_matcher_among_them() -> None:
    calls = [ToolCall("a" if n % 2 else "b", {"n": n}) for n in range(10_000)]
    expected: list[Any] = [{"name": call.name, "args": {"n": call.args["n"]}} for call in calls]
    expected[77] = Called("a", n=77)
    expected[78] = {"name": Regex("b"), "args": {"n": 78}}
    random.Random(5).shuffle(expected)
    assert_tool_calls(calls, expected, strict_order=False)


def test_actual_values_that_have_no_hashable_form_are_compared_one_by_one() -> None:
    class Box:
        def __init__(self, content: int) -> None:
            self.content = content

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Box) and other.content == self.content

    calls = [ToolCall("a", {"box": Box(1)}), ToolCall("a", {"box": 2}), ToolCall("a", {"box": Box(3)})]
    expected = [{"name": "a", "args": {"box": value}} for value in (2, Box(3), Box(1))]
    assert_tool_calls(calls, expected, strict_order=False)
    assert_tool_calls(calls, [ANY, {"name": "a", "args": {"box": 2}}, "a"], strict_order=False)
    with pytest.raises(AssertionError):
        assert_tool_calls(calls, [*expected[:2], expected[1]], strict_order=False)
    with pytest.raises(AssertionError):
        assert_tool_calls(calls, [{"name": "a", "args": {"box": n}} for n in range(3)], strict_order=False)
