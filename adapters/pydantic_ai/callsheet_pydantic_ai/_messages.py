"""Pydantic AI's messages, OpenAI-style messages, and the way between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from callsheet.adapters import TraceEntry, message_text


def to_history(messages: Sequence[Any]) -> list[ModelMessage]:
    """Give messages as Pydantic AI's own; those that are already stay as they are."""
    names: dict[str, str] = {}
    return [_from_openai(message, names) if isinstance(message, Mapping) else message for message in messages]


def to_openai(messages: Iterable[ModelMessage], instructions: str | None = None) -> list[dict[str, Any]]:
    """Give a conversation as OpenAI-style messages."""
    told: list[dict[str, Any]] = [{"role": "system", "content": instructions}] if instructions else []
    for message in messages:
        if isinstance(message, ModelResponse):
            told.append(_assistant(message))
        else:
            told.extend(_request_message(part) for part in message.parts)
    return told


def call_ids(messages: Iterable[ModelMessage]) -> list[str]:
    """Give the ids of the calls that messages ask for."""
    return [
        part.tool_call_id
        for message in messages
        if isinstance(message, ModelResponse)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]


def opening(prompt: Any, history: Sequence[ModelMessage] | None) -> list[TraceEntry]:
    """Give the user message a run starts from; a resumed run starts from none."""
    if prompt is not None:
        return [TraceEntry("user", message_text(prompt))]
    last = history[-1] if history else None
    parts = last.parts if isinstance(last, ModelRequest) else ()
    said = [part for part in parts if isinstance(part, UserPromptPart)]
    return [TraceEntry("user", message_text(part.content)) for part in said[-1:]]


def latest_request_parts(messages: Sequence[ModelMessage]) -> Iterator[Any]:
    """Give what the model was told since its last reply."""
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            return
        yield from message.parts


def told_text(part: Any) -> str:
    """Give the text by which the model is told of a call's outcome."""
    if isinstance(part, ToolReturnPart):
        return part.model_response_str()
    return str(part.model_response())


def _request_message(part: Any) -> dict[str, Any]:
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": message_text(part.content)}
    if getattr(part, "tool_name", None) is not None:
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": told_text(part)}
    # Feedback on an answer that did not fit; and parts of later versions, told as what they are.
    text = part.model_response() if hasattr(part, "model_response") else str(getattr(part, "content", part))
    return {"role": "user", "content": text}


def _assistant(response: ModelResponse) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": response_text(response) or None}
    calls = [
        {
            "id": part.tool_call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": raw_arguments(part)},
        }
        for part in response.parts
        if isinstance(part, ToolCallPart)
    ]
    return {**message, "tool_calls": calls} if calls else message


def response_text(response: ModelResponse) -> str:
    """Give the text of a model reply."""
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def raw_arguments(part: Any) -> str:
    """Give a call's arguments as the model wrote them."""
    # The framework's own args_as_json_str() writes malformed arguments anew.
    return part.args if isinstance(part.args, str) else str(part.args_as_json_str())


def _from_openai(message: Mapping[str, Any], names: dict[str, str]) -> ModelMessage:
    role, text = message.get("role"), message_text(message.get("content"))
    if role == "assistant":
        calls = [_call_part(call) for call in message.get("tool_calls") or ()]
        names.update((call.tool_call_id, call.tool_name) for call in calls)
        return ModelResponse(parts=[*([TextPart(text)] if text or not calls else []), *calls])
    if role == "tool":
        call_id = str(message.get("tool_call_id", ""))
        name = str(message.get("name") or names.get(call_id, "tool"))
        return ModelRequest(parts=[ToolReturnPart(tool_name=name, content=text, tool_call_id=call_id)])
    part = SystemPromptPart(text) if role in ("system", "developer") else UserPromptPart(text)
    return ModelRequest(parts=[part])


def _call_part(call: Mapping[str, Any]) -> ToolCallPart:
    function = call["function"]
    return ToolCallPart(function["name"], function["arguments"], tool_call_id=str(call["id"]))
