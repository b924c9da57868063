"""Trajectories as OpenAI-style message lists, and back (Chat Completions message shapes)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from callsheet._values import ToolCall, TraceEntry


def messages_from_trace(trace: Sequence[TraceEntry]) -> list[dict[str, Any]]:
    """Give the top run's messages: one per user or system entry, and per model reply one with its tool results.

    What a sub-agent said stays inside the call that started it.
    """
    messages: list[dict[str, Any]] = []
    reply_key, reply = None, {}
    for entry in trace:
        if entry.parent_id is not None:
            continue
        if entry.role in ("user", "system"):
            messages.append({"role": entry.role, "content": entry.content})
        elif entry.role == "assistant" or entry.tool_call is not None:
            key = (entry.run, entry.turn) if entry.turn is not None else id(entry)
            if key != reply_key:
                reply_key, reply = key, {"role": "assistant", "content": None}
                messages.append(reply)
            if entry.tool_call is None:
                reply["content"] = entry.content
            else:
                _append_call(messages, reply, entry.tool_call)
    return messages


def trace_from_messages(messages: Sequence[Mapping[str, Any]]) -> list[TraceEntry]:
    """Give the entries of a message list; every tool call is joined with the tool message that answers it."""
    answers = {
        message["tool_call_id"]: message.get("content")
        for message in messages
        if message.get("role") == "tool" and "tool_call_id" in message
    }
    trace: list[TraceEntry] = []
    turn = 0
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role in ("user", "system"):
            trace.append(TraceEntry(role, content))
        elif role == "assistant":
            if content:
                trace.append(TraceEntry("assistant", content, turn=turn))
            for index, wire in enumerate(message.get("tool_calls") or ()):
                call = _call_from_wire(wire, answers, turn, index)
                trace.append(TraceEntry("tool", tool_call=call, turn=turn))
            turn += 1
    return trace


def parse_arguments(text: str) -> dict[str, Any] | None:
    """Give the arguments a model wrote, or None when they are not a JSON object."""
    try:
        parsed = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _append_call(messages: list[dict[str, Any]], reply: dict[str, Any], call: ToolCall) -> None:
    call_id = call.id or f"call_{len(messages)}"
    function = {"name": call.name, "arguments": _arguments_text(call)}
    reply.setdefault("tool_calls", []).append({"id": call_id, "type": "function", "function": function})
    messages.append({"role": "tool", "tool_call_id": call_id, "content": _answer_text(call)})


def _arguments_text(call: ToolCall) -> str:
    return call.raw_args if call.raw_args is not None else json.dumps(call.args, default=str)


def _answer_text(call: ToolCall) -> str:
    if call.seen_by_model is not None:
        return call.seen_by_model
    answer = call.response if call.error is None else call.error
    return answer if isinstance(answer, str) else json.dumps(answer, default=str)


def _call_from_wire(
    wire: Mapping[str, Any], answers: Mapping[str, Any], turn: int, index: int
) -> ToolCall:
    function = wire["function"]
    text = function.get("arguments") or ""
    args = parse_arguments(text)
    answer = answers.get(wire.get("id", ""))
    return ToolCall(
        function["name"],
        args if args is not None else {},
        response=answer,
        id=wire.get("id"),
        turn=turn,
        index=index,
        raw_args=text if args is None else None,
        outcome="success" if args is not None else "invalid",
        seen_by_model=answer,
    )
