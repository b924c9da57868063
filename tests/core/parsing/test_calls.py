"""Tool calls without the message around them."""

from __future__ import annotations

from typing import Any

import pytest

from callsheet import ToolCall, UnknownFormatError, parse_response

EXPECTED = [ToolCall("search", {"q": "x"}), ToolCall("book", {})]


@pytest.mark.parametrize(
    "calls",
    [
        [{"name": "search", "args": {"q": "x"}}, {"name": "book", "args": {}}],
        [{"toolName": "search", "args": {"q": "x"}}, {"toolName": "book", "args": None}],
        [{"name": "search", "arguments": '{"q": "x"}'}, {"name": "book", "arguments": ""}],
        [{"toolName": "search", "input": {"q": "x"}}, {"toolName": "book", "input": "{}"}],
        [
            {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}},
            {"id": "2", "type": "function", "function": {"name": "book", "arguments": ""}},
        ],
        [
            {"function": {"name": "search", "arguments": {"q": "x"}}},
            {"function": {"name": "book", "arguments": {}}},
        ],
        [
            {"functionCall": {"name": "search", "args": {"q": "x"}}},
            {"functionCall": {"name": "book", "args": {}}},
        ],
        [
            {"function_call": {"name": "search", "arguments": '{"q": "x"}'}},
            {"name": "book", "args": {}},
        ],
        [
            {"type": "tool_use", "id": "1", "name": "search", "input": {"q": "x"}},
            {"type": "tool_use", "id": "2", "name": "book", "input": {}},
        ],
        [
            {"type": "function_call", "call_id": "1", "name": "search", "arguments": '{"q": "x"}'},
            {"type": "function_call", "call_id": "2", "name": "book", "arguments": "{}"},
        ],
        [
            {"type": "tool-call", "toolCallId": "1", "toolName": "search", "input": {"q": "x"}},
            {"type": "tool-call", "toolCallId": "2", "toolName": "book", "input": {}},
        ],
        [ToolCall("search", {"q": "x"}), ToolCall("book")],
    ],
)
def test_a_list_of_calls_is_one_reply(calls: list[Any]) -> None:
    result = parse_response(calls)
    assert result.tool_calls == EXPECTED
    assert [call.outcome for call in result.tool_calls] == ["success", "success"]
    assert result.batches == [EXPECTED]
    assert result.metadata["truncated"] is False


def test_a_call_alone_is_a_list_of_one() -> None:
    assert parse_response({"name": "search", "args": {"q": "x"}}).tool_calls == EXPECTED[:1]


def test_no_calls_are_no_calls() -> None:
    result = parse_response([])
    assert (result.tool_calls, result.metadata["turns"], result.metadata["format"]) == ([], 0, "calls")
    assert parse_response([], "calls").tool_calls == []
    with pytest.raises(UnknownFormatError):
        parse_response([], "openai")


def test_names_alone_are_calls_where_the_format_is_named() -> None:
    assert parse_response([{"name": "book"}], "calls").tool_calls == [ToolCall("book")]
    with pytest.raises(UnknownFormatError):
        parse_response([{"nom": "book"}], "calls")


def test_a_list_that_holds_something_else_is_refused_not_read_in_part() -> None:
    with pytest.raises(UnknownFormatError, match="Can't tell the format of an object with 'nom'"):
        parse_response([{"name": "search", "args": {}}, {"nom": "book"}])


DEFINITIONS = [
    {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}},
    {"type": "function", "name": "search", "parameters": {"type": "object"}},
    {"name": "search", "description": "Searches", "input_schema": {"type": "object"}},
    {"function": {"name": "search"}},
]


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_the_definition_of_a_tool_is_no_call_of_it(definition: dict[str, Any]) -> None:
    with pytest.raises(UnknownFormatError):
        parse_response([definition])


@pytest.mark.parametrize("definition", DEFINITIONS[:-1])
def test_the_definition_of_a_tool_is_no_call_even_where_the_format_is_named(
    definition: dict[str, Any],
) -> None:
    with pytest.raises(UnknownFormatError):
        parse_response([definition], "calls")


def test_ids_answers_and_errors_are_kept() -> None:
    [done, failed] = parse_response(
        [
            {"name": "search", "args": {}, "id": "a", "output": [1]},
            {"name": "book", "args": {}, "id": "b", "error": {"message": "sold out"}},
        ]
    ).tool_calls
    assert (done.id, done.response, done.outcome) == ("a", [1], "success")
    assert (failed.id, failed.error, failed.outcome) == ("b", "sold out", "failed")


def test_the_kind_follows_the_wire() -> None:
    calls = [
        {"type": "mcp_call", "name": "a", "args": {}},
        {"type": "server_tool_use", "name": "b", "args": {}},
        {"type": "function", "name": "c", "args": {}},
    ]
    assert [call.kind for call in parse_response(calls, "calls").tool_calls] == ["mcp", "hosted", "function"]


@pytest.mark.parametrize("arguments", ["{", "[1]", "null", '{"q": ', "NaN", 7, [1]])
def test_arguments_that_are_no_object_are_kept_as_written(arguments: object) -> None:
    [call] = parse_response([{"name": "search", "args": arguments}]).tool_calls
    assert (call.args, call.outcome) == ({}, "invalid")
    assert call.raw_args == (arguments if isinstance(arguments, str) else str(arguments))


def test_arguments_that_json_can_not_hold_are_kept_as_their_repr() -> None:
    loop: list[Any] = []
    loop.append(loop)
    [call] = parse_response([{"name": "search", "args": loop}]).tool_calls
    assert call.outcome == "invalid"
    assert call.raw_args is not None
    assert "..." in call.raw_args


def test_arguments_nested_too_deep_to_read_are_kept_as_written() -> None:
    text = '{"a":' * 100_000
    [call] = parse_response([{"name": "search", "arguments": text}]).tool_calls
    assert (call.raw_args, call.outcome) == (text, "invalid")


def test_free_text_for_a_custom_tool_is_its_one_argument() -> None:
    calls = [{"id": "1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}]
    assert parse_response(calls).tool_calls == [ToolCall("sql", {"input": "SELECT 1"})]
