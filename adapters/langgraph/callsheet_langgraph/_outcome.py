"""What a graph's result says: its messages, its last words, its structured answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from callsheet_langgraph._messages import text_of


def messages_in(result: Any) -> Sequence[Any]:
    """Give the messages of a final state, or of a result that is messages."""
    value = getattr(result, "value", result)
    if isinstance(value, Mapping):
        value = value.get("messages")
    elif hasattr(value, "messages"):
        value = value.messages
    if isinstance(value, BaseMessage):
        return (value,)
    return value if isinstance(value, (list, tuple)) else ()


def final_text(result: Any) -> str:
    """Give the last words of a result: its last reply, a tool's answer returned directly, or a text."""
    if isinstance(result, str):
        return result
    messages = messages_in(result)
    if messages and isinstance(messages[-1], ToolMessage):
        return text_of(messages[-1])
    said = [message for message in messages if isinstance(message, AIMessage)]
    return text_of(said[-1]) if said else ""


def final_output(result: Any) -> Any:
    """Give a structured answer where there is one, else the last words, else the whole result."""
    value = getattr(result, "value", result)
    if isinstance(value, Mapping) and value.get("structured_response") is not None:
        return value["structured_response"]
    return final_text(result) if messages_in(result) else value
