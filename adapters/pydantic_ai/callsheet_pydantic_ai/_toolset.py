"""The innermost toolset of a run: whatever calls a tool through it asks the session first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
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
            leaf, own = self, tool
        else:
            leaf, own = _found_beneath(self.wrapped, name, tool, tool_args, ctx)
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
            timeout=_timeout(leaf, own),
        )
        return await answered(
            self.active, request, lambda: self.wrapped.call_tool(name, tool_args, ctx, tool)
        )


def _found_beneath(
    toolset: Any, name: str, tool: Any, tool_args: dict[str, Any], ctx: Any
) -> tuple[Any, Any]:
    """Give the toolset that would run a tool, with its view of the tool, and heed who asks for approval.

    Raises:
        ApprovalRequired: A toolset on the way asks for one that was not given.
    """
    while True:
        role = _role(toolset.__class__)
        if role is CombinedToolset:
            toolset, tool = tool.source_toolset, tool.source_tool
            continue
        if role is ApprovalRequiredToolset and not ctx.tool_call_approved:
            if toolset.approval_required_func(ctx, tool.tool_def, tool_args):
                raise ApprovalRequired
        elif role is PrefixedToolset:
            name = name.removeprefix(f"{toolset.prefix}_")
        elif role is RenamedToolset:
            name = toolset.name_map.get(name, name)
        # A dynamic toolset has no public way to the toolset its function gave.
        beneath = getattr(toolset, "wrapped", None) or getattr(toolset, "_toolset", None)
        if beneath is None:
            return toolset, tool
        if name != tool.tool_def.name:
            tool = replace(tool, tool_def=replace(tool.tool_def, name=name))
        toolset = beneath


@lru_cache
def _role(kind: type[Any]) -> type[Any] | None:
    """Give what matters about a class of toolsets; asking an abstract class for it is slow."""
    roles = (CombinedToolset, ApprovalRequiredToolset, PrefixedToolset, RenamedToolset, FunctionToolset)
    return next((role for role in roles if issubclass(kind, role)), None)


def _timeout(leaf: Any, tool: Any) -> float | None:
    own: float | None = tool.tool_def.timeout
    if own is None and _role(leaf.__class__) is FunctionToolset:
        own = leaf.timeout
    return own
