"""The Vercel AI SDK's UI message stream (SDK 5 and later) and the parts of `fullStream`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from callsheet import ToolCall, Usage, parse_response, parse_stream

Sse = Callable[..., str]


def part(kind: str, call_id: str | None = None, **rest: Any) -> dict[str, Any]:
    return {"type": kind} | ({"toolCallId": call_id} if call_id else {}) | rest


STREAM = [
    part("start", messageId="msg_1"),
    part("start-step"),
    part("reasoning-start", id="r"),
    part("reasoning-delta", id="r", delta="hm"),
    part("reasoning-delta", id="r", delta="m"),
    part("reasoning-end", id="r"),
    part("text-start", id="t"),
    part("text-delta", id="t", delta="Let me "),
    part("text-delta", id="t", delta="look."),
    part("text-end", id="t"),
    part("data-weather", data={"x": 1}),
    part("tool-input-start", "a", toolName="get"),
    part("tool-input-start", "b", toolName="put"),
    part("tool-input-delta", "a", inputTextDelta='{"q":'),
    part("tool-input-delta", "b", inputTextDelta='{"v":'),
    part("tool-input-delta", "a", inputTextDelta=" 1}"),
    part("tool-input-delta", "b", inputTextDelta=" 2}"),
    part("tool-input-available", "a", toolName="get", input={"q": 1}),
    part("tool-input-available", "b", toolName="put", input={"v": 2}),
    part("tool-output-available", "a", output="loading", preliminary=True),
    part("tool-output-available", "a", output="sunny"),
    part("tool-output-error", "b", errorText="No space"),
    part("finish-step"),
    part("start-step"),
    part("text-delta", id="t2", delta="It is sunny."),
    part("finish-step"),
    part(
        "finish", finishReason="stop", messageMetadata={"totalUsage": {"inputTokens": 30, "outputTokens": 11}}
    ),
    "[DONE]",
]


def test_a_stream_is_put_together(sse: Sse) -> None:
    result = parse_stream(sse(*STREAM))
    assert result.response == "It is sunny."
    assert result.tool_calls == [
        ToolCall("get", {"q": 1}, response="sunny"),
        ToolCall("put", {"v": 2}, error="No space"),
    ]
    assert [(call.id, call.turn, call.index, call.outcome) for call in result.tool_calls] == [
        ("a", 0, 0, "success"),
        ("b", 0, 1, "failed"),
    ]
    assert (result.usage, result.metadata["reasoning"]) == (Usage(2, 30, 11), "hmm")
    assert (result.metadata["turns"], result.metadata["finish_reason"]) == (2, "stop")
    assert (result.metadata["truncated"], result.metadata["response_id"]) == (False, "msg_1")


def test_a_stream_may_end_without_saying_why(sse: Sse) -> None:
    result = parse_stream(sse(*STREAM[:-2], "[DONE]"))
    assert (result.metadata["truncated"], result.metadata["finish_reason"]) == (False, None)


def test_a_cut_stream_keeps_the_call_it_was_cut_in() -> None:
    result = parse_stream([event for event in STREAM[:16] if isinstance(event, dict)])
    assert result.metadata["truncated"] is True
    assert [(call.outcome, call.raw_args) for call in result.tool_calls] == [
        ("success", None),
        ("invalid", '{"v":'),
    ]


def test_input_that_was_rejected_is_kept() -> None:
    events = [
        part("tool-input-start", "a", toolName="get"),
        part("tool-input-error", "a", toolName="get", input={"q": 1}, errorText="q must be a string"),
        part("tool-output-error", "a", errorText="q must be a string"),
        part("tool-input-error", "b", toolName="get", input='{"q"', errorText="no JSON"),
        part("finish"),
    ]
    rejected, broken = parse_stream(events).tool_calls
    assert (rejected.args, rejected.outcome, rejected.raw_args) == ({"q": 1}, "invalid", '{"q": 1}')
    assert rejected.error == "q must be a string"
    assert (broken.args, broken.outcome, broken.raw_args) == ({}, "invalid", '{"q"')


def test_approvals_are_outcomes() -> None:
    events = [
        *(part("tool-input-available", call, toolName="pay", input={}) for call in "abc"),
        *(part("tool-approval-request", call, approvalId="x") for call in "abc"),
        part("tool-output-denied", "b"),
        part("tool-output-available", "c", output="paid"),
        part("finish"),
    ]
    assert [call.outcome for call in parse_stream(events).tool_calls] == ["interrupted", "denied", "success"]


def test_outputs_of_calls_from_an_earlier_stream_are_passed_over() -> None:
    kinds = ("tool-output-available", "tool-output-error", "tool-output-denied", "tool-approval-request")
    events = [part(kind, "gone", output=1, errorText="x") for kind in kinds]
    result = parse_stream([*events, part("text-delta", delta="Hi"), part("finish")])
    assert (result.response, result.tool_calls, result.error) == ("Hi", [], None)


def test_tools_the_provider_runs_are_hosted() -> None:
    events = [part("tool-input-available", "a", toolName="web_search", input={}, providerExecuted=True)]
    assert parse_stream(events).tool_calls[0].kind == "hosted"


def test_an_abort_is_an_error() -> None:
    events = [part("tool-input-start", "a", toolName="get"), part("abort", reason="user left")]
    result = parse_stream(events)
    assert result.error == "The stream was aborted: user left"
    assert (result.metadata["finish_reason"], result.tool_calls[0].outcome) == ("abort", "invalid")
    assert parse_stream([part("abort")]).error == "The stream was aborted"


def test_an_error_in_the_stream_keeps_what_came_before() -> None:
    result = parse_stream([part("text-delta", delta="Hi"), part("error", errorText="Overloaded")])
    assert (result.response, result.error, result.metadata["truncated"]) == ("Hi", "Overloaded", True)


def test_a_stream_after_a_stream_is_the_next_turn() -> None:
    one = [event for event in STREAM if isinstance(event, dict)]
    again = parse_stream([*one, *one])
    assert (again.metadata["turns"], again.usage) == (4, Usage(4, 60, 22))
    assert parse_stream([*one, *one[:8]]).metadata["truncated"] is True


@pytest.mark.parametrize(
    ("call", "delta", "done", "answer"),
    [
        (
            part("tool-call-streaming-start", "a", toolName="get"),
            part("tool-call-delta", "a", toolName="get", argsTextDelta='{"q": 1}'),
            part("tool-call", "a", toolName="get", args={"q": 1}),
            part("tool-result", "a", toolName="get", args={"q": 1}, result="sunny"),
        ),
        (
            part("tool-input-start", id="a", toolName="get"),
            part("tool-input-delta", id="a", delta='{"q": 1}'),
            part("tool-call", "a", toolName="get", input={"q": 1}),
            part("tool-result", "a", toolName="get", input={"q": 1}, output="sunny"),
        ),
    ],
)
def test_the_parts_of_full_stream_are_read_in_both_generations(
    call: dict[str, Any], delta: dict[str, Any], done: dict[str, Any], answer: dict[str, Any]
) -> None:
    begin, end = part("step-start"), part("step-finish", finishReason="tool-calls", usage={"promptTokens": 3})
    last = part("finish", finishReason="stop", totalUsage={"inputTokens": 9, "outputTokens": 1})
    result = parse_stream([begin, part("text-delta", textDelta="Hi"), call, delta, done, answer, end, last])
    assert (result.response, result.tool_calls) == ("Hi", [ToolCall("get", {"q": 1}, response="sunny")])
    assert result.usage == Usage(1, 9, 1)
    assert parse_stream([call, delta]).tool_calls[0].args == {"q": 1}


def test_whole_texts_are_chunks_too() -> None:
    events = [part("start"), part("reasoning", text="hmm"), part("text", text="Hi"), part("finish")]
    result = parse_stream(events)
    assert (result.response, result.metadata["reasoning"]) == ("Hi", "hmm")


def test_a_tool_that_failed_in_full_stream_failed() -> None:
    events = [
        part("tool-call", "a", toolName="get", input={}),
        part("tool-error", "a", toolName="get", error={"name": "Error", "message": "boom"}),
        part("tool-call", "b", toolName="gte", input={}, invalid=True, error="no such tool"),
        part("tool-error", "b", toolName="gte", error="no such tool"),
    ]
    result = parse_stream(events)
    assert result.error is None
    assert [(call.error, call.outcome) for call in result.tool_calls] == [
        ("boom", "failed"),
        ("no such tool", "invalid"),
    ]


def test_a_response_may_be_a_list_of_chunks() -> None:
    chunks = [event for event in STREAM if isinstance(event, dict)]
    assert parse_response(chunks).response == "It is sunny."
