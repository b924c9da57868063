"""Tool classes that run in a way of their own.

A class that overrides `run`, `arun`, `invoke` or `ainvoke` may never come to `BaseTool`'s. It is asked about
at its own method; where a mock answers, `BaseTool`'s way is taken instead. So is a class that is called,
batched or streamed in a way of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from inspect import iscoroutinefunction
from typing import Any

from langchain_core.tools import BaseTool

from callsheet.adapters import Patch, active_scope
from callsheet_langgraph._references import is_users
from callsheet_langgraph._subclasses import subclasses
from callsheet_langgraph._tools import RunningCall, is_answered, is_mocked

_METHODS = ("run", "arun", "invoke", "ainvoke")
_OTHERS = ("__call__", "batch", "abatch", "stream", "astream")


def patches() -> Iterator[Patch]:
    """Give a replacement for each such method of every tool class of the application's."""
    for tool_class in subclasses(BaseTool):
        yield from patches_of(tool_class)


def patches_of(tool_class: Any) -> Iterator[Patch]:
    """Give the replacements for one class."""
    for name in (*_METHODS, *_OTHERS):
        method = vars(tool_class).get(name)
        if callable(method) and is_users(method):
            asking = _asking_async if iscoroutinefunction(method) else _asking
            yield Patch(tool_class, name, partial(asking, name))


def _asking(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def ask(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or is_answered(self, scope):
            return original(self, tool_input, *args, **kwargs)
        given = _input_and_id(tool_input, kwargs)
        if is_mocked(self, scope, *given):
            return _usual(name)(self, tool_input, *args, **kwargs)
        call = RunningCall(scope, self, *given)
        return call.answer(lambda: original(self, tool_input, *args, **kwargs))

    return ask


def _asking_async(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def ask(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or is_answered(self, scope):
            return await original(self, tool_input, *args, **kwargs)
        given = _input_and_id(tool_input, kwargs)
        if is_mocked(self, scope, *given):
            return await _usual(name)(self, tool_input, *args, **kwargs)
        call = RunningCall(scope, self, *given)
        return await call.answer_async(lambda: original(self, tool_input, *args, **kwargs))

    return ask


def _usual(name: str) -> Callable[..., Any]:
    """Give `BaseTool`'s own way; for being called newer ones have none."""
    is_there = any(name in vars(base) for base in BaseTool.__mro__)
    return getattr(BaseTool, name) if is_there else BaseTool.run


def _input_and_id(tool_input: Any, options: dict[str, Any]) -> tuple[Any, str | None]:
    if isinstance(tool_input, list) and tool_input:
        # A batch: its first call stands for all of them.
        tool_input = tool_input[0]
    if isinstance(tool_input, dict) and tool_input.get("type") == "tool_call":
        return tool_input["args"], tool_input["id"]
    return tool_input, options.get("tool_call_id")
