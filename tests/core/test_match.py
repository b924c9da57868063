"""Matchers: what they accept, how they combine, and how they read."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from dirty_equals import IsInt
from hypothesis import given
from hypothesis import strategies as st

from callsheet import ExpectationError, ToolCall
from callsheet.match import (
    Anything,
    Approx,
    Called,
    Matcher,
    OneOf,
    Partial,
    Regex,
    Satisfies,
    Unordered,
)

CALL = ToolCall("book", {"city": "Oslo", "nights": 2, "guest": {"name": "Ada", "vip": True}})


WRONG: Any = [1]


def is_even(number: int) -> bool:
    return number % 2 == 0


@pytest.mark.parametrize(
    ("matcher", "value"),
    [
        (Anything(), None),
        (Called("book"), CALL),
        (Called("book", city="Oslo", nights=2.0), CALL),
        (Called(Regex("^bo"), guest=Partial({"name": "Ada"})), CALL),
        (Called("book", city="Oslo"), {"name": "book", "args": {"city": "Oslo"}}),
        (Called("make", name="Ada"), ToolCall("make", {"name": "Ada"})),
        (Partial({"city": "Oslo"}), CALL.args),
        (Partial({}), {}),
        (Partial({"guest": Partial({"vip": True})}), CALL.args),
        (Regex("sl"), "Oslo"),
        (Regex("^OSLO$", re.IGNORECASE), "Oslo"),
        (Regex(re.compile("^O")), "Oslo"),
        (Regex(b"sl"), b"Oslo"),
        (Approx(0.3), 0.1 + 0.2),
        (Approx(100, rel=0.1), 109),
        (Approx(0, abs=1), -1),
        (Approx(0.0), 1e-13),
        (Approx(math.nan), float("nan")),
        (Approx(math.inf), math.inf),
        (Approx(Decimal("1.1"), rel=0.1), 1.2),
        (Approx(Fraction(1, 3), abs=0.01), 0.33),
        (Approx(10**309), 10**309 + 1),
        (Approx([1.0, {"a": 2}]), (1.0000001, {"a": 2.0000001})),
        (OneOf("a", "b"), "b"),
        (OneOf(["a", Regex("^x")]), "xyz"),
        (OneOf(1), 1.0),
        (Unordered([1, 2, 2]), (2, 1, 2.0)),
        (Unordered([Anything(), 1]), [1, 5]),
        (Unordered([1, 2]), {2, 1}),
        (Satisfies(is_even), 4),
        (Regex("a") & Regex("b"), "ab"),
        (Regex("a") | Regex("b"), "b"),
        (~Regex("a"), "b"),
        (~Regex("a"), 3),
        (Approx(3.0) & IsInt, 3),
        (IsInt & Approx(3.0), 3),
        (None | Regex("a"), None),
        (Regex("a") | None, None),
        ("abc" & Regex("b"), "abc"),
    ],
)
def test_accepts(matcher: Matcher, value: Any) -> None:
    assert matcher == value
    assert value == matcher
    assert [{"deep": matcher}] == [{"deep": value}]


@pytest.mark.parametrize(
    ("matcher", "value"),
    [
        (Called("book"), ToolCall("cook")),
        (Called("book"), "book"),
        (Called("book"), {"name": "book"}),
        (Called("book", city="Rome"), CALL),
        (Called("book", nights=True), ToolCall("book", {"nights": 1})),
        (Called("book", guest={"name": "Ada"}), CALL),
        (Called("book", missing=None), CALL),
        (Partial({"guest": {"name": "Ada"}}), CALL.args),
        (Partial({"city": None}), {}),
        (Partial({}), []),
        (Regex("x"), "Oslo"),
        (Regex("x"), b"x"),
        (Regex("1"), 1),
        (Approx(1), True),
        (Approx(1), "1"),
        (Approx(1.0), 1.1),
        (Approx(1.0), math.nan),
        (Approx(1.0), math.inf),
        (Approx(math.inf), 1.0),
        (Approx(math.inf), -math.inf),
        (Approx(math.inf), 10),
        (Approx([1, 2]), [1]),
        (Approx([1]), 1),
        (Approx({"a": 1}), {"b": 1}),
        (Approx({"a": 1}), [1]),
        (Approx(100, abs=1), 102),
        (OneOf("a", "b"), "c"),
        (OneOf(1), True),
        (Unordered([1, 1]), [1, 2]),
        (Unordered([1]), [1, 1]),
        (Unordered(["a"]), "a"),
        (Satisfies(is_even), 3),
        (Regex("a") & Regex("b"), "a"),
        (Regex("a") | Regex("b"), "c"),
        (~Anything(), 1),
    ],
)
def test_refuses(matcher: Matcher, value: Any) -> None:
    assert matcher != value
    assert value != matcher


@pytest.mark.parametrize(
    "text",
    [
        "Anything()",
        "Called('book')",
        "Called('book', city=Regex('^O'), nights=2)",
        "Partial({'a': Anything()})",
        "Regex('^a')",
        "Regex('a', re.IGNORECASE)",
        "Approx(1.5)",
        "Approx(1.5, rel=0.1, abs=2)",
        "OneOf('a', 'b')",
        "Unordered([1, 2])",
        "Satisfies(is_even)",
        "Regex('a') & Regex('b') | Regex('c')",
        "Regex('a') & (Regex('b') | Regex('c'))",
        "Regex('a') & (Regex('b') & Regex('c'))",
        "Regex('a') | (Regex('b') | Regex('c'))",
        "~Regex('a') & ~(Regex('b') | Regex('c'))",
        "~~Regex('a')",
    ],
)
def test_the_repr_is_what_one_types(text: str) -> None:
    matcher = eval(text)
    assert repr(matcher) == text
    assert eval(repr(matcher)) == matcher


def test_matchers_equal_matchers_of_the_same_parts() -> None:
    assert Regex("a") == Regex("a")
    assert Regex("a") != Regex("b")
    assert Regex("a") != Anything()
    assert Called("a", x=Regex("y")) == Called("a", x=Regex("y"))


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Partial(WRONG), "wants a mapping"),
        (lambda: Regex("("), "can't read"),
        (lambda: Regex(WRONG), "can't read \\[1\\]"),
        (lambda: Approx(1, rel=-1), "rel of 0 or more"),
        (lambda: Approx(1, abs=math.nan), "abs of 0 or more"),
        (lambda: Approx(1, abs=WRONG), "abs of 0 or more"),
        (OneOf, "at least one option"),
        (lambda: OneOf([]), "at least one option"),
        (lambda: Satisfies(WRONG), "wants a predicate"),
    ],
)
def test_a_matcher_that_cannot_work_is_refused(build: Any, says: str) -> None:
    with pytest.raises(ExpectationError, match=says):
        build()


def test_an_exception_in_a_predicate_reaches_the_test_with_what_it_was_asked() -> None:
    with pytest.raises(KeyError) as caught:
        Satisfies(lambda args: args["x"]).accepts({"y": 1})
    assert caught.value.__notes__ == ["raised by Satisfies(<lambda>) for {'y': 1}"]


def test_a_predicate_without_a_name_is_shown_as_it_is() -> None:
    class Predicate:
        def __call__(self, value: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "Predicate()"

    assert repr(Satisfies(Predicate())) == "Satisfies(Predicate())"


def test_one_can_write_ones_own() -> None:
    class Shouted(Matcher):
        def accepts(self, actual: Any) -> bool:
            return isinstance(actual, str) and actual.isupper()

        def __repr__(self) -> str:
            return "Shouted()"

    assert {"say": Shouted() & Regex("A")} == {"say": "A!"}
    assert Shouted().example() is None


OPTIONS = st.sampled_from([1, True, 2, "a", Anything(), OneOf(1, 2), Regex("a"), ~Regex("a")])
ACTUAL = st.lists(st.sampled_from([1, 1.0, True, 2, "a", "b", None]), max_size=4)


@given(st.lists(OPTIONS, max_size=4), ACTUAL)
def test_unordered_finds_a_pairing_whenever_there_is_one(expected: list[Any], actual: list[Any]) -> None:
    def same(one: Any, other: Any) -> bool:
        return one == other and (isinstance(one, Matcher) or isinstance(one, bool) == isinstance(other, bool))

    some = len(expected) == len(actual) and any(
        all(map(same, expected, order)) for order in permutations(actual)
    )
    assert (Unordered(expected) == actual) is some


def test_ten_thousand_literals_in_any_order_are_counted() -> None:
    items = list(range(10_000))
    assert Unordered(items) == items[::-1]
    assert Unordered(items) != [*items[1:], True]


@pytest.mark.parametrize("items", ["ab", b"ab", {"a": 1}, 5, None])
def test_unordered_wants_items(items: Any) -> None:
    with pytest.raises(ExpectationError, match="wants a list of items"):
        Unordered(items)
