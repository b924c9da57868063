"""Deep equality: what callsheet takes for the same value."""

from __future__ import annotations

import math
from collections import OrderedDict, UserDict, UserList, deque
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import ANY

import pytest
from dirty_equals import IsInt, IsPartialDict
from hypothesis import given
from hypothesis import strategies as st

from callsheet import ToolCall
from callsheet._equality import UnfreezableError, decides_equality, equal, freeze


class Point(NamedTuple):
    x: int
    y: int


class Color(Enum):
    RED = 1


class Level(IntEnum):
    LOW = 1


class City(StrEnum):
    OSLO = "oslo"


@dataclass
class Box:
    content: object
    note: str = field(default="", compare=False)


@dataclass(eq=False)
class Bare:
    content: object


@dataclass
class Judge:
    content: object

    def __eq__(self, other: object) -> bool:
        return other == "whatever I say"


class Shouting:
    """Not a matcher: two of them are only equal when they are one."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, Decimal(1)),
        (Fraction(1, 2), 0.5),
        (10**400, 10**400),
        (math.nan, float("nan")),
        (Decimal("nan"), math.nan),
        (Decimal("sNaN"), Decimal("nan")),
        (complex(math.nan, 1), math.nan),
        (Level.LOW, 1),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (UserDict({"a": 1}), {"a": 1}),
        ({1: "x", (2, "k"): "y"}, {(2, "k"): "y", 1.0: "x"}),
        ({Color.RED: 1}, {Color.RED: 1.0}),
        ({City.OSLO: City.OSLO}, {"oslo": "oslo"}),
        ({"oslo": 1}, {City.OSLO: 1}),
        ({Level.LOW: "x"}, {1: "x"}),
        ({math.nan: "x"}, {float("nan"): "x"}),
        ((1, 2), Point(1, 2)),
        ({1, 2}, frozenset({2.0, 1})),
        ({Color.RED, 1}, {1.0, Color.RED}),
        (b"ab", bytearray(b"ab")),
        (date(2024, 1, 2), date(2024, 1, 2)),
        (datetime(2024, 1, 1, 12, tzinfo=UTC), datetime(2024, 1, 1, 13, tzinfo=timezone(timedelta(hours=1)))),
        (Box([math.nan], note="x"), Box([float("nan")], note="y")),
        (Bare([1]), Bare([1.0])),
        (ToolCall("a", {"x": math.nan}), ToolCall("a", {"x": math.nan}, id="7")),
        ([ANY, {"k": ANY}], [object(), {"k": None}]),
        ([object(), {"k": None}], [ANY, {"k": ANY}]),
        ({"n": IsInt}, {"n": 3}),
        ({"n": {"a": 1, "b": 2}}, {"n": IsPartialDict(a=1)}),
        (pytest.approx(0.3), 0.1 + 0.2),
        ({"x": 0.1 + 0.2}, {"x": pytest.approx(0.3)}),
        (Judge(1), "whatever I say"),
        (None, None),
    ],
)
def test_equal_values(one: object, other: object) -> None:
    assert equal(one, other)
    assert equal([one], [other])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0.0),
        ([True], [1]),
        ({"a": {"b": (True,)}}, {"a": {"b": (1,)}}),
        ({True: "x"}, {1: "x"}),
        ({True}, {1}),
        ({(True,): "x"}, {(1,): "x"}),
        (1, "1"),
        (1, math.nan),
        (0.1, Decimal("0.1")),
        ([1, 2], (1, 2)),
        ([1, 2], [1, 2, 3]),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, {"b": 1}),
        ({1: "x"}, {2: "x"}),
        ({"a": None}, {}),
        ({1, 2}, {1, 2, 3}),
        ({Color.RED}, {1}),
        ({Color.RED}, {Shouting}),
        ("a", b"a"),
        (b"a", bytearray(b"b")),
        (date(2024, 1, 1), datetime(2024, 1, 1)),
        (datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)),
        (Box(1), Bare(1)),
        (Box(True), Box(1)),
        (Shouting(), Shouting()),
        (Judge(1), "anything else"),
        (IsInt, 1.5),
        (None, 0),
        ([], {}),
    ],
)
def test_different_values(one: object, other: object) -> None:
    assert not equal(one, other)
    assert not equal(other, one)
    assert not equal([one], [other])


def test_cycles_are_compared_as_far_as_they_differ() -> None:
    one: list[object] = [1]
    one.append(one)
    same: list[object] = [1]
    same.append(same)
    other: list[object] = [1]
    other.append([2, other])
    assert equal(one, same)
    assert not equal(one, other)


def test_depth_is_no_limit() -> None:
    one: list[object] = []
    other: list[object] = []
    for _ in range(100_000):
        one, other = [one], [other]
    assert equal(one, other)


def test_an_exception_in_a_users_equality_reaches_the_test() -> None:
    class Broken:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no opinion")

    with pytest.raises(RuntimeError, match="no opinion"):
        equal({"a": Broken()}, {"a": 1})


def test_bytes_and_text_are_compared_without_a_bytes_warning() -> None:
    assert freeze(b"a") != freeze("a")
    assert not equal({b"a": 1}, {"a": 1})


@pytest.mark.parametrize("module", ["pydantic.main", "pydantic.root_model"])
def test_pydantic_models_are_equal_by_their_fields(module: str) -> None:
    class BaseModel:
        """Has what pydantic's base class has, as far as equality is concerned."""

        model_fields: dict[str, object] = dict.fromkeys(("name", "size", "capital"))
        __pydantic_extra__ = None
        __pydantic_private__ = None

        def __init__(self, **values: object) -> None:
            self.__dict__.update(values)

        def __eq__(self, other: object) -> bool:
            return self.__dict__ == getattr(other, "__dict__", None)

    BaseModel.__eq__.__module__ = module

    class City(BaseModel):
        pass

    class Town(BaseModel):
        pass

    assert equal(City(name="Oslo", size=math.nan), City(name="Oslo", size=float("nan")))
    assert not equal(City(capital=True), City(capital=1))
    assert equal(City(name="Oslo", asked_for_once=1), City(name="Oslo"))
    assert not equal(City(name="Oslo"), Town(name="Oslo"))


@pytest.mark.parametrize("kind", [deque, UserList])
def test_other_sequences_are_equal_by_their_items(kind: Any) -> None:
    assert equal(kind([1, math.nan]), kind([1.0, float("nan")]))
    assert not equal(kind([1]), kind([True]))
    assert not equal(kind([1]), [1])


def test_arrays_are_equal_by_shape_and_elements() -> None:
    class Array:
        def __init__(self, *items: object) -> None:
            self.items = list(items)

        @property
        def shape(self) -> tuple[int]:
            return (len(self.items),)

        def __array__(self) -> None:
            """Mark this as array-like."""

        def __eq__(self, other: object) -> bool:
            raise ValueError("the truth value of an array is ambiguous")

        def tolist(self) -> list[object]:
            return self.items

    assert equal(Array(1, 2), Array(1.0, 2))
    assert not equal(Array(1, 2), Array(1, 3))
    assert not equal(Array(1), Array(1, 1))


def test_any_number_of_types_is_compared() -> None:
    for n in range(2_100):
        box = type(f"Box{n}", (), {"__eq__": lambda self, other: other == "box"})()
        assert equal([box], ["box"])
    assert equal(Box(1), Box(1.0))


def test_what_decides_for_itself_is_told_from_plain_values() -> None:
    assert decides_equality(ANY)
    assert decides_equality(IsInt())
    assert not any(map(decides_equality, [1, "a", None, object(), {}, [], Box(1), Shouting()]))


def test_a_value_too_deep_to_hash_is_not_frozen() -> None:
    deep: list[object] = []
    for _ in range(60):
        deep = [deep]
    with pytest.raises(UnfreezableError):
        freeze(deep)


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, 1.0, -0.0, 0.5, math.nan])
    | st.sampled_from(["", "a", b"a", bytearray(b"a"), Decimal(1), Decimal("nan"), Fraction(1, 2), 1j])
)
_HASHABLE = st.none() | st.booleans() | st.integers(-1, 1) | st.sampled_from([1.0, "a", b"a", (1,), (True,)])
VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(_HASHABLE, inner, max_size=3)
        | st.sets(_HASHABLE, max_size=3)
        | st.builds(Box, inner)
        | st.builds(Bare, inner)
    ),
    max_leaves=6,
)


@given(VALUES, VALUES)
def test_frozen_forms_are_equal_exactly_when_the_values_are(one: object, other: object) -> None:
    assert (freeze(one) == freeze(other)) == equal(one, other)


@given(VALUES)
def test_every_value_equals_its_copy(value: object) -> None:
    from copy import deepcopy

    assert equal(value, deepcopy(value))


def test_a_value_that_holds_itself_twice_is_not_frozen_leaf_by_leaf():
    knot = []
    knot.extend([knot, knot])
    with pytest.raises(UnfreezableError):
        freeze(knot)
    assert not equal([knot, 1], [knot, 2])
