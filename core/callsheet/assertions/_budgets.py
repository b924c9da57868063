"""The assertion about how much a run may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from callsheet._checks import report_vacuous, warn_if_vacuous
from callsheet._errors import ExpectationError
from callsheet._showing import shown
from callsheet._subject import Subject, calls_of, result_of, trace_of
from callsheet._suggest import listed
from callsheet._values import ToolCall, TraceEntry


def assert_budget(
    result: Subject,
    *,
    turns: int | None = None,
    tool_calls: int | None = None,
    tokens: int | None = None,
    duration: float | None = None,
    strict: bool = False,
) -> None:
    """Assert that a run took no more than a budget; every limit given is checked.

    Args:
        result: An `AgentResult` or a session; a list of `ToolCall` for `turns`, `tool_calls` and `duration`.
        turns: The most model replies, those of sub-agents included.
        tool_calls: The most tool calls.
        tokens: The most input and output tokens together.
        duration: The most seconds in tools, added up, mocks' virtual delays included.
        strict: Whether a limit on something that was not recorded, or any limit on an empty trajectory, in
            which nothing happened at all, fails instead of warning.

    Raises:
        AssertionError: A limit is exceeded.
        ExpectationError: No limit is given, or one is no number from 0.
    """
    __tracebackhide__ = True
    limits = {"turns": turns, "tool_calls": tool_calls, "tokens": tokens, "duration": duration}
    given = {name: limit for name, limit in limits.items() if limit is not None}
    if not given:
        raise ExpectationError(f"assert_budget() without a limit says nothing; give one of {listed(limits)}.")
    over, unrecorded = [], []
    for name, limit in given.items():
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
            raise ExpectationError(f"The budget of {name} is a number from 0, not {shown(limit)}.")
        spent = _SPENT[name](result)
        if spent is None:
            unrecorded.append(name)
        elif spent > limit:
            over.append(f"  {name}: {spent:g} > {limit:g}")
    if over:
        raise AssertionError("\n".join(["The run is over budget:", *over]))
    if unrecorded:
        names = " and no ".join(unrecorded)
        report_vacuous(f"assert_budget() passed because no {names} were recorded in this run.", strict=strict)
    else:
        limits_given = ", ".join(f"{name}={limit}" for name, limit in given.items())
        warn_if_vacuous(result, f"assert_budget(result, {limits_given})", strict=strict)


def _turns(result: Subject) -> int | None:
    steps: list[TraceEntry | ToolCall] = [*trace_of(result), *calls_of(result)]
    replies = {(each.run, each.turn) for each in steps if each.turn is not None}
    if replies or isinstance(result, list | tuple):
        return len(replies) or None
    turns: int | None = result_of(result).metadata.get("turns")
    return turns


def _tokens(result: Subject) -> int | None:
    usage = result_of(result).usage
    return usage.total_tokens or None


def _duration(result: Subject) -> float | None:
    durations = [call.duration for call in calls_of(result) if call.duration is not None]
    return sum(durations) if durations else None


_SPENT: dict[str, Callable[[Any], float | None]] = {
    "turns": _turns,
    "tool_calls": lambda result: len(calls_of(result)),
    "tokens": _tokens,
    "duration": _duration,
}
