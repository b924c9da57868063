"""Function tools: whoever calls one asks the session first."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakValueDictionary

from agents import FunctionTool
from agents.exceptions import ModelBehaviorError, ToolTimeoutError
from agents.tool import default_tool_timeout_error_message

from callsheet.adapters import (
    InvalidArgumentsError,
    Session,
    ToolRequest,
    ToolTimedOutError,
    active_scope,
    parse_arguments,
)


class ToolSlot:
    """The data descriptor that takes the place of `FunctionTool.on_invoke_tool`.

    The tool's own invoker stays where it was, in the instance. Without a session that is what reading the
    attribute gives; with one it gives an `Invoker`.
    """

    def __init__(self) -> None:
        # The SDK compares invokers by identity within a run, so one tool's must not change meanwhile.
        self._invokers: WeakValueDictionary[tuple[int, int], Invoker] = WeakValueDictionary()

    def __get__(self, tool: Any, owner: type | None = None) -> Any:
        if tool is None:
            # A dataclass field without a default is no class attribute.
            raise AttributeError("on_invoke_tool")
        try:
            own = vars(tool)["on_invoke_tool"]
        except KeyError:
            raise AttributeError("on_invoke_tool") from None
        if active_scope() is None:
            return own
        key = (id(tool), id(own))
        invoker = self._invokers.get(key)
        if invoker is None:
            invoker = self._invokers[key] = Invoker(tool, own)
        return invoker

    def __set__(self, tool: Any, value: Any) -> None:
        # A copy of a tool reads the attribute and sets what it read.
        vars(tool)["on_invoke_tool"] = value.own if type(value) is Invoker else value

    def __delete__(self, tool: Any) -> None:
        try:
            del vars(tool)["on_invoke_tool"]
        except KeyError:
            raise AttributeError("on_invoke_tool") from None


class Invoker:
    """Stands before a tool's own invoker and passes for it wherever the SDK inspects it."""

    def __init__(self, tool: FunctionTool, own: Any) -> None:
        self.tool = tool
        self.own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    @property
    def __class__(self) -> type:  # type: ignore[override]
        # The SDK asks isinstance(invoker, ...) before it evaluates an approval.
        return type(self.own)

    async def __call__(self, context: Any, arguments: str) -> Any:
        scope = active_scope()
        if scope is None:
            return await _awaited(self.own(context, arguments))
        agent = getattr(context, "agent", None)
        request = _request(self.tool, context, arguments, agent.name if agent is not None else None)
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
            return await _answer(session, request, lambda: _awaited(implementation(context, arguments)))

        if implementation is own:
            return await body(context, arguments)
        wrapped = type(own)(body, own._on_handled_error, function_tool=own._function_tool)
        return await wrapped(context, arguments)


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


def _request(tool: FunctionTool, context: Any, arguments: str, agent: str | None) -> ToolRequest:
    qualified = getattr(tool, "qualified_name", tool.name)
    origin = getattr(tool, "_tool_origin", None)
    is_mcp = origin is not None and origin.type.value == "mcp"
    return ToolRequest(
        name=tool.name,
        args=parse_arguments(arguments),
        call_id=getattr(context, "tool_call_id", None),
        agent=agent,
        raw_args=arguments,
        kind="agent" if tool._is_agent_tool else "mcp" if is_mcp else "function",
        schema=tool.params_json_schema,
        aliases=(qualified,) if qualified != tool.name else (),
        runs_unmocked=tool._is_agent_tool,
        timeout=tool.timeout_seconds,
    )


async def _timeout_answer(tool: FunctionTool, context: Any) -> Any:
    seconds = float(tool.timeout_seconds or 0.0)
    error = ToolTimeoutError(tool_name=tool.name, timeout_seconds=seconds)
    if tool.timeout_behavior == "raise_exception":
        raise error
    if tool.timeout_error_function is not None:
        return await _awaited(tool.timeout_error_function(context, error))
    return default_tool_timeout_error_message(tool_name=tool.name, timeout_seconds=seconds)


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
