"""What a tool is: how it is told from others, and what of its arguments the model does not see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, get_type_hints
from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool
from langchain_core.tools.base import _is_injected_arg_type, get_all_basemodel_annotations
from langgraph.types import Command

from callsheet.adapters import Kind
from callsheet_langgraph._sub_agents import only_asks_graphs

# Where the supervisor and swarm packages note the agent a tool hands over to.
_DESTINATION = "__handoff_destination"
# LangChain's own tools that only write the graph's state.
_STATE_TOOLS = ("langchain.agents.middleware.todo",)
_FRAMEWORK_ARGS = frozenset({"run_manager", "callbacks", "config"})

_kinds: WeakKeyDictionary[Callable[..., Any], Kind] = WeakKeyDictionary()
_injected: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()


def kind_of(tool: BaseTool) -> Kind:
    """Say what a tool is: an agent, a handoff, a tool of an MCP server, or a function."""
    if tool.metadata and _DESTINATION in tool.metadata:
        return "handoff"
    body = body_of(tool)
    if body is None:
        return "function"
    kind = _kinds.get(body)
    if kind is None:
        kind = _kinds[body] = _kind(body)
    return kind


def runs_unmocked(tool: BaseTool) -> bool:
    """Say whether a tool without a mock runs: agents and handoffs, whose own tools are judged one by one.

    A tool that returns a `Command` only to write the state is a tool like any other: what it did to know
    what to write is not ours to let happen.
    """
    if kind_of(tool) in ("agent", "handoff"):
        return True
    return getattr(body_of(tool), "__module__", None) in _STATE_TOOLS


def destination(tool: BaseTool) -> str | None:
    """Give the agent a tool is known to hand over to."""
    found = (tool.metadata or {}).get(_DESTINATION)
    return str(found) if found is not None else None


def body_of(tool: BaseTool) -> Callable[..., Any] | None:
    """Give the function a tool was made of, or None for a class of its own."""
    own = vars(tool)
    body = own.get("func") or own.get("coroutine")
    # A partial or a callable object has no code to read; its class may not even be hashable.
    return body if body is not None and hasattr(body, "__code__") else None


def visible_args(tool: BaseTool, tool_input: Any) -> dict[str, Any] | None:
    """Give the arguments as a model writes them: without state, store, runtime and ids put in for it."""
    if isinstance(tool_input, Mapping):
        hidden = _hidden(tool)
        return {name: value for name, value in tool_input.items() if name not in hidden}
    if isinstance(tool_input, str):
        return {next(iter(tool.args), "tool_input"): tool_input}
    return None


def json_schema(tool: BaseTool) -> Mapping[str, Any] | None:
    """Give a tool's schema where LangChain does not check calls against it itself."""
    return tool.args_schema if isinstance(tool.args_schema, Mapping) else None


def _hidden(tool: BaseTool) -> frozenset[str]:
    own: frozenset[str] = getattr(tool, "_injected_args_keys", frozenset())
    schema = tool.args_schema
    if not isinstance(schema, type):
        return _FRAMEWORK_ARGS | own
    hidden = _injected.get(schema)
    if hidden is None:
        annotations = get_all_basemodel_annotations(schema)
        names = (name for name, kind in annotations.items() if _is_injected_arg_type(kind))
        hidden = _injected[schema] = _FRAMEWORK_ARGS.union(names)
    return hidden | own


def _kind(body: Callable[..., Any]) -> Kind:
    if (body.__module__ or "").startswith("langchain_mcp_adapters"):
        return "mcp"
    if _returns_command(body) and _says_goto(body.__code__):
        return "handoff"
    if only_asks_graphs(body):
        return "agent"
    return "function"


def _returns_command(body: Callable[..., Any]) -> bool:
    try:
        hints = get_type_hints(body)
    except (NameError, TypeError):
        # An annotation that names what is only imported for type checkers.
        return "Command" in str(getattr(body, "__annotations__", {}).get("return"))
    returned = hints.get("return")
    return returned is Command or "Command" in str(returned)


def _says_goto(code: CodeType) -> bool:
    """Say whether code passes `goto=`, by which a command goes somewhere."""
    return any("goto" in const for const in code.co_consts if isinstance(const, tuple)) or any(
        _says_goto(const) for const in code.co_consts if isinstance(const, CodeType)
    )
