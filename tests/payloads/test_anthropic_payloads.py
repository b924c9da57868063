"""Payloads built with the types of `anthropic`, and streams that its client reads beside us."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.beta import BetaMessage
from pydantic import TypeAdapter

from callsheet import ToolCall, Usage, parse_response, parse_stream, validate_tools

MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 5},
    "content": [
        {"type": "thinking", "thinking": "hmm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "Let me look."},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s",
            "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
        },
        {"type": "server_tool_use", "id": "e", "name": "bash_code_execution", "input": {"command": "ls"}},
        {
            "type": "bash_code_execution_tool_result",
            "tool_use_id": "e",
            "content": {
                "type": "bash_code_execution_result",
                "content": [],
                "return_code": 0,
                "stdout": "a",
                "stderr": "",
            },
        },
        {"type": "tool_use", "id": "a", "name": "get", "input": {"q": None}},
    ],
}


def test_a_message_object_reads_like_its_json() -> None:
    message = Message.model_validate(MESSAGE)
    result = parse_response(message)
    for other in (MESSAGE, json.dumps(MESSAGE), message.to_dict()):
        assert parse_response(other).tool_calls == result.tool_calls
    assert [(call.name, call.kind, call.error) for call in result.tool_calls] == [
        ("web_search", "hosted", "unavailable"),
        ("bash_code_execution", "hosted", None),
        ("get", "function", None),
    ]
    assert result.tool_calls[1].response["stdout"] == "a"
    assert result.tool_calls[2] == ToolCall("get", {"q": None})
    assert (result.response, result.metadata["reasoning"], result.usage) == (
        "Let me look.",
        "hmm",
        Usage(1, 14, 5),
    )
    assert parse_response(message.content).tool_calls == result.tool_calls


def test_a_message_object_and_its_parts_are_validated() -> None:
    message = Message.model_validate(MESSAGE)
    for payload in (message, [message], message.content, tuple(message.content), dict(message)):
        verdict = validate_tools(
            payload, expected=["get"], order=["web_search", "get"], validate_args={"get": {"q": None}}
        )
        assert verdict.failures == []
        assert verdict.actual_tools == ["web_search", "bash_code_execution", "get"]
    block = message.content[-1]
    for payload in (block, [block], BetaMessage.model_validate(MESSAGE).content[-1]):
        assert validate_tools(payload, expected=["get"], max_tools=1).failures == []
    assert validate_tools(message, forbidden=["get"]).failures == ["Used forbidden tools: get"]


def test_a_message_object_without_calls_fails_what_expects_one() -> None:
    message = Message.model_validate({**MESSAGE, "content": [{"type": "text", "text": "no"}]})
    assert validate_tools(message, expected=["get"]).failures == ["Missing expected tools: get"]


def test_a_beta_message_has_the_calls_of_mcp_servers() -> None:
    content = [
        {"type": "mcp_tool_use", "id": "m", "name": "roll", "server_name": "dice", "input": {"n": 2}},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "m",
            "is_error": False,
            "content": [{"type": "text", "text": "7"}],
        },
    ]
    [call] = parse_response(BetaMessage.model_validate({**MESSAGE, "content": content})).tool_calls
    assert (call.kind, call.name, call.args, call.response) == ("mcp", "roll", {"n": 2}, "7")
    assert call.metadata == {"server_name": "dice"}


def test_a_refusal_says_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    message = Message.model_validate(
        {**MESSAGE, "content": [], "stop_reason": "refusal", "stop_details": details}
    )
    assert parse_response(message).metadata["refusal"] == "Not this."


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **value: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": value}


EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}},
    start(0, type="thinking", thinking="", signature=""),
    delta(0, type="thinking_delta", thinking="hmm"),
    delta(0, type="signature_delta", signature="s"),
    {"type": "content_block_stop", "index": 0},
    start(1, type="text", text=""),
    delta(1, type="text_delta", text="Let me "),
    delta(1, type="text_delta", text="look."),
    {"type": "content_block_stop", "index": 1},
    start(2, type="tool_use", id="a", name="get", input={}),
    delta(2, type="input_json_delta", partial_json=""),
    delta(2, type="input_json_delta", partial_json='{"q":'),
    delta(2, type="input_json_delta", partial_json=" [1]}"),
    {"type": "content_block_stop", "index": 2},
    start(3, type="tool_use", id="b", name="now", input={}),
    {"type": "content_block_stop", "index": 3},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 9},
    },
    {"type": "message_stop"},
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event["type"])
def test_every_event_above_is_one_of_the_sdks(event: dict[str, Any]) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    assert adapter.validate_python(event).type == event["type"]


def test_a_stream_is_what_the_client_makes_of_it(provider: Any) -> None:
    body = provider.says(*EVENTS, typed=True)
    client = anthropic.Anthropic(api_key="x", base_url=provider.url, max_retries=0)
    with client.messages.stream(model="claude-x", max_tokens=1, messages=[]) as stream:
        theirs = parse_response(stream.get_final_message())
    ours = parse_stream(body)
    assert ours.tool_calls == theirs.tool_calls == [ToolCall("get", {"q": [1]}), ToolCall("now", {})]
    assert [call.id for call in ours.tool_calls] == [call.id for call in theirs.tool_calls] == ["a", "b"]
    assert (ours.response, ours.usage, ours.metadata) == (theirs.response, theirs.usage, theirs.metadata)


def test_the_clients_streams_of_events_are_streams(provider: Any) -> None:
    body = provider.says(*EVENTS, typed=True)
    client = anthropic.Anthropic(api_key="x", base_url=provider.url, max_retries=0)
    raw = client.messages.create(model="claude-x", max_tokens=1, messages=[], stream=True)
    assert parse_stream(raw) == parse_stream(body)
    with client.messages.stream(model="claude-x", max_tokens=1, messages=[]) as stream:
        assert parse_stream(stream) == parse_stream(body)
