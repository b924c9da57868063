"""The assertion about a whole trajectory, in all its modes."""

from __future__ import annotations

from typing import Any
from unittest.mock import ANY

import pytest

from callsheet import (
    AgentResult,
    ExpectationError,
    ToolCall,
    TraceEntry,
    UnknownToolError,
    VacuousAssertionWarning,
    assert_trajectory,
)

ASK = {"role": "user", "content": "Book Oslo"}
SEARCH = {"role": "tool", "name": "search", "args": {"city": "Oslo"}}
BOOK = {"role": "tool", "name": "book", "args": {"hotel": "H1"}}
DONE = {"role": "assistant", "content": "Booked."}
RESULT = AgentResult(
    "Booked.",
    trace=[
        TraceEntry("system", "Be brief."),
        TraceEntry("user", "Book Oslo"),
        TraceEntry("assistant", None),
        TraceEntry("tool", tool_call=ToolCall("search", {"city": "Oslo"}, response=["H1"]), agent="Desk"),
        TraceEntry("tool", tool_call=ToolCall("book", {"hotel": "H1"}, response="BK-1"), agent="Desk"),
        TraceEntry("assistant", "Booked.", agent="Desk"),
    ],
)


@pytest.mark.parametrize(
    ("mode", "steps"),
    [
        ("exact", [ASK, SEARCH, BOOK, DONE]),
        ("exact", [{"role": "system"}, ASK, SEARCH, BOOK, DONE]),
        (
            "exact",
            [{"role": "user"}, {"role": "tool", "content": ["H1"]}, ToolCall("book", {"hotel": "H1"}), ANY],
        ),
        ("exact", [ASK, TraceEntry("tool", tool_call=ToolCall("search", {"city": "Oslo"})), BOOK, DONE]),
        ("subset", [DONE, ASK]),
        ("ordered_subset", [ASK, DONE]),
        ("ordered_subset", [SEARCH, BOOK]),
        ("superset", [DONE, SEARCH, BOOK, ASK, ASK, {"role": "tool", "name": "pay"}]),
        ("unordered", [DONE, ANY, BOOK, ASK]),
    ],
)
def test_trajectories_that_pass(mode: Any, steps: list[Any]) -> None:
    assert_trajectory(RESULT, steps, mode=mode)


@pytest.mark.parametrize(
    ("mode", "steps"),
    [
        ("exact", [ASK, SEARCH, BOOK]),
        ("exact", [ASK, BOOK, SEARCH, DONE]),
        ("exact", [ASK, {"role": "tool", "name": "search", "agent": "Refunds"}, BOOK, DONE]),
        ("exact", [ASK, {**SEARCH, "args": {}}, BOOK, DONE]),
        ("subset", [SEARCH, SEARCH]),
        ("subset", [ANY, ANY, ANY, ANY, ANY]),
        ("ordered_subset", [DONE, ASK]),
        ("ordered_subset", [ASK, ASK]),
        ("superset", [ASK, SEARCH, DONE]),
        ("superset", []),
        ("unordered", [DONE, BOOK, ASK]),
        ("unordered", [DONE, BOOK, ASK, SEARCH, SEARCH]),
    ],
)
def test_trajectories_that_fail(mode: Any, steps: list[Any]) -> None:
    with pytest.raises(AssertionError, match=rf"Trajectory mismatch \(mode={mode}"):
        assert_trajectory(RESULT, steps, mode=mode)


def test_calls_without_a_trace_are_tool_steps() -> None:
    calls = [ToolCall("search", {"city": "Oslo"}), ToolCall("book", {"hotel": "H1"})]
    assert_trajectory(calls, [SEARCH, BOOK])
    assert_trajectory(AgentResult(tool_calls=calls), [SEARCH, BOOK])


def test_a_handoff_is_a_step_named_after_its_agent_and_no_tool() -> None:
    result = AgentResult(
        trace=[TraceEntry("handoff", "Refunds", tool_call=ToolCall("transfer_to_refunds"))],
        metadata={"known_tools": ["refund"]},
    )
    assert_trajectory(result, [{"role": "handoff", "name": "Refunds"}])
    with pytest.raises(UnknownToolError):
        assert_trajectory(result, [{"role": "tool", "name": "Refunds"}])


@pytest.mark.parametrize(
    ("steps", "mode", "says"),
    [
        ([ASK], "ordered", "Unknown trajectory mode 'ordered'.*Did you mean"),
        ([{"role": "user", "text": "x"}], "exact", "Unknown key 'text'"),
        ([{"content": "x"}], "exact", "No 'role'"),
        (["search"], "exact", "An expected step is"),
    ],
)
def test_a_malformed_expectation_is_an_error_of_its_own(steps: Any, mode: Any, says: str) -> None:
    with pytest.raises(ExpectationError, match=says):
        assert_trajectory(RESULT, steps, mode=mode)


def test_a_negative_mode_on_an_empty_trajectory_warns() -> None:
    with pytest.warns(VacuousAssertionWarning):
        assert_trajectory(AgentResult(), [ASK], mode="superset")
    with pytest.warns(VacuousAssertionWarning):
        assert_trajectory(AgentResult(), [])
