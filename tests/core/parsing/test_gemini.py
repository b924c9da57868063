"""Gemini."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from callsheet import AgentResult, ToolCall, Usage, parse_response, parse_stream

Sse = Callable[..., str]


def response(
    *parts: dict[str, Any], reason: str | None = None, index: int | None = None, **rest: Any
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if reason is not None:
        candidate["finishReason"] = reason
    if index is not None:
        candidate["index"] = index
    return {"candidates": [candidate], "modelVersion": "gemini-x", "responseId": "r1", **rest}


def call(name: str = "get", **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}}


WHOLE = response(
    {"text": "hmm", "thought": True},
    {"text": "Let me "},
    {"text": "look."},
    call(q=1),
    {"functionCall": {"name": "now", "id": "b"}},
    reason="STOP",
    usageMetadata={
        "promptTokenCount": 10,
        "toolUsePromptTokenCount": 1,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 2,
    },
)


def test_a_response_is_read_whole() -> None:
    result = parse_response(WHOLE)
    assert (result.response, result.metadata["reasoning"]) == ("Let me look.", "hmm")
    assert result.tool_calls == [ToolCall("get", {"q": 1}), ToolCall("now", {})]
    assert [(call.id, call.outcome) for call in result.tool_calls] == [(None, "success"), ("b", "success")]
    assert (result.model_used, result.usage) == ("gemini-x", Usage(1, 11, 7))
    assert (result.metadata["finish_reason"], result.metadata["response_id"]) == ("STOP", "r1")


def test_the_names_of_the_sdk_are_the_names_of_the_wire() -> None:
    payload = {
        "candidates": [
            {
                "content": {"parts": [{"function_call": {"name": "get", "args": {"q": 1}}}]},
                "finish_reason": "STOP",
            }
        ],
        "usage_metadata": {"prompt_token_count": 10, "candidates_token_count": 5},
        "model_version": "gemini-x",
        "response_id": "r1",
    }
    result = parse_response(payload)
    assert (result.tool_calls, result.usage) == ([ToolCall("get", {"q": 1})], Usage(1, 10, 5))
    assert (result.model_used, result.metadata["finish_reason"]) == ("gemini-x", "STOP")


STREAM = [
    response({"text": "Let me "}, usageMetadata={"promptTokenCount": 10, "candidatesTokenCount": 1}),
    response({"text": "look."}, call(q=1)),
    response(call(q=2)),
    response({"text": ""}, reason="STOP", usageMetadata={"promptTokenCount": 10, "candidatesTokenCount": 5}),
]


def test_a_stream_is_put_together_from_events_or_an_array(sse: Sse) -> None:
    for body in (sse(*STREAM), json.dumps(STREAM), json.dumps(STREAM, indent=2), STREAM):
        result = parse_stream(body)
        assert result.response == "Let me look."
        assert result.tool_calls == [ToolCall("get", {"q": 1}), ToolCall("get", {"q": 2})]
        assert (result.usage, result.metadata["turns"]) == (Usage(1, 10, 5), 1)
        assert result.metadata["truncated"] is False
    assert parse_response(STREAM).response == "Let me look."


def test_a_stream_without_its_finish_reason_is_truncated() -> None:
    result = parse_stream(STREAM[:-1])
    assert (result.metadata["truncated"], len(result.tool_calls)) == (True, 2)
    assert [call.outcome for call in result.tool_calls] == ["success", "success"]


def test_an_unspecified_finish_reason_is_none() -> None:
    assert parse_stream([response(reason="FINISH_REASON_UNSPECIFIED")]).metadata["truncated"] is True


def test_another_response_is_the_next_turn() -> None:
    result = parse_response([WHOLE, {**WHOLE, "responseId": "r2"}])
    assert (result.metadata["turns"], len(result.batches), result.usage) == (2, 2, Usage(2, 22, 14))


def test_other_candidates_are_results_of_their_own() -> None:
    events = [
        {
            "candidates": [
                {"content": {"parts": [{"text": "A"}]}},
                {"content": {"parts": [call(q=1)]}, "index": 1},
            ]
        },
        response(reason="STOP"),
        response(reason="STOP", index=1),
    ]
    result = parse_stream(events)
    assert (result.response, result.tool_calls) == ("A", [])
    [other] = map(AgentResult.from_dict, result.metadata["choices"])
    assert other.tool_calls == [ToolCall("get", {"q": 1})]


def test_content_parts_alone_are_a_response() -> None:
    result = parse_response([{"text": "Hi"}, call(q=1)])
    assert (result.response, result.tool_calls) == ("Hi", [ToolCall("get", {"q": 1})])


def test_a_blocked_prompt_is_a_refusal() -> None:
    blocked = parse_response({"promptFeedback": {"blockReason": "SAFETY"}})
    assert (blocked.metadata["refusal"], blocked.metadata["finish_reason"]) == ("SAFETY", "SAFETY")
    feedback = {"block_reason": "OTHER", "block_reason_message": "Not this."}
    assert parse_stream([{"prompt_feedback": feedback}]).metadata["refusal"] == "Not this."


def test_a_malformed_call_leaves_its_message() -> None:
    payload = response(reason="MALFORMED_FUNCTION_CALL")
    payload["candidates"][0]["finishMessage"] = "Malformed function call: print("
    result = parse_response(payload)
    assert result.metadata["finish_message"] == "Malformed function call: print("
    assert result.metadata["finish_reason"] == "MALFORMED_FUNCTION_CALL"


def test_code_the_provider_runs_is_a_hosted_call() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1 + 1"}}
    ok = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
    failed = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "boom"}}
    late = {"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED"}}
    calls = parse_response(response(code, ok, code, failed, code, late)).tool_calls
    assert {(call.kind, call.name) for call in calls} == {("hosted", "code_execution")}
    assert calls[0].args == {"language": "PYTHON", "code": "1 + 1"}
    assert [(call.response, call.error) for call in calls] == [
        ("2", None),
        (None, "boom"),
        (None, "OUTCOME_DEADLINE_EXCEEDED"),
    ]
    assert parse_response(response(ok)).tool_calls == []


def test_server_side_tools_are_hosted_calls() -> None:
    parts = (
        {"toolCall": {"id": "t", "toolType": "URL_CONTEXT", "args": {"url": "u"}}},
        {"toolResponse": {"id": "t", "response": {"text": "x"}}},
        {"toolResponse": {"id": "gone", "response": {}}},
    )
    [hosted] = parse_response(response(*parts)).tool_calls
    assert (hosted.kind, hosted.name, hosted.args, hosted.response) == (
        "hosted",
        "url_context",
        {"url": "u"},
        {"text": "x"},
    )


def streamed(*calls: dict[str, Any], reason: str | None = "STOP") -> list[dict[str, Any]]:
    return [*(response({"functionCall": call}) for call in calls), response(reason=reason)]


def piece(path: str, **value: Any) -> dict[str, Any]:
    return {"partialArgs": [{"jsonPath": path, **value}], "willContinue": True}


def test_streamed_arguments_are_put_together_by_their_paths() -> None:
    events = streamed(
        {"name": "get", "id": "a", "willContinue": True},
        piece("$.city", stringValue="New ", willContinue=True),
        piece("$.city", stringValue="Delhi"),
        piece("$.days", numberValue=2),
        piece("$.detailed", boolValue=False),
        piece("$.note", nullValue="NULL_VALUE"),
        piece("$.tags[0]", stringValue="x"),
        piece("$.tags[1]", stringValue="y"),
        piece("$.nested['a b'].c", stringValue="z"),
        piece('$.nested["d"]', numberValue=1.5),
        {},
        {"name": "now", "willContinue": True},
        {},
        {"name": "whole", "args": {"q": 1}},
    )
    result = parse_stream(events)
    assert result.tool_calls == [
        ToolCall(
            "get",
            {
                "city": "New Delhi",
                "days": 2,
                "detailed": False,
                "note": None,
                "tags": ["x", "y"],
                "nested": {"a b": {"c": "z"}, "d": 1.5},
            },
        ),
        ToolCall("now", {}),
        ToolCall("whole", {"q": 1}),
    ]
    assert [call.outcome for call in result.tool_calls] == ["success"] * 3


def test_a_name_repeated_with_every_piece_is_one_call_and_another_name_is_another() -> None:
    events = streamed(
        {"name": "get", **piece("$.a", stringValue="x", willContinue=True)},
        {"name": "get", **piece("$.a", stringValue="y")},
        {"name": "put", **piece("$.b", numberValue=1)},
        {},
    )
    cut, done = parse_stream(events).tool_calls
    assert (cut.name, cut.outcome) == ("get", "invalid")
    assert cut.raw_args is not None
    assert cut.raw_args.count("jsonPath") == 2
    assert (done.name, done.args, done.outcome) == ("put", {"b": 1}, "success")


def test_streamed_arguments_that_stop_early_are_kept_as_they_came() -> None:
    events = streamed(
        {"name": "get", "willContinue": True}, piece("$.a", stringValue="x"), piece("$.b", numberValue=1)
    )
    for stream in (events, events[:-1]):
        [cut] = parse_stream(stream).tool_calls
        assert (cut.args, cut.outcome) == ({}, "invalid")
        assert (
            cut.raw_args == '[{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.b", "numberValue": 1}'
        )
    [unstarted] = parse_stream(events[:1]).tool_calls
    assert (unstarted.outcome, unstarted.raw_args) == ("invalid", "")


@pytest.mark.parametrize(
    "paths",
    [
        ["city"],
        [""],
        ["$"],
        ["$.["],
        ["$" + ".a" * 65],
        ["$.a", "$.a.b"],
        ["$.a.b", "$.a"],
        [f"$[{'9' * 5000}]"],
    ],
)
def test_paths_that_lead_nowhere_make_the_call_invalid(paths: list[str]) -> None:
    events = streamed(
        {"name": "get", "willContinue": True}, *(piece(path, stringValue="x") for path in paths), {}
    )
    [lost] = parse_stream(events).tool_calls
    assert (lost.args, lost.outcome) == ({}, "invalid")
    assert lost.raw_args is not None
    assert "stringValue" in lost.raw_args


def test_an_error_in_the_stream_keeps_what_came_before() -> None:
    error = {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}
    result = parse_stream([*STREAM[:2], error])
    assert (result.response, result.error) == ("Let me look.", "UNAVAILABLE: Overloaded")
    assert result.metadata["truncated"] is True
