"""Every value has one written form of its own, or fails with its path."""

import enum
import json
import math
import sys
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import PurePosixPath
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet import ArtifactError
from callsheet._snapshot_codec import KEEP, canonical, encode, shown


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Mode(enum.StrEnum):
    ON = "on"


@dataclass
class City:
    name: str
    size: Any = None
    cached: int = field(default=0, compare=False)


Point = namedtuple("Point", "x y")  # noqa: PYI024


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "not the text"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, True),
        (1, 1),
        (1.5, 1.5),
        ("text", "text"),
        (Text("text"), "text"),
        ([1, "a"], [1, "a"]),
        ({"a": {"b": 1}}, {"a": {"b": 1}}),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(int, a=1), {"a": 1}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        ((1, 2), {"$tuple": [1, 2]}),
        ({2, 1}, {"$set": [1, 2]}),
        (frozenset({"b", "a"}), {"$frozenset": ["a", "b"]}),
        (b"\x00\xff", {"$bytes": "AP8="}),
        (bytearray(b"a"), {"$bytearray": "YQ=="}),
        (date(2026, 1, 2), {"$date": "2026-01-02"}),
        (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), {"$datetime": "2026-01-02T03:04:00+00:00"}),
        (time(3, 4), {"$time": "03:04:00"}),
        (timedelta(days=1, microseconds=5), {"$timedelta": "1d 0s 5us"}),
        (Decimal("1.10"), {"$decimal": "1.10"}),
        (UUID(int=5), {"$uuid": "00000000-0000-0000-0000-000000000005"}),
        (1 + 2j, {"$complex": "(1+2j)"}),
        (PurePosixPath("a/b"), {"$path": "a/b"}),
        (math.inf, {"$float": "inf"}),
        (math.nan, {"$float": "nan"}),
        (-(2**1024), {"$int": hex(-(2**1024))}),
        (Color.RED, {"$enum": "Color.RED"}),
        (Level.LOW, {"$enum": "Level.LOW"}),
        (Mode.ON, {"$enum": "Mode.ON"}),
        (City("Oslo", cached=7), {"$dataclass": "City", "fields": {"name": "Oslo", "size": None}}),
        (Point(1, 2), {"$namedtuple": "Point", "fields": {"x": 1, "y": 2}}),
        ({1: "a", "b": 2}, {"$dict": [["b", 2], [1, "a"]]}),
        ({"$set": [1]}, {"$dict": [["$set", [1]]]}),
        ({(1, 2): 3}, {"$dict": [[{"$tuple": [1, 2]}, 3]]}),
        ({Text("a"): 1}, {"$dict": [["a", 1]]}),
    ],
)
def test_the_written_form(value: Any, written: Any) -> None:
    assert encode(value) == written
    assert json.loads(json.dumps(encode(value))) == written


def test_a_pydantic_model_is_written_field_by_field(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in with what callsheet reads of pydantic: `model_fields` and `model_extra`."""

    class BaseModel:
        model_fields: ClassVar = {"when": None}
        model_extra: ClassVar[dict[str, Any] | None] = {"more": (1,)}
        when = date(2026, 1, 2)

    class Plain(BaseModel):
        model_extra = None

    pydantic = ModuleType("pydantic")
    monkeypatch.setattr(pydantic, "BaseModel", BaseModel, raising=False)
    monkeypatch.setitem(sys.modules, "pydantic", pydantic)
    model = encode([BaseModel(), Plain()])
    name = BaseModel.__qualname__
    when = {"$date": "2026-01-02"}
    assert model[0] == {"$model": name, "fields": {"when": when, "more": {"$tuple": [1]}}}
    assert model[1]["fields"] == {"when": when}


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
    | st.binary(max_size=4)
    | st.dates()
    | st.datetimes(timezones=st.just(UTC))
    | st.decimals(allow_nan=False, places=2)
    | st.uuids()
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.just("$set"), inner, max_size=3)
    ),
    max_leaves=6,
)


def equal(left: Any, right: Any) -> bool:
    """Equal and of the same shape all through; numbers compare as numbers, but True is no 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, Decimal):
        return str(left) == str(right)
    return bool(left == right)


@settings(max_examples=200, deadline=None)
@given(values, values)
def test_values_have_one_form_only_when_they_are_equal(left: Any, right: Any) -> None:
    same = json.loads(canonical(encode(left))) == json.loads(canonical(encode(right)))
    assert not same or encode(left) == encode(right)
    if equal(left, right):
        assert encode(left) == encode(right)
    assert json.loads(canonical(encode(left))) == encode(left)


@given(values)
@settings(max_examples=100, deadline=None)
def test_a_value_and_its_like_in_another_type_differ(value: Any) -> None:
    assert encode((value,)) != encode([value])
    assert encode({"a": value}) != encode({1: value})
    assert encode({"$tuple": [value]}) != encode((value,))


class Opaque:
    pass


@pytest.mark.parametrize(
    ("value", "path", "kind"),
    [
        (Opaque(), "the value", "Opaque"),
        ({"a": [0, Opaque()]}, "a[1]", "Opaque"),
        ({"a b": {"c": Opaque()}}, "['a b'].c", "Opaque"),
        ({1: object()}, "['1']", "a object"),
        ({"a": City("x", size=Opaque())}, "a.size", "Opaque"),
        ({"a": {Opaque()}}, "a['*']", "Opaque"),
        ({Opaque(): 1}, "['(key)']", "Opaque"),
        ({"f": len}, "f", "builtin_function_or_method"),
        ({"c": City}, "c", "type"),
        ({"e": ValueError("x")}, "e", "ValueError"),
    ],
)
def test_a_value_without_a_form_fails_with_its_path(value: Any, path: str, kind: str) -> None:
    with pytest.raises(ArtifactError) as raised:
        encode(value)
    text = str(raised.value)
    assert text.startswith(f"{path} is ")
    assert kind in text
    assert "matchers=" in text


def test_a_cycle_fails_with_its_path() -> None:
    value: dict[str, Any] = {"a": []}
    value["a"].append(value)
    with pytest.raises(ArtifactError, match=r"a\[0\] contains itself"):
        encode(value)


def test_one_value_in_two_places_is_no_cycle() -> None:
    shared = [1]
    assert encode([shared, shared]) == [[1], [1]]


def test_deep_nesting_fails_with_its_path() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = {"a": value}
    with pytest.raises(ArtifactError, match=r"a\.a\.a\.a\.a\.\.\. is nested deeper than 100"):
        encode(value)


def test_a_substitute_sees_every_path_and_value() -> None:
    seen: dict[str, Any] = {}

    def substitute(path: tuple[str | int, ...], value: Any) -> Any:
        seen[shown(path)] = value
        return "replaced" if path == ("a", 1) else KEEP

    assert encode({"a": [1, Opaque()]}, substitute) == {"a": [1, "replaced"]}
    assert list(seen) == ["the value", "a", "a[0]", "a[1]"]
