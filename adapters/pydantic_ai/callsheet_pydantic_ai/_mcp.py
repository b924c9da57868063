"""MCP servers: closed to a session unless a test lets a tool of theirs run for real."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any
from weakref import WeakSet

from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from callsheet.adapters import Patch, PatchSet, Session, active_scope
from callsheet_pydantic_ai._active_run import ActiveRun

_MODULE = "pydantic_ai.mcp"
_ANYTHING = SchemaValidator(core_schema.any_schema())

_held: WeakSet[Session] = WeakSet()

# How often each server was entered without being opened, with the server, so that its id stays its own.
_pretended: dict[int, tuple[Any, int]] = {}


def is_server(toolset: object) -> bool:
    """Say whether a toolset is an MCP server."""
    module = sys.modules.get(_MODULE)
    return module is not None and issubclass(type(toolset), module.MCPToolset)


def has_server(toolset: Any) -> bool:
    """Say whether there is an MCP server among the toolsets of a run."""
    found: list[Any] = []
    toolset.apply(found.append)
    return any(map(is_server, found))


def keeps_closed(session: Session) -> bool:
    """Say whether a session leaves MCP servers unopened: unless a real tool of one may run, it does."""
    if session.lets_real_run:
        return False
    return all(mock.name in session.declared_tools for mock in session.tools if mock.is_spy)


def watch(session: Session) -> None:
    """Put the patches on MCP servers in place once the framework's MCP module is loaded."""
    if _MODULE in sys.modules and session not in _held:
        _held.add(session)
        _patches.hold(session)


def stand_ins(active: ActiveRun, toolset: Any, tools: Mapping[str, Any], ctx: Any) -> dict[str, Any]:
    """Give a tool for each mock that no real tool is there for."""
    agent = active.record.agent
    elsewhere = active.session.declared_tools
    offered = {}
    for mock in active.session.tools:
        name = mock.name.removeprefix(f"{agent}.")
        if mock.is_spy or name in tools or mock.name in elsewhere or "." in name:
            continue
        offered[name] = ToolsetTool(
            toolset=toolset,
            tool_def=ToolDefinition(
                name=name,
                description=mock.description or None,
                parameters_json_schema=dict(mock.schema or {"type": "object", "properties": {}}),
            ),
            max_retries=ctx.max_retries,
            args_validator=_ANYTHING,
        )
    return offered


def _server_patches() -> Iterator[Patch]:
    server = sys.modules[_MODULE].MCPToolset
    yield Patch(server, "__aenter__", _unopened)
    yield Patch(server, "__aexit__", _unclosed)
    yield Patch(server, "get_tools", _unlisted)


_patches = PatchSet(_server_patches)


def _is_closed_here() -> bool:
    scope = active_scope()
    return scope is not None and keeps_closed(scope.session)


def _unopened(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def enter(self: Any) -> Any:
        if not _is_closed_here():
            return await original(self)
        _pretended[id(self)] = (self, _pretended.get(id(self), (self, 0))[1] + 1)
        return self

    return enter


def _unclosed(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def leave(self: Any, *error: Any) -> Any:
        if id(self) not in _pretended:
            return await original(self, *error)
        _, count = _pretended.pop(id(self))
        if count > 1:
            _pretended[id(self)] = (self, count - 1)
        return None

    return leave


def _unlisted(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def get_tools(self: Any, ctx: Any) -> Any:
        return {} if _is_closed_here() else await original(self, ctx)

    return get_tools
