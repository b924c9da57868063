"""What a session is asked when a tool is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from crewai.tools.agent_tools.base_agent_tools import BaseAgentTool
from crewai.tools.structured_tool import ToolUsageLimitExceededError
from crewai.utilities.string_utils import sanitize_tool_name

from callsheet.adapters import InvalidArgumentsError, Kind, Scope, ToolRequest, parse_arguments
from callsheet_crewai._answers import running
from callsheet_crewai._asked import asked_now
from callsheet_crewai._places import run_of

# CrewAI's own plumbing, offered to a model only when an earlier result was too long for it.
_PLUMBING = ("DeferredToolResultReader",)
_MCP = ("MCPNativeTool", "MCPToolWrapper")


class LimitReached(Exception):  # noqa: N818 - no error: it carries what the tool answers instead
    """A tool may not be used again.

    Args:
        answer: What CrewAI says instead of running it.
    """

    def __init__(self, answer: Any) -> None:
        super().__init__(str(answer))
        self.answer = answer


def aliases(tool: Any) -> tuple[str, ...]:
    """Give the further names a mock may use for a tool: as its author wrote it, or as its server calls it."""
    offered = sanitize_tool_name(tool.name)
    names = (tool.name, getattr(tool, "original_tool_name", None))
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name != offered))


def tool_request(
    scope: Scope, tool: Any, args: dict[str, Any] | None, check: Callable[[], None] | None
) -> ToolRequest:
    """Give the request for a call of a tool.

    Args:
        scope: Where it is called.
        tool: The tool.
        args: Its arguments, by name.
        check: Does what the tool does before its body, where a mock answers instead.
    """
    asked = asked_now(tool.name)
    kind: Kind = "function"
    if isinstance(tool, BaseAgentTool):
        kind = "agent"
    elif type(tool).__name__ in _MCP:
        kind = "mcp"
    agent, names = run_of(scope).agent, (sanitize_tool_name(tool.name), *aliases(tool))
    return ToolRequest(
        name=names[0] if asked is None else asked.name,
        args=args,
        call_id=asked.id if asked is not None else None,
        agent=agent,
        kind=kind,
        aliases=names[1:] if asked is None else names,
        runs_unmocked=_is_crewais(tool) and (kind == "agent" or type(tool).__name__ in _PLUMBING),
        check=check,
    )


def _is_crewais(tool: Any) -> bool:
    return type(tool).__module__.partition(".")[0] == "crewai"


def invoke_request(scope: Scope, structured: Any, given: Any) -> ToolRequest:
    """Give the request for a call of a structured tool, whose arguments may still be text."""
    tool = own_tool(structured)
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

    return tool_request(scope, tool, args, check)


def checked(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Do what `run` does before the body: validate the arguments, then count the use."""
    if not args:
        with _as_invalid():
            tool._validate_kwargs(kwargs)
    with running(tool):
        limit = tool._claim_usage()
    if limit:
        raise LimitReached(limit)


def named(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Give the arguments of a call by name."""
    fields = tool.args_schema.model_fields if tool.args_schema is not None else {}
    return {**dict(zip(fields, args, strict=False)), **kwargs}


def own_tool(tool: Any) -> Any:
    """Give the tool that CrewAI made a structured one of, or the tool itself."""
    original = getattr(tool, "_original_tool", None)
    return tool if original is None else original


@contextmanager
def _as_invalid() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise InvalidArgumentsError(str(error)) from error
