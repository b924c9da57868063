"""Payloads built with the types of `openai`, and streams that its client reads beside us."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseOutputItem
from pydantic import TypeAdapter

from callsheet import ToolCall, Usage, parse_response, parse_stream, validate_tools

COMPLETION = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-x",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "logprobs": None,
            "message": {
                "role": "assistant",
                "content": "Let me look.",
                "refusal": None,
                "tool_calls": [
                    {
                        "id": "a",
                        "type": "function",
                        "function": {"name": "get", "arguments": '{"q": null}'},
                    },
                    {"id": "b", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}},
                ],
            },
        },
        {"index": 1, "finish_reason": "stop", "message": {"role": "assistant", "content": "Other."}},
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}


def test_a_completion_object_reads_like_its_json() -> None:
    completion = ChatCompletion.model_validate(COMPLETION, strict=True)
    result = parse_response(completion)
    assert result == parse_response(COMPLETION)
    assert result == parse_response(completion.model_dump_json())
    assert result == parse_response(completion.to_dict())
    assert result.tool_calls == [ToolCall("get", {"q": None}), ToolCall("sql", {"input": "SELECT 1"})]
    assert (result.response, result.usage) == ("Let me look.", Usage(1, 10, 5))
    assert result.metadata["choices"][0]["response"] == "Other."


def test_a_completion_object_and_its_message_are_validated() -> None:
    completion = ChatCompletion.model_validate(COMPLETION)
    choice = completion.choices[0]
    for payload in (completion, [completion], choice, [choice], choice.message, choice.message.tool_calls):
        verdict = validate_tools(payload, expected=["get", "sql"], validate_args={"get": {"q": None}})
        assert verdict.failures == []


def test_the_choices_of_a_completion_object_are_payloads_too() -> None:
    completion = ChatCompletion.model_validate(COMPLETION)
    result = parse_response(completion.choices)
    assert result.tool_calls == parse_response(completion).tool_calls
    assert result.metadata["choices"] == parse_response(completion).metadata["choices"]


def test_the_parts_of_a_completion_object_are_payloads_too() -> None:
    message = ChatCompletion.model_validate(COMPLETION).choices[0].message
    assert parse_response(message).tool_calls == parse_response(COMPLETION).tool_calls
    assert parse_response(message.tool_calls).tool_calls == parse_response(COMPLETION).tool_calls
    assert parse_response(dict(ChatCompletion.model_validate(COMPLETION))) == parse_response(COMPLETION)


def chunk(delta: dict[str, Any], reason: str | None = None, index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": reason}
    payload = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-x",
        "choices": [choice],
    }
    ChatCompletionChunk.model_validate(payload, strict=True)
    return payload


def fragment(index: int, arguments: str, **rest: Any) -> dict[str, Any]:
    head = {"id": rest["id"], "type": "function"} if "id" in rest else {}
    function = {"arguments": arguments} | ({"name": rest["name"]} if "name" in rest else {})
    return {"tool_calls": [{"index": index, "function": function, **head}]}


CHUNKS = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Let me "}),
    chunk({"content": "look."}),
    chunk(fragment(0, "", id="a", name="get")),
    chunk(fragment(1, "", id="b", name="put")),
    chunk(fragment(0, '{"q"')),
    chunk(fragment(1, '{"v": ')),
    chunk(fragment(0, ": 1}")),
    chunk(fragment(1, "[2]}")),
    chunk({"content": "B"}, index=1),
    chunk({}, "tool_calls"),
    chunk({}, "stop", index=1),
]


def test_a_chat_stream_is_what_the_client_makes_of_it(provider: Any) -> None:
    body = provider.says(*CHUNKS, "[DONE]")
    client = openai.OpenAI(api_key="x", base_url=provider.url, max_retries=0)
    with client.chat.completions.stream(model="gpt-x", messages=[]) as stream:
        completion = stream.get_final_completion()
    theirs, ours = parse_response(completion), parse_stream(body)
    assert ours.tool_calls == theirs.tool_calls == [ToolCall("get", {"q": 1}), ToolCall("put", {"v": [2]})]
    assert [call.id for call in ours.tool_calls] == [call.id for call in theirs.tool_calls]
    assert (ours.response, ours.metadata["finish_reason"]) == (
        theirs.response,
        theirs.metadata["finish_reason"],
    )
    assert ours.metadata["choices"] == theirs.metadata["choices"]


def test_the_clients_stream_of_chunks_is_a_stream(provider: Any) -> None:
    body = provider.says(*CHUNKS, "[DONE]")
    client = openai.OpenAI(api_key="x", base_url=provider.url, max_retries=0)
    chunks = client.chat.completions.create(model="gpt-x", messages=[], stream=True)
    assert parse_stream(chunks) == parse_stream(body)


def test_the_clients_stream_helper_is_a_stream(provider: Any) -> None:
    body = provider.says(*CHUNKS, "[DONE]")
    client = openai.OpenAI(api_key="x", base_url=provider.url, max_retries=0)
    with client.chat.completions.stream(model="gpt-x", messages=[]) as stream:
        assert parse_stream(stream) == parse_stream(body)


ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hmm"}]},
    {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
    },
    {"type": "function_call", "id": "fc", "call_id": "a", "name": "get", "arguments": '{"q": 1}'},
    {"type": "custom_tool_call", "id": "ct", "call_id": "b", "name": "sql", "input": "SELECT 1"},
    {
        "type": "web_search_call",
        "id": "ws",
        "status": "completed",
        "action": {"type": "search", "query": "x"},
    },
    {"type": "file_search_call", "id": "fs", "status": "completed", "queries": ["x"]},
    {
        "type": "code_interpreter_call",
        "id": "ci",
        "status": "completed",
        "code": "1",
        "container_id": "k",
        "outputs": [{"type": "logs", "logs": "2"}],
    },
    {
        "type": "computer_call",
        "id": "cc",
        "call_id": "c",
        "status": "completed",
        "pending_safety_checks": [],
        "action": {"type": "screenshot"},
    },
    {"type": "image_generation_call", "id": "ig", "status": "completed", "result": "iVBOR"},
    {
        "type": "mcp_call",
        "id": "mc",
        "name": "roll",
        "server_label": "dice",
        "arguments": "{}",
        "output": "7",
    },
    {"type": "mcp_approval_request", "id": "ma", "name": "roll", "server_label": "dice", "arguments": "{}"},
    {"type": "mcp_list_tools", "id": "ml", "server_label": "dice", "tools": []},
]
KINDS = [
    ("get", "function"),
    ("sql", "function"),
    ("web_search", "hosted"),
    ("file_search", "hosted"),
    ("code_interpreter", "hosted"),
    ("computer", "hosted"),
    ("image_generation", "hosted"),
    ("roll", "mcp"),
    ("roll", "mcp"),
]
RESPONSE: dict[str, Any] = {
    "id": "r1",
    "object": "response",
    "created_at": 1.0,
    "model": "gpt-x",
    "status": "completed",
    "output": ITEMS,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    },
}


def test_a_response_object_reads_like_its_json() -> None:
    response = Response.model_validate(RESPONSE)
    result = parse_response(response)
    assert [(call.name, call.kind) for call in result.tool_calls] == KINDS
    assert (result.response, result.metadata["reasoning"]) == ("Let me look.", "hmm")
    assert (result.usage, result.tool_calls[4].response) == (Usage(1, 10, 5), [{"type": "logs", "logs": "2"}])
    for other in (RESPONSE, json.dumps(RESPONSE), response.to_dict()):
        assert parse_response(other) == result
    assert parse_response(response.output).tool_calls == result.tool_calls


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["type"])
def test_every_item_above_is_one_of_the_sdks(item: dict[str, Any]) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(ResponseOutputItem)
    assert adapter.validate_python(item).type == item["type"]


def test_a_responses_stream_is_what_the_client_makes_of_it(provider: Any) -> None:
    call = {"type": "function_call", "id": "fc", "call_id": "a", "name": "get", "arguments": ""}
    other = {**call, "id": "fc2", "call_id": "b"}
    pieces = [("fc", 0, '{"q"'), ("fc2", 1, '{"q": '), ("fc", 0, ": 1}"), ("fc2", 1, "2}")]
    done = [{**call, "arguments": '{"q": 1}'}, {**other, "arguments": '{"q": 2}'}]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**RESPONSE, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": call},
        {"type": "response.output_item.added", "output_index": 1, "item": other},
        *(
            {
                "type": "response.function_call_arguments.delta",
                "item_id": item,
                "output_index": index,
                "delta": delta,
            }
            for item, index, delta in pieces
        ),
        *(
            {"type": "response.output_item.done", "output_index": index, "item": item}
            for index, item in enumerate(done)
        ),
        {"type": "response.completed", "response": {**RESPONSE, "output": done}},
    ]
    body = provider.says(*({**event, "sequence_number": n} for n, event in enumerate(events)), typed=True)
    client = openai.OpenAI(api_key="x", base_url=provider.url, max_retries=0)
    with client.responses.stream(model="gpt-x", input="Hi") as stream:
        theirs = parse_response(stream.get_final_response())
    assert (
        parse_stream(body).tool_calls
        == theirs.tool_calls
        == [ToolCall("get", {"q": 1}), ToolCall("get", {"q": 2})]
    )
    events_of_client = client.responses.create(model="gpt-x", input="Hi", stream=True)
    assert parse_stream(events_of_client) == parse_stream(body)
    without_last = body[: body.index("event: response.completed")]
    assert parse_stream(without_last).tool_calls == theirs.tool_calls


def test_an_error_the_client_raises_is_an_error_we_report(provider: Any) -> None:
    body = provider.says(
        CHUNKS[1], {"error": {"message": "Overloaded", "type": "server_error", "code": None}}
    )
    client = openai.OpenAI(api_key="x", base_url=provider.url, max_retries=0)
    with pytest.raises(openai.APIError, match="Overloaded"):
        list(client.chat.completions.create(model="gpt-x", messages=[], stream=True))
    assert parse_stream(body).error == "server_error: Overloaded"
