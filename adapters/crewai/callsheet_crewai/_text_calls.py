"""Calls a model writes as text (`Action:`): which of them a tool run is, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from crewai.tools.tool_usage import ToolUsageError
from crewai.utilities.string_utils import sanitize_tool_name

from callsheet.adapters import CallRecord, Scope
from callsheet_crewai._abort import current_scope, stop_if_over
from callsheet_crewai._asked import Asked, asked_now, carrying_out, settle


def parsed_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `ToolUsage.parse_tool_calling`, which refuses unknown tools and broken arguments."""

    @wraps(original)
    def parse_tool_calling(self: Any, tool_string: str) -> Any:
        calling = original(self, tool_string)
        scope = current_scope()
        if scope is not None and isinstance(calling, ToolUsageError):
            record = _written(scope, self)
            if record is not None:
                known = {sanitize_tool_name(tool.name) for tool in self.tools}
                record.outcome = "invalid" if record.name in known else "unknown"
                record.error = record.seen_by_model = str(calling.message)
        return calling

    return parse_tool_calling


def used(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `ToolUsage.use`, which calls itself to try a failing tool again."""

    @wraps(original)
    def use(self: Any, calling: Any, tool_string: str) -> Any:
        scope = current_scope()
        if scope is None or _is_retry(self):
            return original(self, calling=calling, tool_string=tool_string)
        asked = _asked(scope, self)
        with carrying_out(asked):
            told = original(self, calling=calling, tool_string=tool_string)
        settle(scope, asked, str(told))
        stop_if_over(scope.session, "The next step of an agent")
        return told

    return use


def aused(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `ToolUsage.ause`."""

    @wraps(original)
    async def ause(self: Any, calling: Any, tool_string: str) -> Any:
        scope = current_scope()
        if scope is None or _is_retry(self):
            return await original(self, calling=calling, tool_string=tool_string)
        asked = _asked(scope, self)
        with carrying_out(asked):
            told = await original(self, calling=calling, tool_string=tool_string)
        settle(scope, asked, str(told))
        stop_if_over(scope.session, "The next step of an agent")
        return told

    return ause


def _written(scope: Scope, usage: Any) -> CallRecord | None:
    if scope.run is None or usage.action is None:
        return None
    # Past the latest reply, because a function-calling model may have been asked to read the call first.
    calls = next((reply.calls for reply in scope.run.replies_backwards() if reply.calls), [])
    name = sanitize_tool_name(usage.action.tool)
    return next((call for call in calls if call.name == name and not call.attempts), None)


def _asked(scope: Scope, usage: Any) -> Asked | None:
    record = _written(scope, usage)
    return Asked(record.id, record.name, retries=True) if record is not None else None


def _is_retry(usage: Any) -> bool:
    asked = asked_now(usage.action.tool) if usage.action is not None else None
    return asked is not None and asked.retries
