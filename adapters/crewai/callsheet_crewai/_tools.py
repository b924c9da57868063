"""Tools: whoever runs one asks the session first."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from crewai.utilities.string_utils import sanitize_tool_name

from callsheet.adapters import Scope, ToolRequest, UnmockedToolError
from callsheet_crewai._abort import SessionAborted
from callsheet_crewai._answers import answer, answer_async, scope_of
from callsheet_crewai._requests import LimitReached, checked, invoke_request, named, own_tool, tool_request


def answered(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `run`, `arun`, `_run` or `_arun` of a tool class."""

    def begin(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Scope, ToolRequest] | None:
        scope = scope_of(tool)
        if scope is None:
            return None
        given = named(tool, args, kwargs)
        return scope, tool_request(scope, tool, given, lambda: checked(tool, args, kwargs))

    if inspect.iscoroutinefunction(original):

        @wraps(original)
        async def arun(self: Any, *args: Any, **kwargs: Any) -> Any:
            begun = begin(self, args, kwargs)
            if begun is None:
                return await original(self, *args, **kwargs)
            try:
                return await answer_async(*begun, self, lambda: original(self, *args, **kwargs))
            except LimitReached as limit:
                return limit.answer

        return arun

    @wraps(original)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        begun = begin(self, args, kwargs)
        if begun is None:
            return original(self, *args, **kwargs)
        try:
            return answer(*begun, self, lambda: original(self, *args, **kwargs))
        except LimitReached as limit:
            return limit.answer

    return run


def answered_invoke(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `CrewStructuredTool.invoke`, by which agents that write their calls as text run a tool."""

    @wraps(original)
    def invoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        scope = scope_of(own_tool(self))
        if scope is None:
            return original(self, input, config, **kwargs)
        request = invoke_request(scope, self, input)
        return answer(scope, request, own_tool(self), lambda: original(self, input, config, **kwargs))

    return invoke


def answered_ainvoke(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `CrewStructuredTool.ainvoke`."""

    @wraps(original)
    async def ainvoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        scope = scope_of(own_tool(self))
        if scope is None:
            return await original(self, input, config, **kwargs)
        request = invoke_request(scope, self, input)
        return await answer_async(
            scope, request, own_tool(self), lambda: original(self, input, config, **kwargs)
        )

    return ainvoke


def claimed_in_session(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseTool._claim_usage`, which every `run` passes, one bound before the session too."""

    @wraps(original)
    def _claim_usage(self: Any) -> Any:
        scope = scope_of(self)
        if scope is None:
            return original(self)
        violation = UnmockedToolError(
            f"Tool {sanitize_tool_name(self.name)!r} was reached through a `run` that was bound before the "
            "session and can not be mocked. Call `tool.run(...)`, or build the agent inside the session."
        )
        scope.session.poison(violation)
        raise SessionAborted(violation)

    return _claim_usage
