"""Scripted replies as the output items of the Responses API."""

from __future__ import annotations

from typing import Any

from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_reasoning_item import Summary
from pydantic_core import to_json

from callsheet.adapters import ModelReply, ScriptedCall


def output_items(reply: ModelReply, output_schema: Any = None) -> list[Any]:
    """Give the items a model would have written for this reply."""
    items: list[Any] = []
    if reply.thinking is not None:
        summary = [Summary(text=reply.thinking, type="summary_text")]
        items.append(ResponseReasoningItem(id="rs_scripted", summary=summary, type="reasoning"))
    if (text := _text(reply, output_schema)) is not None:
        part = ResponseOutputText(text=text, type="output_text", annotations=[], logprobs=[])
        items.append(_message(part))
    if reply.refusal is not None:
        items.append(_message(ResponseOutputRefusal(refusal=reply.refusal, type="refusal")))
    return [*items, *map(_function_call, reply.tool_calls), *reply.native]


def _function_call(call: ScriptedCall) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        id=f"fc_{call.id}",
        call_id=call.id or "",
        type="function_call",
        name=call.name,
        arguments=call.raw,
        status="completed",
    )


def _message(part: Any) -> ResponseOutputMessage:
    return ResponseOutputMessage(
        id="msg_scripted", type="message", role="assistant", status="completed", content=[part]
    )


def _text(reply: ModelReply, output_schema: Any) -> str | None:
    if reply.output is not None:
        # The SDK wraps answers that are no JSON object.
        wrapped = getattr(output_schema, "_is_wrapped", False)
        return to_json({"response": reply.output} if wrapped else reply.output).decode()
    if reply.content is not None:
        return reply.content
    silent = not (reply.tool_calls or reply.native or reply.refusal)
    return "" if silent else None
