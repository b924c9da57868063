"""LangChain messages as texts, as OpenAI-style messages, and as what a recording notes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langgraph.types import Command

from callsheet.adapters import CallRecord, Session, TraceEntry, Usage, message_text, parse_arguments

# Content blocks by which a provider tells of a tool it ran itself, and of what that gave.
_HOSTED_RESULTS = ("server_tool_result", "_tool_result")
_OPENAI_HOSTED = (
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
)


def text_of(message: BaseMessage) -> str:
    """Give a message's text; what a tool gave that is no text as JSON."""
    content = message.content
    if isinstance(content, str):
        return content
    text = message_text(content)
    # Blocks of a reply that are no text are its calls and thoughts.
    if text or not content or isinstance(message, AIMessage):
        return text
    return json.dumps(content, default=str)


def openai_messages(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Give OpenAI-style messages for a model request."""
    return [openai_message(message) for message in messages]


def openai_message(message: BaseMessage) -> dict[str, Any]:
    """Give a message OpenAI-style; of blocks OpenAI does not know, the text."""
    try:
        told: dict[str, Any] = convert_to_openai_messages(message)
    except ValueError:
        # langchain-core 1.0 refuses them.
        told = convert_to_openai_messages(message.model_copy(update={"content": text_of(message)}))
    return told


def with_history(history: Iterable[Any]) -> list[BaseMessage]:
    """Give earlier messages, OpenAI-style or LangChain's own, as LangChain's own."""
    return convert_to_messages([_without_empty_content(message) for message in history])


def opening(given: Any) -> list[TraceEntry]:
    """Give the user's step a run starts from: the last user message, or the answer to an interrupt."""
    if isinstance(given, Command):
        return [] if given.resume is None else [TraceEntry("user", given.resume, metadata={"resume": True})]
    if isinstance(given, str):
        return [TraceEntry("user", given)]
    messages = given.get("messages") if isinstance(given, Mapping) else given
    for message in reversed(listed_messages(messages)):
        role, content = role_and_content(message)
        if role in ("user", "human"):
            return [TraceEntry("user", message_text(content))]
    return []


def calls_of(message: AIMessage, agent: str | None, written: Mapping[str, str]) -> list[CallRecord]:
    """Give the calls a reply asks for, the provider's own tools first, which ran before it was told.

    Args:
        message: The reply.
        agent: The agent's name.
        written: Arguments that are no JSON, by the id of their call: LangChain repairs them when it streams.
    """
    asked = [
        CallRecord(
            str(call["id"]),
            call["name"],
            args=call["args"],
            raw_args=written.get(str(call["id"])),
            agent=agent,
        )
        for call in message.tool_calls
    ]
    refused = [
        CallRecord(
            str(call["id"]),
            call["name"] or "",
            args=parse_arguments(call["args"] or ""),
            raw_args=call["args"],
            agent=agent,
            outcome="invalid",
            error=call["error"],
        )
        for call in message.invalid_tool_calls
    ]
    return [*_hosted_calls(message, agent), *asked, *refused]


def call_ids(messages: Iterable[BaseMessage]) -> list[str]:
    """Give the ids of the calls that messages ask for."""
    return [
        str(call["id"])
        for message in messages
        if isinstance(message, AIMessage)
        for call in (*message.tool_calls, *message.invalid_tool_calls)
    ]


def usage_of(message: AIMessage) -> Usage:
    """Give what a reply cost."""
    used = message.usage_metadata
    return Usage(1, used["input_tokens"], used["output_tokens"]) if used else Usage(requests=1)


def note_told(session: Session, messages: Iterable[Any], known: frozenset[str]) -> None:
    """Note what the model was told about calls that reached no tool.

    Args:
        session: The session.
        messages: Messages a model is asked with, or the final ones of a graph.
        known: The names of the tools the graph has.
    """
    for message in messages:
        if not isinstance(message, ToolMessage):
            continue
        call = session.recording.find_call(message.tool_call_id)
        if call is None:
            continue
        call.seen_by_model = text_of(message)
        if not call.attempts:
            _note_untouched(call, message, known)


def latest_told(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Give what came after the last reply."""
    for position in range(len(messages), 0, -1):
        if isinstance(messages[position - 1], AIMessage):
            return list(messages[position:])
    return list(messages)


def note_written(call: CallRecord) -> None:
    """Note what the model wrote for a call that was refused; LangChain keeps it only parsed."""
    if call.raw_args is None:
        call.raw_args = json.dumps(call.metadata.get("written_args", call.args), default=str)


def _note_untouched(call: CallRecord, message: ToolMessage, known: frozenset[str]) -> None:
    failed = message.status == "error"
    if failed:
        note_written(call)
    if call.kind == "output":
        call.outcome = "invalid" if failed else "success"
    elif failed:
        call.outcome = "denied" if call.name in known or not known else "unknown"
    if failed:
        call.error = text_of(message)


def _hosted_calls(message: AIMessage, agent: str | None) -> Iterator[CallRecord]:
    blocks = (
        [block for block in message.content if isinstance(block, dict)]
        if isinstance(message.content, list)
        else []
    )
    results = {
        block.get("tool_use_id", block.get("tool_call_id")): block.get("content", block.get("output"))
        for block in blocks
        if str(block.get("type")).endswith(_HOSTED_RESULTS)
    }
    for block in blocks:
        kind = str(block.get("type"))
        if kind in ("server_tool_use", "server_tool_call"):
            name, args = str(block.get("name")), block.get("input", block.get("args"))
        elif kind in _OPENAI_HOSTED:
            name, args = kind.removesuffix("_call"), block.get("action", block.get("arguments"))
        else:
            continue
        given = args if isinstance(args, dict) else parse_arguments(str(args)) or {}
        yield CallRecord(
            str(block.get("id")),
            name,
            args=given,
            agent=agent,
            kind="hosted",
            outcome="success",
            response=results.get(block.get("id"), block.get("result")),
        )


def _without_empty_content(message: Any) -> Any:
    # An assistant message that only calls tools has no content in OpenAI's style; LangChain wants a text.
    if isinstance(message, Mapping) and message.get("content") is None:
        return {**message, "content": ""}
    return message


def listed_messages(messages: Any) -> Sequence[Any]:
    """Give what stands for messages as a sequence; one message may stand alone."""
    match messages:
        case (str(), str()):
            # One message as a pair of role and content.
            return (messages,)
        case list() | tuple():
            return messages
    return () if messages is None else (messages,)


def role_and_content(message: Any) -> tuple[str, Any]:
    """Give who says what in a message of any form LangChain takes."""
    match message:
        case BaseMessage():
            return message.type, message.content
        case Mapping():
            return str(message.get("role", message.get("type"))), message.get("content")
        case (str(role), content):
            return role, content
    return "user" if isinstance(message, str) else "", message
