"""The Vercel AI SDK's `generateText` results and UI messages, spelt out as the chunks of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callsheet._parsing._members import Data, is_list, mapping, mappings, member, text

_CONTENT = frozenset({"text", "reasoning", "tool-call", "tool-result", "tool-error", "tool-approval-request"})


def looks_like_result(event: Data) -> bool:
    """Tell whether an object is a `generateText` result, one of its steps, or a UI message."""
    if _looks_like_step(event) or any(map(_looks_like_step, mappings(event, "steps"))):
        return True
    if event.get("role") not in (None, "assistant"):
        return False
    return any(text(part, "type") for part in mappings(event, "parts"))


def _looks_like_step(event: Data) -> bool:
    if any(is_list(event.get(name)) for name in ("toolCalls", "toolResults")):
        return True
    return "finishReason" in event and (isinstance(event.get("text"), str) or is_list(event.get("content")))


def result_chunks(result: Data) -> Iterator[Data]:
    """Give the chunks that say what a result or a message says."""
    if is_list(result.get("parts")):
        yield from _message_chunks(result)
        return
    steps = mappings(result, "steps")
    for step in steps or [result]:
        yield {"type": "start-step"}
        yield from _step_chunks(step)
    yield {
        "type": "finish",
        "finishReason": result.get("finishReason") or (steps[-1].get("finishReason") if steps else None),
        "totalUsage": member(result, "totalUsage", "usage") if "totalUsage" in result or not steps else None,
        "response": mapping(result, "response"),
    }


def _step_chunks(step: Data) -> Iterator[Data]:
    content = [part for part in mappings(step, "content") if text(part, "type") in _CONTENT]
    if content:
        yield from content
    else:
        yield {"type": "reasoning-delta", "delta": _reasoning(step)}
        yield {"type": "text-delta", "delta": text(step, "text")}
        for call in mappings(step, "toolCalls"):
            yield {**call, "type": "tool-call"}
        for answer in mappings(step, "toolResults"):
            yield {**answer, "type": "tool-result"}
    yield {
        "type": "finish-step",
        "finishReason": step.get("finishReason"),
        "usage": step.get("usage"),
        "response": mapping(step, "response"),
    }


def _reasoning(step: Data) -> str:
    return text(step, "reasoning", "reasoningText") or "".join(
        text(part, "text") for part in mappings(step, "reasoning")
    )


def _message_chunks(message: Data) -> Iterator[Data]:
    for part in mappings(message, "parts"):
        kind = text(part, "type")
        if kind == "step-start":
            yield {"type": "start-step"}
        elif kind == "text":
            yield {"type": "text-delta", "delta": text(part, "text")}
        elif kind == "reasoning":
            yield {"type": "reasoning-delta", "delta": text(part, "text", "reasoning")}
        elif kind == "tool-invocation":
            yield from _invocation_chunks(mapping(part, "toolInvocation"), "")
        elif kind.startswith(("tool-", "dynamic-tool")):
            yield from _invocation_chunks(part, kind.removeprefix("tool-"))
    yield {"type": "finish", "messageId": message.get("id")}


def _invocation_chunks(part: Data, name: str) -> Iterator[Data]:
    arguments = member(part, "input", "args", "rawInput")
    call: dict[str, Any] = {
        "type": "tool-input-available",
        "toolCallId": text(part, "toolCallId"),
        "toolName": text(part, "toolName") or name,
        "input": arguments,
        "providerExecuted": part.get("providerExecuted"),
    }
    state = text(part, "state")
    if state in ("input-streaming", "partial-call"):
        yield {**call, "type": "tool-input-error", "errorText": f"The call is in the state {state!r}"}
        return
    yield call
    answer = {"toolCallId": call["toolCallId"], "output": member(part, "output", "result")}
    if state in ("output-available", "result"):
        yield {**answer, "type": "tool-output-available"}
    elif state == "output-error":
        yield {**answer, "type": "tool-output-error", "errorText": text(part, "errorText")}
    elif state == "approval-requested":
        yield {**answer, "type": "tool-approval-request"}
    elif state == "output-denied" or mapping(part, "approval").get("approved") is False:
        yield {**answer, "type": "tool-output-denied"}
