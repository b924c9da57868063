"""Tool classes that run in a way of their own.

A class that overrides `run`, `arun`, `invoke` or `ainvoke` may never come to `BaseTool`'s. It is asked about
at its own method; where a mock answers, `BaseTool`'s way is taken instead. So is a class that is called,
batched or streamed in a way of its own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from functools import partial, wraps
from inspect import isasyncgen, iscoroutinefunction, isgenerator
from typing import Any

from langchain_core.tools import BaseTool

from callsheet.adapters import Patch, active_scope
from callsheet_langgraph._direct_calls import answered_async_body, answered_body
from callsheet_langgraph._references import is_users
from callsheet_langgraph._subclasses import own_methods, subclasses
from callsheet_langgraph._tools import RunningCall, is_answered, is_mocked

_METHODS = ("run", "arun", "invoke", "ainvoke")
_OTHERS = ("__call__", "batch", "abatch", "stream", "astream")
_BODIES = ("_run", "_arun")


def patches() -> Iterator[Patch]:
    """Give a replacement for each such method of every tool class of the application's."""
    for tool_class in subclasses(BaseTool):
        yield from patches_of(tool_class)


def patches_of(tool_class: Any) -> Iterator[Patch]:
    """Give the replacements for one class."""
    # Every session passes here, and most classes are the framework's.
    if not is_users(tool_class):
        return
    for name, method in own_methods(tool_class, BaseTool, (*_METHODS, *_OTHERS, *_BODIES)):
        if callable(method) and hasattr(method, "__get__") and is_users(method):
            yield Patch(tool_class, name, partial(_replaced, name, method))


def _replaced(name: str, method: Callable[..., Any], found: Any) -> Callable[..., Any]:
    original: Callable[..., Any] = found or method
    is_async = iscoroutinefunction(original)
    if name in _BODIES:
        return answered_async_body(original) if is_async else answered_body(original)
    return _asking_async(name, original) if is_async else _asking(name, original)


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
        answer = call.answer(lambda: original(self, tool_input, *args, **kwargs))
        if isgenerator(answer):
            return _steps(call, answer)
        return _asteps(call, answer) if isasyncgen(answer) else answer

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


def _steps(call: RunningCall, chunks: Generator[Any, Any, Any]) -> Iterator[Any]:
    """Give what a tool streams; only making a chunk belongs to the call, not what is done with it."""
    try:
        while True:
            call.session.require_open(f"A stream of tool {call.tool.name!r}")
            with call.inside():
                try:
                    chunk = next(chunks)
                except StopIteration:
                    return
            yield chunk
    finally:
        with call.inside():
            chunks.close()


async def _asteps(call: RunningCall, chunks: AsyncGenerator[Any, Any]) -> AsyncIterator[Any]:
    """Like `_steps`, on an event loop."""
    try:
        while True:
            call.session.require_open(f"A stream of tool {call.tool.name!r}")
            with call.inside():
                try:
                    chunk = await anext(chunks)
                except StopAsyncIteration:
                    return
            yield chunk
    finally:
        with call.inside():
            await chunks.aclose()


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
