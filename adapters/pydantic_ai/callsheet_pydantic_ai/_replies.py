"""Scripted replies in Pydantic AI's own parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.usage import RequestUsage
from pydantic_core import to_json, to_jsonable_python

from callsheet.adapters import ModelReply

# Pydantic AI's words for what others call otherwise.
_FINISH_REASONS: dict[str, Any] = {
    "tool_calls": "tool_call",
    "tool_use": "tool_call",
    "end_turn": "stop",
    "max_tokens": "length",
}


def response(reply: ModelReply, parameters: ModelRequestParameters, output_id: str) -> ModelResponse:
    """Give the response a model would have written for this reply.

    Args:
        reply: The scripted reply.
        parameters: What the agent asks of its model.
        output_id: The id of the call that carries a structured answer, where one does.
    """
    parts: list[Any] = []
    if reply.thinking is not None:
        parts.append(ThinkingPart(reply.thinking))
    parts.extend(reply.native)
    text = reply.refusal if reply.refusal is not None else reply.content
    if text is not None:
        parts.append(TextPart(text))
    parts.extend(ToolCallPart(call.name, call.raw, tool_call_id=call.id or "") for call in reply.tool_calls)
    if reply.output is not None:
        parts.append(_output(reply, parameters, output_id))
    reason: Any = "content_filter" if reply.refusal is not None else reply.finish_reason
    return ModelResponse(parts=parts, usage=_usage(reply), finish_reason=_FINISH_REASONS.get(reason, reason))


def _usage(reply: ModelReply) -> RequestUsage:
    if reply.usage is None:
        return RequestUsage()
    return RequestUsage(input_tokens=reply.usage.input_tokens, output_tokens=reply.usage.output_tokens)


def _output(reply: ModelReply, parameters: ModelRequestParameters, output_id: str) -> Any:
    """Give a structured answer the way the agent asks for it: as a call of its output tool, or as a text."""
    output = reply.output
    value = to_jsonable_python(output, by_alias=True)
    if parameters.output_mode == "tool" and parameters.output_tools:
        tool = _fitting(parameters.output_tools, output, value)
        key = tool.outer_typed_dict_key
        args = {key: value} if key is not None and not _has(value, key) else value
        return ToolCallPart(tool.name, to_json(args).decode(), tool_call_id=output_id)
    if isinstance(output, str):
        return TextPart(output)
    return TextPart(to_json(_wrapped(output, value, parameters)).decode())


def _wrapped(output: Any, value: Any, parameters: ModelRequestParameters) -> Any:
    wanted = parameters.output_object
    if wanted is None:
        return value
    properties = wanted.json_schema.get("properties", {})
    if set(properties) == {"response"} and not _has(value, "response"):
        return {"response": value}
    kinds = {branch["properties"]["kind"]["const"]: branch for branch in _branches(wanted.json_schema)}
    if not kinds or _has(value, "result"):
        return value
    return {"result": {"kind": _fitting_kind(kinds, output, value), "data": value}}


def _branches(schema: Mapping[str, Any]) -> list[Any]:
    """Give the branches by which the framework tells the types of a union apart in one text."""
    branches = schema.get("properties", {}).get("result", {}).get("anyOf", [])
    return [branch for branch in branches if "kind" in branch.get("properties", {})]


def _fitting_kind(kinds: Mapping[str, Any], output: Any, value: Any) -> str:
    if type(output).__name__ in kinds:
        return type(output).__name__
    fitting = (
        kind for kind, branch in kinds.items() if _accepts(branch["properties"].get("data", {}), value)
    )
    return next(fitting, next(iter(kinds)))


def _fitting(tools: list[Any], output: Any, value: Any) -> Any:
    """Give the output tool for an answer: the one of its type, or the first whose fields it has."""
    if isinstance(output, BaseModel):
        for tool in tools:
            if type(output).__name__ in (tool.parameters_json_schema.get("title"), tool.name):
                return tool
    fitting = (tool for tool in tools if _accepts(tool.parameters_json_schema, value))
    return next(fitting, tools[0])


def _accepts(schema: Mapping[str, Any], value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return set(schema.get("required", ())) <= set(value) <= set(schema.get("properties", value))


def _has(value: Any, key: str) -> bool:
    return isinstance(value, Mapping) and key in value
