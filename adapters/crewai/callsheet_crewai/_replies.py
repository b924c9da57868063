"""Model replies: scripted ones in CrewAI's words, and CrewAI's as records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from crewai.agents.parser import AgentAction, AgentFinish, OutputParserError, parse
from crewai.llms.base_llm import BaseLLM
from crewai.utilities.agent_utils import extract_tool_call_info
from crewai.utilities.string_utils import sanitize_tool_name
from pydantic import BaseModel
from pydantic_core import to_json

from callsheet.adapters import CallRecord, ModelReply, ScriptedCall, ScriptError, parse_arguments

_WRITES_CALLS = re.compile(r"^\s*Action Input:", re.MULTILINE)
_ENDS_FORMALLY = "Final Answer:"


def writes_calls(messages: Sequence[Any]) -> bool:
    """Say whether the prompt asks the model to write its tool calls as text."""
    return any(_WRITES_CALLS.search(text) for text in _texts(messages))


def spoken(reply: ModelReply, *, agent: str | None, tools: Any, messages: Any) -> Any:
    """Give a scripted reply the way this call's answer is read: a list of calls or text.

    Raises:
        ScriptError: The reply is one that this call can not have.
    """
    if reply.native:
        return reply.native[0] if len(reply.native) == 1 else list(reply.native)
    if reply.handoff is not None:
        raise ScriptError(
            f"The script of agent {agent!r} hands over to {reply.handoff!r}. A CrewAI agent delegates by a "
            'tool: script {"tool_calls": [{"name": "delegate_work_to_coworker", "args": {"coworker": ..., '
            '"task": ..., "context": ...}}]}.'
        )
    if reply.tool_calls:
        return _spoken_calls(reply, agent, tools, messages)
    text = said(reply)
    if tools or _ENDS_FORMALLY in text or not writes_calls(messages):
        return text
    return f"Thought: I now can give a great answer\n{_ENDS_FORMALLY} {text}"


def structured(text: str, wanted: type[BaseModel]) -> str | BaseModel:
    """Give a structured answer as CrewAI's own models do.

    Raises:
        ValueError: The text is none.
    """
    return BaseLLM._validate_structured_output(text, wanted)


def said(reply: ModelReply) -> str:
    """Give the text of a scripted reply."""
    if reply.output is not None:
        return to_json(reply.output).decode()
    return reply.content if reply.content is not None else reply.refusal or ""


def _spoken_calls(reply: ModelReply, agent: str | None, tools: Any, messages: Any) -> Any:
    if tools:
        return [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
            for call in reply.tool_calls
        ]
    if not writes_calls(messages):
        raise ScriptError(
            f"The script of agent {agent!r} calls {reply.tool_calls[0].name!r} in a reply to a request that "
            "offers no tools. Give this step a text."
        )
    if len(reply.tool_calls) > 1:
        raise ScriptError(
            f"The script of agent {agent!r} makes {len(reply.tool_calls)} calls in one reply, and its model "
            "writes calls as text, one at a time. Give each call a step of its own."
        )
    call: ScriptedCall = reply.tool_calls[0]
    thought = reply.content or reply.thinking or f"I should use {call.name}"
    return f"Thought: {thought}\nAction: {call.name}\nAction Input: {call.raw}"


def scripted_calls(reply: ModelReply, agent: str | None) -> list[CallRecord]:
    """Give the records of a scripted reply's calls."""
    return [
        CallRecord(
            call.id or "", sanitize_tool_name(call.name), args=call.args, raw_args=call.raw, agent=agent
        )
        for call in reply.tool_calls
    ]


def recorded(answer: Any, messages: Any, agent: str | None, new_id: Any) -> tuple[Any, list[CallRecord]]:
    """Give the content and the calls of what a real model answered."""
    if isinstance(answer, BaseModel):
        return answer.model_dump_json(), []
    if isinstance(answer, list):
        told = [info for info in map(extract_tool_call_info, answer) if info is not None]
        return None, [_native_record(call_id, name, args, agent) for call_id, name, args in told]
    if not isinstance(answer, str):
        return str(answer), []
    if not writes_calls(messages):
        return answer, []
    try:
        parsed = parse(answer)
    except OutputParserError:
        return answer, []
    if isinstance(parsed, AgentFinish):
        return parsed.output, []
    return None, [_text_record(parsed, agent, new_id)]


def _native_record(call_id: str, name: str, args: Any, agent: str | None) -> CallRecord:
    raw = args if isinstance(args, str) else json.dumps(args)
    return CallRecord(call_id, name, args=parse_arguments(raw), raw_args=raw, agent=agent)


def _text_record(action: AgentAction, agent: str | None, new_id: Any) -> CallRecord:
    raw = str(action.tool_input)
    return CallRecord(
        new_id(), sanitize_tool_name(action.tool), args=parse_arguments(raw), raw_args=raw, agent=agent
    )


def _texts(messages: Any) -> Iterable[str]:
    if isinstance(messages, str):
        yield messages
        return
    for message in messages:
        if isinstance(message.get("content"), str) and message.get("role") != "assistant":
            yield message["content"]
