"""A trajectory as a tree one can read in a failing test's report."""

from __future__ import annotations

from callsheet import AgentResult, ToolCall, TraceEntry
from callsheet._tree import trajectory_tree


def tool(name, *, turn=0, agent="Desk", parent_id=None, **fields):
    call = ToolCall(name, fields.pop("args", {}), turn=turn, id=fields.pop("id", name), **fields)
    return TraceEntry("tool", tool_call=call, agent=agent, turn=turn, parent_id=parent_id)


def said(text, *, turn=0, agent="Desk", parent_id=None):
    return TraceEntry("assistant", text, agent=agent, turn=turn, parent_id=parent_id)


def tree(*trace):
    return trajectory_tree(AgentResult(trace=list(trace))).splitlines()


def test_agents_batches_and_nested_runs_are_seen():
    assert tree(
        TraceEntry("user", "Rome?"),
        tool("search", args={"q": "rome"}, response=[1], mocked=True),
        tool("forecast", response="sun"),
        tool("get_forecast", agent="Weather", parent_id="forecast", response="sun", mocked=True),
        said("Sunny", agent="Weather", turn=1, parent_id="forecast"),
        tool("third", error="down", outcome="failed", mocked=True, attempts=3),
        said("Go", turn=1),
    ) == [
        "user: 'Rome?'",
        "Desk",
        "  ┌ search(q='rome') -> [1] [mocked]",
        "  │ forecast() -> 'sun' [real]",
        "      Weather",
        "        get_forecast() -> 'sun' [mocked]",
        "        assistant: 'Sunny'",
        "  └ third() !! failed: 'down' [mocked x3]",
        "  assistant: 'Go'",
    ]


def test_handoffs_errors_and_calls_nobody_ran_are_seen():
    handoff = ToolCall("transfer_to_refunds", kind="handoff", turn=0)
    assert tree(
        TraceEntry("handoff", "Refunds", handoff, agent="Desk", turn=0),
        tool("serch", agent="Refunds", turn=1, outcome="unknown", raw_args="{bad"),
        TraceEntry("error", "TurnLimitError: too many", agent="Refunds"),
    ) == [
        "Desk",
        "  handoff to Refunds",
        "Refunds",
        "  serch() wrote '{bad' [unknown]",
        "  error: 'TurnLimitError: too many'",
    ]


def test_a_call_that_was_refused_is_no_real_one():
    assert tree(
        tool("pay", outcome="denied", error="No mock"),
        tool("book", outcome="invalid", error="no such seat", turn=1),
        tool("find", outcome="invalid", error="no such city", mocked=True, turn=2),
    ) == [
        "Desk",
        "  pay() !! denied: 'No mock'",
        "  book() !! invalid: 'no such seat'",
        "  find() !! invalid: 'no such city' [mocked]",
    ]


def test_long_values_are_cut_and_secrets_are_hidden():
    (_, line) = tree(tool("login", args={"token": "sk-very-secret", "text": "x" * 500}, response="ok"))
    assert "sk-very-secret" not in line
    assert "..." in line
    assert len(line) < 200


def test_a_long_trajectory_is_counted_after_200_lines():
    lines = tree(*(tool("search", id=str(turn), turn=turn) for turn in range(500)))
    assert len(lines) == 201
    assert lines[-1] == "... and 301 more lines"


def test_steps_of_an_unknown_call_are_still_told():
    assert tree(said("lost", parent_id="gone"), tool("self", id="self", parent_id="self")) == [
        "Desk",
        "  assistant: 'lost'",
        "Desk",
        "  self() -> None [real]",
    ]


def test_an_empty_trajectory_says_so():
    assert tree() == ["(nothing happened)"]
