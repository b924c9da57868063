"""Budgets, repeats, loops, allowed tools, confirmations, flows, consistency, and the scope of one agent."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import ANY

import pytest

from callsheet import (
    AgentResult,
    ExpectationError,
    ToolCall,
    TraceEntry,
    UnknownToolError,
    Usage,
    VacuousAssertionWarning,
    assert_argument_flows,
    assert_budget,
    assert_calls,
    assert_confirmed,
    assert_no_duplicate_calls,
    assert_no_loop,
    assert_no_tool_calls,
    assert_only_tools,
    assert_response_consistent,
    assert_tool_call_count,
    assert_tool_calls,
    assert_trajectory,
)
from callsheet.match import Satisfies
from callsheet.order import Never

RESULT = AgentResult(
    "Booked H2 for 240.",
    [
        ToolCall(
            "search",
            {"city": "Oslo"},
            response={"hotels": [{"id": "H1"}, {"id": "H2"}]},
            turn=0,
            duration=1.5,
        ),
        ToolCall("confirm", {"hotel": "H2"}, response="Yes, please", turn=1, duration=0.25),
        ToolCall("book", {"hotel": "H2", "extras": [{"of": "H1"}]}, response={"price": 240}, turn=2),
    ],
    metadata={"turns": 4},
    usage=Usage(4, 100, 20),
)


def fails(check: Callable[[], Any], *says: str) -> None:
    with pytest.raises(AssertionError) as failure:
        check()
    assert not isinstance(failure.value, ExpectationError)
    for part in says:
        assert part in str(failure.value)


def test_a_budget_that_is_kept() -> None:
    assert_budget(RESULT, turns=3, tool_calls=3, tokens=120, duration=1.75)
    assert_budget(RESULT.tool_calls, tool_calls=3, duration=2, turns=3)
    assert_budget(AgentResult(metadata={"turns": 2}), turns=2)


def test_every_limit_exceeded_is_named() -> None:
    fails(
        lambda: assert_budget(RESULT, turns=2, tool_calls=2, tokens=119, duration=1.5),
        "turns: 3 > 2",
        "tool_calls: 3 > 2",
        "tokens: 120 > 119",
        "duration: 1.75 > 1.5",
    )
    fails(lambda: assert_budget(AgentResult(metadata={"turns": 2}), turns=1), "turns: 2 > 1")


@pytest.mark.parametrize(
    "limits", [{}, {"turns": -1}, {"tokens": True}, {"duration": "1"}, {"duration": float("nan")}]
)
def test_a_budget_that_says_nothing_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ExpectationError):
        assert_budget(RESULT, **limits)


@pytest.mark.parametrize("limit", ["turns", "tokens", "duration"])
def test_a_budget_of_what_was_not_recorded_warns(limit: str) -> None:
    with pytest.warns(VacuousAssertionWarning, match=f"no {limit} were recorded"):
        assert_budget(AgentResult("Hi", [ToolCall("a")]), **{limit: 1})


def test_duplicates() -> None:
    once = [ToolCall("a", {"x": 1}), ToolCall("a", {"x": True}), ToolCall("b", {"x": 1})]
    assert_no_duplicate_calls(once)
    assert_no_duplicate_calls([*once, ToolCall("a", {"x": 1.0})], allow=["a"])
    fails(
        lambda: assert_no_duplicate_calls([*once, ToolCall("a", {"x": 1.0})]),
        "1 call(s) repeat",
        "[3] repeats [0]: a(x=1.0)",
    )
    fails(lambda: assert_no_duplicate_calls([ToolCall("a")] * 30), "29 call(s)", "and 19 more")
    odd = [ToolCall("a", {"x": object()}), ToolCall("a", {"x": object()})]
    assert_no_duplicate_calls(odd)
    fails(lambda: assert_no_duplicate_calls([*odd, odd[1]]), "[2] repeats [1]")


def test_loops() -> None:
    rounds = [ToolCall(name, {"n": 1}) for name in ["x", "a", "b", "a", "b", "a", "b", "y"]]
    fails(lambda: assert_no_loop(rounds), "2 call(s), 3 times in a row from [1]", "[1] a(n=1)", "[2] b(n=1)")
    assert_no_loop(rounds, repeats=4)
    assert_no_loop(rounds, longest=1)
    fails(lambda: assert_no_loop([ToolCall("poll")] * 2, repeats=2), "1 call(s), 2 times")
    assert_no_loop([ToolCall("poll", {"page": n}) for n in range(50)])
    for wrong in ({"repeats": 1}, {"longest": 0}, {"repeats": "3"}, {"repeats": 2.5}, {"longest": True}):
        with pytest.raises(ExpectationError):
            assert_no_loop(rounds, **wrong)


def test_allowed_tools() -> None:
    assert_only_tools(RESULT, ["search", "confirm", "book", "cancel"])
    fails(
        lambda: assert_only_tools(RESULT, ["search", "confirm"]),
        "1 call(s)",
        "[2] book(",
        "'search', 'confirm'",
    )
    with pytest.raises(ExpectationError, match="Put it in brackets"):
        assert_only_tools(RESULT, "search")


def test_confirmed() -> None:
    assert_confirmed(RESULT, "book", by="confirm")
    assert_confirmed(RESULT, "cancel", by="confirm")
    assert_confirmed(RESULT, "book", by="search", answer=Satisfies(lambda answer: len(answer["hotels"]) == 2))


@pytest.mark.parametrize(
    ("calls", "says"),
    [
        ([ToolCall("pay")], "there is no 'ask' before it"),
        ([ToolCall("pay"), ToolCall("ask", response=True)], "there is no 'ask' before it"),
        ([ToolCall("ask", response=True, turn=0), ToolCall("pay", turn=0)], "in the same reply"),
        ([ToolCall("ask", response="no"), ToolCall("pay")], "the last 'ask' before it answered 'no'"),
        ([ToolCall("ask", response=1), ToolCall("pay")], "answered 1"),
        ([ToolCall("ask", response="yesterday"), ToolCall("pay")], "answered 'yesterday'"),
        ([ToolCall("ask", response=True, error="broken"), ToolCall("pay")], "answered 'broken'"),
        (
            [ToolCall("ask", response=True), ToolCall("ask", response=False), ToolCall("pay")],
            "answered False",
        ),
        (
            [ToolCall("ask", response=True), ToolCall("pay"), ToolCall("ask"), ToolCall("pay", {"n": 2})],
            "pay(n=2)",
        ),
    ],
)
def test_not_confirmed(calls: list[ToolCall], says: str) -> None:
    fails(lambda: assert_confirmed(calls, "pay", by="ask"), "was not confirmed", says)


def test_an_argument_flows_from_an_answer() -> None:
    assert_argument_flows(RESULT, "search", "book", answer="hotels[*].id", argument="hotel")
    assert_argument_flows(RESULT, "search", "book", answer="hotels[*].id", argument="extras[0].of")
    chain = [ToolCall("token", response="t-1"), ToolCall("call", {"auth": "t-1"})]
    assert_argument_flows(chain, "token", "call", argument="auth")


@pytest.mark.parametrize(
    ("calls", "says"),
    [
        ([ToolCall("id", response=1), ToolCall("use", {"x": 2})], "no earlier answer of 'id' gave x=2"),
        ([ToolCall("use", {"x": 1}), ToolCall("id", response=1)], "no earlier answer"),
        ([ToolCall("id", response=1, turn=0), ToolCall("use", {"x": 1}, turn=0)], "no earlier answer"),
        ([ToolCall("id", response=1, error="x"), ToolCall("use", {"x": 1})], "no earlier answer"),
        ([ToolCall("id", response=1), ToolCall("use", {"x": True})], "gave x=True"),
        ([ToolCall("id", response=1), ToolCall("use", {})], "has no argument 'x'"),
        ([ToolCall("id", response=1)], "Tool 'use' was never called."),
    ],
)
def test_an_argument_nobody_answered(calls: list[ToolCall], says: str) -> None:
    fails(lambda: assert_argument_flows(calls, "id", "use", argument="x"), says)


def test_the_final_text_agrees_with_the_answers() -> None:
    def names_the_price(response: str, calls: Any) -> bool:
        return str(calls[-1].response["price"]) in response

    assert_response_consistent(RESULT, names_the_price)
    wrong = AgentResult(
        "Booked for 99.", [*RESULT.tool_calls[:2], ToolCall("x", error="no"), RESULT.tool_calls[2]]
    )
    fails(
        lambda: assert_response_consistent(wrong, names_the_price),
        "says names_the_price",
        "Booked for 99.",
        "x() answered 'no'",
        "{'price': 240}",
    )


@pytest.mark.parametrize(
    "check",
    [
        assert_no_tool_calls,
        assert_no_duplicate_calls,
        assert_no_loop,
        lambda result, **options: assert_only_tools(result, [], **options),
        lambda result, **options: assert_confirmed(result, "a", by="b", **options),
        lambda result, **options: assert_calls(result, Never("a"), **options),
        lambda result, **options: assert_tool_calls(result, [], **options),
        lambda result, **options: assert_tool_call_count(result, 0, **options),
        lambda result, **options: assert_trajectory(result, [], mode="superset", **options),
    ],
)
def test_a_negative_assertion_on_an_empty_trajectory_warns_and_fails_when_strict(
    check: Callable[..., None],
) -> None:
    with pytest.warns(VacuousAssertionWarning):
        check(AgentResult())
    with pytest.raises(AssertionError, match="empty trajectory"):
        check(AgentResult(), strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(AgentResult("Which city?", metadata={"turns": 1}), strict=True)


@pytest.mark.parametrize(
    "check",
    [
        lambda result: assert_no_duplicate_calls(result, allow=["serch"]),
        lambda result: assert_only_tools(result, ["serch"]),
        lambda result: assert_confirmed(result, "search", by="serch"),
        lambda result: assert_argument_flows(result, "serch", "search", argument="x"),
    ],
)
def test_a_tool_the_agent_does_not_have_is_an_error(check: Callable[[Any], None]) -> None:
    with pytest.raises(UnknownToolError, match="Did you mean 'search'"):
        check(AgentResult("Hi", [ToolCall("search")], metadata={"known_tools": ["search"]}))


def test_the_scope_of_one_agent() -> None:
    result = AgentResult(
        "All done.",
        [ToolCall("route", agent="Triage", turn=0), ToolCall("refund", agent="Refunds", run=1, turn=0)],
        trace=[
            TraceEntry("user", "Money back!"),
            TraceEntry("tool", tool_call=ToolCall("route"), agent="Triage", turn=0),
            TraceEntry("tool", tool_call=ToolCall("refund"), agent="Refunds", run=1, turn=0),
            TraceEntry("assistant", "Refunded.", agent="Refunds", run=1, turn=1),
            TraceEntry("assistant", "All done.", agent="Triage", turn=1),
        ],
        metadata={"turns": 4, "known_tools": ["route", "refund"]},
        usage=Usage(4, 100, 20),
    )
    refunds = result.by_agent("Refunds")
    assert refunds.tool_names == ["refund"]
    assert refunds.response == "Refunded."
    assert refunds.agents == ["Refunds"]
    assert refunds.metadata == {"turns": 2, "known_tools": ["route", "refund"]}
    assert refunds.usage == Usage()
    spent = {"Refunds": Usage(2, 30, 10).to_dict(), "Triage": Usage(2, 70, 10).to_dict()}
    refunds = replace(result, metadata={**result.metadata, "usage_by_agent": spent}).by_agent("Refunds")
    assert refunds.usage == Usage(2, 30, 10)
    fails(lambda: assert_budget(refunds, tokens=39), "tokens: 40 > 39")
    assert AgentResult(tool_calls=result.tool_calls).by_agent("Triage").response == ""
    with pytest.raises(
        ExpectationError, match=r"No agent 'Refund' took part; agents: 'Triage', 'Refunds'.*Did you mean"
    ):
        result.by_agent("Refund")


class Odd:
    """Has no hash, so calls with it are compared one by one."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd) and self.number == other.number

    __hash__ = None  # type: ignore[assignment]


def test_calls_without_a_hashable_form_repeat_and_loop_too() -> None:
    calls = [ToolCall("a", {"x": Odd(number % 2)}) for number in range(6)]
    fails(lambda: assert_no_duplicate_calls(calls), "4 call(s) repeat", "[2] repeats [0]")
    fails(lambda: assert_no_loop(calls), "2 call(s), 3 times in a row from [0]")
    assert_no_loop([*calls[:5], ToolCall("b", {"x": Odd(1)})])
    assert_no_duplicate_calls([ToolCall("a", {"x": Odd(number)}) for number in range(4)])


def test_an_answer_without_a_hashable_form_flows_too() -> None:
    def run(*answers: Any, used: Any) -> list[ToolCall]:
        asked = [ToolCall("s", response=answer, turn=0) for answer in answers]
        return [*asked, ToolCall("t", {"x": used}, turn=1)]

    for answers, used in (([Odd(1), 2], Odd(1)), ([Odd(1), 2], 2), ([Odd(1), ANY], 3)):
        assert_argument_flows(run(*answers, used=used), "s", "t", argument="x")
    for answers, used in (([Odd(1), 2], Odd(2)), ([Odd(1), 2], 3)):
        fails(
            lambda: assert_argument_flows(run(*answers, used=used), "s", "t", argument="x"),  # noqa: B023
            "answer of 's' gave",
        )


def test_long_lists_of_repeats_and_strangers_are_cut() -> None:
    calls = [ToolCall("a", {"x": "y" * 100})] * 30
    for check in (assert_no_duplicate_calls, lambda calls: assert_only_tools(calls, ["b"])):
        with pytest.raises(AssertionError) as failure:
            check(calls)
        lines = str(failure.value).splitlines()
        assert len(lines) <= 12
        assert lines[-1].startswith("  ... and ")
        assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("answers", [[True, False], [False, True]])
def test_one_no_of_two_parallel_confirmations_is_a_no(answers: list[bool]) -> None:
    asked = [ToolCall("ask", response=said, turn=0, index=n) for n, said in enumerate(answers)]
    pay = ToolCall("pay", turn=1)
    fails(lambda: assert_confirmed([*asked, pay], "pay", by="ask"), "the last 'ask' before it answered False")
    assert_confirmed([*asked, ToolCall("ask", response=True, turn=1), replace(pay, turn=2)], "pay", by="ask")


def test_a_confirmation_that_was_denied_confirms_nothing() -> None:
    asked = ToolCall("ask", response="yes", outcome="denied", turn=0)
    fails(lambda: assert_confirmed([asked, ToolCall("pay", turn=1)], "pay", by="ask"), "was not confirmed")
