"""Anthropic messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from callsheet import ToolCall, Usage, parse_response, parse_stream

Sse = Callable[..., str]


def message(*content: dict[str, Any], stop_reason: str | None = "tool_use", **rest: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 5},
        **rest,
    }


def tool_use(id: str = "a", input: Any = None, **rest: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "get", "input": input if input is not None else {}, **rest}


def start(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **value: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **value}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def test_a_message_is_read_whole() -> None:
    result = parse_response(
        message(
            {"type": "thinking", "thinking": "hmm", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "Let me "},
            {"type": "text", "text": "look."},
            tool_use("a", {"q": None}),
            tool_use("b", toolset_name="crm"),
        )
    )
    assert result.response == "Let me look."
    assert result.tool_calls == [ToolCall("get", {"q": None}), ToolCall("get", {})]
    assert [(call.id, call.index, call.outcome) for call in result.tool_calls] == [
        ("a", 0, "success"),
        ("b", 1, "success"),
    ]
    assert result.tool_calls[1].metadata == {"toolset_name": "crm"}
    assert (result.model_used, result.usage) == ("claude-x", Usage(1, 14, 5))
    assert result.metadata == {
        "format": "anthropic",
        "turns": 1,
        "truncated": False,
        "response_id": "msg_1",
        "finish_reason": "tool_use",
        "reasoning": "hmm",
    }


def test_server_and_mcp_tools_are_told_apart_and_answered() -> None:
    search, fetch, roll, lost = (
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "server_tool_use", "id": "f", "name": "web_fetch", "input": {"url": "y"}},
        {"type": "mcp_tool_use", "id": "m", "name": "roll", "server_name": "dice", "input": {}},
        {"type": "mcp_tool_use", "id": "n", "name": "roll", "server_name": "dice", "input": {}},
    )
    answers = (
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s",
            "content": [{"type": "web_search_result", "url": "u"}],
        },
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "f",
            "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"},
        },
        {
            "type": "mcp_tool_result",
            "tool_use_id": "m",
            "is_error": False,
            "content": [{"type": "text", "text": "7"}],
        },
        {
            "type": "mcp_tool_result",
            "tool_use_id": "n",
            "is_error": True,
            "content": [{"type": "text", "text": "no dice"}],
        },
        {"type": "mcp_tool_result", "tool_use_id": "gone", "content": "?"},
    )
    calls = parse_response(message(search, fetch, roll, lost, *answers)).tool_calls
    assert [(call.kind, call.name) for call in calls] == [
        ("hosted", "web_search"),
        ("hosted", "web_fetch"),
        ("mcp", "roll"),
        ("mcp", "roll"),
    ]
    assert calls[0].response == [{"type": "web_search_result", "url": "u"}]
    assert (calls[1].error, calls[1].outcome) == ("url_not_accessible", "failed")
    assert (calls[2].response, calls[2].metadata) == ("7", {"server_name": "dice"})
    assert (calls[3].error, calls[3].outcome) == ("no dice", "failed")


def test_content_blocks_alone_are_a_message() -> None:
    result = parse_response([{"type": "text", "text": "Hi"}, tool_use("a", {"q": 1})])
    assert (result.response, result.tool_calls) == ("Hi", [ToolCall("get", {"q": 1})])
    assert result.metadata["truncated"] is False


def test_an_assistant_message_of_a_request_is_a_message() -> None:
    payload = {"role": "assistant", "content": [tool_use("a", {"q": 1})]}
    assert parse_response(payload).tool_calls == [ToolCall("get", {"q": 1})]


def test_several_messages_are_several_turns() -> None:
    result = parse_response(
        [message(tool_use()), message({"type": "text", "text": "Done."}, stop_reason="end_turn")]
    )
    assert (result.response, result.metadata["turns"], result.usage) == ("Done.", 2, Usage(2, 28, 10))


@pytest.mark.parametrize(
    ("details", "refusal"),
    [
        ({"type": "refusal", "explanation": "Not this."}, "Not this."),
        ({"category": "cyber"}, "cyber"),
        (None, "refusal"),
    ],
)
def test_a_refusal_is_told(details: Any, refusal: str) -> None:
    result = parse_response(message(stop_reason="refusal", stop_details=details))
    assert (result.metadata["refusal"], result.metadata["finish_reason"]) == (refusal, "refusal")


STREAM = [
    {
        "type": "message_start",
        "message": message(stop_reason=None, usage={"input_tokens": 10, "output_tokens": 1}),
    },
    start(0, {"type": "thinking", "thinking": ""}),
    {"type": "ping"},
    delta(0, "thinking_delta", thinking="h"),
    delta(0, "thinking_delta", thinking="mm"),
    delta(0, "signature_delta", signature="s"),
    stop(0),
    start(1, {"type": "text", "text": ""}),
    delta(1, "text_delta", text="Let me "),
    delta(1, "text_delta", text="look."),
    stop(1),
    start(2, tool_use("a")),
    delta(2, "input_json_delta", partial_json=""),
    delta(2, "input_json_delta", partial_json='{"q":'),
    delta(2, "input_json_delta", partial_json=" 1}"),
    stop(2),
    start(3, tool_use("b")),
    stop(3),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]


def test_a_stream_is_put_together(sse: Sse) -> None:
    result = parse_stream(sse(*STREAM, typed=True))
    assert (result.response, result.metadata["reasoning"]) == ("Let me look.", "hmm")
    assert result.tool_calls == [ToolCall("get", {"q": 1}), ToolCall("get", {})]
    assert [call.outcome for call in result.tool_calls] == ["success", "success"]
    assert (result.usage, result.metadata["finish_reason"]) == (Usage(1, 10, 7), "tool_use")
    assert result.metadata["truncated"] is False


def test_the_type_field_of_the_event_serves_where_the_data_has_none() -> None:
    body = "".join(
        f"event: {event['type']}\ndata: {json.dumps({k: v for k, v in event.items() if k != 'type'})}\n\n"
        for event in STREAM
    )
    assert parse_stream(body) == parse_stream(STREAM)


def test_interleaved_blocks_are_told_apart_by_index() -> None:
    events = [
        start(0, {"type": "text", "text": ""}),
        start(1, tool_use("a")),
        start(2, tool_use("b")),
        delta(2, "input_json_delta", partial_json='{"q":'),
        delta(1, "input_json_delta", partial_json='{"p":'),
        delta(0, "text_delta", text="Hi"),
        delta(2, "input_json_delta", partial_json=" 2}"),
        delta(1, "input_json_delta", partial_json=" 1}"),
        {"type": "message_stop"},
    ]
    result = parse_stream(events)
    assert (result.response, [call.args for call in result.tool_calls]) == ("Hi", [{"p": 1}, {"q": 2}])


def test_a_cut_stream_keeps_the_call_it_was_cut_in() -> None:
    cut = parse_stream(STREAM[:14])
    assert cut.metadata["truncated"] is True
    assert [(call.args, call.outcome, call.raw_args) for call in cut.tool_calls] == [({}, "invalid", '{"q":')]
    assert [call.outcome for call in parse_stream(STREAM[:17]).tool_calls] == ["success", "invalid"]


def test_an_error_in_the_stream_keeps_what_came_before() -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}
    result = parse_stream([*STREAM[:10], overloaded])
    assert (result.response, result.error) == ("Let me look.", "overloaded_error: Busy")
    assert result.metadata["truncated"] is True


def test_a_stream_after_a_stream_is_the_next_turn() -> None:
    result = parse_stream([*STREAM, *STREAM])
    assert (result.metadata["turns"], len(result.batches), result.usage) == (2, 2, Usage(2, 20, 14))


def test_a_second_stream_that_is_cut_is_truncated() -> None:
    assert parse_stream([*STREAM, *STREAM[:14]]).metadata["truncated"] is True


def test_results_of_server_tools_arrive_in_the_stream() -> None:
    events = [
        start(0, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        delta(0, "input_json_delta", partial_json='{"query": "x"}'),
        stop(0),
        start(1, {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
        stop(1),
        {"type": "message_stop"},
    ]
    [call] = parse_stream(events).tool_calls
    assert (call.kind, call.args, call.response) == ("hosted", {"query": "x"}, [])


def test_odd_members_are_passed_over() -> None:
    result = parse_response(
        {"type": "message", "content": [7, {"type": ["x"]}, {"type": "text", "text": 7}], "usage": 3}
    )
    assert (result.response, result.tool_calls, result.usage) == ("", [], Usage(1))
    assert parse_stream([{"type": "content_block_delta", "index": "x", "delta": None}]).response == ""


def test_a_second_call_at_the_same_index_does_not_replace_the_first(sse: Sse) -> None:
    events = [
        {"type": "message_start", "message": message(stop_reason=None)},
        start(0, tool_use("a")),
        start(0, tool_use("a")),
        delta(0, "input_json_delta", partial_json='{"n": 1}'),
        stop(0),
        start(0, tool_use("b")),
        delta(0, "input_json_delta", partial_json='{"n": '),
        start(1, tool_use("c")),
        delta(0, "input_json_delta", partial_json="2}"),
        delta(1, "input_json_delta", partial_json='{"n": 3}'),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    calls = parse_stream(sse(*events)).tool_calls
    assert [(call.id, call.args) for call in calls] == [("a", {"n": 1}), ("b", {"n": 2}), ("c", {"n": 3})]
