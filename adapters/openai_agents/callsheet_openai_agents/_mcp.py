"""MCP servers: their tools by name, and servers that are not started because mocks stand for their tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any

from mcp.types import Tool

from callsheet.adapters import MockTool, Session, active_scope

_ANY_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": True}


def mcp_binding(tool: Any) -> tuple[str, str] | None:
    """Give the server's and the tool's own name of an MCP server's tool, or None."""
    bound = _bound(tool)
    return (bound[0].name, bound[1].name) if bound is not None else None


def mcp_tool(tool: Any) -> Any:
    """Give an MCP server's tool as the server describes it, or None."""
    bound = _bound(tool)
    return bound[1] if bound is not None else None


def _bound(tool: Any) -> tuple[Any, Any] | None:
    implementation = getattr(vars(tool).get("on_invoke_tool"), "_invoke_tool_impl", None)
    if not isinstance(implementation, partial) or implementation.func.__name__ != "invoke_mcp_tool":
        return None
    return implementation.args[0], implementation.args[1]


def unstarted(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `connect`: a server that no test lets run is not started."""

    @wraps(original)
    async def connect(self: Any) -> None:
        scope = active_scope()
        if scope is None or _may_start(scope.session):
            await original(self)

    return connect


def declared_tools(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `list_tools`: a server that was not started has the tools the mocks stand for."""

    @wraps(original)
    async def list_tools(self: Any, run_context: Any = None, agent: Any = None) -> Any:
        scope = active_scope()
        if scope is None or self.session is not None or _may_start(scope.session):
            return await original(self, run_context, agent)
        declared = list(_declared(scope.session, self, agent))
        if self.tool_filter is None:
            return declared
        return await self._apply_tool_filter(declared, run_context, agent)

    return list_tools


def _may_start(session: Session) -> bool:
    known = session.declared_tools
    return session.lets_real_run or any(mock.is_spy and mock.name not in known for mock in session.tools)


def _declared(session: Session, server: Any, agent: Any) -> Iterator[Tool]:
    mocks: dict[str, MockTool] = {}
    for mock in session.tools:
        name = _own_name(session, mock.name, server, agent)
        if name is not None and (name not in mocks or mocks[name].schema is None):
            mocks[name] = mock
    for name, mock in mocks.items():
        schema = mock.schema if mock.schema is not None else _ANY_ARGUMENTS
        yield Tool.model_validate(
            {"name": name, "description": mock.description, "inputSchema": dict(schema)}
        )


def _own_name(session: Session, name: str, server: Any, agent: Any) -> str | None:
    """Give the name by which the server would list a mocked tool, or None where it is not its."""
    if name in session.declared_tools:
        return None
    if name.startswith(f"{server.name}."):
        return name.removeprefix(f"{server.name}.")
    prefix = f"mcp_{_public_part(server.name)}__"
    if name.startswith(prefix) and agent is not None and agent.mcp_config.get("include_server_in_tool_names"):
        return name.removeprefix(prefix)
    # Which server a plain name belongs to is not known: the first that was not started has it.
    servers = agent.mcp_servers if agent is not None else [server]
    if next((one for one in servers if getattr(one, "session", server) is None), server) is not server:
        return None
    bound_to, _, plain = name.rpartition(".")
    return plain if not bound_to or (agent is not None and bound_to == agent.name) else None


def _public_part(name: str) -> str:
    """Give a server's name as the SDK writes it into its tools' names."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name).strip("_-")
