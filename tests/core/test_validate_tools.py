"""`validate_tools`: scores, texts, and everything it takes for calls."""

from __future__ import annotations

import sys
from itertools import product
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet import AgentResult, ExpectationError, ToolCall, ToolValidation, validate_tools
from callsheet.match import Approx, Regex

CALLS = [
    ToolCall("search", {"table": "users", "limit": 10}),
    ToolCall("send", {"to": ["a@x.com"], "opts": {"cc": None}}),
]


def calls(*names: str) -> list[ToolCall]:
    return [ToolCall(name) for name in names]


def test_everything_in_order_scores_one() -> None:
    verdict = validate_tools(
        CALLS,
        expected=["search", "send"],
        forbidden=["drop"],
        min_tools=2,
        max_tools=2,
        order=["search", "send"],
        exact_order=True,
        validate_args={
            "search": {"limit": 10.0, "table": Regex("^us")},
            "send": {"to": ["a@x.com"], "opts": {"cc": None}},
        },
        known_tools=["search", "send", "drop"],
    )
    assert verdict == ToolValidation(True, 1.0, ["search", "send"], ["search", "send"], [])
    assert verdict
    assert verdict.to_dict() == {
        "passed": True,
        "score": 1.0,
        "actualTools": ["search", "send"],
        "expectedTools": ["search", "send"],
        "failures": [],
    }


@pytest.mark.parametrize(
    ("made", "config", "score", "failures"),
    [
        (["a"], {"expected": ["a", "b", "c", "d"]}, 0.25, ["Missing expected tools: b, c, d"]),
        ([], {"expected": ["a", "b"]}, 0.0, ["Missing expected tools: a, b"]),
        (["x", "y", "x"], {"forbidden": ["z", "y", "x"]}, 0.5, ["Used forbidden tools: y, x"]),
        (["a"], {"min_tools": 2}, 0.8, ["Too few tools: 1 < 2"]),
        (list("abcde"), {"max_tools": 3}, 0.9, ["Too many tools: 5 > 3"]),
        (["a"], {"max_tools": 0}, 0.9, ["Too many tools: 1 > 0"]),
        (["b", "a"], {"order": ["a", "b"]}, 0.7, ["Tool order incorrect. Expected: [a, b], Got: [b, a]"]),
        (
            ["a", "x", "b", "d", "c"],
            {"order": ["a", "b", "c", "d"]},
            0.75,
            ["Tool order incorrect. Expected: [a, b, c, d], Got: [a, x, b, d, c]"],
        ),
        (
            ["a", "b", "c"],
            {"order": ["a", "b"], "exact_order": True},
            0.7,
            ["Tool count mismatch. Expected 2 tools, got 3"],
        ),
        (
            ["a", "b", "d", "e"],
            {"order": ["a", "b", "c", "e"], "exact_order": True},
            0.75,
            ["Tool order incorrect. Expected: [a, b, c, e], Got: [a, b, d, e]"],
        ),
        ([], {"order": ["a"]}, 0.7, ["Tool order incorrect. Expected: [a], Got: []"]),
        (["a"], {"order": [], "exact_order": True}, 0.7, ["Tool count mismatch. Expected 0 tools, got 1"]),
        (["a", "x"], {"order": ["a"]}, 1.0, []),
        (["a"], {"order": []}, 1.0, []),
        (["a"], {"expected": []}, 1.0, []),
        (["a"], {"expected": ["a"], "known_tools": ["a"]}, 1.0, []),
        (
            ["a"],
            {"forbidden": ["serach"], "known_tools": ["a", "search"]},
            0.5,
            ["Unknown tools named: serach Did you mean 'search'?"],
        ),
        (
            ["x"],
            {"expected": ["a"], "forbidden": ["x"], "min_tools": 2, "max_tools": 0},
            0.0,
            [
                "Missing expected tools: a",
                "Used forbidden tools: x",
                "Too few tools: 1 < 2",
                "Too many tools: 1 > 0",
            ],
        ),
    ],
)
def test_scores_and_texts(made: list[str], config: dict[str, Any], score: float, failures: list[str]) -> None:
    verdict = validate_tools(calls(*made), **config)
    assert verdict.score == pytest.approx(score)
    assert verdict.failures == failures
    assert verdict.passed is bool(verdict) is (not failures)
    assert verdict.actual_tools == made


@pytest.mark.parametrize(
    ("wanted", "score", "failures"),
    [
        ({"limit": 20}, 0.9, ["Tool 'search' arg 'limit' mismatch. Expected: 20, Got: 10"]),
        ({"table": "cities"}, 0.9, ["Tool 'search' arg 'table' mismatch. Expected: cities, Got: users"]),
        ({"limit": "10"}, 0.9, ["Tool 'search' arg 'limit' mismatch. Expected: '10', Got: 10"]),
        ({"page": 1}, 0.9, ["Tool 'search' arg 'page' mismatch. Expected: 1, Got: (missing)"]),
        ({"limit": True, "table": "x"}, 0.81, 2),
        ({"limit": Approx(10.1, rel=0.1)}, 1.0, []),
    ],
)
def test_arguments(wanted: dict[str, Any], score: float, failures: Any) -> None:
    verdict = validate_tools(CALLS, validate_args={"search": wanted, "never": {"x": 1}})
    assert verdict.score == pytest.approx(score)
    assert verdict.failures == failures or len(verdict.failures) == failures


def test_arguments_are_checked_for_every_call_of_the_tool() -> None:
    verdict = validate_tools([ToolCall("pay", {"n": n}) for n in (1, 2, 3)], validate_args={"pay": {"n": 1}})
    assert verdict.score == pytest.approx(0.81)
    assert len(verdict.failures) == 2


@pytest.mark.parametrize(
    "payload",
    [
        AgentResult(tool_calls=[ToolCall("search", {"q": 1})]),
        [ToolCall("search", {"q": 1})],
        [{"name": "search", "args": {"q": 1}}],
        [{"toolName": "search", "args": {"q": 1}}],
        [{"toolName": "search", "input": {"q": 1}}],
        [{"name": "search", "arguments": '{"q": 1}'}],
        [{"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": 1}'}}],
    ],
)
def test_what_counts_as_calls(payload: Any) -> None:
    assert validate_tools(payload, expected=["search"], validate_args={"search": {"q": 1}}, max_tools=1)
    assert not validate_tools(payload, forbidden=["search"])


def test_a_providers_reply_goes_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    parsing = ModuleType("callsheet._parsing")
    parsing.parse_response = lambda payload: AgentResult(tool_calls=[ToolCall(payload["x"])])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "callsheet._parsing", parsing)
    assert validate_tools({"x": "search"}, expected=["search"])
    parsing.parse_response = lambda payload: AgentResult(tool_calls=[ToolCall(str(payload[0]))])  # type: ignore[attr-defined]
    assert validate_tools([7, {"name": "search"}], expected=["7"])
    assert validate_tools("search", expected=["s"])


def test_arguments_that_are_no_json_are_kept_as_written() -> None:
    verdict = validate_tools([{"name": "search", "arguments": "{oops"}], validate_args={"search": {"q": 1}})
    assert verdict.failures == ["Tool 'search' arg 'q' mismatch. Expected: 1, Got: (missing)"]


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"expected": "search"}, "expected is a list of tool names, not 'search'"),
        ({"order": [1]}, "order is a list"),
        ({"min_tools": True}, "min_tools is a whole number"),
        ({"max_tools": -1}, "max_tools is a whole number"),
    ],
)
def test_a_malformed_option_is_an_error(config: dict[str, Any], says: str) -> None:
    with pytest.raises(ExpectationError, match=says):
        validate_tools(CALLS, **config)


def test_a_call_without_a_name_is_an_error() -> None:
    with pytest.raises(ExpectationError, match="needs a name"):
        validate_tools([{"name": None, "args": {}}])


def test_the_tools_an_adapter_recorded_are_known() -> None:
    result = AgentResult("Hi.", metadata={"known_tools": ["search"]})
    assert not validate_tools(result, forbidden=["serach"])
    assert validate_tools(result, forbidden=["search"])


NAMES = st.lists(st.sampled_from("abcd"), max_size=5)


@given(NAMES, NAMES, NAMES, NAMES, st.integers(0, 4), st.integers(0, 4), st.booleans())
def test_the_score_is_the_product_an_oracle_computes(
    made: list[str],
    expected: list[str],
    forbidden: list[str],
    order: list[str],
    low: int,
    high: int,
    exact: bool,
) -> None:
    verdict = validate_tools(
        calls(*made),
        expected=expected,
        forbidden=forbidden,
        order=order,
        min_tools=low,
        max_tools=high,
        exact_order=exact,
    )
    score = 1.0
    if set(expected) - set(made):
        score *= sum(name in made for name in expected) / len(expected)
    score *= 0.5 if set(made) & set(forbidden) else 1
    score *= 0.8 if len(made) < low else 1
    score *= 0.9 if len(made) > high else 1
    if exact and order != made:
        hits = sum(a == b for a, b in zip(order, made, strict=False))
        score *= max(hits / max(len(order), len(made)), 0.7)
    if not exact and order:
        kept = (
            [name for name, keep in zip(order, mask, strict=True) if keep]
            for mask in product([True, False], repeat=len(order))
        )
        longest = max(len(part) for part in kept if is_subsequence(part, made))
        score *= 1 if longest == len(order) else max(longest / len(order), 0.7)
    assert verdict.score == pytest.approx(score)
    assert (verdict.score == 1) is verdict.passed is (not verdict.failures)


def is_subsequence(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(name in rest for name in part)
