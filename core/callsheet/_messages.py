"""Trajectories as OpenAI-style message lists, and back (Chat Completions message shapes)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from callsheet._errors import CallsheetError
from callsheet._suggest import listed
from callsheet._values import Role, ToolCall, TraceEntry

_PROMPT_ROLES: dict[str, Role] = {"user": "user", "system": "system", "developer": "system"}


def messages_from_trace(trace: Sequence[TraceEntry]) -> list[dict[str, Any]]:
    """Give the top run's messages: one per user or system entry, one per model reply, one per tool result.

    What a sub-agent said stays inside the call that started it.
    """
    messages: list[dict[str, Any]] = []
    reply_key: object = None
    reply: dict[str, Any] = {}
    for entry in trace:
        if entry.parent_id is not None:
            continue
        if entry.role in ("user", "system"):
            messages.append({"role": entry.role, "content": entry.content})
            reply_key = None
        elif entry.role == "assistant" or entry.tool_call is not None:
            key = (entry.run, entry.turn) if entry.turn is not None else id(entry)
            says_more = entry.tool_call is None and reply.get("content") is not None
            if key != reply_key or says_more:
                reply_key, reply = key, {"role": "assistant", "content": None}
                messages.append(reply)
            if entry.tool_call is None:
                reply["content"] = entry.content
            else:
                _append_call(messages, reply, entry.tool_call)
    return messages


def trace_from_messages(messages: Sequence[Mapping[str, Any]]) -> list[TraceEntry]:
    """Give the entries of a message list; every tool call is joined with the tool message that answers it.

    Raises:
        CallsheetError: A message has a role other than user, system, developer, assistant and tool,
            or a tool call has no function name.
    """
    unclaimed = [
        (position, message.get("tool_call_id"), text_of(message.get("content")))
        for position, message in enumerate(messages)
        if message.get("role") == "tool"
    ]
    trace: list[TraceEntry] = []
    turn = 0
    for position, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role in _PROMPT_ROLES:
            trace.append(TraceEntry(_PROMPT_ROLES[role], content))
        elif role == "assistant":
            wires = message.get("tool_calls") or ()
            if content or not wires:
                trace.append(TraceEntry("assistant", text_of(content), turn=turn))
            for index, wire in enumerate(wires):
                # Ids repeat: several providers count them anew in every reply.
                answer = next((a for a in unclaimed if a[0] > position and a[1] == wire.get("id")), None)
                if answer is not None:
                    unclaimed.remove(answer)
                call = _call_from_wire(wire, answer[2] if answer else None, turn, index)
                trace.append(TraceEntry("tool", tool_call=call, turn=turn))
            turn += 1
        elif role != "tool":
            roles = listed([*_PROMPT_ROLES, "assistant", "tool"])
            raise CallsheetError(
                f"Message {position} has the role {role!r}; known roles: {roles}. "
                "Convert the message, or leave it out."
            )
    return trace


def parse_arguments(text: str) -> dict[str, Any] | None:
    """Give the arguments a model wrote, or None when they are not a JSON object."""
    try:
        parsed = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def text_of(content: object) -> str | None:
    """Give a message's content as text: a list of parts is joined, what is not text in it left out."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "".join(part.get("text") or "" for part in content if isinstance(part, Mapping))
    return str(content)


def _append_call(messages: list[dict[str, Any]], reply: dict[str, Any], call: ToolCall) -> None:
    call_id = call.id or f"call_{len(messages)}"
    arguments = call.raw_args if call.raw_args is not None else _json_text(call.args)
    function = {"name": call.name, "arguments": arguments}
    reply.setdefault("tool_calls", []).append({"id": call_id, "type": "function", "function": function})
    if call.seen_by_model is None and call.outcome in ("skipped", "interrupted"):
        return
    messages.append({"role": "tool", "tool_call_id": call_id, "content": _answer_text(call)})


def _answer_text(call: ToolCall) -> str:
    if call.seen_by_model is not None:
        return call.seen_by_model
    answer = call.response if call.error is None else call.error
    return answer if isinstance(answer, str) else _json_text(answer)


def _json_text(value: object) -> str:
    try:
        return json.dumps(value, default=str, ensure_ascii=False)
    except (TypeError, ValueError):  # keys that are not text, or a value that contains itself
        return str(value)


def _call_from_wire(wire: Mapping[str, Any], answer: str | None, turn: int, index: int) -> ToolCall:
    function = wire.get("function") or {}
    if not function.get("name"):
        raise CallsheetError(
            f"Tool call {index} of reply {turn} has no function name: {wire!r}. "
            'Expected {"id": ..., "type": "function", "function": {"name": ..., "arguments": ...}}.'
        )
    written = function.get("arguments") or ""
    # Some local servers send the arguments parsed.
    args = dict(written) if isinstance(written, Mapping) else parse_arguments(str(written))
    return ToolCall(
        function["name"],
        args if args is not None else {},
        response=answer,
        id=wire.get("id"),
        turn=turn,
        index=index,
        raw_args=str(written) if args is None else None,
        outcome="success" if args is not None else "invalid",
        seen_by_model=answer,
    )
