"""The lines about one edit: what, where, by whom, and what the tool answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callsheet._alignment import Edit
from callsheet._differences import differences
from callsheet._equality import equal
from callsheet._expected import Expected, ExpectedFields
from callsheet._rendering import WIDTH, expected_text, item_text, wrapped
from callsheet._showing import shortened, shown
from callsheet._suggest import closest, did_you_mean
from callsheet._values import ToolCall

_INDENT = 8
_MOST_DIFFERENCES = 5


def edit_lines(edit: Edit, expected: Sequence[Expected], actual: Sequence[Any]) -> list[str]:
    """Give the lines about one edit other than a match."""
    wanted = None if edit.expected is None else expected[edit.expected]
    item = None if edit.actual is None else actual[edit.actual]
    if wanted is None:
        return [*wrapped(f"[{edit.actual}] + UNEXPECTED: ", item_text(item), indent=2), *_where(item, actual)]
    if item is None:
        text = expected_text(wanted) + _nearest(wanted, actual)
        return wrapped(f"[{edit.expected}] - MISSING: ", text, indent=2)
    if edit.kind == "moved":
        text = f"{expected_text(wanted)}, made as [{edit.actual}] instead"
        return [*wrapped(f"[{edit.expected}] ↕ MOVED: ", text, indent=2), *_where(item, actual)]
    return [
        f"  [{edit.actual}] ✗ MISMATCH:",
        *wrapped("expected: ", expected_text(wanted), indent=_INDENT),
        *wrapped("actual:   ", item_text(item), indent=_INDENT),
        *_field_differences(wanted, item),
        *_where(item, actual),
    ]


def _nearest(wanted: Expected, actual: Sequence[Any]) -> str:
    """Suggest the tools that were called, when the name expected is nearly one of them."""
    names = {item.name for item in actual if item.name is not None}
    if wanted.name is None or wanted.name in names:
        return ""
    return did_you_mean(wanted.name, sorted(names))


def _field_differences(wanted: Expected, item: Any) -> list[str]:
    if not isinstance(wanted, ExpectedFields):
        return []
    if wanted.name is not None and wanted.name != item.name:
        hint = f" Did you mean {item.name!r}?" if closest(wanted.name, [item.name or ""]) else ""
        return [_fit(f"another tool: {wanted.name!r} → {item.name!r}{hint}")]
    lines: list[str] = []
    for field, value in wanted.fields.items():
        actual = getattr(item, field)
        if equal(value, actual):
            continue
        label = "arg diff" if field == "args" else field
        found = differences(value, actual)
        lines += [_fit(f"{label}: {line}") for line in found[:_MOST_DIFFERENCES]]
        if len(found) > _MOST_DIFFERENCES:
            lines.append(_fit(f"{label}: ... and {len(found) - _MOST_DIFFERENCES} more"))
    return lines


def _where(item: Any, actual: Sequence[Any]) -> list[str]:
    """Say which agent asked for a call, in which reply, beside which others, and what came back."""
    call = item if isinstance(item, ToolCall) else item.call
    if call is None:
        return []
    facts = []
    if call.turn is not None:
        facts.append(f"in reply {call.turn + 1}")
    if call.agent is not None:
        facts.append(f"of {call.agent}")
    beside = _batch_size(call, actual) - 1
    if beside:
        facts.append(f"in parallel with {beside} other call{'' if beside == 1 else 's'}")
    lines = [_fit(f"asked {' '.join(facts)}")] if facts else []
    if call.error is not None:
        lines.append(_fit(f"failed: {shown(call.error)}"))
    elif call.response is not None:
        lines.append(_fit(f"answered: {shown(call.response)}"))
    return lines


def _batch_size(call: ToolCall, actual: Sequence[Any]) -> int:
    calls = [each if isinstance(each, ToolCall) else each.call for each in actual]
    if call.turn is None:
        return 1
    return sum(each is not None and (each.run, each.turn) == (call.run, call.turn) for each in calls)


def _fit(text: str) -> str:
    return " " * _INDENT + shortened(text, WIDTH - _INDENT)
