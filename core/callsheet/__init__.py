"""Tests for tool-using AI agents whose green means something: offline, deterministic, fail closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callsheet._errors import CallsheetError as CallsheetError
    from callsheet._errors import ExpectationError as ExpectationError
    from callsheet._errors import UnknownToolError as UnknownToolError
    from callsheet._errors import VacuousAssertionWarning as VacuousAssertionWarning
    from callsheet._result import AgentResult as AgentResult
    from callsheet._validation import ToolValidation as ToolValidation
    from callsheet._validation import validate_tools as validate_tools
    from callsheet._values import ToolCall as ToolCall
    from callsheet._values import TraceEntry as TraceEntry
    from callsheet._values import Usage as Usage
    from callsheet.assertions import assert_argument_flows as assert_argument_flows
    from callsheet.assertions import assert_budget as assert_budget
    from callsheet.assertions import assert_confirmed as assert_confirmed
    from callsheet.assertions import assert_headers as assert_headers
    from callsheet.assertions import assert_model_used as assert_model_used
    from callsheet.assertions import assert_no_duplicate_calls as assert_no_duplicate_calls
    from callsheet.assertions import assert_no_loop as assert_no_loop
    from callsheet.assertions import assert_no_tool_calls as assert_no_tool_calls
    from callsheet.assertions import assert_only_tools as assert_only_tools
    from callsheet.assertions import assert_response_consistent as assert_response_consistent
    from callsheet.assertions import assert_response_contains as assert_response_contains
    from callsheet.assertions import assert_response_equals as assert_response_equals
    from callsheet.assertions import assert_response_matches as assert_response_matches
    from callsheet.assertions import assert_tool_args_contain as assert_tool_args_contain
    from callsheet.assertions import assert_tool_call_count as assert_tool_call_count
    from callsheet.assertions import assert_tool_call_order as assert_tool_call_order
    from callsheet.assertions import assert_tool_calls as assert_tool_calls
    from callsheet.assertions import assert_trajectory as assert_trajectory
    from callsheet.order import assert_calls as assert_calls

# Public name -> the module that defines it, imported on first use: `import callsheet` stays cheap.
_EXPORTS = {
    "AgentResult": "_result",
    "CallsheetError": "_errors",
    "ExpectationError": "_errors",
    "ToolCall": "_values",
    "ToolValidation": "_validation",
    "TraceEntry": "_values",
    "UnknownToolError": "_errors",
    "Usage": "_values",
    "VacuousAssertionWarning": "_errors",
    "assert_argument_flows": "assertions",
    "assert_budget": "assertions",
    "assert_calls": "order",
    "assert_confirmed": "assertions",
    "assert_headers": "assertions",
    "assert_model_used": "assertions",
    "assert_no_duplicate_calls": "assertions",
    "assert_no_loop": "assertions",
    "assert_no_tool_calls": "assertions",
    "assert_only_tools": "assertions",
    "assert_response_consistent": "assertions",
    "assert_response_contains": "assertions",
    "assert_response_equals": "assertions",
    "assert_response_matches": "assertions",
    "assert_tool_args_contain": "assertions",
    "assert_tool_call_count": "assertions",
    "assert_tool_call_order": "assertions",
    "assert_tool_calls": "assertions",
    "assert_trajectory": "assertions",
    "validate_tools": "_validation",
}

__all__ = sorted(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'callsheet' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"callsheet.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
