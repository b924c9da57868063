"""How the session's answer to a tool call becomes what CrewAI expects of the tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from callsheet.adapters import InvalidArgumentsError, Scope, ToolRequest
from callsheet_crewai._abort import SessionAborted, aborting, current_scope
from callsheet_crewai._asked import Asked, asked_now, carrying_out

# The tool whose real body runs: `run` calls `_run`, and `_run` calls the one of its base class.
_RUNNING: ContextVar[int] = ContextVar("callsheet_crewai_running", default=0)


def scope_of(tool: Any) -> Scope | None:
    """Give the scope in which a call of a tool has to be answered, or None where it may just run."""
    if _RUNNING.get() == id(tool):
        return None
    scope = current_scope()
    # Into a pool of its own CrewAI takes nothing along, and the session only what is its.
    if scope is not None and scope.session.kept.get((scope_of, scope.call)) == id(tool):
        return None
    return scope


def answer(scope: Scope, request: ToolRequest, tool: Any, real: Callable[[], Any]) -> Any:
    """Answer a call of a tool: from its mock, or by running it.

    Raises:
        SessionAborted: The test does not allow the call.
        Exception: What the tool itself would have raised, or its mock was told to raise.
    """
    asked = asked_now(request.name)
    if asked is not None and asked.failure is not None:
        _count_attempt(scope, asked)
        raise asked.failure

    def run_real() -> Any:
        with _really_running(tool):
            return real()

    with _failures(scope, asked), aborting():
        return scope.session.answer_tool(request, run_real)


async def answer_async(
    scope: Scope, request: ToolRequest, tool: Any, real: Callable[[], Awaitable[Any]]
) -> Any:
    """Like `answer`, for a tool that is awaited."""
    asked = asked_now(request.name)
    if asked is not None and asked.failure is not None:
        _count_attempt(scope, asked)
        raise asked.failure

    async def run_real() -> Any:
        with _really_running(tool):
            return await real()

    with _failures(scope, asked), aborting():
        return await scope.session.answer_tool_async(request, run_real)


def _count_attempt(scope: Scope, asked: Asked) -> None:
    record = scope.session.recording.find_call(asked.id)
    if record is not None:
        record.attempts += 1


@contextmanager
def _failures(scope: Scope, asked: Asked | None) -> Iterator[None]:
    """Raise what the framework itself would have raised, and keep a mock's for CrewAI's hidden retries."""
    try:
        yield
    except SessionAborted:
        raise
    except Exception as error:
        own = error.__cause__ if isinstance(error, InvalidArgumentsError) else None
        failure = own if isinstance(own, Exception) else error
        if asked is not None and asked.retries and _is_mocked(scope, asked):
            asked.failure = failure
        if failure is error:
            raise
        raise failure from None


def _is_mocked(scope: Scope, asked: Asked) -> bool:
    record = scope.session.recording.find_call(asked.id)
    return record is not None and record.mocked


@contextmanager
def _really_running(tool: Any) -> Iterator[None]:
    scope = current_scope()
    if scope is None:
        raise RuntimeError("A tool was let run outside every session.")
    key = scope_of, scope.call
    scope.session.kept[key] = id(tool)
    try:
        with running(tool), carrying_out(None):
            yield
    finally:
        del scope.session.kept[key]


@contextmanager
def running(tool: Any) -> Iterator[None]:
    """Let a tool run, whatever it calls of itself."""
    token = _RUNNING.set(id(tool))
    try:
        yield
    finally:
        _RUNNING.reset(token)
