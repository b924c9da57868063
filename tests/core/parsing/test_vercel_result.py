"""The JSON of the Vercel AI SDK's `generateText` results and UI messages."""

from __future__ import annotations

from typing import Any

import pytest

from callsheet import ToolCall, Usage, parse_response, parse_stream

# The previous generation: `args`, `result`, `promptTokens`.
STEP_4: dict[str, Any] = {
    "text": "Let me look.",
    "reasoning": "hmm",
    "toolCalls": [
        {"type": "tool-call", "toolCallId": "a", "toolName": "get", "args": {"q": 1}},
        {"toolCallId": "b", "toolName": "now", "args": {}},
    ],
    "toolResults": [
        {"type": "tool-result", "toolCallId": "a", "toolName": "get", "args": {"q": 1}, "result": "sunny"}
    ],
    "finishReason": "tool-calls",
    "usage": {"promptTokens": 10, "completionTokens": 5, "totalTokens": 15},
    "response": {"id": "r1", "modelId": "gpt-x"},
}
# The current one: `content`, `input`, `output`, `inputTokens`.
STEP_5: dict[str, Any] = {
    "content": [
        {"type": "reasoning", "text": "hmm"},
        {"type": "text", "text": "Let me look."},
        {"type": "source", "url": "u"},
        {"type": "tool-call", "toolCallId": "a", "toolName": "get", "input": {"q": 1}},
        {"type": "tool-result", "toolCallId": "a", "toolName": "get", "input": {"q": 1}, "output": "sunny"},
        {"type": "tool-call", "toolCallId": "b", "toolName": "now", "input": {}},
    ],
    "finishReason": "tool-calls",
    "usage": {"inputTokens": {"total": 10, "cacheRead": 4}, "outputTokens": {"total": 5}},
    "response": {"id": "r1", "modelId": "gpt-x"},
}
LAST: dict[str, Any] = {
    "text": "It is sunny.",
    "toolCalls": [],
    "finishReason": "stop",
    "usage": {"inputTokens": 20, "outputTokens": 6},
}


@pytest.mark.parametrize("step", [STEP_4, STEP_5])
def test_a_step_is_a_reply(step: dict[str, Any]) -> None:
    for result in (parse_response(step), parse_stream(step, "sse-vercel")):
        assert result.response == "Let me look."
        assert result.tool_calls == [ToolCall("get", {"q": 1}, response="sunny"), ToolCall("now", {})]
        assert [(call.id, call.outcome) for call in result.tool_calls] == [("a", "success"), ("b", "success")]
        assert (result.model_used, result.usage) == ("gpt-x", Usage(1, 10, 5))
        assert (result.metadata["reasoning"], result.metadata["finish_reason"]) == ("hmm", "tool-calls")
        assert (result.metadata["truncated"], result.metadata["response_id"]) == (False, "r1")


@pytest.mark.parametrize("step", [STEP_4, STEP_5])
def test_every_step_is_a_turn(step: dict[str, Any]) -> None:
    result = parse_response({**LAST, "steps": [step, LAST], "output": ["structured"]})
    assert (result.response, result.metadata["turns"]) == ("It is sunny.", 2)
    assert [call.turn for call in result.tool_calls] == [0, 0]
    assert result.usage == Usage(2, 30, 11)
    total = {"inputTokens": 31, "outputTokens": 12}
    assert parse_response({"steps": [step, LAST], "totalUsage": total}).usage == Usage(2, 31, 12)


def test_the_finish_reason_is_the_last_steps() -> None:
    assert parse_response({"steps": [STEP_5, LAST]}).metadata["finish_reason"] == "stop"


def test_results_one_after_the_other_are_turns() -> None:
    result = parse_response([STEP_4, {**LAST, "reasoning": [{"type": "reasoning", "text": "aha"}]}])
    assert (result.metadata["turns"], result.response, result.usage) == (2, "It is sunny.", Usage(2, 30, 11))
    assert result.metadata["reasoning"] == "hmm\naha"


def test_content_parts_alone_are_a_step() -> None:
    parts = [part for part in STEP_5["content"] if part["type"].startswith("tool-")]
    assert parse_response(parts).tool_calls == parse_response(STEP_5).tool_calls


def test_calls_without_ids_are_calls_of_their_own() -> None:
    calls = [{"toolName": "get", "args": {"q": 1}}, {"toolName": "get", "args": {"q": 2}}]
    assert [call.args for call in parse_response({"toolCalls": calls}).tool_calls] == [{"q": 1}, {"q": 2}]


def test_a_call_the_sdk_rejected_is_invalid() -> None:
    call = {
        "toolCallId": "a",
        "toolName": "gte",
        "input": '{"q"',
        "invalid": True,
        "error": {"name": "NoSuchTool"},
    }
    [rejected] = parse_response({"toolCalls": [call]}).tool_calls
    assert (rejected.outcome, rejected.raw_args, rejected.error) == (
        "invalid",
        '{"q"',
        '{"name": "NoSuchTool"}',
    )


def message(*parts: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    return {"id": "msg_1", "role": role, "parts": list(parts)}


def tool(state: str, **rest: Any) -> dict[str, Any]:
    return {"type": "tool-get_weather", "toolCallId": state, "state": state, "input": {"q": 1}, **rest}


def test_a_ui_message_is_read_in_the_current_generation() -> None:
    result = parse_response(
        message(
            {"type": "step-start"},
            {"type": "reasoning", "text": "hmm"},
            {"type": "text", "text": "Let me look."},
            {"type": "data-weather", "data": {}},
            tool("input-streaming"),
            tool("input-available"),
            tool("output-available", output="sunny"),
            tool("output-error", errorText="boom"),
            tool("output-denied"),
            tool("approval-requested"),
            tool("approval-responded", approval={"id": "x", "approved": False}),
            tool("approval-responded", approval={"id": "x", "approved": True}, toolCallId="yes"),
            {
                "type": "dynamic-tool",
                "toolName": "roll",
                "toolCallId": "d",
                "state": "output-available",
                "input": {},
                "output": 7,
            },
            {"type": "step-start"},
            {"type": "text", "text": "It is sunny."},
        )
    )
    assert (result.response, result.metadata["reasoning"], result.metadata["turns"]) == (
        "It is sunny.",
        "hmm",
        2,
    )
    assert result.tool_names == ["get_weather"] * 8 + ["roll"]
    assert [call.outcome for call in result.tool_calls] == [
        "invalid",
        "success",
        "success",
        "failed",
        "denied",
        "interrupted",
        "denied",
        "success",
        "success",
    ]
    assert [call.response for call in result.tool_calls] == [
        None,
        None,
        "sunny",
        None,
        None,
        None,
        None,
        None,
        7,
    ]
    assert (result.tool_calls[0].raw_args, result.tool_calls[3].error) == ('{"q": 1}', "boom")
    assert (result.metadata["truncated"], result.metadata["response_id"]) == (False, "msg_1")


def test_a_ui_message_is_read_in_the_previous_generation() -> None:
    def invocation(state: str, **rest: Any) -> dict[str, Any]:
        call = {"toolCallId": state, "toolName": "get", "state": state, "args": {"q": 1}, **rest}
        return {"type": "tool-invocation", "toolInvocation": call}

    result = parse_response(
        message(
            {"type": "reasoning", "reasoning": "hmm"},
            invocation("partial-call", args=None),
            invocation("call"),
            invocation("result", result="sunny"),
        )
    )
    assert result.metadata["reasoning"] == "hmm"
    assert [(call.name, call.args, call.response, call.outcome) for call in result.tool_calls] == [
        ("get", {}, None, "invalid"),
        ("get", {"q": 1}, None, "success"),
        ("get", {"q": 1}, "sunny", "success"),
    ]


def test_what_the_user_said_is_no_reply() -> None:
    asked = message({"type": "text", "text": "Weather?"}, role="user")
    result = parse_response([asked, message({"type": "text", "text": "Sunny."})])
    assert (result.response, result.metadata["turns"]) == ("Sunny.", 1)
