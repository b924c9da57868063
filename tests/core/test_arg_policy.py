"""Per-tool argument policies, and the paths they and other assertions use."""

from __future__ import annotations

from typing import Any

import pytest

from callsheet import (
    AgentResult,
    ExpectationError,
    ToolCall,
    TraceEntry,
    assert_tool_calls,
    assert_trajectory,
)
from callsheet._paths import parse_path, places, remove, set_default, values_at
from callsheet.match import Anything, ArgPolicy, Called, Regex

CALL = ToolCall(
    "book", {"city": "oslo", "meta": {"ts": 17, "id": "x"}, "items": [{"id": 1, "n": 2}, {"id": 2, "n": 2}]}
)


def compare(expected: Any, policy: ArgPolicy, *, made: Any = (CALL,), **options: Any) -> None:
    assert_tool_calls(list(made), expected, policies={"book": policy}, **options)


def test_ignored_paths_are_left_out_on_both_sides() -> None:
    expected = {"city": "oslo", "meta": {"id": "x", "ts": 99}, "items": [{"n": 2}, {"n": 2, "id": 5}]}
    for strict_order in (True, False):
        compare(
            [{"name": "book", "args": expected}],
            ArgPolicy(ignore=["meta.ts", "items[*].id"]),
            strict_order=strict_order,
        )
    with pytest.raises(AssertionError, match="arg diff: ~items"):
        compare([{"name": "book", "args": expected}], ArgPolicy(ignore=["meta.ts", ("items", 0, "id")]))


def test_defaults_fill_either_side() -> None:
    made = [
        ToolCall("book", {"city": "Oslo", "meta": {}}),
        ToolCall("book", {"city": "Oslo", "unit": "C", "meta": {"v": 1}}),
    ]
    expected = [
        {"name": "book", "args": {"city": "Oslo", "unit": "C", "meta": {"v": 1}}},
        {"name": "book", "args": {"city": "Oslo", "meta": {}}},
    ]
    compare(expected, ArgPolicy(defaults={"unit": "C", "meta.v": 1}), made=made)
    with pytest.raises(AssertionError):
        compare(expected, ArgPolicy(defaults={"unit": "F"}), made=made)


def test_overrides_compare_in_another_way() -> None:
    def ignoring_case(expected: str, actual: str) -> bool:
        return expected.casefold() == actual.casefold()

    expected = [{"name": "book", "args": {**CALL.args, "city": "OSLO", "meta": {"ts": 0, "id": "x"}}}]
    compare(expected, ArgPolicy(overrides={"city": ignoring_case, "meta.ts": Anything()}))
    with pytest.raises(AssertionError, match="'OSLO' by ignoring_case"):
        compare(
            expected,
            ArgPolicy(overrides={"city": ignoring_case, "meta.ts": Anything()}),
            made=[ToolCall("book", {**CALL.args, "city": "rome"})],
        )
    with pytest.raises(AssertionError):
        compare(expected, ArgPolicy(overrides={"city": ignoring_case, "meta.ts": Regex("x")}))


def test_other_tools_names_and_matchers_are_left_alone() -> None:
    made = [CALL, ToolCall("pay", {"ts": 1}), ToolCall("book", {"meta": {"ts": 1}})]
    policy = ArgPolicy(ignore=["meta.ts"])
    compare([Called("book", city="oslo"), {"name": "pay", "args": {"ts": 1}}, "book"], policy, made=made)
    with pytest.raises(AssertionError):
        compare(["book", {"name": "pay", "args": {}}, "book"], policy, made=made)


def test_the_calls_themselves_are_not_changed() -> None:
    compare(["book"], ArgPolicy(ignore=["meta.ts"], defaults={"new": 1}))
    assert CALL.args["meta"] == {"ts": 17, "id": "x"}
    assert "new" not in CALL.args


def test_trajectories_take_policies_too() -> None:
    result = AgentResult(trace=[TraceEntry("user", "Hi"), TraceEntry("tool", tool_call=CALL)])
    step = {"role": "tool", "name": "book", "args": {**CALL.args, "meta": {"id": "x"}}}
    assert_trajectory(result, [{"role": "user"}, step], policies={"book": ArgPolicy(ignore=["meta.ts"])})
    with pytest.raises(AssertionError):
        assert_trajectory(result, [{"role": "user"}, step])


@pytest.mark.parametrize(
    "policy",
    [
        ArgPolicy(ignore=["meta.tz"]),
        ArgPolicy(overrides={"cty": Anything()}),
        ArgPolicy(defaults={"mta.v": 1}),
    ],
)
def test_a_path_that_matches_nothing_is_an_error(policy: ArgPolicy) -> None:
    with pytest.raises(ExpectationError, match=r"matches no argument of 'book'.*Did you mean"):
        compare(["book"], policy)


@pytest.mark.parametrize("expected", ["book", Called("book", city="oslo"), {"name": "book", "args": {}}])
def test_an_override_that_nothing_is_compared_by_is_an_error(expected: Any) -> None:
    with pytest.raises(
        ExpectationError, match="The override of 'city' replaces no expected argument of 'book'"
    ):
        compare([expected], ArgPolicy(overrides={"city": Regex("rome")}))


def test_an_override_may_be_of_what_a_default_fills_in() -> None:
    policy = ArgPolicy(defaults={"unit": "C"}, overrides={"unit": Regex("[CF]")})
    compare([CALL], policy, made=[ToolCall("book", {**CALL.args, "unit": "F"})])
    with pytest.raises(AssertionError):
        compare([CALL], policy, made=[ToolCall("book", {**CALL.args, "unit": "K"})])


def test_a_policy_for_no_call_is_an_error() -> None:
    with pytest.raises(ExpectationError, match=r"an ArgPolicy\(\.\.\.\), not {'ignore'"):
        assert_tool_calls([CALL], ["book"], policies={"book": {"ignore": ["city"]}})  # type: ignore[dict-item]
    with pytest.raises(ExpectationError, match=r"The policy for 'bok' is about no call.*Did you mean 'book'"):
        assert_tool_calls([CALL], ["book"], policies={"bok": ArgPolicy()})


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: ArgPolicy(ignore="meta"), "Put it in brackets"),
        (lambda: ArgPolicy(ignore=[""]), "path is empty"),
        (lambda: ArgPolicy(ignore=[()]), "path is empty"),
        (lambda: ArgPolicy(ignore=["a..b"]), "Can't read the path"),
        (lambda: ArgPolicy(ignore=["a[x]"]), "Can't read the path"),
        (lambda: ArgPolicy(ignore=[".a"]), "Can't read the path"),
        (lambda: ArgPolicy(overrides={"a": 3}), "matcher or a function"),
    ],
)
def test_a_policy_that_cannot_work_is_refused(build: Any, says: str) -> None:
    with pytest.raises(ExpectationError, match=says):
        build()


def test_paths() -> None:
    value = {"a": [{"b": 1}, {"b": 2}, 3], "c.d": {"e": (4, 5)}, "f": {"x": 6, "y": 7}}
    assert parse_path("a[0].b") == ("a", 0, "b")
    assert values_at(value, parse_path("a[*].b")) == [1, 2]
    assert values_at(value, parse_path("a[1].b")) == [2]
    assert values_at(value, parse_path("a[9]")) == []
    assert values_at(value, parse_path("f.*")) == [6, 7]
    assert values_at(value, ("c.d", "e", 1)) == [5]
    assert values_at(value, parse_path("f.x.deeper")) == []
    assert places(3, ("a",)) == []


def test_removing_and_filling_leave_alone_what_cannot_change() -> None:
    value: dict[str, Any] = {"t": (1, 2), "l": [1, 2, 3], "d": {}}
    remove(value, ("t", 0))
    remove(value, ("l", "*"))
    set_default(value, ("l", "x"), 1)
    set_default(value, ("d", "x"), 1)
    assert value == {"t": (1, 2), "l": [], "d": {"x": 1}}
