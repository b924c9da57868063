"""No assertion passes for nothing: on a run in which nothing happened, or about a tool that is not there."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import callsheet
from callsheet import (
    AgentResult,
    ExpectationError,
    ToolCall,
    TraceEntry,
    UnknownToolError,
    Usage,
    VacuousAssertionWarning,
)
from callsheet import assertions as ask
from callsheet.match import Anything, Approx, Called, OneOf, Partial, Regex, Satisfies, Unordered
from callsheet.order import AnyOrder, InOrder, Never, Optional, Times, assert_calls
from callsheet.unittest import AgentTestCase

Check = Callable[..., None]


def call(check: Any, *args: Any, **options: Any) -> Check:
    return lambda result, **strict: check(result, *args, **options, **strict)


# Pass on an empty trajectory with a warning, fail when strict.
PASS_ON_NOTHING: dict[str, list[Check]] = {
    "assert_tool_calls": [call(ask.assert_tool_calls, []), call(ask.assert_tool_calls, [], False)],
    "assert_tool_call_count": [call(ask.assert_tool_call_count, 0)],
    "assert_no_tool_calls": [call(ask.assert_no_tool_calls)],
    "assert_tool_call_order": [
        call(ask.assert_tool_call_order, []),
        call(ask.assert_tool_call_order, [], exact=True),
    ],
    "assert_response_contains": [call(ask.assert_response_contains, "")],
    "assert_response_equals": [
        call(ask.assert_response_equals, ""),
        call(ask.assert_response_equals, Anything()),
    ],
    "assert_response_matches": [call(ask.assert_response_matches, "")],
    "assert_response_consistent": [call(ask.assert_response_consistent, lambda text, calls: True)],
    "assert_headers": [call(ask.assert_headers, {}), call(ask.assert_headers, {}, exact=True)],
    "assert_model_used": [call(ask.assert_model_used, None)],
    "assert_trajectory": [
        call(ask.assert_trajectory, []),
        call(ask.assert_trajectory, [], mode="subset"),
        call(ask.assert_trajectory, [], mode="ordered_subset"),
        call(ask.assert_trajectory, [], mode="unordered"),
        call(ask.assert_trajectory, [{"role": "tool", "name": "a"}], mode="superset"),
    ],
    "assert_no_duplicate_calls": [call(ask.assert_no_duplicate_calls)],
    "assert_no_loop": [call(ask.assert_no_loop)],
    "assert_only_tools": [call(ask.assert_only_tools, []), call(ask.assert_only_tools, ["a"])],
    "assert_confirmed": [call(ask.assert_confirmed, "a", by="b")],
    "assert_budget": [
        call(ask.assert_budget, tool_calls=0),
        call(ask.assert_budget, turns=1),
        call(ask.assert_budget, tokens=1),
        call(ask.assert_budget, duration=1, tool_calls=5),
    ],
    "assert_calls": [
        call(assert_calls, Never("a")),
        call(assert_calls, Optional("a")),
        call(assert_calls, Times("a", 0, 2)),
        call(assert_calls, AnyOrder(Never("a"), Optional("b")), extras="forbid"),
    ],
}
# Ask for something that has to be there.
FAIL_ON_NOTHING: dict[str, list[Check]] = {
    "assert_tool_args_contain": [call(ask.assert_tool_args_contain, "a", {})],
    "assert_argument_flows": [call(ask.assert_argument_flows, "a", "b", argument="x")],
    "assert_tool_calls": [
        call(ask.assert_tool_calls, ["a"]),
        call(ask.assert_tool_calls, [Anything()], False),
    ],
    "assert_trajectory": [call(ask.assert_trajectory, [{"role": "user"}], mode="subset")],
    "assert_calls": [call(assert_calls, InOrder("a"))],
    "assert_headers": [call(ask.assert_headers, {"x": Anything()})],
    "assert_response_contains": [call(ask.assert_response_contains, "x")],
}
PUBLIC = {*ask.__all__, "assert_calls"}


def flat(table: dict[str, list[Check]]) -> list[Any]:
    return [
        pytest.param(check, id=f"{name}-{k}")
        for name, checks in table.items()
        for k, check in enumerate(checks)
    ]


def test_every_public_assertion_is_in_a_table() -> None:
    snapshots_are_files = {"assert_snapshot"}
    assert {name for name in callsheet.__all__ if name.startswith("assert_")} == PUBLIC | snapshots_are_files
    assert set(PASS_ON_NOTHING) | set(FAIL_ON_NOTHING) == PUBLIC


@pytest.mark.parametrize("check", flat(PASS_ON_NOTHING))
def test_a_pass_on_nothing_warns_and_fails_when_strict(check: Check) -> None:
    with pytest.warns(VacuousAssertionWarning) as caught:
        check(AgentResult())
    assert caught[0].filename == __file__
    with pytest.raises(AssertionError, match=r"passe[sd] (on|what|because)"):
        check(AgentResult(), strict=True)


@pytest.mark.parametrize("check", flat(FAIL_ON_NOTHING))
def test_what_has_to_be_there_is_missed(check: Check) -> None:
    with pytest.raises(AssertionError):
        check(AgentResult())


@pytest.mark.parametrize("name", sorted(set(PASS_ON_NOTHING)))
def test_whatever_can_pass_on_nothing_has_a_strict_option(name: str) -> None:
    parameter = inspect.signature(getattr(callsheet, name)).parameters["strict"]
    assert (parameter.kind, parameter.default) == (inspect.Parameter.KEYWORD_ONLY, False)


HAPPENED = AgentResult(
    "Hi.",
    [ToolCall("a", {"x": 1}, response="yes", duration=0.5, turn=0)],
    model_used="nova",
    headers={"x": "1"},
    trace=[
        TraceEntry("tool", tool_call=ToolCall("a", {"x": 1}, response="yes", duration=0.5, turn=0), turn=0),
        TraceEntry("assistant", "Hi.", turn=1),
    ],
    usage=Usage(2, 3, 4),
    metadata={"turns": 2},
)


@pytest.mark.parametrize(
    "check",
    [
        call(ask.assert_tool_calls, ["a"]),
        call(ask.assert_tool_call_count, 1),
        call(ask.assert_tool_call_order, ["a"]),
        call(ask.assert_response_contains, "Hi"),
        call(ask.assert_response_equals, "Hi."),
        call(ask.assert_response_matches, "^Hi"),
        call(ask.assert_response_consistent, lambda text, calls: True),
        call(ask.assert_headers, {"x": "1"}, exact=True),
        call(ask.assert_model_used, "nova"),
        call(ask.assert_trajectory, [{"role": "tool"}, {"role": "assistant"}]),
        call(ask.assert_no_duplicate_calls),
        call(ask.assert_no_loop),
        call(ask.assert_only_tools, ["a"]),
        call(ask.assert_confirmed, "b", by="a"),
        call(ask.assert_budget, turns=2, tool_calls=1, tokens=7, duration=0.5),
        call(assert_calls, Never("b")),
    ],
)
def test_a_run_in_which_something_happened_does_not_warn(check: Check) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(HAPPENED, strict=True)


@pytest.mark.parametrize(
    "result",
    [
        AgentResult(model_used="nova"),
        AgentResult(headers={"x": "1"}),
        AgentResult(output={"x": 1}),
        AgentResult(error="max turns"),
        AgentResult(metadata={"turns": 1}),
    ],
)
def test_a_request_an_answer_or_an_error_is_something(result: AgentResult) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask.assert_no_tool_calls(result, strict=True)


KNOWN = AgentResult("Hi", [ToolCall("search")], metadata={"known_tools": ["search", "book"], "turns": 1})


@pytest.mark.parametrize(
    "check",
    [
        call(ask.assert_tool_calls, ["serch"]),
        call(ask.assert_tool_calls, [{"name": "serch", "args": {}}], False),
        call(ask.assert_tool_calls, [ToolCall("serch")]),
        call(ask.assert_tool_calls, [~Called("serch")]),
        call(ask.assert_tool_calls, [Called("search") | Called("serch")]),
        call(ask.assert_tool_calls, [Called("serch") & Anything()], False),
        call(ask.assert_tool_call_order, ["serch"]),
        call(ask.assert_tool_call_order, [~Called("serch")], exact=True),
        call(ask.assert_tool_args_contain, "serch", {}),
        call(ask.assert_trajectory, [{"role": "tool", "name": "serch"}], mode="superset"),
        call(ask.assert_trajectory, [ToolCall("search"), ~Called("serch")], mode="subset"),
        call(ask.assert_no_duplicate_calls, allow=["serch"]),
        call(ask.assert_only_tools, ["search", "serch"]),
        call(ask.assert_confirmed, "search", by="serch"),
        call(ask.assert_confirmed, "serch", by="search"),
        call(ask.assert_argument_flows, "serch", "search", argument="x"),
        call(ask.assert_argument_flows, "search", "serch", argument="x"),
        call(assert_calls, Never("serch")),
        call(assert_calls, Never(Called(OneOf("serch", "book")))),
        call(assert_calls, Never({"name": OneOf("book", "serch")})),
        call(assert_calls, Never(~Called("serch"))),
        call(assert_calls, Optional(InOrder("search", "serch"))),
    ],
)
def test_a_tool_the_agent_does_not_have_is_an_error_and_no_pass(check: Check) -> None:
    with pytest.raises(UnknownToolError, match="Did you mean 'search'"):
        check(KNOWN)
    with pytest.raises(UnknownToolError):
        check(type("Session", (), {"tool_calls": KNOWN.tool_calls, "trace": [], "result": KNOWN})())


@pytest.mark.parametrize("name", [Regex("^serch"), ~Regex("(?s).*"), Satisfies(lambda name: name == "serch")])
def test_a_matcher_for_names_that_accepts_no_tool_is_an_error(name: Any) -> None:
    for item in (Called(name), {"name": name}):
        with pytest.raises(UnknownToolError, match="its tools: 'book', 'search'"):
            assert_calls(KNOWN, Never(item))
    assert_calls(KNOWN, Never(Called(Regex("^boo"))))


@pytest.mark.parametrize(
    "item",
    [
        Regex("^delete"),
        OneOf("delete", "drop"),
        Partial({"name": "delete"}),
        Unordered(["delete"]),
        Approx(1),
        Called("delete") | "drop",
        "drop" & Anything(),
        ~Regex("^delete"),
        OneOf(Called("delete"), {"name": "drop"}),
        {"name": 1},
        {"name": None},
        {"name": "delete", "args": 1},
        {"name": "delete", "args": None},
    ],
    ids=repr,
)
def test_what_no_call_can_equal_is_refused_where_a_call_is_expected(item: Any) -> None:
    with pytest.raises(ExpectationError, match="about a value|neither a"):
        assert_calls([ToolCall("delete")], Never(item))
    with pytest.raises(ExpectationError, match="about a value|neither a"):
        ask.assert_tool_calls([], [item])


def test_a_choice_between_calls_is_a_call() -> None:
    made = [ToolCall("delete", {"id": 1})]
    ask.assert_tool_calls(made, [OneOf(Called("drop"), made[0])])
    ask.assert_tool_calls(made, [~Called("drop") & Anything()])


def test_a_step_of_no_role_there_is_is_refused() -> None:
    with pytest.raises(ExpectationError, match="No step has the role 'tol'.* Did you mean 'tool'"):
        ask.assert_trajectory(KNOWN, [{"role": "tol"}], mode="superset")
    with pytest.raises(ExpectationError, match="about a value"):
        ask.assert_trajectory(KNOWN, [Regex("x")], mode="superset")


def test_a_set_is_no_list_of_expected_calls() -> None:
    with pytest.raises(ExpectationError, match="another order in every process"):
        ask.assert_tool_calls(KNOWN, {"search"})
    with pytest.raises(ExpectationError, match="another order in every process"):
        ask.assert_tool_call_order(KNOWN, frozenset({"search"}))  # type: ignore[arg-type]


def test_a_step_of_any_tool_names_none() -> None:
    ask.assert_trajectory(KNOWN, [{"role": "tool"}], mode="superset")
    ask.assert_trajectory(KNOWN, [{"role": "tool", "name": None}, {"role": "tool"}], mode="superset")


def test_validate_tools_fails_a_tool_the_agent_does_not_have() -> None:
    for config in ({"forbidden": ["serch"]}, {"expected": ["serch"]}, {"validate_args": {"serch": {}}}):
        assert not callsheet.validate_tools(KNOWN, **config).passed  # type: ignore[arg-type]


def test_validate_tools_warns_about_a_run_in_which_nothing_happened() -> None:
    with pytest.warns(VacuousAssertionWarning, match="passed on an empty trajectory") as caught:
        assert callsheet.validate_tools(AgentResult(), forbidden=["a"], max_tools=0).passed
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert callsheet.validate_tools(AgentResult("Hi"), forbidden=["a"]).passed
        assert callsheet.validate_tools([], forbidden=["a"]).passed


def test_unittests_names_take_the_same_options() -> None:
    case = AgentTestCase()
    for method in (case.assertNoToolCalls, case.assertNoLoop):
        with pytest.raises(AssertionError, match="passed on an empty trajectory"):
            method(AgentResult(), strict=True)


@pytest.mark.parametrize(
    "check",
    [
        call(ask.assert_tool_args_contain, "a", None),
        call(ask.assert_tool_args_contain, "a", ["x"]),
        call(ask.assert_response_matches, "("),
        call(ask.assert_response_matches, b"Hi"),
        call(ask.assert_response_matches, None),
        call(ask.assert_response_consistent, True),
        call(ask.assert_only_tools, None),
        call(ask.assert_only_tools, "a"),
        call(ask.assert_no_duplicate_calls, allow="a"),
        call(ask.assert_tool_calls, None),
        call(ask.assert_tool_call_order, "a"),
        call(ask.assert_trajectory, None),
        call(ask.assert_headers, "x"),
        call(ask.assert_argument_flows, "a", "a", argument=""),
        call(ask.assert_budget),
        call(assert_calls, None),
    ],
)
def test_a_question_that_makes_no_sense_is_an_error_that_says_so(check: Check) -> None:
    with pytest.raises(callsheet.ExpectationError, match=r"\."):
        check(HAPPENED)
