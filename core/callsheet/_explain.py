"""What pytest shows for `assert result.tool_calls == [...]`, for `pytest_assertrepr_compare`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callsheet._edits import edits_in_order
from callsheet._errors import ExpectationError
from callsheet._expected import ExpectedFields, expected_calls
from callsheet._failures import failure_text
from callsheet._values import ToolCall


def explain_comparison(left: Any, right: Any) -> list[str] | None:
    """Give the lines that explain why tool calls differ, or None to leave it to pytest.

    Two calls are explained, two lists of them, and two tuples.

    Args:
        left: The left side of `==`.
        right: Its right side; the side that holds the expected calls, unless only this one holds
            `ToolCall`s.
    """
    if isinstance(left, ToolCall) and isinstance(right, ToolCall):
        left, right = [left], [right]
    if type(left) is not type(right) or not isinstance(left, (list, tuple)):
        return None
    actual, expected = (left, right) if _are_calls(left) or not _are_calls(right) else (right, left)
    if not _are_calls(actual) or (not actual and not _are_calls(expected)):
        return None
    try:
        wanted = [
            _whole(item) if isinstance(item, ToolCall) else expected_calls([item])[0] for item in expected
        ]
    except ExpectationError:
        return None
    edits = edits_in_order(wanted, actual)
    if edits is not None and all(edit.kind == "match" for edit in edits):
        if all(isinstance(item, ToolCall) for item in expected):
            return None
        return [
            "The calls match, but a ToolCall only equals a ToolCall.",
            "Write assert_tool_calls(result, [...]) to compare with names and dicts.",
        ]
    return failure_text("Tool calls differ", wanted, actual, edits).splitlines()


def _are_calls(items: Sequence[Any]) -> bool:
    return all(isinstance(item, ToolCall) for item in items)


def _whole(call: ToolCall) -> ExpectedFields:
    fields = {"name": call.name, "args": call.args, "response": call.response, "error": call.error}
    return ExpectedFields(call, fields)
