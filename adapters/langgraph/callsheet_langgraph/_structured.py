"""Structured answers: how an agent asks a model for one, and a scripted one in that form."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

# How the providers' models are told to write JSON of a schema.
_SCHEMA_OPTIONS = ("response_format", "output_config", "output_format", "response_schema", "text", "format")


def offered_names(options: Mapping[str, Any]) -> list[str]:
    """Give the names of the tools a call offers the model."""
    return [name for tool in options.get("tools") or () if (name := _function(tool).get("name"))]


def offered_tools(options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the tools a call offers as name, description and parameters, whatever the provider's form is."""
    for tool in options.get("tools") or ():
        function = _function(tool)
        if function.get("name"):
            yield {
                "name": function["name"],
                "description": function.get("description", ""),
                "parameters": function.get("parameters", function.get("input_schema", {})),
            }


def output_tools(options: Mapping[str, Any], known: frozenset[str]) -> set[str]:
    """Give the offered tools that are no tools: calling one is how the model answers in a structure.

    They are told from others by being forced on the model while the graph has no tool of that name.
    """
    choice = options.get("tool_choice")
    if choice in (None, "auto", "none"):
        return set()
    return {name for name in offered_names(options) if name not in known}


def as_tool(output: Any, options: Mapping[str, Any], known: frozenset[str]) -> str | None:
    """Give the tool that takes a structured answer, or None when the model is to write JSON."""
    candidates = [tool for tool in offered_tools(options) if tool["name"] in output_tools(options, known)]
    if not candidates or any(option in options for option in _SCHEMA_OPTIONS):
        return None
    named = type(output).__name__
    keys = set(plain(output))
    for tool in candidates:
        if tool["name"] == named:
            return named
    fitting = [tool for tool in candidates if keys <= set(tool["parameters"].get("properties", {}))]
    return str((fitting or candidates)[0]["name"])


def plain(output: Any) -> Any:
    """Give a structured answer as JSON values."""
    if isinstance(output, BaseModel):
        return output.model_dump(mode="json")
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        output = dataclasses.asdict(output)
    return json.loads(to_json(output))


def _function(tool: Any) -> Mapping[str, Any]:
    if not isinstance(tool, Mapping):
        return {"name": getattr(tool, "name", None)}
    function = tool.get("function")
    return function if isinstance(function, Mapping) else tool
