"""Functions that stand behind a tool's name: those a model is given, and a tool's own called past it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from crewai.tools.base_tool import BaseTool

from callsheet.adapters import Scope, ToolRequest
from callsheet_crewai._abort import current_scope
from callsheet_crewai._answers import answer, answer_async, scope_of
from callsheet_crewai._asked import asked_now
from callsheet_crewai._places import run_of
from callsheet_crewai._requests import own_tool, tool_request


class FunctionSlot:
    """The data descriptor in the place of a tool's field `func`.

    The function stays where it was, in the instance. Without a session that is what reading the field gives;
    with one it gives a function that asks the session, unless the session is just letting the tool run.
    """

    def __get__(self, tool: Any, owner: type | None = None) -> Any:
        if tool is None:
            return self
        own = vars(tool).get("func")
        if own is None or _is_of_a_tool(own) or current_scope() is None:
            return own
        return _asking_async(tool, own) if inspect.iscoroutinefunction(own) else _asking(tool, own)

    def __set__(self, tool: Any, value: Any) -> None:
        vars(tool)["func"] = value


def answered_function(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give the function that stands in for one a model calls by its name."""
    if _is_of_a_tool(function):
        return fresh(function)

    @wraps(function)
    def call(**kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return function(**kwargs)
        asked = asked_now(name)
        own = getattr(function, "__globals__", {}).get("__name__", "").partition(".")[0] == "crewai"
        request = ToolRequest(
            name=name,
            args=kwargs,
            call_id=asked.id if asked is not None else None,
            agent=run_of(scope).agent,
            # CrewAI's own take down what the model decided, such as a plan.
            kind="output" if own else "function",
            runs_unmocked=own,
        )
        return answer(scope, request, function, lambda: function(**kwargs))

    return call


def fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a tool's method as it is now: CrewAI keeps methods it bound in an earlier run."""
    if not _is_of_a_tool(function):
        return function
    method: Any = function
    bound: Callable[..., Any] = getattr(method.__self__, method.__name__)
    return bound


def _is_of_a_tool(function: Callable[..., Any]) -> bool:
    return isinstance(getattr(function, "__self__", None), BaseTool)


def _asking(tool: Any, own: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(own)
    def ask(*args: Any, **kwargs: Any) -> Any:
        scope = scope_of(own_tool(tool))
        if scope is None:
            return own(*args, **kwargs)
        return answer(
            scope, _request(scope, tool, own, args, kwargs), own_tool(tool), lambda: own(*args, **kwargs)
        )

    return ask


def _asking_async(tool: Any, own: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(own)
    async def ask(*args: Any, **kwargs: Any) -> Any:
        scope = scope_of(own_tool(tool))
        if scope is None:
            return await own(*args, **kwargs)
        request = _request(scope, tool, own, args, kwargs)
        return await answer_async(scope, request, own_tool(tool), lambda: own(*args, **kwargs))

    return ask


def _request(scope: Scope, tool: Any, own: Any, args: Any, kwargs: Any) -> ToolRequest:
    given = inspect.signature(own).bind_partial(*args, **kwargs).arguments
    return tool_request(scope, own_tool(tool), dict(given), None)
