"""The agents and tools that can be reached from an agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents import Agent, FunctionTool, Handoff

from callsheet.adapters import Inventory

# Tools whose body runs on this machine but which have no function to mock yet.
_LOCAL_TOOLS = ("ApplyPatchTool", "ComputerTool", "CustomTool", "LocalShellTool", "ShellTool")


def inventory(root: Agent[Any]) -> Inventory:
    """Walk handoffs and agents used as tools.

    What an MCP server or a hook adds is only known while the agent runs.
    """
    found: dict[str, set[str]] = {}
    complete = True
    seen: set[int] = set()
    waiting: list[Any] = [root]
    while waiting:
        agent = waiting.pop()
        if id(agent) in seen:
            continue
        seen.add(id(agent))
        if agent is None:
            complete = False
            continue
        complete = complete and not agent.mcp_servers and agent.hooks is None
        found.setdefault(agent.name, set()).update(tool_names(agent))
        waiting.extend(_next_agents(agent))
    return Inventory(found, complete)


def tool_names(agent: Agent[Any]) -> Iterator[str]:
    """Give every name a mock may use for a tool of this agent alone."""
    for tool in agent.tools:
        yield from names_of(tool)
    yield from (handoff_name(target) for target in agent.handoffs)


def names_of(tool: Any) -> set[str]:
    """Give a tool's name and, where it is in a namespace, its qualified name."""
    return {tool.name, getattr(tool, "qualified_name", tool.name)}


def handoff_name(target: Agent[Any] | Handoff[Any, Any]) -> str:
    """Give the name of the tool by which a model hands over."""
    return target.tool_name if isinstance(target, Handoff) else Handoff.default_tool_name(target)


def is_unsupported(tool: object) -> bool:
    """Say whether a tool runs on this machine in a way the adapter can not answer for."""
    return type(tool).__name__ in _LOCAL_TOOLS


def _next_agents(agent: Agent[Any]) -> Iterator[Any]:
    for target in agent.handoffs:
        if isinstance(target, Handoff):
            reference = getattr(target, "_agent_ref", None)
            yield reference() if reference is not None else None
        else:
            yield target
    for tool in agent.tools:
        if isinstance(tool, FunctionTool) and tool._is_agent_tool:
            yield tool._agent_instance
