"""Assertions over what an agent did and said; every failure is an `AssertionError`."""

from __future__ import annotations

from callsheet.assertions._calls import (
    assert_no_tool_calls,
    assert_tool_args_contain,
    assert_tool_call_count,
    assert_tool_call_order,
    assert_tool_calls,
)
from callsheet.assertions._requests import assert_headers, assert_model_used
from callsheet.assertions._responses import (
    assert_response_contains,
    assert_response_equals,
    assert_response_matches,
)
from callsheet.assertions._trajectory import assert_trajectory

__all__ = [
    "assert_headers",
    "assert_model_used",
    "assert_no_tool_calls",
    "assert_response_contains",
    "assert_response_equals",
    "assert_response_matches",
    "assert_tool_args_contain",
    "assert_tool_call_count",
    "assert_tool_call_order",
    "assert_tool_calls",
    "assert_trajectory",
]
