"""Hostile input: no crash but the documented error, and the same answer however a body is cut up."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callsheet import AgentResult, UnknownFormatError, parse_response, parse_stream

RESPONSE_FORMATS: list[Any] = ["auto", "openai", "openai-responses", "anthropic", "gemini", "vercel", "calls"]
STREAM_FORMATS: list[Any] = [
    "auto",
    "sse-openai",
    "sse-openai-responses",
    "sse-anthropic",
    "sse-gemini",
    "sse-vercel",
]
NAMES = [
    "type",
    "object",
    "choices",
    "message",
    "delta",
    "content",
    "text",
    "role",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "args",
    "input",
    "id",
    "index",
    "custom",
    "finish_reason",
    "usage",
    "prompt_tokens",
    "error",
    "code",
    "status",
    "response",
    "output",
    "item",
    "output_index",
    "call_id",
    "summary",
    "content_block",
    "partial_json",
    "thinking",
    "stop_reason",
    "tool_use_id",
    "is_error",
    "candidates",
    "parts",
    "functionCall",
    "partialArgs",
    "jsonPath",
    "stringValue",
    "willContinue",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "finishReason",
    "promptFeedback",
    "blockReason",
    "usageMetadata",
    "steps",
    "toolCalls",
    "toolResults",
    "toolCallId",
    "toolName",
    "result",
    "state",
    "approval",
    "inputTextDelta",
    "argsTextDelta",
    "errorText",
    "toolInvocation",
    "messageMetadata",
    "totalUsage",
    "reasoning",
    "refusal",
    "audio",
    "incomplete_details",
    "function_call",
    "invalid",
    "thought",
    "item_id",
    "content_index",
]
WORDS = [
    "message",
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "tool_use",
    "server_tool_use",
    "mcp_tool_use",
    "web_search_tool_result",
    "text",
    "thinking",
    "error",
    "assistant",
    "user",
    "response",
    "response.created",
    "response.completed",
    "response.failed",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.refusal.delta",
    "response.reasoning_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "function_call",
    "custom_tool_call",
    "response.custom_tool_call_input.delta",
    "mcp_call",
    "mcp_approval_request",
    "web_search_call",
    "function_call_output",
    "program",
    "reasoning",
    "chat.completion",
    "start",
    "start-step",
    "text-delta",
    "reasoning-delta",
    "tool-input-start",
    "tool-input-delta",
    "tool-input-available",
    "tool-input-error",
    "tool-output-available",
    "tool-output-error",
    "tool-call",
    "tool-error",
    "tool-result",
    "tool-output-denied",
    "tool-approval-request",
    "finish-step",
    "finish",
    "abort",
    "data-x",
    "step-start",
    "dynamic-tool",
    "tool-invocation",
    "tool-get",
    "input-streaming",
    "output-error",
    "stop",
    "length",
    "STOP",
    "OUTCOME_OK",
    "$.a.b",
    "$.a[0]",
    "incomplete",
    "completed",
    "failed",
    "refusal",
    "output_text",
]

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([*WORDS, '{"a": 1}', "{"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=10,
)
objects = st.dictionaries(st.sampled_from(NAMES), values, max_size=8)


def is_sound(result: AgentResult) -> None:
    """Hold a result to what every result promises."""
    json.dumps(result.to_dict(), default=str)
    assert AgentResult.from_dict(result.to_dict()) == result or result != result  # NaN is not equal to itself
    assert isinstance(result.metadata["truncated"], bool)
    for call in result.tool_calls:
        assert isinstance(call.name, str)
        assert isinstance(call.args, dict)
        assert (call.outcome == "invalid") <= isinstance(call.raw_args, str)
    result.trajectory()
    result.to_messages()


def attempt(read: Callable[[], AgentResult]) -> AgentResult | None:
    try:
        result = read()
    except UnknownFormatError:
        return None
    is_sound(result)
    return result


@given(payload=values | objects | st.lists(objects, max_size=5), format=st.sampled_from(RESPONSE_FORMATS))
@settings(max_examples=150, deadline=None)
@example(payload={"choices": [{"message": {"tool_calls": [{"function": {"name": []}}]}}]}, format="openai")
@example(payload={"type": ["x"], "role": {}}, format="auto")
@example(payload={"usage": {"prompt_tokens": 1e400}, "choices": []}, format="auto")
def test_any_value_is_read_or_refused(payload: Any, format: Any) -> None:
    attempt(lambda: parse_response(payload, format))


@given(
    events=st.lists(objects, max_size=8),
    types=st.lists(st.sampled_from(WORDS), min_size=8, max_size=8),
    format=st.sampled_from(STREAM_FORMATS),
)
@settings(max_examples=150, deadline=None)
def test_any_events_are_read_or_refused(events: list[dict[str, Any]], types: list[str], format: Any) -> None:
    typed = [{**event, "type": kind} for event, kind in zip(events, types, strict=False)]
    attempt(lambda: parse_stream([*typed, *events], format))


@given(body=st.binary(max_size=200) | st.text(max_size=200), format=st.sampled_from(STREAM_FORMATS))
@settings(max_examples=150, deadline=None)
@example(body='[{"a":1}', format="auto")
@example(body="0:\x00", format="sse-vercel")
def test_any_text_and_any_bytes_are_read_or_refused(body: Any, format: Any) -> None:
    attempt(lambda: parse_stream(body, format))
    attempt(lambda: parse_response(body))


def chat_body() -> str:
    def chunk(delta: dict[str, Any], **rest: Any) -> dict[str, Any]:
        return {"model": "m", "choices": [{"index": 0, "delta": delta, **rest}]}

    def call(index: int, arguments: str, **rest: Any) -> dict[str, Any]:
        return {"tool_calls": [{"index": index, "function": {"arguments": arguments, **rest}}]}

    events = [
        chunk({"role": "assistant", "content": "Zürich 🌦 "}),
        chunk(call(0, "", name="get")),
        chunk(call(1, '{"v": "é', name="put")),
        chunk(call(0, '{"q": 1}')),
        chunk(call(1, '🌦"}')),
        chunk({}, finish_reason="tool_calls"),
    ]
    blocks = [f": note\r\ndata: {json.dumps(event, ensure_ascii=False)}\r\n\r\n" for event in events]
    return "\ufeff" + "".join(blocks) + "data: [DONE]\n\n"


def anthropic_body() -> str:
    block = {"type": "tool_use", "id": "a", "name": "get", "input": {}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"model": "m", "content": [], "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Zürich 🌦"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": block},
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": '{"q": "é'}},
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": '🌦"}'}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return "".join(
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events
    )


def gemini_body() -> str:
    parts: list[list[dict[str, Any]]] = [
        [{"text": "Zürich "}],
        [{"text": "🌦"}, {"functionCall": {"name": "get", "args": {"q": "é"}}}],
    ]
    events = [{"candidates": [{"content": {"parts": part}}]} for part in parts]
    return json.dumps([*events, {"candidates": [{"finishReason": "STOP"}]}], ensure_ascii=False, indent=1)


DATA_BODY = (
    'f:{"messageId":"m"}\n0:"Zürich 🌦"\n'
    'b:{"toolCallId":"a","toolName":"get"}\nc:{"toolCallId":"a","argsTextDelta":"{\\"q\\": \\"é"}\n'
    'c:{"toolCallId":"a","argsTextDelta":"🌦\\"}"}\ne:{"finishReason":"tool-calls"}\nd:{"finishReason":"stop"}\n'
)
BODIES = [chat_body(), anthropic_body(), gemini_body(), DATA_BODY]


@pytest.mark.parametrize("body", BODIES)
def test_the_bodies_below_are_read_without_fault(body: str) -> None:
    result = parse_stream(body)
    assert (result.error, result.metadata["truncated"]) == (None, False)
    assert {call.outcome for call in result.tool_calls} == {"success"}


@given(
    body=st.sampled_from(BODIES),
    cuts=st.lists(st.integers(0, 1200), max_size=40),
    encode=st.sampled_from([str, str.encode]),
)
@settings(max_examples=200, deadline=None)
def test_chunks_may_end_anywhere(body: str, cuts: list[int], encode: Callable[[str], Any]) -> None:
    whole = encode(body)
    edges = [0, *sorted(cuts), len(whole)]
    chunks = [whole[start:end] for start, end in pairwise(edges)]
    assert parse_stream(chunks) == parse_stream(body)


@given(body=st.sampled_from(BODIES), end=st.integers(0, 1200))
@settings(max_examples=200, deadline=None)
def test_a_stream_cut_anywhere_is_part_of_the_whole_and_says_so(body: str, end: int) -> None:
    full, result = parse_stream(body), attempt(lambda: parse_stream(body.encode()[:end]))
    if result is None:
        return
    assert result.error is None
    assert full.response.startswith(result.response.rstrip("\ufffd"))
    for call, whole in zip(result.tool_calls, full.tool_calls, strict=False):
        assert call == whole or call.outcome == "invalid"
    if result != full:
        assert result.metadata["truncated"] or result.tool_calls == full.tool_calls


@given(
    body=st.sampled_from(BODIES),
    edits=st.lists(st.tuples(st.integers(0, 1200), st.integers(0, 6), st.binary(max_size=4)), max_size=4),
    format=st.sampled_from(STREAM_FORMATS),
)
@settings(max_examples=150, deadline=None)
def test_a_damaged_stream_is_read_or_refused(
    body: str, edits: list[tuple[int, int, bytes]], format: Any
) -> None:
    damaged = bytearray(body.encode())
    for start, length, replacement in edits:
        damaged[start : start + length] = replacement
    attempt(lambda: parse_stream(bytes(damaged), format))


def work(read: Callable[[], object]) -> int:
    """Count the calls of Python and C functions, which a machine's load does not change."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        read()
    finally:
        sys.setprofile(None)
    return calls


def long_streams(size: int) -> dict[str, Any]:
    def chat(arguments: str, index: int = 0, **rest: Any) -> dict[str, Any]:
        wire = {"index": index, "function": {"arguments": arguments, "name": "get"}, **rest}
        return {"choices": [{"index": 0, "delta": {"tool_calls": [wire]}}]}

    piece = {"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}], "willContinue": True}
    gemini = {"candidates": [{"content": {"parts": [{"functionCall": piece}]}}]}
    return {
        "one call in many fragments": [chat("x", id="a")] * size,
        "many calls": [chat("{}", index) for index in range(size)],
        "many calls of one index": [chat("{}", id=str(number)) for number in range(size)],
        "one line of data": "data: " + json.dumps([0] * size),
        "many lines in one event": 'data: {"a": 1}\n' * size + 'data: {"choices": []}\n\n',
        "many events": 'data: {"choices": []}\n\n' * size,
        "an array cut short": '[{"choices": []}' + ', {"choices": []}' * size + ', {"choi',
        "arguments by path": [gemini] * size,
        "many blocks": [
            {"type": "content_block_delta", "index": index, "delta": {"text": "x"}} for index in range(size)
        ],
        "many items": [
            {"type": "response.output_text.delta", "item_id": str(number), "delta": "x"}
            for number in range(size)
        ],
        "many steps": '0:"x"\ne:{"finishReason":"stop"}\n' * size,
    }


@pytest.mark.parametrize("name", long_streams(0))
def test_a_stream_twice_as_long_is_twice_the_work(name: str) -> None:
    short, long = long_streams(300)[name], long_streams(600)[name]
    assert work(lambda: attempt(lambda: parse_stream(long))) < 2.3 * work(
        lambda: attempt(lambda: parse_stream(short))
    )
