"""OpenAI chat completions and the servers that speak the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from callsheet import AgentResult, ToolCall, Usage, parse_response, parse_stream

Sse = Callable[..., str]


def chunk(delta: dict[str, Any] | None = None, *, index: int = 0, **rest: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta or {}, **rest}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "gpt-x", "choices": [choice]}


def fragment(
    arguments: str, *, index: int | None = 0, id: str | None = None, name: str | None = None
) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    wire: dict[str, Any] = {"function": function}
    return {
        "tool_calls": [wire | ({"index": index} if index is not None else {}) | ({"id": id} if id else {})]
    }


WHOLE: dict[str, Any] = {
    "id": "c1",
    "object": "chat.completion",
    "model": "gpt-x",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "Let me look.",
                "refusal": None,
                "reasoning_content": "hmm",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "get", "arguments": '{"q": 1}'}},
                    {"id": "b", "type": "function", "function": {"name": "get", "arguments": '{"q": 2'}},
                    {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}},
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}


def test_a_completion_is_read_whole() -> None:
    result = parse_response(WHOLE)
    assert result.response == "Let me look."
    assert result.tool_calls == [
        ToolCall("get", {"q": 1}),
        ToolCall("get", {}),
        ToolCall("sql", {"input": "SELECT 1"}),
    ]
    assert [(call.id, call.outcome, call.raw_args, call.index) for call in result.tool_calls] == [
        ("a", "success", None, 0),
        ("b", "invalid", '{"q": 2', 1),
        ("c", "success", None, 2),
    ]
    assert (result.model_used, result.usage) == ("gpt-x", Usage(1, 10, 5))
    assert result.metadata == {
        "format": "openai",
        "turns": 1,
        "truncated": False,
        "response_id": "c1",
        "finish_reason": "tool_calls",
        "reasoning": "hmm",
    }


def test_a_result_survives_its_round_trip_through_a_dict() -> None:
    result = parse_response(WHOLE)
    assert AgentResult.from_dict(result.to_dict()) == result


def test_a_reply_reads_back_as_messages() -> None:
    messages = parse_response(WHOLE).to_messages()
    assert messages[0]["content"] == "Let me look."
    assert [call["function"]["name"] for call in messages[0]["tool_calls"]] == ["get", "get", "sql"]


def test_a_message_alone_is_a_completion() -> None:
    message = WHOLE["choices"][0]["message"]
    assert parse_response(message).tool_calls == parse_response(WHOLE).tool_calls


def test_several_completions_are_several_turns() -> None:
    result = parse_response([WHOLE, {**WHOLE, "choices": [{"message": {"content": "Done."}}]}])
    assert (result.response, result.metadata["turns"], result.usage) == ("Done.", 2, Usage(2, 20, 10))
    assert [call.turn for call in result.tool_calls] == [0, 0, 0]


def test_interleaved_fragments_of_parallel_calls_are_put_together(sse: Sse) -> None:
    body = sse(
        chunk({"role": "assistant", "content": None}),
        chunk(fragment("", index=0, id="a", name="get")),
        chunk(fragment("", index=1, id="b", name="put")),
        chunk(fragment('{"q"', index=0)),
        chunk(fragment('{"v":', index=1)),
        chunk(fragment(": 1}", index=0)),
        chunk(fragment(' "é"}', index=1)),
        chunk({}, finish_reason="tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        "[DONE]",
    )
    result = parse_stream(body)
    assert result.tool_calls == [ToolCall("get", {"q": 1}), ToolCall("put", {"v": "é"})]
    assert [(call.id, call.turn, call.index) for call in result.tool_calls] == [("a", 0, 0), ("b", 0, 1)]
    assert (result.usage, result.metadata["finish_reason"]) == (Usage(1, 3, 4), "tool_calls")


def test_calls_stand_in_the_order_of_their_indices() -> None:
    events = [
        chunk(fragment("{}", index=1, id="b", name="second")),
        chunk(fragment("{}", index=0, id="a", name="first")),
        chunk(finish_reason="tool_calls"),
    ]
    assert parse_stream(events).tool_names == ["first", "second"]


def test_a_call_without_arguments_has_none(sse: Sse) -> None:
    body = sse(chunk(fragment("", id="a", name="now")), chunk(finish_reason="tool_calls"))
    [call] = parse_stream(body).tool_calls
    assert (call.args, call.outcome) == ({}, "success")


def test_a_cut_stream_keeps_the_call_it_was_cut_in() -> None:
    events = [
        chunk({"content": "Look"}),
        chunk(fragment('{"q": 1}', index=0, id="a", name="get")),
        chunk(fragment('{"v": "x', index=1, id="b", name="put")),
    ]
    result = parse_stream(events)
    assert (result.response, result.metadata["truncated"], result.metadata["finish_reason"]) == (
        "Look",
        True,
        None,
    )
    done, cut = result.tool_calls
    assert (done.args, done.outcome, done.raw_args) == ({"q": 1}, "success", None)
    assert (cut.args, cut.outcome, cut.raw_args) == ({}, "invalid", '{"v": "x')


def test_a_call_cut_before_its_arguments_is_not_one_without_arguments() -> None:
    result = parse_stream(
        [chunk(fragment("", index=0, id="a", name="one")), chunk(fragment("", index=1, id="b", name="two"))]
    )
    assert [(call.outcome, call.raw_args) for call in result.tool_calls] == [
        ("invalid", ""),
        ("invalid", ""),
    ]


def test_a_reply_cut_by_its_length_is_whole_but_its_last_call_is_not() -> None:
    calls = [chunk(fragment("", index=index, id=id, name="get")) for index, id in enumerate("ab")]
    result = parse_stream([*calls, chunk(finish_reason="length")])
    assert (result.metadata["truncated"], result.metadata["finish_reason"]) == (False, "length")
    assert [(call.outcome, call.raw_args) for call in result.tool_calls] == [
        ("success", None),
        ("invalid", ""),
    ]


def test_no_call_of_a_reply_that_broke_off_is_taken_for_whole() -> None:
    calls = [chunk(fragment("", index=index, id=id, name="get")) for index, id in enumerate("ab")]
    result = parse_stream([*calls, chunk(finish_reason="error")])
    assert [call.outcome for call in result.tool_calls] == ["invalid", "invalid"]


def test_an_error_in_the_stream_keeps_what_came_before(sse: Sse) -> None:
    body = sse(
        chunk({"content": "Hi"}),
        chunk(fragment("", id="a", name="get")),
        {"error": {"message": "Overloaded", "type": "server_error"}},
        "[DONE]",
    )
    result = parse_stream(body)
    assert (result.response, result.error) == ("Hi", "server_error: Overloaded")
    assert result.tool_calls[0].outcome == "invalid"


def test_an_error_beside_choices_is_one_too() -> None:
    last = {
        **chunk({"content": "!"}, finish_reason="error"),
        "error": {"code": 502, "message": "Bad gateway"},
    }
    result = parse_stream([chunk({"content": "Hi"}), last])
    assert (result.response, result.error) == ("Hi!", "502: Bad gateway")


def test_other_choices_are_results_of_their_own() -> None:
    events = [
        chunk({"content": "B"}, index=1),
        chunk({"content": "A"}, index=0),
        chunk(fragment('{"q": 1}', id="x", name="get"), index=1),
        chunk(index=0, finish_reason="stop"),
        chunk(index=1, finish_reason="tool_calls"),
    ]
    result = parse_stream(events)
    assert (result.response, result.tool_calls, result.metadata["finish_reason"]) == ("A", [], "stop")
    [other] = map(AgentResult.from_dict, result.metadata["choices"])
    assert (other.response, other.tool_calls) == ("B", [ToolCall("get", {"q": 1})])
    assert other.metadata == {"index": 1, "turn": 0, "finish_reason": "tool_calls"}


def test_a_stream_is_truncated_until_every_choice_has_its_finish_reason() -> None:
    events = [chunk({"content": "A"}, finish_reason="stop"), chunk({"content": "B"}, index=1)]
    assert parse_stream(events).metadata["truncated"] is True


def test_choices_without_an_index_are_counted() -> None:
    payload = {"choices": [{"message": {"content": "A"}}, {"message": {"content": "B"}}]}
    result = parse_response(payload)
    assert (result.response, result.metadata["choices"][0]["response"]) == ("A", "B")


def test_a_name_repeated_in_every_chunk_is_one_name() -> None:
    events = [chunk(fragment('{"q":', id="a", name="get")), chunk(fragment(" 1}", id="a", name="get"))]
    assert parse_stream(events).tool_calls == [ToolCall("get", {"q": 1})]


def test_a_name_in_pieces_is_one_name() -> None:
    events = [chunk(fragment("", id="a", name="get_")), chunk(fragment("{}", name="weather"))]
    assert parse_stream(events).tool_names == ["get_weather"]


def test_calls_without_indices_are_told_apart_by_their_ids() -> None:
    events = [
        chunk(fragment('{"q":', index=None, id="a", name="get")),
        chunk(fragment(" 1}", index=None)),
        chunk(fragment('{"q": 2}', index=None, id="b", name="get")),
        chunk(finish_reason="tool_calls"),
    ]
    assert parse_stream(events).tool_calls == [ToolCall("get", {"q": 1}), ToolCall("get", {"q": 2})]


def test_calls_without_indices_and_ids_are_told_apart_by_their_names() -> None:
    events = [chunk(fragment("{}", index=None, name="a")), chunk(fragment("{}", index=None, name="b"))]
    assert parse_stream(events).tool_names == ["a", "b"]


def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    events = [
        chunk(fragment('{"q": 1}', index=0, id="a", name="get")),
        chunk(fragment('{"q":', index=0, id="b", name="get")),
        chunk(fragment(" 2}", index=0)),
        chunk(fragment("{}", index=1, id="c", name="put")),
    ]
    assert parse_stream(events).tool_calls == [
        ToolCall("get", {"q": 1}),
        ToolCall("get", {"q": 2}),
        ToolCall("put", {}),
    ]


def test_whole_calls_without_ids_are_as_many_as_there_are() -> None:
    calls = [{"function": {"name": "now", "arguments": ""}}] * 3
    assert parse_response({"choices": [{"message": {"tool_calls": calls}}]}).tool_names == ["now"] * 3


def test_a_legacy_function_call_is_a_call() -> None:
    message = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "get", "arguments": '{"q": 1}'},
    }
    assert parse_response(message).tool_calls == [ToolCall("get", {"q": 1})]
    events = [
        chunk({"function_call": {"name": "get", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"q":'}}),
        chunk({"function_call": {"arguments": " 1}"}}),
    ]
    assert parse_stream(events).tool_calls == [ToolCall("get", {"q": 1})]


def test_chunks_in_the_events_of_the_clients_helper_are_chunks() -> None:
    events = [{"type": "chunk", "chunk": chunk({"content": "Hi"})}, {"type": "content.delta", "delta": "Hi"}]
    assert parse_stream(events).response == "Hi"


def test_a_refusal_is_no_response() -> None:
    whole = parse_response({"choices": [{"message": {"content": None, "refusal": "I can't."}}]})
    streamed = parse_stream([chunk({"refusal": "I "}), chunk({"refusal": "can't."})])
    assert (whole.response, whole.metadata["refusal"]) == ("", "I can't.")
    assert streamed.metadata["refusal"] == "I can't."


def test_what_was_said_aloud_is_the_response() -> None:
    payload = {"choices": [{"message": {"content": None, "audio": {"transcript": "Hello"}}}]}
    assert parse_response(payload).response == "Hello"


def test_content_in_parts_is_joined() -> None:
    content = [
        {"type": "text", "text": "A"},
        {"type": "refusal", "refusal": "no"},
        {"type": "text", "text": "B"},
    ]
    result = parse_response({"choices": [{"message": {"content": content}}]}, "openai")
    assert (result.response, result.metadata["refusal"]) == ("AB", "no")


def test_thinking_of_compatible_servers_is_kept_apart() -> None:
    events = [chunk({"reasoning": "a"}), chunk({"reasoning_content": "b"}), chunk({"content": "c"})]
    result = parse_stream(events)
    assert (result.response, result.metadata["reasoning"]) == ("c", "ab")


def test_a_call_without_a_name_is_invalid() -> None:
    [call] = parse_stream([chunk(fragment('{"q": 1}')), chunk(finish_reason="tool_calls")]).tool_calls
    assert (call.name, call.args, call.outcome, call.raw_args) == ("", {"q": 1}, "invalid", '{"q": 1}')


def test_odd_members_are_passed_over() -> None:
    payload = {
        "choices": [7, {"index": True, "message": {"content": 7, "tool_calls": ["x", {"function": "y"}]}}],
        "usage": {"prompt_tokens": "many", "completion_tokens": float("inf")},
        "model": None,
    }
    result = parse_response(payload)
    assert (result.response, result.usage, result.model_used) == ("", Usage(1, 0, 0), None)
    assert [call.outcome for call in result.tool_calls] == ["invalid"]
