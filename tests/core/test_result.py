import json

import pytest

from callsheet import AgentResult, ToolCall, TraceEntry, Usage
from callsheet._result import group_batches

CALLS = [
    ToolCall("search", {"q": 1}, response=[1], run=0, turn=0, index=0),
    ToolCall("ask", {}, run=0, turn=0, index=1, id="ask_1"),
    ToolCall("search", {"q": 2}, run=1, turn=0, index=0, parent_id="ask_1"),
    ToolCall("book", {}, error="full", run=0, turn=1, index=0),
]
RESULT = AgentResult(
    "Done.",
    CALLS,
    "gpt-5",
    {"X-Site-Id": "1"},
    [
        TraceEntry("user", "go"),
        *(TraceEntry("tool", tool_call=call, agent="Desk", run=call.run, turn=call.turn) for call in CALLS),
        TraceEntry("assistant", "Done.", agent="Closer", run=0, turn=2),
    ],
    {"turns": 3},
    output={"ok": True},
    native=object(),
    usage=Usage(3, 30, 12),
    error="stopped",
)


def test_an_empty_result_is_empty_not_broken():
    result = AgentResult()
    assert (result.response, result.tool_calls, result.headers, result.trace) == ("", [], {}, [])
    assert (result.tool_call_count, result.tool_names, result.batches, result.agents) == (0, [], [], [])
    assert (result.trajectory(), result.to_messages(), result.usage) == ([], [], Usage())


def test_calls_are_found_by_name():
    assert RESULT.tool_call_count == 4
    assert RESULT.tool_names == ["search", "ask", "search", "book"]
    assert RESULT.get_tool_call("search") is CALLS[0]
    assert RESULT.get_all_tool_calls("search") == [CALLS[0], CALLS[2]]
    assert RESULT.get_tool_call("serach") is None
    assert RESULT.get_all_tool_calls("serach") == []


def test_a_batch_is_the_calls_of_one_model_reply():
    assert RESULT.batches == [[CALLS[0], CALLS[1]], [CALLS[2]], [CALLS[3]]]


def test_calls_of_no_reply_are_batches_of_their_own():
    calls = [ToolCall("a"), ToolCall("b"), ToolCall("c", turn=0), ToolCall("d"), ToolCall("e", turn=0)]
    assert [[call.name for call in batch] for batch in group_batches(calls)] == [
        ["a"],
        ["b"],
        ["c", "e"],
        ["d"],
    ]


def test_agents_are_named_once_in_order_of_first_activity():
    assert RESULT.agents == ["Desk", "Closer"]


def test_the_trajectory_is_plain_dicts():
    assert RESULT.trajectory()[0] == {
        "role": "user",
        "name": None,
        "args": None,
        "content": "go",
        "agent": None,
    }
    assert [step["name"] for step in RESULT.trajectory()] == [None, "search", "ask", "search", "book", None]


def test_the_frameworks_own_result_takes_no_part_in_equality_or_repr():
    assert AgentResult("a", native=object()) == AgentResult("a", native=object())
    assert "native" not in repr(RESULT)


@pytest.mark.parametrize("through", [dict, lambda data: json.loads(json.dumps(data))], ids=["dict", "json"])
def test_a_result_survives_the_way_through_a_dict(through):
    again = AgentResult.from_dict(through(RESULT.to_dict()))
    assert again == RESULT
    assert again.to_dict() == RESULT.to_dict()
    assert again.batches == RESULT.batches
    assert again.native is None


def test_a_dict_with_some_fields_is_enough():
    assert AgentResult.from_dict({"response": "hi"}) == AgentResult("hi")


def test_from_dict_refuses_a_key_it_does_not_know():
    with pytest.raises(TypeError, match="respones"):
        AgentResult.from_dict({"respones": "hi"})


def test_a_dict_of_a_result_does_not_share_its_containers():
    data = RESULT.to_dict()
    data["headers"]["X-New"] = "2"
    data["metadata"]["turns"] = 0
    assert RESULT.headers == {"X-Site-Id": "1"}
    assert RESULT.metadata == {"turns": 3}
