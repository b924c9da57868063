"""The innermost toolset of a run: whatever calls a tool through it asks the session first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.toolsets import (
    AbstractToolset,
    ApprovalRequiredToolset,
    CombinedToolset,
    FunctionToolset,
    PrefixedToolset,
    RenamedToolset,
    WrapperToolset,
)

from callsheet_pydantic_ai import _mcp
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._answers import answered, tool_request


@dataclass
class SessionToolset(WrapperToolset[Any]):
    """Stands between an agent and all its function tools.

    Args:
        wrapped: The agent's tools.
        active: The run.
    """

    active: ActiveRun

    async def for_run(self, ctx: Any) -> AbstractToolset[Any]:
        """Resolve the tools of the run, and keep servers of it closed where the test does."""
        ready = await super().for_run(ctx)
        _mcp.watch(self.active.session)
        return ready

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        """Give the real tools, and the mocks that stand for those of a server that stays closed."""
        tools = await super().get_tools(ctx)
        if _mcp.keeps_closed(self.active.session) and _mcp.has_server(self.wrapped):
            tools = {**_mcp.stand_ins(self.active, self, tools, ctx), **tools}
        if not self.active.beneath.issuperset(tools):
            self._note(tools)
        return tools

    def _note(self, tools: dict[str, Any]) -> None:
        self.active.beneath.update(tools)
        self.active.externals.update(
            (name, tool.tool_def) for name, tool in tools.items() if tool.tool_def.kind == "external"
        )
        self.active.session.note_tools(self.active.record.agent, tools)

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        """Let the session answer, in the framework's own terms."""
        if tool.toolset is self:
            path = [(self, tool)]
        else:
            path = list(_path(self.wrapped, name, tool))
            _require_approval(path, tool_args, ctx)
        leaf, _ = path[-1]
        is_mcp = leaf is self or _mcp.is_server(leaf)
        request = tool_request(
            self.active,
            name,
            tool_args,
            ctx.tool_call_id,
            tool.tool_def,
            kind="mcp" if is_mcp else "function",
            # The framework has checked the arguments against the schema of every other tool.
            schema=tool.tool_def.parameters_json_schema if is_mcp else None,
            timeout=_timeout(path),
        )
        return await answered(
            self.active, request, lambda: self.wrapped.call_tool(name, tool_args, ctx, tool)
        )


def _path(toolset: Any, name: str, tool: Any) -> Iterator[tuple[Any, Any]]:
    """Give the toolsets a call passes through, each with its view of the tool, down to who runs it."""
    while toolset is not None:
        yield toolset, tool
        if isinstance(toolset, CombinedToolset):
            toolset, tool = tool.source_toolset, tool.source_tool
            continue
        if isinstance(toolset, PrefixedToolset):
            name = name.removeprefix(f"{toolset.prefix}_")
        elif isinstance(toolset, RenamedToolset):
            name = toolset.name_map.get(name, name)
        if name != tool.tool_def.name:
            tool = replace(tool, tool_def=replace(tool.tool_def, name=name))
        # A dynamic toolset has no public way to the toolset its function gave.
        toolset = getattr(toolset, "wrapped", None) or getattr(toolset, "_toolset", None)


def _require_approval(path: list[tuple[Any, Any]], tool_args: dict[str, Any], ctx: Any) -> None:
    for toolset, tool in path:
        asks = isinstance(toolset, ApprovalRequiredToolset) and not ctx.tool_call_approved
        if asks and toolset.approval_required_func(ctx, tool.tool_def, tool_args):
            raise ApprovalRequired


def _timeout(path: list[tuple[Any, Any]]) -> float | None:
    toolset, tool = path[-1]
    own: float | None = tool.tool_def.timeout
    if own is None and isinstance(toolset, FunctionToolset):
        return toolset.timeout
    return own
