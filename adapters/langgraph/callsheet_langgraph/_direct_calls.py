"""Calls of a tool's own function that go past the tool.

`tool.func(...)` and `tool._run(...)` are answered like the tool. A plain function that a node calls by its
name is out of reach of every patch; a node whose code does that to the function of a tool is refused instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from langchain_core.tools import BaseTool

from callsheet.adapters import Session, UnmockedToolError, active_scope, kept_in_reach
from callsheet_langgraph._call_sites import direct_calls, function_of, is_tool_body
from callsheet_langgraph._running import is_running
from callsheet_langgraph._tools import RunningCall


class FunctionSlot:
    """The data descriptor that takes the place of a tool's field `func` or `coroutine`.

    The function stays where it was, in the instance. Without a session that is what reading the field gives;
    with one it gives a function that asks the session, unless the session is just letting the tool run.

    Args:
        name: The field.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, tool: Any, owner: type | None = None) -> Any:
        if tool is None:
            return self
        own = vars(tool).get(self._name)
        # Reading asks nothing of a session: agents are built outside of them, in other threads too.
        if own is None or kept_in_reach() is None:
            return own
        return _asking_async(tool, own) if inspect.iscoroutinefunction(own) else _asking(tool, own)

    def __set__(self, tool: Any, value: Any) -> None:
        vars(tool)[self._name] = value


def refuse_direct_calls(session: Session, graph: Any, task: Any) -> None:
    """Refuse a node or task that calls the function of a tool by its name, or is one.

    Args:
        session: The session.
        graph: The graph.
        task: The node, or the task its code started.

    Raises:
        UnmockedToolError: The function would run for real, whatever the tool's mock says.
    """
    if session.lets_real_run or graph is None:
        return
    node, called = task.name, None
    if node in graph.nodes:
        called = direct_calls(graph).get(node)
    elif is_tool_body(function := function_of(task.proc)):
        called = function.__name__
    if called is None:
        return
    violation = UnmockedToolError(
        f"Node {node!r} calls {called!r}, the function of a tool, past the tool, or passes it on, and it "
        'would run for real. Call the tool instead (tool.invoke(...)), or pass unmocked="real".'
    )
    session.poison(violation)
    raise violation


def answered_body(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `_run` of a tool class of the application's, or an `_arun` that is no coroutine function."""

    @wraps(original)
    def body(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        return _answered(self, original.__get__(self), args, kwargs)

    return body


def answered_async_body(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `_arun` of such a class."""

    @wraps(original)
    async def body(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        return await _answered_async(self, original.__get__(self), args, kwargs)

    return body


def _asking(tool: BaseTool, own: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(own)
    def ask(*args: Any, **kwargs: Any) -> Any:
        return _answered(tool, own, args, kwargs)

    return ask


def _asking_async(tool: BaseTool, own: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(own)
    async def ask(*args: Any, **kwargs: Any) -> Any:
        return await _answered_async(tool, own, args, kwargs)

    return ask


def _answered(tool: BaseTool, own: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    scope = active_scope()
    if scope is None or is_running(tool, scope.call):
        return own(*args, **kwargs)
    call = RunningCall(scope, tool, _by_name(own, args, kwargs), None)
    return call.answer(lambda: own(*args, **kwargs))


async def _answered_async(tool: BaseTool, own: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    scope = active_scope()
    if scope is None or is_running(tool, scope.call):
        return await own(*args, **kwargs)
    call = RunningCall(scope, tool, _by_name(own, args, kwargs), None)
    return await call.answer_async(lambda: own(*args, **kwargs))


def _by_name(own: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    signature = inspect.signature(own)
    given = dict(signature.bind_partial(*args, **kwargs).arguments)
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            given.update(given.pop(parameter.name, {}))
    return given
