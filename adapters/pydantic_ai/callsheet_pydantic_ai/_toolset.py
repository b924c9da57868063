"""The innermost toolset of a run: whatever calls a tool through it asks the session first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import ModelRetry
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.messages import ToolReturn
from pydantic_ai.toolsets import (
    AbstractToolset,
    ApprovalRequiredToolset,
    CombinedToolset,
    FunctionToolset,
    PrefixedToolset,
    RenamedToolset,
    WrapperToolset,
)
from pydantic_core import to_jsonable_python

from callsheet.adapters import InvalidArgumentsError, ToolError, ToolRequest, ToolTimedOutError
from callsheet_pydantic_ai import _mcp
from callsheet_pydantic_ai._active_run import ActiveRun


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
        if _mcp.decision(self.active.session).closed and _mcp.has_server(self.wrapped):
            tools = {**_mcp.stand_ins(self.active, self, tools, ctx), **tools}
        self.active.externals.update(
            (name, tool.tool_def) for name, tool in tools.items() if tool.tool_def.kind == "external"
        )
        self.active.session.note_tools(self.active.record.agent, tools)
        return tools

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        """Let the session answer, in the framework's own terms."""
        if tool.toolset is self:
            path = [(self, tool)]
        else:
            path = list(_path(self.wrapped, name, tool))
            _require_approval(path, tool_args, ctx)
        timeout = _timeout(path)
        leaf, _ = path[-1]
        is_mcp = leaf is self or _mcp.is_server(leaf)
        request = self._request(name, tool_args, ctx, tool, "mcp" if is_mcp else "function", timeout)
        try:
            return await self._answer(
                request, ctx, lambda: self.wrapped.call_tool(name, tool_args, ctx, tool)
            )
        except InvalidArgumentsError as error:
            raise ModelRetry(f"Invalid arguments for tool {name!r}: {error}") from error
        except ToolTimedOutError as error:
            # The text of FunctionToolset.
            raise ModelRetry(f"Timed out after {timeout} seconds.") from error
        except ToolError as error:
            raise ModelRetry(str(error)) from error

    def _request(
        self, name: str, tool_args: Any, ctx: Any, tool: Any, kind: Any, timeout: float | None
    ) -> ToolRequest:
        args = to_jsonable_python(tool_args, fallback=repr)
        call_id = self.active.id_for_running(ctx.tool_call_id) if ctx.tool_call_id else None
        return ToolRequest(
            name=name,
            args=args,
            call_id=call_id,
            agent=self.active.record.agent,
            kind=kind,
            # The framework has checked the arguments against the schema of every other tool.
            schema=tool.tool_def.parameters_json_schema if kind == "mcp" else None,
            timeout=timeout,
            metadata=self._as_written(call_id, args),
        )

    async def _answer(self, request: ToolRequest, ctx: Any, real: Callable[[], Awaitable[Any]]) -> Any:
        active = self.active
        with active.session.inside(active.record):
            answer = await active.session.answer_tool_async(request, real)
        record = active.find_call(ctx.tool_call_id)
        if record is not None and isinstance(answer, ToolReturn):
            record.response = answer.return_value
        return answer

    def _as_written(self, call_id: str | None, args: Any) -> dict[str, Any]:
        """Keep the arguments the model wrote where validation or a hook made others of them."""
        record = self.active.session.recording.find_call(call_id)
        if record is None or record.attempts or record.args is None or record.args == args:
            return {}
        return {"written_args": record.args}


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
