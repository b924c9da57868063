"""Input items of the Responses API, OpenAI-style messages, and the way between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callsheet.adapters import TraceEntry, message_text


def with_history(message: Any, history: Sequence[Any] | None) -> Any:
    """Give the SDK's run input: what came before, then the message."""
    if history is None:
        return message
    new = [{"role": "user", "content": message}] if isinstance(message, str) else list(message)
    return [*(item for said in history for item in _items(said)), *new]


def opening(given: object) -> list[TraceEntry]:
    """Give the user message a run starts from; a resumed run starts from none."""
    if isinstance(given, str):
        return [TraceEntry("user", given)]
    if isinstance(given, list):
        for item in reversed(given):
            if isinstance(item, Mapping) and item.get("role") == "user":
                return [TraceEntry("user", message_text(item.get("content")))]
    return []


def call_ids(items: Any) -> set[str]:
    """Give the ids of the calls among input items."""
    if isinstance(items, str):
        return set()
    return {str(item["call_id"]) for item in items if item.get("call_id")}


def messages(instructions: str | None, items: str | Sequence[Any]) -> list[dict[str, Any]]:
    """Give OpenAI-style messages for a model request."""
    told: list[dict[str, Any]] = [{"role": "system", "content": instructions}] if instructions else []
    if isinstance(items, str):
        return [*told, {"role": "user", "content": items}]
    for item in items:
        told.extend(_message(item))
    return told


def _message(item: Any) -> Iterable[dict[str, Any]]:
    kind = item.get("type")
    if kind == "function_call":
        function = {"name": item["name"], "arguments": item["arguments"]}
        call = {"id": item["call_id"], "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
    elif kind == "function_call_output":
        yield {"role": "tool", "tool_call_id": item["call_id"], "content": message_text(item["output"])}
    elif "role" in item:
        yield {"role": item["role"], "content": message_text(item.get("content"))}


def _items(message: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    if message.get("role") == "tool" and "type" not in message:
        yield {
            "type": "function_call_output",
            "call_id": message["tool_call_id"],
            "output": message_text(message.get("content")),
        }
        return
    calls = message.get("tool_calls") or ()
    if message.get("content") is not None or not calls:
        yield {key: value for key, value in message.items() if key != "tool_calls"}
    for call in calls:
        yield {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        }
