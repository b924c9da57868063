"""Payloads built with the types of `google-genai`, and streams that its client reads beside us."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google import genai
from google.genai import types

from callsheet import ToolCall, UnknownFormatError, Usage, parse_response, parse_stream, validate_tools

RESPONSE: dict[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "hmm", "thought": True},
                    {"text": "Let me look.", "thoughtSignature": "c2ln"},
                    {"functionCall": {"id": "a", "name": "get", "args": {"some_key": None}}},
                    {"functionCall": {"name": "now", "args": {}}},
                    {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
                    {"toolCall": {"id": "t", "toolType": "URL_CONTEXT", "args": {"url": "u"}}},
                    {"toolResponse": {"id": "t", "toolType": "URL_CONTEXT", "response": {"text": "x"}}},
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "modelVersion": "gemini-x",
    "responseId": "r1",
    "usageMetadata": {
        "promptTokenCount": 10,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 2,
        "totalTokenCount": 17,
    },
}


def test_a_response_object_reads_like_its_json() -> None:
    response = types.GenerateContentResponse.model_validate(RESPONSE)
    result = parse_response(response)
    for other in (RESPONSE, json.dumps(RESPONSE), response.model_dump(), response.model_dump_json()):
        assert parse_response(other) == result
    assert result.tool_calls == [
        ToolCall("get", {"some_key": None}),
        ToolCall("now", {}),
        ToolCall("code_execution", {"language": "PYTHON", "code": "1 + 1"}, response="2"),
        ToolCall("url_context", {"url": "u"}, response={"text": "x"}),
    ]
    assert [call.kind for call in result.tool_calls] == ["function", "function", "hosted", "hosted"]
    assert (result.response, result.metadata["reasoning"], result.usage) == (
        "Let me look.",
        "hmm",
        Usage(1, 10, 7),
    )
    assert (result.model_used, result.metadata["finish_reason"]) == ("gemini-x", "STOP")


def test_the_parts_of_a_response_object_are_payloads_too() -> None:
    response = types.GenerateContentResponse.model_validate(RESPONSE)
    calls = parse_response(RESPONSE).tool_calls
    assert parse_response(response.function_calls).tool_calls == calls[:2]
    assert parse_response(response.parts).tool_calls == calls


def test_a_response_object_and_its_parts_are_validated() -> None:
    response = types.GenerateContentResponse.model_validate(RESPONSE)
    candidate = response.candidates[0]  # type: ignore[index]
    content = candidate.content
    for payload in (response, [response], candidate, [candidate], content, [content], content.parts):  # type: ignore[union-attr]
        assert validate_tools(payload, expected=["get", "now", "url_context"]).failures == []
        assert validate_tools(payload, forbidden=["get"]).failures == ["Used forbidden tools: get"]
    for payload in (response.function_calls, response.function_calls[0]):  # type: ignore[index]
        assert validate_tools(payload, expected=["get"]).failures == []


def test_a_content_object_without_calls_is_what_the_model_said() -> None:
    content = types.Content(role="model", parts=[types.Part(text="Hi.")])
    assert parse_response(content).response == "Hi."
    assert validate_tools(content, expected=["get"]).failures == ["Missing expected tools: get"]
    with pytest.raises(UnknownFormatError, match="a conversation"):
        parse_response([types.Content(role="user", parts=[types.Part(text="Hi.")]), content])


def test_a_blocked_prompt_is_a_refusal() -> None:
    feedback = types.GenerateContentResponsePromptFeedback(block_reason=types.BlockedReason.SAFETY)
    result = parse_response(types.GenerateContentResponse(prompt_feedback=feedback))
    assert result.metadata["refusal"] == "SAFETY"


def test_arguments_streamed_by_path_are_put_together() -> None:
    def chunk(**call: Any) -> types.GenerateContentResponse:
        part = types.Part(function_call=types.FunctionCall(**call))
        candidate = types.Candidate(content=types.Content(role="model", parts=[part]))
        return types.GenerateContentResponse(candidates=[candidate])

    def piece(**value: Any) -> types.GenerateContentResponse:
        return chunk(partial_args=[types.PartialArg(**value)], will_continue=True)

    chunks = [
        chunk(name="get", will_continue=True),
        piece(json_path="$.city", string_value="New ", will_continue=True),
        piece(json_path="$.city", string_value="Delhi"),
        piece(json_path="$.days", number_value=2),
        piece(json_path="$.detailed", bool_value=False),
        chunk(),
    ]
    [call] = parse_stream(chunks).tool_calls
    assert call == ToolCall("get", {"city": "New Delhi", "days": 2, "detailed": False})
    assert call.outcome == "success"


def test_a_stream_is_what_the_client_makes_of_it(provider: Any) -> None:
    def chunk(*parts: dict[str, Any], **rest: Any) -> dict[str, Any]:
        return {
            "candidates": [{"content": {"role": "model", "parts": list(parts)}, **rest}],
            "responseId": "r1",
        }

    chunks = [
        chunk({"text": "Let me "}),
        chunk({"text": "look."}, {"functionCall": {"name": "get", "args": {"q": 1}}}),
        chunk({"functionCall": {"name": "get", "args": {"q": 2}}}),
        chunk({"text": ""}, finishReason="STOP"),
    ]
    body = provider.says(*chunks)
    client = genai.Client(api_key="x", vertexai=False, http_options=types.HttpOptions(base_url=provider.url))
    ours = parse_stream(body)
    assert parse_stream(client.models.generate_content_stream(model="gemini-x", contents="Hi")) == ours
    assert ours.tool_calls == [ToolCall("get", {"q": 1}), ToolCall("get", {"q": 2})]
    assert (ours.response, ours.metadata["truncated"]) == ("Let me look.", False)
    assert parse_stream(json.dumps(chunks)) == ours
