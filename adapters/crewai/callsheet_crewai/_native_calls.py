"""Calls a model writes the provider's way: which of them a tool run is, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from crewai.utilities.agent_utils import extract_tool_call_info

from callsheet_crewai._abort import current_scope, stop_if_over
from callsheet_crewai._asked import Asked, carrying_out, settle
from callsheet_crewai._functions import answered_function


def executed_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace an executor's `_execute_single_native_tool_call`."""

    @wraps(original)
    def _execute_single_native_tool_call(self: Any, tool_call: Any = None, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return _call(original, self, tool_call, kwargs)
        offered = getattr(self, "_available_functions", None)
        if offered:
            self._available_functions = _refreshed(offered)
        if kwargs.get("available_functions"):
            kwargs["available_functions"] = _refreshed(kwargs["available_functions"])
        asked = _asked(tool_call) or (
            Asked(kwargs["call_id"], kwargs["func_name"]) if "call_id" in kwargs else None
        )
        with carrying_out(asked):
            result = _call(original, self, tool_call, kwargs)
        settle(scope, asked, str(result["result"]))
        stop_if_over(scope.session, "The next step of an agent")
        return result

    return _execute_single_native_tool_call


def executed_step_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `execute_single_native_tool_call`, by which a planning agent carries out its steps."""

    @wraps(original)
    def execute_single_native_tool_call(tool_call: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return original(tool_call, **kwargs)
        kwargs["available_functions"] = _refreshed(kwargs["available_functions"])
        asked = _asked(tool_call)
        with carrying_out(asked):
            result = original(tool_call, **kwargs)
        settle(scope, asked, str(result.result))
        stop_if_over(scope.session, "The next step of an agent")
        return result

    return execute_single_native_tool_call


def _call(original: Callable[..., Any], executor: Any, tool_call: Any, kwargs: dict[str, Any]) -> Any:
    # The executor before 1.15.30's takes the parts of a call as keywords, the others the call itself.
    return original(executor, **kwargs) if tool_call is None else original(executor, tool_call, **kwargs)


def _asked(tool_call: Any) -> Asked | None:
    told = extract_tool_call_info(tool_call) if tool_call is not None else None
    return Asked(told[0], told[1]) if told is not None else None


def _refreshed(functions: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    # A planning agent keeps the step executor of its first run, and with it the methods of that time.
    return {name: answered_function(name, function) for name, function in functions.items()}
