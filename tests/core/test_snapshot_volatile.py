"""What differs between equal runs is replaced; what a script fixes is not."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from callsheet._snapshot_volatile import normalized

A = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
B = "7d444840-9dc0-11d1-b245-5ffdce74fad2"


def test_random_ids_are_numbered_so_that_equal_ones_stay_equal() -> None:
    tree = {"created": A, "other": B, "text": f"made {A.upper()} and {B}"}
    assert normalized(tree) == {"created": "[id 1]", "other": "[id 2]", "text": "made [id 1] and [id 2]"}


def test_numbering_does_not_depend_on_the_order_of_keys() -> None:
    assert normalized({"a": A, "b": B}) == normalized({"b": B, "a": A})
    assert list(normalized({"b": B, "a": A})) == ["b", "a"]


def test_the_ids_of_the_tool_calls_are_replaced_as_whole_words() -> None:
    tree = ["call_1 failed", "call_12", "call_1-x", "call_1"]
    assert normalized(tree, ["call_1", ""]) == ["[id 1] failed", "call_12", "call_1-x", "[id 1]"]


@pytest.mark.parametrize("offset", [timedelta(), timedelta(minutes=-5)])
def test_the_time_of_the_run_is_replaced_in_every_spelling(offset: timedelta) -> None:
    utc = datetime.now(UTC) + offset
    local = utc.astimezone()
    spellings = [
        utc.isoformat(),
        utc.strftime("%Y-%m-%dT%H:%M:%SZ"),
        utc.strftime("%Y-%m-%d %H:%M:%S,123"),
        utc.strftime("%Y-%m-%d %H:%M"),
        local.isoformat(),
        local.replace(tzinfo=None).isoformat(),
    ]
    assert normalized([f"at {spelling}." for spelling in spellings]) == ["at [now]."] * len(spellings)
    assert normalized([time.time(), int(time.time() * 1000)]) == ["[now]", "[now]"]


@pytest.mark.parametrize(
    "value",
    [
        "2020-01-02T03:04:05Z",
        "2020-13-99T99:99:99Z",
        "2020-01-02",
        "0001-01-01T00:00:00",
        "00000000-0000-0000-0000-000000000000",
        "0xdeadbeef",
        "call_1",
        0,
        1.5,
        True,
        None,
        10**400,
    ],
)
def test_fixed_values_stay(value: Any) -> None:
    assert normalized({"value": value}) == {"value": value}
    assert type(normalized(value)) is type(value)


def test_memory_addresses_are_replaced() -> None:
    assert normalized("<object object at 0x7f3c12ab>") == "<object object at [address]>"


@pytest.mark.parametrize("name", ["duration", "elapsed_seconds", "tool_latency", "took"])
def test_measured_durations_are_replaced(name: str) -> None:
    assert normalized({name: 0.0123456}) == {name: "[duration]"}


@pytest.mark.parametrize(("name", "value"), [("duration", 30), ("duration", 1.25), ("price", 0.0123456)])
def test_chosen_durations_and_other_numbers_stay(name: str, value: float) -> None:
    assert normalized({name: value}) == {name: value}
