"""Tool calls from whatever holds them: results, lists of calls in any common shape, provider replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callsheet._errors import ExpectationError
from callsheet._messages import parse_arguments
from callsheet._showing import shown
from callsheet._values import ToolCall


def calls_from(source: Any) -> list[ToolCall]:
    """Give the tool calls of a result, of a list of calls, or of a provider's reply.

    Args:
        source: An `AgentResult`, a session, `ToolCall`s, `{"name" or "toolName", "args"}` dicts, OpenAI
            `tool_calls`, or any reply that `parse_response` reads.

    Raises:
        ExpectationError: A call has no name.
    """
    # A provider's message object has tool_calls as well; unless they are calls already, it is read whole.
    held: Any = source if isinstance(source, Sequence | Mapping) else getattr(source, "tool_calls", None)
    is_list = isinstance(held, Sequence) and not isinstance(held, str | bytes)
    if is_list and all(isinstance(item, ToolCall) or _is_call(item) for item in held):
        return [item if isinstance(item, ToolCall) else _call(item) for item in held]
    from callsheet._parsing import parse_response

    return list(parse_response(source).tool_calls)


def _is_call(item: Any) -> bool:
    """Say whether an item is surely a call: definitions, answers and messages may have a tool's name."""
    if not isinstance(item, Mapping) or not any(key in item for key in ("name", "toolName", "function")):
        return False
    described = item.get("function")
    is_definition = any(
        key in each
        for each in (item, described)
        if isinstance(each, Mapping)
        for key in ("parameters", "input_schema", "inputSchema")
    )
    is_answer = str(item.get("type")).endswith(("-result", "-error"))
    return not (is_definition or is_answer or "role" in item)


def _call(item: Mapping[str, Any]) -> ToolCall:
    described = item.get("function")
    if isinstance(described, Mapping):
        item = described
    name = item.get("name", item.get("toolName"))
    if not isinstance(name, str):
        raise ExpectationError(f"A tool call needs a name, got {shown(dict(item))}.")
    given: Any = next((item[key] for key in ("args", "arguments", "input") if key in item), {})
    args = parse_arguments(given) if isinstance(given, str) else given
    if not isinstance(args, Mapping):
        return ToolCall(name, raw_args=str(given), outcome="invalid")
    return ToolCall(name, dict(args))
