"""Graphs on a server: a `RemoteGraph` is answered like a tool, under its own name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import wraps
from typing import Any

from callsheet.adapters import Scope, ToolRequest, active_scope
from callsheet_langgraph._places import order_of


def _answered(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def invoke(self: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or _lets_run(self, scope):
            return original(self, input, *args, **kwargs)
        return scope.session.answer_tool(
            _request(self, input, scope), lambda: original(self, input, *args, **kwargs)
        )

    return invoke


def _answered_async(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def ainvoke(self: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or _lets_run(self, scope):
            return await original(self, input, *args, **kwargs)
        request = _request(self, input, scope)
        return await scope.session.answer_tool_async(request, lambda: original(self, input, *args, **kwargs))

    return ainvoke


def _answered_stream(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def stream(self: Any, input: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        scope = active_scope()
        if scope is None or _lets_run(self, scope):
            yield from original(self, input, *args, **kwargs)
            return
        request = _request(self, input, scope)
        answer = scope.session.answer_tool(request, lambda: _Events(original(self, input, *args, **kwargs)))
        yield from answer if isinstance(answer, _Events) else [answer]

    return stream


def _answered_astream(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def astream(self: Any, input: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        scope = active_scope()
        if scope is None or _lets_run(self, scope):
            async for event in original(self, input, *args, **kwargs):
                yield event
            return

        async def real() -> _Events:
            return _Events([event async for event in original(self, input, *args, **kwargs)])

        answer = await scope.session.answer_tool_async(_request(self, input, scope), real)
        for event in answer if isinstance(answer, _Events) else [answer]:
            yield event

    return astream


REPLACEMENTS = {
    "invoke": _answered,
    "ainvoke": _answered_async,
    "stream": _answered_stream,
    "astream": _answered_astream,
}


class _Events(list[Any]):
    """What a real server streamed, told from a mock's answer that is a list."""


def _lets_run(graph: Any, scope: Scope) -> bool:
    return scope.call is not None and scope.call.name == graph.name


def _request(graph: Any, given: Any, scope: Scope) -> ToolRequest:
    place = scope.place
    return ToolRequest(
        name=graph.name,
        args=dict(given) if isinstance(given, Mapping) else {"input": given},
        agent=place.speaker if place is not None else None,
        kind="agent",
        order=order_of(place, scope.run),
    )
