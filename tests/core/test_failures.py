"""Failure texts: the smallest edit first, bounded, narrow, and plain where nobody watches."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet import (
    AgentResult,
    ToolCall,
    TraceEntry,
    assert_argument_flows,
    assert_model_used,
    assert_no_duplicate_calls,
    assert_no_loop,
    assert_only_tools,
    assert_tool_args_contain,
    assert_tool_call_count,
    assert_tool_call_order,
    assert_tool_calls,
    assert_trajectory,
)
from callsheet._alignment import align
from callsheet._differences import differences
from callsheet._equality import equal
from callsheet._explain import explain_comparison
from callsheet._rendering import WIDTH
from callsheet.diff import format_tool_call_diff, format_value_diff
from callsheet.match import Anything, Called, Partial, Regex


def text_of(check: Callable[[], Any]) -> str:
    with pytest.raises(AssertionError) as failure:
        check()
    return str(failure.value)


def calls(names: str) -> list[ToolCall]:
    return [ToolCall(name, {"n": n}) for n, name in enumerate(names)]


LOOKUP = ToolCall("lookup", {"id": 7}, response={"status": "open"}, turn=0, agent="Desk")
REFUND = ToolCall("refund", {"id": 7, "amount": 30}, error="over the limit", turn=1, index=0, agent="Desk")
NOTIFY = ToolCall("notify", {"to": "a@x.com"}, turn=1, index=1, agent="Desk")


def test_a_failure_reads_top_down() -> None:
    text = text_of(
        lambda: assert_tool_calls(
            [LOOKUP, REFUND, NOTIFY],
            ["lookup", {"name": "refund", "args": {"id": 7, "amount": 25, "why": "late"}}, "notify", "close"],
        )
    )
    assert text.splitlines() == [
        "Tool calls do not match (strict order): 2 edits would make it pass",
        "  [1] ✗ MISMATCH:",
        "        expected: refund(id=7, amount=25, why='late')",
        "        actual:   refund(id=7, amount=30)",
        "        arg diff: ~amount: 25 → 30",
        "        arg diff: -why='late'",
        "        asked in reply 2 of Desk in parallel with 1 other call",
        "        failed: 'over the limit'",
        "  [3] - MISSING: close(...)",
        "",
        "    expected (4)                       | actual (3)",
        "    lookup(...)                        | lookup(id=7)",
        "  ✗ refund(id=7, amount=25, why='la... | refund(id=7, amount=30)",
        "    notify(...)                        | notify(to='a@x.com')",
        "  - close(...)                         |",
    ]


@pytest.mark.parametrize(
    ("made", "expected", "says"),
    [
        ("abc", ["a", "x", "b", "c"], ["1 edit", "[1] - MISSING: x(...)"]),
        ("abc", ["a", "c"], ["1 edit", "[1] + UNEXPECTED: b(n=1)"]),
        ("abc", ["b", "c", "a"], ["1 edit", "[2] ↕ MOVED: a(...), made as [0] instead"]),
        ("abc", ["a", "q", "c"], ["1 edit", "another tool: 'q' → 'b'"]),
        ("ab", ["a", Called("b", n=5)], ["1 edit", "expected: Called('b', n=5)"]),
        (
            "a",
            [{"name": "a", "response": 3, "agent": "Desk"}],
            ["response: ~value: 3 → None", "agent: ~value: 'Desk'"],
        ),
        (
            "a",
            [ToolCall("a", {"n": 0}, error="x")],
            ["expected: a(n=0) with error='x'", "error: ~value: 'x' → None"],
        ),
        ("a", [{"name": Regex("b"), "args": Partial({"n": 0})}], ["expected: Regex('b')(Partial({'n': 0}))"]),
        ("a", [{"name": "a", "args": {"n": {"deep": [1]}}}], ["arg diff: ~n: {'deep': [1]} → 0"]),
        ("a", [{"name": "a", "args": {f"k{n}": n for n in range(9)}}], ["arg diff: ... and 5 more"]),
    ],
)
def test_the_smallest_edit(made: str, expected: list[Any], says: list[str]) -> None:
    text = text_of(lambda: assert_tool_calls(calls(made), expected))
    for part in says:
        assert part in text


def test_a_misspelt_tool_is_told_from_a_missing_one() -> None:
    assert "MISSING: lokup(...) Did you mean 'lookup'?" in text_of(
        lambda: assert_tool_calls([LOOKUP, NOTIFY], ["lokup", "lookup", "notify"])
    )
    assert "another tool: 'lokup' → 'lookup' Did you mean 'lookup'?" in text_of(
        lambda: assert_tool_calls([LOOKUP], ["lokup"])
    )


def test_any_order_pairs_what_is_left_by_tool() -> None:
    text = text_of(
        lambda: assert_tool_calls(
            calls("aab"),
            [{"name": "b", "args": {"n": 9}}, "a", "c", Anything() & Called("z")],
            strict_order=False,
        )
    )
    assert "4 edits" in text
    assert "~n: 9 → 2" in text
    assert "- MISSING: c(...)" in text
    assert "+ UNEXPECTED: a(n=" in text
    assert "Anything() & Called('z')" in text


def test_gaps_are_no_edits() -> None:
    text = text_of(lambda: assert_tool_call_order(calls("axxb"), ["a", "c", "b"]))
    assert text.startswith("Tool call order mismatch: 1 edit")
    assert "UNEXPECTED" not in text
    assert "  +" not in text


def test_steps_show_role_and_text() -> None:
    result = AgentResult(
        trace=[
            TraceEntry("user", "Hi"),
            TraceEntry("tool", tool_call=LOOKUP),
            TraceEntry("assistant", "Done"),
        ]
    )
    text = text_of(
        lambda: assert_trajectory(
            result, [{"role": "user", "content": "Ho"}, {"role": "tool"}, {"role": "assistant"}]
        )
    )
    assert "expected: user: 'Ho'" in text
    assert "actual:   user: 'Hi'" in text
    assert "content: ~value: 'Ho' → 'Hi'" in text
    text = text_of(
        lambda: assert_trajectory(result, [{"role": "tool", "name": "lookup", "args": {}}], mode="subset")
    )
    assert "expected: tool: lookup()" in text
    assert "arg diff: +id=7" in text
    assert "1 edit" in text
    text = text_of(lambda: assert_trajectory(result, [{"role": Regex("tool"), "name": "x"}], mode="superset"))
    assert "Regex('tool')" in text


def test_ten_thousand_calls_with_three_edits_fit_a_screen() -> None:
    made = [ToolCall("t", {"n": n}) for n in range(10_000)]
    expected: list[Any] = [{"name": "t", "args": {"n": n}} for n in range(10_000)]
    del expected[50]
    expected.insert(5_000, "new")
    expected[9_000] = {"name": "t", "args": {"n": -1}}
    text = text_of(lambda: assert_tool_calls(made, expected))
    assert "3 edits" in text
    assert len(text.splitlines()) <= 40


def test_lists_too_different_to_align_are_counted_by_tool() -> None:
    made = [ToolCall("a", {"n": n}) for n in range(2_000)]
    text = text_of(lambda: assert_tool_calls(made, [{"name": "b", "args": {"n": -n}} for n in range(1_990)]))
    assert "too many differences to align" in text
    assert "Expected 1990, got 2000; the first difference is at [0]." in text
    assert "  b: expected 1990, got 0" in text


def test_many_edits_are_cut() -> None:
    text = text_of(lambda: assert_tool_calls(calls("a" * 30), ["b"] * 60))
    assert "... and 50 more edits" in text
    assert len(text.splitlines()) <= 200


@pytest.mark.parametrize(
    "value",
    ["x" * 100_000, list(range(100_000)), {"k": {"k": ["y" * 500] * 500}}, "word " * 1_000, "line\n" * 50],
)
def test_huge_values_are_bounded_and_no_line_is_wide(value: Any) -> None:
    made = [ToolCall("a", {"v": value}, response=value)]
    text = text_of(
        lambda: assert_tool_calls(made, [{"name": "a", "args": {"v": 1, "w": value}, "response": 1}])
    )
    assert len(text) < 5_000
    assert max(map(len, text.splitlines())) <= 80


def test_long_texts_are_not_compared_line_by_line() -> None:
    one, other = ("\n".join(f"{end if n % 3 else n}{n}" for n in range(100_000)) for end in ("a", "b"))
    text = text_of(
        lambda: assert_tool_calls([ToolCall("a", {"v": one})], [{"name": "a", "args": {"v": other}}])
    )
    assert "arg diff: ~v: '" in text


def test_a_name_the_model_made_up_neither_breaks_a_line_nor_floods_the_text() -> None:
    made = [ToolCall("a\x1b[31m\n"), ToolCall("long" * 1_000_000)]
    text = text_of(lambda: assert_tool_calls(made, ["b"]))
    assert "\x1b" not in text
    assert r"'a\x1b[31m\n'()" in text
    assert len(text) < 2_000


_SETS = """
from callsheet import ToolCall, assert_tool_args_contain, assert_tool_calls
from callsheet.diff import format_value_diff

made = [ToolCall("a", {"v": set("abcdef") | {2, 10}, "w": frozenset("xyz")})]
for check in (
    lambda: assert_tool_calls(made, [{"name": "a", "args": {"v": set("defghi"), "w": frozenset()}}]),
    lambda: assert_tool_args_contain(made, "a", {"v": {("b", 1), ("a", 2)}}),
):
    try:
        check()
    except AssertionError as failure:
        print(failure)
print(format_value_diff({"v": set("abc")}, {"v": set("def")}))
"""


def test_sets_are_shown_alike_in_every_process() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-X", "utf8", "-c", _SETS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
    assert "v={2, 10, 'a', 'b', 'c', 'd', 'e', 'f'}" in texts.pop()


LONG = "word " * 200


@pytest.mark.parametrize(
    "check",
    [
        lambda: assert_only_tools([ToolCall("a")], [f"tool{n}" for n in range(10_000)]),
        lambda: assert_no_duplicate_calls([ToolCall(LONG)] * 2),
        lambda: assert_no_loop([ToolCall(LONG)] * 3),
        lambda: assert_tool_args_contain([ToolCall(LONG)], LONG, {}, call_index=1),
        lambda: assert_tool_args_contain([ToolCall(LONG)], "a", {}),
        lambda: assert_tool_call_count([ToolCall(LONG)], 2),
        lambda: assert_argument_flows([ToolCall("a")], "a", LONG, argument="v"),
        lambda: assert_argument_flows([ToolCall("a", {"w": LONG})], "a", "a", argument="v"),
        lambda: assert_model_used(AgentResult(model_used=LONG), "gpt"),
    ],
)
def test_every_assertions_text_is_narrow(check: Callable[[], None]) -> None:
    lines = text_of(check).splitlines()
    assert max(map(len, lines)) <= 76
    assert len(lines) <= 40


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({True: 1}, {1: 1}),
        ({"s": {1, 2}}, {"s": {2, 3}}),
        ({"t": (1, 2)}, {"t": [1, 2]}),
        ({"o": object()}, {"o": object()}),
        ({b"k": 1}, {b"k": 1, b"j": 2}),
        ({"m": [Regex("a"), 1]}, {"m": ["a", 2]}),
    ],
)
def test_every_difference_is_shown(expected: dict[Any, Any], actual: dict[Any, Any]) -> None:
    text = text_of(lambda: assert_tool_calls([ToolCall("a", actual)], [{"name": "a", "args": expected}]))
    assert "arg diff: " in text


def test_a_cycle_does_not_stop_the_text() -> None:
    one: dict[str, Any] = {"n": 1}
    one["self"] = one
    other: dict[str, Any] = {"n": 2}
    other["self"] = other
    assert "~n: 1 → 2" in text_of(
        lambda: assert_tool_calls([ToolCall("a", other)], [{"name": "a", "args": one}])
    )


class Terminal:
    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        """Take what pytest writes."""

    def flush(self) -> None:
        """Have nothing to flush."""


@pytest.mark.parametrize(
    ("environment", "colours"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"CI": "true"}, False), ({"TERM": "dumb"}, False)],
)
def test_colour_is_for_terminals(
    environment: dict[str, str], colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CI", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    plain = text_of(lambda: assert_tool_calls(calls("ab"), ["a"]))
    assert "\x1b" not in plain
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", Terminal())
    painted = text_of(lambda: assert_tool_calls(calls("ab"), ["a"]))
    assert ("\x1b[32m+\x1b[0m" in painted) is colours
    assert painted.startswith("Tool calls do not match")


def test_a_diff_of_tool_calls() -> None:
    expected = [
        {"name": "create_user", "args": {"name": "John", "email": "john@x.com"}},
        {"name": "validate", "args": {"zip": "98101"}},
        {"name": "send", "args": {}},
    ]
    actual = [
        {"name": "create_user", "args": {"name": "Jane", "email": "jane@x.com"}},
        {"name": "send"},
        ToolCall("log"),
    ]
    assert format_tool_call_diff(expected, actual).splitlines() == [
        "  [0] ✗ MISMATCH:",
        "        expected: create_user(name='John', email='john@x.com')",
        "        actual:   create_user(name='Jane', email='jane@x.com')",
        "        arg diff: ~email: 'john@x.com' → 'jane@x.com', ~name: 'John' → 'Jane'",
        "  [1] - MISSING: validate(zip='98101')",
        "  [1] ✓ send()",
        "  [2] + UNEXPECTED: log()",
    ]
    assert "✗ MISMATCH" in format_tool_call_diff(["a"], [{"name": "b"}])
    assert format_tool_call_diff([], []) == ""


def test_a_long_diff_counts_what_is_equal_and_goes_by_position_when_all_is_not() -> None:
    same = [{"name": "a", "args": {"n": n}} for n in range(100)]
    assert "... 96 matching calls ..." in format_tool_call_diff(same, same)
    lines = format_tool_call_diff(["b"] * 1_000, same * 9).splitlines()
    assert sum("✗ MISMATCH" in line for line in lines) == 40
    assert lines[-1] == "  ... and 960 more differences"
    assert len(lines) < 200
    assert "- MISSING" in format_tool_call_diff(["b"] * 3, same[:2])
    assert "+ UNEXPECTED" in format_tool_call_diff(["b"] * 2, same[:3])


def test_a_long_value_shows_its_ends_and_a_secret_one_nothing() -> None:
    lines = format_value_diff(list(range(300)), list(range(1, 301))).splitlines()
    assert len(lines) < 200
    assert any("more lines ..." in line for line in lines)
    assert "canary" not in format_value_diff(["canary", 1], {"x": "canary"}, label="api_key")


def test_a_diff_of_values() -> None:
    assert format_value_diff("abc", "abX", label="name").splitlines() == [
        "  name:",
        "    expected: 'abc'",
        "    actual:   'abX'",
        "    first diff at position 2",
    ]
    assert "first diff at position 2" in format_value_diff("ab", "abc")
    assert "first diff" not in format_value_diff("ab", "ab")
    assert "first diff" not in format_value_diff(1, 2)
    text = format_value_diff({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})
    assert "~a[1].b: 2 → 3" in text
    assert '"b": 3' in text
    assert "differences" not in format_value_diff([1], [1])


def test_a_value_diff_is_as_narrow_as_a_terminal() -> None:
    values = [{"a": ["x" * 150, {"deep": letter * 120}]} for letter in "yw"]
    lines = format_value_diff(*values).splitlines()
    assert max(map(len, lines)) <= WIDTH
    start = next(number for number, line in enumerate(lines) if "deep" in line)
    assert lines[start + 1].startswith(" " * 16 + "yyy")
    assert max(map(len, format_value_diff("x" * 150, "y" * 150).splitlines())) <= WIDTH


_HASHABLE = st.none() | st.booleans() | st.integers(-1, 1) | st.sampled_from([1.0, "a", b"a", Regex("a")])
_KEYS = st.none() | st.booleans() | st.integers(-1, 1) | st.sampled_from(["a", "b.c", b"a", (1,)])
ANY_VALUES = st.recursive(
    _HASHABLE | st.sampled_from([math.nan, Decimal("1.5"), date(2024, 1, 1), object(), ToolCall("a")]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(_KEYS, inner, max_size=3)
        | st.sets(_KEYS, max_size=3)
    ),
    max_leaves=8,
)


@given(ANY_VALUES, ANY_VALUES)
@settings(deadline=None)
def test_whatever_differs_is_shown_in_narrow_lines(expected: Any, actual: Any) -> None:
    lines = differences(expected, actual)
    assert lines
    if not equal(expected, actual):
        made = [ToolCall("a", {"v": actual})]
        text = text_of(lambda: assert_tool_calls(made, [{"name": "a", "args": {"v": expected}}]))
        assert max(map(len, text.splitlines())) <= 80


NAMES = st.text("ab", max_size=5)


@given(NAMES, NAMES, st.booleans())
def test_the_script_is_as_short_as_any(expected: str, actual: str, gaps: bool) -> None:
    script = align(
        len(expected), len(actual), lambda i, j: expected[i] == actual[j], lambda i, j: False, gaps=gaps
    )
    assert script is not None
    edits = sum(edit.kind not in ("match", "extra" if gaps else "match") for edit in script)
    assert edits == fewest_edits(expected, actual, gaps)
    assert [edit.expected for edit in script if edit.expected is not None] == list(range(len(expected)))
    assert [edit.actual for edit in script if edit.actual is not None] == list(range(len(actual)))


def fewest_edits(expected: str, actual: str, gaps: bool) -> int:
    """Try every way to pair positions in order."""
    best = len(expected) + len(actual)
    for size in range(min(len(expected), len(actual)) + 1):
        for ones in combinations(range(len(expected)), size):
            for others in combinations(range(len(actual)), size):
                changed = sum(expected[i] != actual[j] for i, j in zip(ones, others, strict=True))
                extra = 0 if gaps else len(actual) - size
                best = min(best, changed + len(expected) - size + extra)
    return best


def test_pytest_shows_the_same_for_a_plain_comparison() -> None:
    lines = explain_comparison([LOOKUP, REFUND], [LOOKUP, NOTIFY])
    assert lines is not None
    assert lines[0] == "Tool calls differ: 1 edit would make it pass"
    assert explain_comparison([LOOKUP], ["refund"]) is not None
    assert explain_comparison(["refund"], [LOOKUP]) is not None
    assert explain_comparison([], [LOOKUP]) is not None
    assert explain_comparison([LOOKUP], []) is not None
    assert explain_comparison((LOOKUP, REFUND), (LOOKUP, NOTIFY)) == lines
    assert explain_comparison([LOOKUP], (LOOKUP,)) is None
    assert explain_comparison(LOOKUP, NOTIFY) == explain_comparison([LOOKUP], [NOTIFY]) is not None
    assert explain_comparison(LOOKUP, "lookup") is None


def test_pytest_says_why_a_dict_is_no_call() -> None:
    lines = explain_comparison([LOOKUP], [{"name": "lookup", "args": {"id": 7}}])
    assert lines is not None
    assert "assert_tool_calls" in lines[1]


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, 2), ([1], [2]), ([], []), ([], [1]), ([LOOKUP], [3]), ([LOOKUP], [LOOKUP]), ("a", [LOOKUP])],
)
def test_what_is_not_about_calls_is_left_to_pytest(left: Any, right: Any) -> None:
    assert explain_comparison(left, right) is None
