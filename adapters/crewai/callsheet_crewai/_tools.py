"""Tools: whoever runs one asks the session first."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from crewai.tools.agent_tools.base_agent_tools import BaseAgentTool
from crewai.tools.base_tool import BaseTool
from crewai.tools.structured_tool import ToolUsageLimitExceededError
from crewai.utilities.string_utils import sanitize_tool_name

from callsheet.adapters import (
    InvalidArgumentsError,
    Kind,
    Scope,
    ToolRequest,
    UnmockedToolError,
    parse_arguments,
)
from callsheet_crewai._abort import SessionAborted, aborting, current_scope
from callsheet_crewai._asked import Asked, asked_now, carrying_out
from callsheet_crewai._places import run_of

# The tool whose real body runs: `run` calls `_run`, and `_run` calls the one of its base class.
_RUNNING: ContextVar[int] = ContextVar("callsheet_crewai_running", default=0)

# CrewAI's own plumbing, offered to a model only when an earlier result was too long for it.
_PLUMBING = ("DeferredToolResultReader",)
_MCP = ("MCPNativeTool", "MCPToolWrapper")


class _LimitReached(Exception):  # noqa: N818 - not an error: it carries what the tool answers instead
    def __init__(self, answer: Any) -> None:
        super().__init__(str(answer))
        self.answer = answer


def answered(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `run`, `arun`, `_run` or `_arun` of a tool class."""

    def begin(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Scope, ToolRequest] | None:
        scope = None if _RUNNING.get() == id(tool) else current_scope()
        if scope is None:
            return None
        given = _named(tool, args, kwargs)
        return scope, _request(scope, tool, given, lambda: _checked(tool, args, kwargs))

    if inspect.iscoroutinefunction(original):

        @wraps(original)
        async def arun(self: Any, *args: Any, **kwargs: Any) -> Any:
            begun = begin(self, args, kwargs)
            if begun is None:
                return await original(self, *args, **kwargs)
            try:
                return await _answer_async(*begun, self, lambda: original(self, *args, **kwargs))
            except _LimitReached as limit:
                return limit.answer

        return arun

    @wraps(original)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        begun = begin(self, args, kwargs)
        if begun is None:
            return original(self, *args, **kwargs)
        try:
            return _answer(*begun, self, lambda: original(self, *args, **kwargs))
        except _LimitReached as limit:
            return limit.answer

    return run


def answered_invoke(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `CrewStructuredTool.invoke`, by which agents that write their calls as text run a tool."""

    @wraps(original)
    def invoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        scope = None if _RUNNING.get() == id(_own(self)) else current_scope()
        if scope is None:
            return original(self, input, config, **kwargs)
        request = _invoke_request(scope, self, input)
        return _answer(scope, request, _own(self), lambda: original(self, input, config, **kwargs))

    return invoke


def answered_ainvoke(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `CrewStructuredTool.ainvoke`."""

    @wraps(original)
    async def ainvoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        scope = None if _RUNNING.get() == id(_own(self)) else current_scope()
        if scope is None:
            return await original(self, input, config, **kwargs)
        request = _invoke_request(scope, self, input)
        return await _answer_async(
            scope, request, _own(self), lambda: original(self, input, config, **kwargs)
        )

    return ainvoke


def claimed_in_session(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseTool._claim_usage`, which every `run` passes, one bound before the session too."""

    @wraps(original)
    def _claim_usage(self: Any) -> Any:
        scope = None if _RUNNING.get() == id(self) else current_scope()
        if scope is None:
            return original(self)
        violation = UnmockedToolError(
            f"Tool {sanitize_tool_name(self.name)!r} was reached through a `run` that was bound before the "
            "session and can not be mocked. Call `tool.run(...)`, or build the agent inside the session."
        )
        scope.session.poison(violation)
        raise SessionAborted(violation)

    return _claim_usage


def answered_function(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give the function that stands in for one a model calls by itself (`available_functions`)."""
    if _is_of_a_tool(function):
        return fresh(function)

    @wraps(function)
    def call(**kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return function(**kwargs)
        own = function.__module__.partition(".")[0] == "crewai"
        request = ToolRequest(
            name=name,
            args=kwargs,
            agent=_agent(scope),
            # CrewAI's own take down what the model decided, such as a plan.
            kind="output" if own else "function",
            runs_unmocked=own,
        )
        return _answer(scope, request, function, lambda: function(**kwargs))

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


def aliases(tool: Any) -> tuple[str, ...]:
    """Give the further names a mock may use for a tool: as its author wrote it, or as its server calls it."""
    offered = sanitize_tool_name(tool.name)
    names = (tool.name, getattr(tool, "original_tool_name", None))
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name != offered))


def _answer(scope: Scope, request: ToolRequest, tool: Any, real: Callable[[], Any]) -> Any:
    asked = asked_now(request.name)
    if asked is not None and asked.failure is not None:
        _count_attempt(scope, asked)
        raise asked.failure

    def run_real() -> Any:
        with _running(tool), carrying_out(None):
            return real()

    with _failures(scope, asked), aborting():
        return scope.session.answer_tool(request, run_real)


async def _answer_async(
    scope: Scope, request: ToolRequest, tool: Any, real: Callable[[], Awaitable[Any]]
) -> Any:
    asked = asked_now(request.name)
    if asked is not None and asked.failure is not None:
        _count_attempt(scope, asked)
        raise asked.failure

    async def run_real() -> Any:
        with _running(tool), carrying_out(None):
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


def _request(scope: Scope, tool: Any, args: dict[str, Any] | None, check: Callable[[], None]) -> ToolRequest:
    asked = asked_now(tool.name)
    kind: Kind = "function"
    if isinstance(tool, BaseAgentTool):
        kind = "agent"
    elif type(tool).__name__ in _MCP:
        kind = "mcp"
    agent, names = _agent(scope), (sanitize_tool_name(tool.name), *aliases(tool))
    return ToolRequest(
        name=names[0] if asked is None else asked.name,
        args=args,
        call_id=asked.id if asked is not None else None,
        agent=agent,
        kind=kind,
        aliases=names[1:] if asked is None else names,
        runs_unmocked=kind == "agent" or type(tool).__name__ in _PLUMBING,
        check=check,
    )


def _invoke_request(scope: Scope, structured: Any, given: Any) -> ToolRequest:
    tool = _own(structured)
    args = parse_arguments(given) if isinstance(given, str) else dict(given)

    def check() -> None:
        with _as_invalid():
            structured._parse_args(given)
        if structured.has_reached_max_usage_count():
            raise ToolUsageLimitExceededError(
                f"Tool '{sanitize_tool_name(structured.name)}' has reached its maximum usage limit of "
                f"{structured.max_usage_count}."
            )
        structured._increment_usage_count()

    return _request(scope, tool, args, check)


def _checked(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Do what `run` does before the body: validate the arguments, then count the use."""
    if not args:
        with _as_invalid():
            tool._validate_kwargs(kwargs)
    with _running(tool):
        limit = tool._claim_usage()
    if limit:
        raise _LimitReached(limit)


def _named(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    fields = tool.args_schema.model_fields if tool.args_schema is not None else {}
    return {**dict(zip(fields, args, strict=False)), **kwargs}


def _own(structured: Any) -> Any:
    return structured._original_tool if structured._original_tool is not None else structured


def _is_mocked(scope: Scope, asked: Asked) -> bool:
    record = scope.session.recording.find_call(asked.id)
    return record is not None and record.mocked


def _agent(scope: Scope) -> str | None:
    return run_of(scope).agent


@contextmanager
def _as_invalid() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise InvalidArgumentsError(str(error)) from error


@contextmanager
def _running(tool: Any) -> Iterator[None]:
    token = _RUNNING.set(id(tool))
    try:
        yield
    finally:
        _RUNNING.reset(token)
