"""The steps a trajectory assertion compares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from callsheet._values import TraceEntry


@dataclass(frozen=True)
class Step:
    """One normalized step of a trajectory."""

    role: str
    name: str | None = None
    args: dict[str, Any] | None = None
    content: Any = None
    agent: str | None = None
    call: Any = None


def steps_of(trace: Iterable[TraceEntry]) -> list[Step]:
    """Give the steps of a trace; a model reply without text is not a step of its own."""
    return [
        Step(**entry.normalized(), call=entry.tool_call)
        for entry in trace
        if entry.role != "assistant" or entry.content is not None
    ]
