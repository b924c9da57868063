"""`validate_tools` over providers' replies as they come: what was called is read by the parsers."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from callsheet import CallsheetError, UnknownFormatError, validate_tools

WANTED = {"city": "Oslo", "nights": 2}
WRITTEN = json.dumps(WANTED)
FUNCTION: dict[str, Any] = {"name": "search", "arguments": WRITTEN}
MESSAGE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "type": "function", "function": FUNCTION}],
}
CONTENT = [
    {"type": "text", "text": "Let me look."},
    {"type": "tool_use", "id": "a", "name": "search", "input": WANTED},
]
ITEMS = [
    {"type": "reasoning", "id": "r", "summary": []},
    {"type": "function_call", "id": "f", "call_id": "a", "status": "completed", **FUNCTION},
]
PARTS = [{"text": "Let me look."}, {"functionCall": {"name": "search", "args": WANTED}}]
UI_PARTS = [
    {"type": "step-start"},
    {"type": "tool-search", "toolCallId": "a", "state": "output-available", "input": WANTED, "output": []},
]
PAYLOADS: dict[str, Any] = {
    "openai chat": {
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": MESSAGE}],
    },
    "openai message": MESSAGE,
    "openai responses": {"object": "response", "status": "completed", "model": "m", "output": ITEMS},
    "openai responses items": ITEMS,
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
        "content": CONTENT,
    },
    "anthropic content": CONTENT,
    "gemini": {
        "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": PARTS}}]
    },
    "gemini parts": PARTS,
    "vercel 4": {
        "text": "",
        "finishReason": "tool-calls",
        "toolCalls": [{"toolCallId": "a", "toolName": "search", "args": WANTED}],
    },
    "vercel 5": {
        "finishReason": "tool-calls",
        "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "search", "input": WANTED}],
    },
    "vercel ui message": {"id": "m", "role": "assistant", "parts": UI_PARTS},
}


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
@pytest.mark.parametrize("as_json", [False, True])
def test_every_providers_reply_is_validated(payload: Any, as_json: bool) -> None:
    given = json.dumps(payload) if as_json else payload
    passed = validate_tools(given, expected=["search"], validate_args={"search": WANTED}, max_tools=1)
    assert passed.to_dict() == {
        "passed": True,
        "score": 1.0,
        "actualTools": ["search"],
        "expectedTools": ["search"],
        "failures": [],
    }
    failed = validate_tools(
        given, expected=["book"], forbidden=["search"], validate_args={"search": {"city": 1}}
    )
    assert failed.failures == [
        "Missing expected tools: book",
        "Used forbidden tools: search",
        "Tool 'search' arg 'city' mismatch. Expected: 1, Got: Oslo",
    ]


def test_a_payload_of_no_known_format_is_an_error() -> None:
    with pytest.raises(UnknownFormatError):
        validate_tools({"weather": "fine"}, expected=["search"])


def test_a_message_object_that_holds_calls_as_dicts_is_validated() -> None:
    message = SimpleNamespace(tool_calls=[{"name": "search", "args": WANTED, "id": "a"}])
    assert validate_tools(message, expected=["search"], validate_args={"search": WANTED})


def test_an_answer_beside_its_call_is_no_call() -> None:
    parts = [
        {"type": "tool-call", "toolCallId": "1", "toolName": "search", "input": {"q": "x"}},
        {"type": "tool-result", "toolCallId": "1", "toolName": "search", "output": "y"},
    ]
    assert validate_tools(parts, max_tools=1).actual_tools == ["search"]


@pytest.mark.parametrize(
    "item",
    [
        {"name": "search", "parameters": {}},
        {"name": "search", "input_schema": {}},
        {"type": "function", "function": {"name": "search", "parameters": {}}},
        {"role": "tool", "name": "search", "content": "y"},
    ],
)
def test_a_tools_definition_or_message_is_no_call(item: dict[str, Any]) -> None:
    with pytest.raises(CallsheetError):
        validate_tools([item], expected=["search"])
