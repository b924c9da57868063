"""What an assertion may be given: a result, a live session, or a list of tool calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from callsheet._errors import ExpectationError
from callsheet._result import AgentResult
from callsheet._showing import shown
from callsheet._values import ToolCall, TraceEntry

_LONGEST = 80

Subject: TypeAlias = Any
"""An `AgentResult`, any object with `tool_calls` and `trace` (a session), or a sequence of `ToolCall`."""


def calls_of(subject: Subject) -> list[ToolCall]:
    """Give the tool calls of what an assertion was given."""
    if isinstance(subject, AgentResult):
        return subject.tool_calls
    if isinstance(subject, Sequence) and all(isinstance(item, ToolCall) for item in subject):
        return list(subject)
    calls = getattr(subject, "tool_calls", None)
    if isinstance(calls, Sequence) and not isinstance(subject, Mapping):
        return list(calls)
    raise ExpectationError(
        f"Expected an AgentResult, a session or a list of ToolCall, got {_described(subject)}. "
        "Pass what the adapter's invoke() returned."
    )


def trace_of(subject: Subject) -> list[TraceEntry]:
    """Give the trace of what an assertion was given; calls without a trace are tool steps."""
    calls = calls_of(subject)
    trace = getattr(subject, "trace", None)
    if not trace:
        return [TraceEntry("tool", tool_call=call, agent=call.agent) for call in calls]
    return list(trace)


def result_of(subject: Subject) -> AgentResult:
    """Give the result behind what an assertion was given, where calls alone can't answer.

    Raises:
        ExpectationError: The subject is a list of calls, which has no response, headers or model.
    """
    if isinstance(subject, AgentResult):
        return subject
    result = getattr(subject, "result", None)
    if isinstance(result, AgentResult):
        return result
    raise ExpectationError(
        f"Expected an AgentResult or a session, got {_described(subject)}. "
        "Pass what the adapter's invoke() returned."
    )


def known_tools_of(subject: Subject) -> list[str] | None:
    """Give the names of the tools the agent really has, or None when nobody recorded them."""
    metadata = getattr(subject, "metadata", None)
    if metadata is None:
        metadata = getattr(getattr(subject, "result", None), "metadata", None)
    known = metadata.get("known_tools") if isinstance(metadata, Mapping) else None
    return None if known is None else list(known)


def _described(value: object) -> str:
    return f"{type(value).__name__} {shown(value, limit=_LONGEST)}"
