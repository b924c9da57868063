"""What the SDK knows about what it made a tool of, and keeps to itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from callsheet_openai_agents._mcp import mcp_tool

_accepted: WeakKeyDictionary[Any, tuple[Mapping[str, Any], Mapping[str, Any]]] = WeakKeyDictionary()


def closed_over(own: Any, name: str) -> Any:
    """Give a variable of the SDK's that a tool's invoker still uses, or None."""
    implementation = getattr(own, "_invoke_tool_impl", None)
    code, cells = getattr(implementation, "__code__", None), getattr(implementation, "__closure__", None)
    if code is None or cells is None:
        return None
    found = dict(zip(code.co_freevars, cells, strict=True)).get(name)
    return found.cell_contents if found is not None else None


def accepted_schema(tool: Any, own: Any) -> Mapping[str, Any]:
    """Give the schema of the arguments a tool accepts.

    A strict one demands every parameter of the model; the tool has defaults for those left out.

    Args:
        tool: The tool.
        own: Its own invoker.
    """
    given: Mapping[str, Any] = tool.params_json_schema
    if not tool.strict_json_schema or not hasattr(own, "_invoke_tool_impl"):
        return given
    known = _accepted.get(own)
    if known is None or known[0] is not given:
        plain = _plain_schema(tool, own)
        known = _accepted[own] = (given, _loosened(given, plain) if plain is not None else given)
    return known[1]


def _plain_schema(tool: Any, own: Any) -> Any:
    """Give the schema that a strict one was made of, or None."""
    described = mcp_tool(tool)
    if described is not None:
        # The name of the field differs between the versions of the mcp package.
        return getattr(described, "inputSchema", None) or getattr(described, "input_schema", None)
    parameters = getattr(closed_over(own, "schema"), "params_pydantic_model", None)
    if parameters is not None:
        return parameters.model_json_schema()
    of_agent = closed_over(own, "params_adapter")
    return of_agent.json_schema() if of_agent is not None else None


def _loosened(strict: Any, plain: Any) -> Any:
    """Give a strict schema that demands at each place only what the plain one does."""
    if isinstance(strict, list) and isinstance(plain, list) and len(strict) == len(plain):
        return [_loosened(one, other) for one, other in zip(strict, plain, strict=True)]
    if not isinstance(strict, Mapping) or not isinstance(plain, Mapping):
        return strict
    loose = {key: _loosened(value, plain.get(key)) for key, value in strict.items()}
    # A parameter may be called "properties".
    if strict.get("type") == "object" and "properties" in strict:
        loose["required"] = plain.get("required", [])
    return loose
