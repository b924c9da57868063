"""The text for calls that do not fit an order pattern."""

from __future__ import annotations

from collections.abc import Sequence

from callsheet._colour import painted
from callsheet._order_edits import OrderEdit, smallest_edits
from callsheet._order_pattern import Pattern
from callsheet._rendering import WIDTH, expected_text, item_text, wrapped
from callsheet._result import group_batches
from callsheet._showing import shortened, shown
from callsheet._suggest import did_you_mean
from callsheet._values import ToolCall

_MOST_EDITS = 10
_MOST_CALLS = 40
_LONGEST_PATTERN = 600


def order_failure(pattern: Pattern, calls: Sequence[ToolCall], *, extras: bool) -> str:
    """Give the text: how many edits away, which, the pattern, and the calls by reply.

    Args:
        pattern: The pattern.
        calls: The calls that were made.
        extras: Whether calls that the pattern does not account for are allowed.
    """
    edits = smallest_edits(pattern, calls, extras=extras)
    title = "Tool calls do not fit the order pattern"
    if edits is None:
        lines = [f"{title}: the smallest edit is out of reach"]
    else:
        lines = [f"{title}: {len(edits)} edit{'' if len(edits) == 1 else 's'} would make it pass"]
        for edit in edits[:_MOST_EDITS]:
            lines += _edit_lines(edit, calls)
        if len(edits) > _MOST_EDITS:
            lines.append(f"  ... and {len(edits) - _MOST_EDITS} more edits")
    lines += ["", *wrapped("pattern: ", shown(pattern, limit=_LONGEST_PATTERN), indent=2)]
    lines.append(f"  extras:  {'allowed' if extras else 'forbidden'}")
    return painted("\n".join([*lines, *_calls_by_reply(calls)]))


def _edit_lines(edit: OrderEdit, calls: Sequence[ToolCall]) -> list[str]:
    at = f"[{edit.position}]"
    if edit.kind == "missing" and edit.expected is not None:
        where = f" before {at}" if edit.position < len(calls) else " at the end"
        hint = _nearest(edit.expected.expected.name, calls)
        return wrapped("- MISSING: ", expected_text(edit.expected.expected) + where + hint, indent=2)
    call = item_text(calls[edit.position])
    if edit.kind == "extra":
        return wrapped(f"{at} + UNEXPECTED: ", call, indent=2)
    if edit.kind == "change" and edit.expected is not None:
        expected = wrapped("expected: ", expected_text(edit.expected.expected), indent=8)
        return [f"  {at} ✗ MISMATCH:", *expected, *wrapped("actual:   ", call, indent=8)]
    previous = f"[{edit.position - 1}]"
    if edit.kind == "later":
        return wrapped(f"{at} ⇥ TOO EARLY: ", f"{call} has to be in a later reply than {previous}", indent=2)
    return wrapped(f"{at} ⇤ TOO LATE: ", f"{call} has to be in the same reply as {previous}", indent=2)


def _nearest(name: str | None, calls: Sequence[ToolCall]) -> str:
    names = {call.name for call in calls}
    return "" if name is None or name in names else did_you_mean(name, sorted(names))


def _calls_by_reply(calls: Sequence[ToolCall]) -> list[str]:
    lines = [f"  calls:   {len(calls)}, by reply"]
    position = 0
    for reply, batch in enumerate(group_batches(calls)):
        for index, call in enumerate(batch):
            if position < _MOST_CALLS:
                label = f"reply {reply + 1}:" if index == 0 else ""
                lines.append(shortened(f"    {label:<10} [{position}] {item_text(call, limit=60)}", WIDTH))
            position += 1
    if position > _MOST_CALLS:
        lines.append(f"    ... {position - _MOST_CALLS} more calls")
    return lines
