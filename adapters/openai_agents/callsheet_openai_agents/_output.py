"""Scripted replies as the output items of the Responses API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openai.types.responses import (
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_reasoning_item import Summary
from pydantic_core import to_json

from callsheet.adapters import ModelReply
from callsheet_openai_agents._items import call_item, item_id, native_item, offered_tool


def output_items(reply: ModelReply, output_schema: Any, tools: Sequence[Any]) -> list[Any]:
    """Give the items a model would have written for this reply.

    Args:
        reply: The reply.
        output_schema: The SDK's schema of the agent's structured output, or None.
        tools: The tools the model was offered.

    Raises:
        ValidationError: A call's arguments are none for its kind of tool, or a native item is no item.
    """
    items: list[Any] = []
    if reply.thinking is not None:
        summary = [Summary(text=reply.thinking, type="summary_text")]
        items.append(ResponseReasoningItem(id=item_id("rs"), summary=summary, type="reasoning"))
    if (text := _text(reply, output_schema)) is not None:
        part = ResponseOutputText(text=text, type="output_text", annotations=[], logprobs=[])
        items.append(_message(part))
    if reply.refusal is not None:
        items.append(_message(ResponseOutputRefusal(refusal=reply.refusal, type="refusal")))
    if reply.tool_calls:
        items.extend(call_item(call, offered_tool(call.name, tools)) for call in reply.tool_calls)
    items.extend(map(native_item, reply.native))
    return items


def _message(part: Any) -> ResponseOutputMessage:
    return ResponseOutputMessage(
        id=item_id("msg"), type="message", role="assistant", status="completed", content=[part]
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
