"""A trajectory as a compact tree of text, for the report of a failing test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from callsheet._redaction import redact
from callsheet._result import AgentResult
from callsheet._values import ToolCall, TraceEntry

_WIDTH = 60
_LINES = 200
_RAN = ("success", "failed", "retried")


def trajectory_tree(result: AgentResult) -> str:
    """Give the tree: agents, the calls of one reply bracketed, mocked or real, answers and errors.

    Long values are cut, secrets redacted, and after 200 lines the rest is counted.
    """
    inside: dict[str | None, list[TraceEntry]] = defaultdict(list)
    for entry in result.trace:
        inside[entry.parent_id].append(entry)
    lines = list(_entries(inside, None, indent=""))
    for stray in list(inside):
        lines.extend(_entries(inside, stray, indent=""))
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], f"... and {len(lines) - _LINES} more lines"]
    return "\n".join(lines) or "(nothing happened)"


def _entries(
    inside: dict[str | None, list[TraceEntry]], parent_id: str | None, *, indent: str
) -> Iterator[str]:
    # Taken out, so that a call that names itself as its parent ends here.
    entries = inside.pop(parent_id, [])
    for agent, acted in groupby(entries, key=lambda entry: entry.agent):
        if agent is not None:
            yield f"{indent}{agent}"
        deeper = f"{indent}  " if agent is not None else indent
        for (_, turn), batch in groupby(acted, key=lambda entry: (entry.run, entry.turn)):
            yield from _batch(inside, list(batch), deeper, parallel=turn is not None)


def _batch(
    inside: dict[str | None, list[TraceEntry]], batch: list[TraceEntry], indent: str, *, parallel: bool
) -> Iterator[str]:
    calls = sum(entry.tool_call is not None for entry in batch)
    position = 0
    for entry in batch:
        call = entry.tool_call
        if call is None:
            yield f"{indent}{_said(entry)}"
            continue
        yield f"{indent}{_bracket(position, calls) if parallel else ''}{_called(entry, call)}"
        position += 1
        if call.id is not None:
            yield from _entries(inside, call.id, indent=f"{indent}    ")


def _bracket(position: int, size: int) -> str:
    if size == 1:
        return ""
    return "┌ " if position == 0 else "└ " if position == size - 1 else "│ "


def _said(entry: TraceEntry) -> str:
    return f"{entry.role}: {_short(entry.content)}"


def _called(entry: TraceEntry, call: ToolCall) -> str:
    if entry.role == "handoff":
        return f"handoff to {entry.content}"
    args = ", ".join(f"{name}={_short(value)}" for name, value in redact(call.args).items())
    written = f" wrote {_short(call.raw_args)}" if call.raw_args is not None else ""
    answer = (
        f"-> {_short(call.response)}" if call.error is None else f"!! {call.outcome}: {_short(call.error)}"
    )
    if call.outcome in ("skipped", "interrupted", "unknown"):
        return f"{call.name}({args}){written} [{call.outcome}]"
    return f"{call.name}({args}){written} {answer}{_by(call)}"


def _by(call: ToolCall) -> str:
    if not call.mocked and call.outcome not in _RAN:
        return ""
    again = f" x{call.attempts}" if call.attempts > 1 else ""
    return f" [{'mocked' if call.mocked else 'real'}{again}]"


def _short(value: Any) -> str:
    text = repr(redact(value))
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
