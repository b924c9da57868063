"""OpenAI responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from callsheet import ToolCall, Usage, parse_response, parse_stream

Sse = Callable[..., str]


def response(*output: dict[str, Any], status: str = "completed", **rest: Any) -> dict[str, Any]:
    return {
        "id": "r1",
        "object": "response",
        "model": "gpt-x",
        "status": status,
        "output": list(output),
        **rest,
    }


def event(name: str, **rest: Any) -> dict[str, Any]:
    return {"type": f"response.{name}", **rest}


def function_call(arguments: str, call_id: str = "a", **rest: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": "get",
        "arguments": arguments,
        **rest,
    }


def message(*parts: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": part, "annotations": []} for part in parts]
    return {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}


def test_a_response_is_read_whole() -> None:
    payload = response(
        {
            "type": "reasoning",
            "id": "rs",
            "summary": [{"text": "a"}, {"text": "b"}],
            "content": [{"text": "c"}],
        },
        message("Let me ", "look."),
        function_call('{"q": 1}'),
        function_call('{"q"', call_id="b", namespace="crm"),
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT 1"},
        usage={"input_tokens": 10, "output_tokens": 5},
    )
    result = parse_response(payload)
    assert result.response == "Let me look."
    assert result.tool_calls == [
        ToolCall("get", {"q": 1}),
        ToolCall("get", {}),
        ToolCall("sql", {"input": "SELECT 1"}),
    ]
    assert [(call.id, call.outcome, call.raw_args) for call in result.tool_calls] == [
        ("a", "success", None),
        ("b", "invalid", '{"q"'),
        ("c", "success", None),
    ]
    assert result.tool_calls[1].metadata == {"namespace": "crm"}
    assert (result.model_used, result.usage) == ("gpt-x", Usage(1, 10, 5))
    assert result.metadata["reasoning"] == "abc"
    assert result.metadata["finish_reason"] == "completed"


HOSTED = [
    (
        {"type": "web_search_call", "action": {"type": "search", "query": "x"}},
        "web_search",
        {"type": "search", "query": "x"},
    ),
    (
        {"type": "file_search_call", "queries": ["x"], "results": [{"text": "y"}]},
        "file_search",
        {"queries": ["x"]},
    ),
    (
        {"type": "code_interpreter_call", "code": "1", "outputs": [{"logs": "2"}]},
        "code_interpreter",
        {"code": "1"},
    ),
    ({"type": "computer_call", "action": {"type": "click", "x": 1}}, "computer", {"type": "click", "x": 1}),
    ({"type": "local_shell_call", "action": {"command": ["ls"]}}, "local_shell", {"command": ["ls"]}),
    ({"type": "shell_call", "action": {"commands": ["ls"]}}, "shell", {"commands": ["ls"]}),
    ({"type": "apply_patch_call", "operation": {"path": "a"}}, "apply_patch", {"path": "a"}),
    ({"type": "tool_search_call", "arguments": {"q": "x"}}, "tool_search", {"q": "x"}),
    (
        {"type": "image_generation_call", "revised_prompt": "a cat", "result": "iVBOR"},
        "image_generation",
        {"revised_prompt": "a cat"},
    ),
    ({"type": "program", "code": "call()"}, "program", {"code": "call()"}),
]


@pytest.mark.parametrize(("item", "name", "args"), HOSTED)
def test_tools_the_provider_runs_are_hosted(item: dict[str, Any], name: str, args: dict[str, Any]) -> None:
    [call] = parse_response(response({"id": "h1", "status": "completed", **item})).tool_calls
    assert (call.kind, call.name, call.args, call.id, call.outcome) == ("hosted", name, args, "h1", "success")
    assert call.response == item.get("results", item.get("outputs", item.get("result")))


def test_mcp_calls_have_their_answers_and_servers() -> None:
    call = {"type": "mcp_call", "id": "m", "name": "roll", "server_label": "dice", "arguments": '{"n": 2}'}
    failure = {"type": "mcp_tool_execution_error", "content": "no dice"}
    done, failed, broken = parse_response(
        response({**call, "output": "7"}, {**call, "error": failure}, {**call, "status": "failed"})
    ).tool_calls
    assert (done.kind, done.args, done.response) == ("mcp", {"n": 2}, "7")
    assert done.metadata == {"server_label": "dice"}
    assert (failed.error, failed.outcome) == ("mcp_tool_execution_error: no dice", "failed")
    assert (broken.error, broken.outcome) == ("failed", "failed")


def test_a_call_that_waits_for_approval_is_interrupted() -> None:
    item = {
        "type": "mcp_approval_request",
        "id": "m",
        "name": "roll",
        "server_label": "dice",
        "arguments": "{}",
    }
    [call] = parse_response(response(item)).tool_calls
    assert (call.kind, call.outcome) == ("mcp", "interrupted")


def test_outputs_among_the_items_answer_their_calls() -> None:
    result = parse_response(
        response(
            function_call("{}"),
            {"type": "function_call_output", "call_id": "a", "output": "sunny"},
            {"type": "shell_call_output", "call_id": "gone", "output": "?"},
        )
    )
    assert result.tool_calls == [ToolCall("get", {}, response="sunny")]


def test_items_that_are_no_calls_are_passed_over() -> None:
    assert (
        parse_response(response({"type": "mcp_list_tools", "tools": []}, {"type": "compaction"})).tool_calls
        == []
    )


def test_a_refusal_is_no_response() -> None:
    item = {"type": "message", "content": [{"type": "refusal", "refusal": "I can't."}]}
    result = parse_response(response(item))
    assert (result.response, result.metadata["refusal"]) == ("", "I can't.")


def test_an_incomplete_response_says_why() -> None:
    result = parse_response(
        response(
            function_call("", status="incomplete"),
            status="incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        )
    )
    assert result.metadata["finish_reason"] == "max_output_tokens"
    assert (result.tool_calls[0].outcome, result.tool_calls[0].raw_args) == ("invalid", "")


def test_a_failed_response_is_an_error() -> None:
    result = parse_response(response(status="failed", error={"code": "server_error", "message": "Oops"}))
    assert (result.error, result.metadata["finish_reason"]) == ("server_error: Oops", "failed")


@pytest.mark.parametrize(
    "payload", [[message("Hi"), function_call("{}")], {"output": [message("Hi"), function_call("{}")]}]
)
def test_output_items_alone_are_a_response(payload: Any) -> None:
    result = parse_response(payload)
    assert (result.response, result.tool_names, result.metadata["truncated"]) == ("Hi", ["get"], False)


def test_an_item_alone_is_a_response() -> None:
    assert parse_response(function_call('{"q": 1}')).tool_calls == [ToolCall("get", {"q": 1})]


def test_several_responses_are_several_turns() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    result = parse_response(
        [response(function_call("{}"), usage=usage), response(message("Done."), usage=usage)]
    )
    assert (result.response, result.metadata["turns"], result.usage) == ("Done.", 2, Usage(2, 2, 4))
    assert result.tool_calls[0].turn == 0


STREAM = [
    event("created", response=response(status="in_progress")),
    event("output_item.added", output_index=0, item={"type": "reasoning", "id": "rs", "summary": []}),
    event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="th"),
    event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="ink"),
    event("reasoning_text.delta", output_index=0, content_index=0, delta="ing"),
    event("output_item.added", output_index=1, item={**message(), "status": "in_progress"}),
    event("content_part.added", output_index=1, content_index=0, part={"type": "output_text", "text": ""}),
    event("output_text.delta", output_index=1, content_index=0, delta="Let me "),
    event("output_item.added", output_index=2, item=function_call("")),
    event("output_item.added", output_index=3, item=function_call("", call_id="b")),
    event("function_call_arguments.delta", output_index=2, item_id="fc_a", delta='{"q"'),
    event("function_call_arguments.delta", output_index=3, item_id="fc_b", delta='{"q": '),
    event("output_text.delta", output_index=1, content_index=0, delta="look."),
    event("function_call_arguments.delta", output_index=2, item_id="fc_a", delta=": 1}"),
    event("function_call_arguments.delta", output_index=3, item_id="fc_b", delta="2}"),
]


def test_fragments_are_put_together_where_the_last_event_repeats_nothing(sse: Sse) -> None:
    body = sse(*STREAM, event("completed", response=response()), typed=True)
    result = parse_stream(body)
    assert (result.response, result.metadata["reasoning"]) == ("Let me look.", "thinking")
    assert result.tool_calls == [ToolCall("get", {"q": 1}), ToolCall("get", {"q": 2})]
    assert [call.id for call in result.tool_calls] == ["a", "b"]
    assert (result.metadata["truncated"], result.model_used) == (False, "gpt-x")


def test_the_last_event_is_what_counts_where_it_repeats_the_items() -> None:
    final = response(
        message("Final."), function_call('{"q": 9}'), usage={"input_tokens": 1, "output_tokens": 2}
    )
    result = parse_stream([*STREAM, event("completed", response=final)])
    assert (result.response, result.tool_calls) == ("Final.", [ToolCall("get", {"q": 9})])
    assert (result.usage, result.metadata["turns"]) == (Usage(1, 1, 2), 1)


def test_done_events_replace_the_fragments() -> None:
    result = parse_stream(
        [
            *STREAM,
            event("function_call_arguments.done", output_index=2, item_id="fc_a", arguments='{"q": 3}'),
            event("output_text.done", output_index=1, content_index=0, text="All."),
            event("output_item.done", output_index=3, item=function_call('{"q": 4}', call_id="b")),
        ]
    )
    assert result.response == "All."
    assert [call.args for call in result.tool_calls] == [{"q": 3}, {"q": 4}]


def test_a_cut_stream_keeps_the_call_it_was_cut_in() -> None:
    result = parse_stream(STREAM[:-1])
    assert result.metadata["truncated"] is True
    assert [(call.outcome, call.raw_args) for call in result.tool_calls] == [
        ("success", None),
        ("invalid", '{"q": '),
    ]


def test_a_call_that_is_done_without_arguments_has_none() -> None:
    added = event("output_item.added", output_index=0, item=function_call(""))
    done = event("output_item.done", output_index=0, item=function_call(""))
    assert parse_stream([added]).tool_calls[0].outcome == "invalid"
    assert parse_stream([added, done]).tool_calls[0].outcome == "success"


CUSTOM = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": ""}
CODE = {"type": "code_interpreter_call", "id": "c", "code": None}
MCP = {"type": "mcp_call", "id": "c", "name": "roll", "arguments": ""}


@pytest.mark.parametrize(
    ("item", "prefix", "member", "written", "args"),
    [
        (CUSTOM, "custom_tool_call_input", "input", "SELECT 1", {"input": "SELECT 1"}),
        (CODE, "code_interpreter_call_code", "code", "1 + 1", {"code": "1 + 1"}),
        (MCP, "mcp_call_arguments", "arguments", '{"n": 2}', {"n": 2}),
    ],
)
def test_free_text_and_the_arguments_of_mcp_calls_are_put_together_too(
    item: dict[str, Any], prefix: str, member: str, written: str, args: dict[str, Any]
) -> None:
    added = event("output_item.added", output_index=0, item=item)
    pieces = [event(f"{prefix}.delta", output_index=0, delta=char) for char in written]
    [cut] = parse_stream([added, *pieces[:-1]]).tool_calls
    assert (cut.args, cut.outcome, cut.raw_args) == ({}, "invalid", written[:-1])
    done = event(f"{prefix}.done", output_index=0, **{member: written})
    final = event("output_item.done", output_index=0, item={**item, member: written})
    end = event("completed", response=response())
    for events in ([*pieces, end], [pieces[0], done, end], [pieces[0], final]):
        [call] = parse_stream([added, *events]).tool_calls
        assert (call.args, call.outcome, call.raw_args) == (args, "success", None)


def test_fragments_without_an_index_go_by_their_item() -> None:
    result = parse_stream(
        [
            event("output_item.added", item=function_call("")),
            event("output_item.added", item=function_call("", call_id="b")),
            event("function_call_arguments.delta", item_id="fc_b", delta="{}"),
            event("function_call_arguments.delta", item_id="fc_a", delta='{"q": 1}'),
        ]
    )
    assert [call.args for call in result.tool_calls] == [{"q": 1}, {}]


def test_a_refusal_in_a_stream_is_put_together() -> None:
    events = [
        event("refusal.delta", output_index=0, content_index=0, delta=piece) for piece in ("I ", "can't.")
    ]
    assert parse_stream(events).metadata["refusal"] == "I can't."
    done = event("refusal.done", output_index=0, content_index=0, refusal="No.")
    assert parse_stream([*events, done]).metadata["refusal"] == "No."


def test_a_failure_in_the_stream_keeps_what_came_before() -> None:
    failed = response(status="failed", error={"code": "server_error", "message": "Oops"})
    result = parse_stream([*STREAM[:-1], event("failed", response=failed)])
    assert (result.response, result.error) == ("Let me look.", "server_error: Oops")
    assert (result.metadata["truncated"], result.metadata["finish_reason"]) == (False, "failed")
    assert [call.outcome for call in result.tool_calls] == ["success", "invalid"]


def test_an_error_event_is_an_error() -> None:
    result = parse_stream([*STREAM, {"type": "error", "code": "rate_limit", "message": "Slow down"}])
    assert (result.error, result.metadata["truncated"]) == ("rate_limit: Slow down", True)


def test_a_stream_after_a_stream_is_the_next_turn() -> None:
    one = [*STREAM, event("completed", response=response())]
    result = parse_stream([*one, *one])
    assert (result.metadata["turns"], len(result.tool_calls), len(result.batches)) == (2, 4, 2)


def test_events_of_later_versions_are_passed_over() -> None:
    assert parse_stream([event("steer.accepted"), *STREAM]).response == "Let me look."
