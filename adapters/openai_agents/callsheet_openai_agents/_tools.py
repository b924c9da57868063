"""Function tools: whoever calls one asks the session first."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from agents import FunctionTool
from agents.exceptions import ModelBehaviorError, ToolTimeoutError
from agents.tool import _FailureHandlingFunctionToolInvoker, default_tool_timeout_error_message
from agents.tool_context import ToolContext

from callsheet.adapters import (
    InvalidArgumentsError,
    Session,
    ToolRequest,
    ToolTimedOutError,
    active_scope,
    parse_arguments,
)
from callsheet_openai_agents._answers import answer_shape
from callsheet_openai_agents._decorated import accepted_schema
from callsheet_openai_agents._inventory import agent_name, other_names
from callsheet_openai_agents._mcp import mcp_binding
from callsheet_openai_agents._slots import StandIn


class Invoker(StandIn):
    """Stands before a tool's own invoker and passes for it wherever the SDK inspects it."""

    # No annotations of its own, and the signature below: from both the SDK reads what to call a tool with.

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    @property
    def __signature__(self) -> inspect.Signature:
        if isinstance(self.own, _FailureHandlingFunctionToolInvoker):
            return _SIGNATURE
        return inspect.signature(self.own)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # The SDK asks isinstance(invoker, ...) before it evaluates an approval.
        return type(self.own)

    async def __call__(self, context: ToolContext[Any], arguments: str) -> Any:
        scope = active_scope()
        if scope is None:
            return await awaited(self.own(context, arguments))
        agent = getattr(context, "agent", None)
        name = agent_name(scope.session, agent) if agent is not None else None
        request = _request(self.tool, self.own, context, arguments, name)
        try:
            return await self._through_error_handling(scope.session, request, context, arguments)
        except _TimedOut:
            return await _timeout_answer(self.tool, context)

    async def _through_error_handling(
        self, session: Session, request: ToolRequest, context: Any, arguments: str
    ) -> Any:
        """Let the SDK's own failure handling see what the mock or the real tool raises."""
        own = self.own
        implementation = getattr(own, "_invoke_tool_impl", own)

        async def body(context: Any, arguments: str) -> Any:
            return await _answer(session, request, lambda: awaited(implementation(context, arguments)))

        if implementation is own:
            return await body(context, arguments)
        wrapped = type(own)(body, own._on_handled_error, function_tool=own._function_tool)
        return await wrapped(context, arguments)


# With its annotations evaluated, which spares the SDK parsing them at each call.
_SIGNATURE = inspect.signature(Invoker(None, None).__call__, eval_str=True)


class _TimedOut(BaseException):
    """Carries a virtual timeout past the tool's failure handling, which the SDK's timeout is outside of."""


async def _answer(session: Session, request: ToolRequest, real: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await session.answer_tool_async(request, real)
    except InvalidArgumentsError as error:
        # What the SDK raises when a tool's own arguments do not validate.
        raise ModelBehaviorError(f"Invalid JSON input for tool {request.name}: {error}") from error
    except ToolTimedOutError as error:
        raise _TimedOut from error


def _request(tool: FunctionTool, own: Any, context: Any, arguments: str, agent: str | None) -> ToolRequest:
    is_mcp = mcp_binding(tool) is not None
    return ToolRequest(
        name=tool.name,
        args=parse_arguments(arguments),
        call_id=getattr(context, "tool_call_id", None),
        agent=agent,
        raw_args=arguments,
        kind="agent" if tool._is_agent_tool else "mcp" if is_mcp else "function",
        schema=accepted_schema(tool, own),
        aliases=other_names(tool),
        runs_unmocked=tool._is_agent_tool,
        timeout=tool.timeout_seconds,
        shape=answer_shape(tool, own, is_mcp=is_mcp),
    )


async def _timeout_answer(tool: FunctionTool, context: Any) -> Any:
    seconds = float(tool.timeout_seconds or 0.0)
    error = ToolTimeoutError(tool_name=tool.name, timeout_seconds=seconds)
    if tool.timeout_behavior == "raise_exception":
        raise error
    if tool.timeout_error_function is not None:
        return await awaited(tool.timeout_error_function(context, error))
    return default_tool_timeout_error_message(tool_name=tool.name, timeout_seconds=seconds)


async def awaited(value: Any) -> Any:
    """Give a value that may have to be awaited first."""
    return await value if inspect.isawaitable(value) else value
