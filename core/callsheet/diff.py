"""Differences as text: tool calls aligned by the fewest edits, and values side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from callsheet._alignment import Edit
from callsheet._differences import differences
from callsheet._edits import edits_in_order
from callsheet._equality import equal
from callsheet._expected import Expected, ExpectedFields, expected_calls
from callsheet._redaction import redact_text_for_display
from callsheet._rendering import expected_text, item_text, narrowed
from callsheet._secrets import is_secret_name
from callsheet._showing import redacted, redacted_under, shortened, shown, shown_under
from callsheet._values import ToolCall

__all__ = ["format_tool_call_diff", "format_value_diff"]

_LONGEST_DOCUMENT = 3_500
_LONGEST_TEXT = 1_000
_MOST_DIFFERENCES = 20
_MOST_EDITS = 40
_MOST_LINES = 60
# Runs of equal calls longer than this are counted instead of listed.
_LONGEST_RUN = 6
_INDENT = " " * 8


def format_tool_call_diff(expected: Sequence[Any], actual: Sequence[Any]) -> str:
    """Give the differences between two lists of calls, one inserted or lost call being one line.

    Args:
        expected: `{"name", "args"}` dicts; `ToolCall`s, names and matchers are fine too.
        actual: `{"name", "args"}` dicts or `ToolCall`s.

    Returns:
        Lines marked `✓` (equal), `✗ MISMATCH`, `- MISSING` and `+ UNEXPECTED`.
    """
    wanted, made = expected_calls(expected), [_as_call(item) for item in actual]
    edits = edits_in_order(wanted, made, moves=False)
    if edits is None:
        edits = _by_position(len(wanted), len(made))
    lines: list[str] = []
    run: list[int] = []
    shown_edits = 0
    for edit in edits:
        if edit.kind == "match":
            run.append(edit.actual or 0)
            continue
        lines += _run_lines(run, made)
        run = []
        shown_edits += 1
        if shown_edits <= _MOST_EDITS:
            lines += _edit_lines(edit, wanted, made)
    if shown_edits > _MOST_EDITS:
        return "\n".join([*lines, f"  ... and {shown_edits - _MOST_EDITS} more differences"])
    return "\n".join([*lines, *_run_lines(run, made)])


def format_value_diff(expected: Any, actual: Any, *, label: str = "value") -> str:
    """Give an expected and an actual value one under the other, and where they first differ.

    Args:
        expected: Any value.
        actual: Any value.
        label: What the values are, as the first line says it.
    """
    lines = [f"  {redact_text_for_display(label)}:"]
    if isinstance(expected, list | dict) and isinstance(actual, list | dict):
        if is_secret_name(label):
            expected, actual = redacted_under(label, expected), redacted_under(label, actual)
        lines += ["    expected:", *_document(expected), "    actual:", *_document(actual)]
        if not equal(expected, actual):
            lines.append("    differences:")
            lines += [f"      {line}" for line in differences(expected, actual)[:_MOST_DIFFERENCES]]
        return narrowed(lines)
    lines.append(f"    expected: {shown_under(label, expected, limit=_LONGEST_TEXT)}")
    lines.append(f"    actual:   {shown_under(label, actual, limit=_LONGEST_TEXT)}")
    if isinstance(expected, str) and isinstance(actual, str) and expected != actual:
        lines.append(f"    first diff at position {_first_difference(expected, actual)}")
    return narrowed(lines)


def _edit_lines(edit: Edit, wanted: Sequence[Expected], made: Sequence[ToolCall]) -> list[str]:
    expected = None if edit.expected is None else wanted[edit.expected]
    actual = None if edit.actual is None else made[edit.actual]
    if expected is None:
        return [f"  [{edit.actual}] + UNEXPECTED: {item_text(actual)}"]
    if actual is None:
        return [f"  [{edit.expected}] - MISSING: {expected_text(expected)}"]
    lines = [
        f"  [{edit.actual}] ✗ MISMATCH:",
        f"{_INDENT}expected: {expected_text(expected)}",
        f"{_INDENT}actual:   {item_text(actual)}",
    ]
    if isinstance(expected, ExpectedFields) and expected.name == actual.name and "args" in expected.fields:
        found = differences(expected.fields["args"], actual.args)
        lines.append(f"{_INDENT}arg diff: {', '.join(found[:_MOST_DIFFERENCES])}")
    return lines


def _by_position(expected: int, actual: int) -> list[Edit]:
    both = min(expected, actual)
    return [
        *(Edit("change", k, k) for k in range(both)),
        *(Edit("missing", i, None) for i in range(both, expected)),
        *(Edit("extra", None, j) for j in range(both, actual)),
    ]


def _as_call(item: ToolCall | Mapping[str, Any]) -> ToolCall:
    return item if isinstance(item, ToolCall) else ToolCall(item["name"], item.get("args", {}))


def _run_lines(run: Sequence[int], made: Sequence[ToolCall]) -> list[str]:
    hidden = len(run) - 4 if len(run) > _LONGEST_RUN else 0
    ends = [*run[:2], *run[-2:]] if hidden else run
    lines = [f"  [{position}] ✓ {item_text(made[position])}" for position in ends]
    return [*lines[:2], f"  ... {hidden} matching calls ...", *lines[2:]] if hidden else lines


def _document(value: Any) -> list[str]:
    try:
        text = json.dumps(redacted(value), indent=2, default=shown)
    except (TypeError, ValueError):  # keys that are no text, and values that hold themselves
        text = shown(value, limit=_LONGEST_DOCUMENT)
    lines = shortened(text, _LONGEST_DOCUMENT).splitlines()
    if len(lines) > _MOST_LINES:
        half = _MOST_LINES // 2
        lines = [*lines[:half], f"... {len(lines) - 2 * half} more lines ...", *lines[-half:]]
    return [f"      {line}" for line in lines]


def _first_difference(expected: str, actual: str) -> int:
    pairs = enumerate(zip(expected, actual, strict=False))
    return next((k for k, (one, other) in pairs if one != other), min(len(expected), len(actual)))
