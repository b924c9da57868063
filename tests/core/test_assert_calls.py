"""The assertions about tool calls."""

from __future__ import annotations

import re
import warnings
from typing import Any
from unittest.mock import ANY

import pytest
from dirty_equals import IsStr

from callsheet import (
    AgentResult,
    ExpectationError,
    ToolCall,
    TraceEntry,
    UnknownToolError,
    VacuousAssertionWarning,
    assert_no_tool_calls,
    assert_tool_args_contain,
    assert_tool_call_count,
    assert_tool_call_order,
    assert_tool_calls,
)

SEARCH = ToolCall("search", {"city": "Oslo", "nights": 2}, response=["H1"], turn=0, index=0)
BOOK = ToolCall("book", {"hotel": "H1"}, response="BK-1", turn=1, index=0)
PAY = ToolCall("pay", {"amount": 120.0, "card": "visa"}, error="declined", turn=2, index=0)
CALLS = [SEARCH, BOOK, PAY]
RESULT = AgentResult("Booked.", CALLS, trace=[TraceEntry("tool", tool_call=call) for call in CALLS])


class Session:
    """What a live session offers to an assertion."""

    def __init__(self) -> None:
        self.tool_calls = CALLS
        self.trace = RESULT.trace


@pytest.mark.parametrize(
    "subject", [RESULT, Session(), CALLS, tuple(CALLS)], ids=["result", "session", "list", "tuple"]
)
def test_every_way_to_write_an_expected_call(subject: Any) -> None:
    assert_tool_calls(
        subject,
        [
            {"name": "search", "args": {"nights": 2, "city": IsStr}},
            "book",
            ToolCall("pay", {"amount": 120, "card": ANY}, error="declined"),
        ],
    )
    assert_tool_calls(subject, [{"name": "search"}, ANY, {"name": "pay", "error": "declined"}])


@pytest.mark.parametrize(
    "expected",
    [
        ["search", "book"],
        ["search", "book", "pay", "pay"],
        ["book", "search", "pay"],
        ["search", "book", {"name": "pay", "args": {}}],
        ["search", "book", ToolCall("pay", PAY.args, error="expired")],
        ["search", ToolCall("book", BOOK.args, response="BK-2"), "pay"],
        ["search", "book", {"name": "pay", "args": {"amount": True, "card": "visa"}}],
        [],
    ],
)
def test_other_calls_fail(expected: list[Any]) -> None:
    with pytest.raises(AssertionError, match=r"Tool calls do not match \(strict order\)"):
        assert_tool_calls(RESULT, expected)


def test_a_tool_calls_response_only_counts_where_it_is_given() -> None:
    assert_tool_calls(RESULT, [ToolCall(call.name, call.args) for call in CALLS])


def test_numbers_are_compared_by_value_and_bools_are_no_numbers() -> None:
    assert_tool_calls([ToolCall("a", {"n": 1})], [{"name": "a", "args": {"n": 1.0}}])
    for strict_order in (True, False):
        with pytest.raises(AssertionError):
            assert_tool_calls(
                [ToolCall("a", {"n": 1})], [{"name": "a", "args": {"n": True}}], strict_order=strict_order
            )


def test_any_order_pairs_calls_optimally_where_taking_the_first_fit_fails() -> None:
    calls = [ToolCall("a", {"x": 1}), ToolCall("a", {"x": 2})]
    assert_tool_calls(calls, [ANY, {"name": "a", "args": {"x": 1}}], strict_order=False)
    assert_tool_calls(calls, ["a", {"name": "a", "args": {"x": 1}}], strict_order=False)
    with pytest.raises(AssertionError, match="any order"):
        assert_tool_calls(calls, [{"name": "a", "args": {"x": 1}}] * 2, strict_order=False)
    with pytest.raises(AssertionError, match="any order"):
        assert_tool_calls(calls, ["a"], strict_order=False)


@pytest.mark.parametrize(
    ("expected", "says"),
    [
        ([{"nam": "search"}], "Unknown key 'nam'.*Did you mean 'name'"),
        ([{"args": {}}], "No 'name' in"),
        ([3], "not 3"),
        ([object], "not <class 'object'>"),
        ("search", "Put it in brackets"),
        ({"name": "search"}, "Put it in brackets"),
        (None, "Expected a list, got NoneType"),
    ],
)
def test_a_malformed_expectation_is_an_error_of_its_own(expected: Any, says: str) -> None:
    with pytest.raises(ExpectationError, match=says):
        assert_tool_calls(RESULT, expected)


@pytest.mark.parametrize("subject", [None, "Booked.", {"tool_calls": []}, [SEARCH, "book"], 7])
def test_something_that_has_no_tool_calls_is_refused(subject: Any) -> None:
    with pytest.raises(ExpectationError, match="Pass what the adapter's invoke"):
        assert_tool_calls(subject, [])


def test_a_tool_the_agent_does_not_have_is_an_error_and_not_a_pass() -> None:
    result = AgentResult(
        "Hi.", metadata={"known_tools": ["book", "search"]}, trace=[TraceEntry("user", "Hi")]
    )
    with pytest.raises(UnknownToolError, match=r"no tool 'serach'.*'book', 'search'.*Did you mean 'search'"):
        assert_tool_calls(result, ["serach"])
    with pytest.raises(UnknownToolError):
        assert_tool_call_order(result, ["bok"])
    with pytest.raises(UnknownToolError):
        assert_tool_args_contain(result, "bok", {})
    with pytest.raises(AssertionError, match="MISSING"):
        assert_tool_calls(result, ["search"])


def test_a_call_made_counts_as_known() -> None:
    made = AgentResult(
        tool_calls=[ToolCall("invented", outcome="unknown")], metadata={"known_tools": ["book"]}
    )
    assert_tool_calls(made, ["invented"])


def test_a_session_tells_its_known_tools_through_its_result() -> None:
    class Live(Session):
        result = AgentResult(metadata={"known_tools": ["search", "book", "pay"]})

    with pytest.raises(UnknownToolError):
        assert_tool_calls(Live(), ["refund"])


def test_count() -> None:
    assert_tool_call_count(RESULT, 3)
    with pytest.raises(AssertionError, match=r"Expected 2 tool call\(s\), got 3(.|\n)*search.*book.*pay"):
        assert_tool_call_count(RESULT, 2)
    for wrong in (-1, True, 1.0, "3"):
        with pytest.raises(ExpectationError, match="whole number"):
            assert_tool_call_count(RESULT, wrong)  # type: ignore[arg-type]


def test_a_long_list_of_names_is_cut() -> None:
    with pytest.raises(AssertionError, match="and 80 more"):
        assert_tool_call_count([SEARCH] * 100, 2)


def test_no_tool_calls() -> None:
    assert_no_tool_calls(AgentResult("Which city?"))
    with pytest.raises(AssertionError, match="Expected no tool calls: 3 edits"):
        assert_no_tool_calls(RESULT)


@pytest.mark.parametrize("subject", [AgentResult(), []])
def test_a_negative_assertion_on_an_empty_trajectory_warns_and_fails_when_strict(subject: Any) -> None:
    with pytest.warns(VacuousAssertionWarning, match="empty trajectory"):
        assert_no_tool_calls(subject)
    with pytest.warns(VacuousAssertionWarning):
        assert_tool_calls(subject, [])
    with pytest.warns(VacuousAssertionWarning):
        assert_tool_call_count(subject, 0)
    with pytest.raises(AssertionError, match="empty trajectory"):
        assert_no_tool_calls(subject, strict=True)


@pytest.mark.parametrize(
    "result",
    [
        AgentResult("Which city?"),
        AgentResult(trace=[TraceEntry("user", "Hi")]),
        AgentResult(metadata={"turns": 1}),
        AgentResult(error="max turns"),
    ],
)
def test_a_run_in_which_something_happened_does_not_warn(result: AgentResult) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_no_tool_calls(result, strict=True)
        assert_tool_calls(result, [])


def test_the_warning_points_at_the_test() -> None:
    with pytest.warns(VacuousAssertionWarning) as caught:
        assert_no_tool_calls(AgentResult())
    assert caught[0].filename == __file__


def test_order_allows_gaps_and_counts_repeats() -> None:
    calls = [ToolCall(name) for name in "abcab"]
    assert_tool_call_order(calls, ["a", "c", "b"])
    assert_tool_call_order(calls, ["a", "a"])
    assert_tool_call_order(calls, list("abcab"), exact=True)
    for names, exact in ((["c", "c"], False), (["b", "b", "b"], False), (["a", "c"], True)):
        with pytest.raises(AssertionError) as failure:
            assert_tool_call_order(calls, names, exact=exact)
        assert str(failure.value).startswith("Tool call order mismatch")


def test_args_contain() -> None:
    calls = [SEARCH, ToolCall("search", {"city": "Rome", "filters": {"pool": True}})]
    assert_tool_args_contain(calls, "search", {"city": "Oslo"})
    assert_tool_args_contain(calls, "search", {})
    assert_tool_args_contain(calls, "search", {"city": IsStr}, call_index=1)
    assert_tool_args_contain(calls, "search", {"city": "Rome"}, call_index=-1)


@pytest.mark.parametrize(
    ("tool", "partial", "index", "says"),
    [
        ("search", {"cty": "Oslo"}, 0, "Missing argument 'cty': expected 'Oslo' Did you mean 'city'"),
        ("search", {"city": "Rome"}, 0, "Argument 'city': expected 'Rome', got 'Oslo'"),
        ("search", {"nights": True}, 0, "Argument 'nights': expected True, got 2"),
        ("search", {}, 1, re.escape("called 1 time(s), but call_index=1")),
        ("search", {}, -2, re.escape("call_index=-2")),
        ("serch", {}, 0, "Tool 'serch' was never called. Did you mean 'search'"),
    ],
)
def test_args_that_are_not_contained(tool: str, partial: dict[str, Any], index: int, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        assert_tool_args_contain(RESULT, tool, partial, call_index=index)
