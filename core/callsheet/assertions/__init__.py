"""Assertions over what an agent did and said; every failure is an `AssertionError`."""

from __future__ import annotations

from callsheet.assertions._budgets import assert_budget
from callsheet.assertions._calls import (
    assert_no_tool_calls,
    assert_tool_args_contain,
    assert_tool_call_count,
    assert_tool_call_order,
    assert_tool_calls,
)
from callsheet.assertions._conduct import (
    assert_no_duplicate_calls,
    assert_no_loop,
    assert_only_tools,
)
from callsheet.assertions._dependencies import (
    assert_argument_flows,
    assert_confirmed,
    assert_response_consistent,
)
from callsheet.assertions._requests import assert_headers, assert_model_used
from callsheet.assertions._responses import (
    assert_response_contains,
    assert_response_equals,
    assert_response_matches,
)
from callsheet.assertions._trajectory import assert_trajectory

__all__ = [
    "assert_argument_flows",
    "assert_budget",
    "assert_confirmed",
    "assert_headers",
    "assert_model_used",
    "assert_no_duplicate_calls",
    "assert_no_loop",
    "assert_no_tool_calls",
    "assert_only_tools",
    "assert_response_consistent",
    "assert_response_contains",
    "assert_response_equals",
    "assert_response_matches",
    "assert_tool_args_contain",
    "assert_tool_call_count",
    "assert_tool_call_order",
    "assert_tool_calls",
    "assert_trajectory",
]
