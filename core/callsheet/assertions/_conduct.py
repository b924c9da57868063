"""Assertions about how an agent goes about its work: repeats, loops, and tools it should not touch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from callsheet._checks import check_known_tools, warn_if_vacuous
from callsheet._equality import UnfreezableError, equal, freeze
from callsheet._errors import ExpectationError
from callsheet._rendering import call_text
from callsheet._showing import shown
from callsheet._subject import Subject, calls_of
from callsheet._suggest import listed
from callsheet._values import ToolCall

_MOST_SHOWN = 10
_FEWEST_ROUNDS = 2


def assert_no_duplicate_calls(result: Subject, *, allow: Collection[str] = (), strict: bool = False) -> None:
    """Assert that no tool was called twice with equal arguments.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        allow: Tools that may be, such as one that polls.
        strict: Whether an empty trajectory, in which nothing happened at all, fails instead of warning.

    Raises:
        AssertionError: One was.
    """
    __tracebackhide__ = True
    _refuse_text("allow", allow)
    check_known_tools(result, allow)
    calls = calls_of(result)
    first: dict[int, int] = {}
    lines = []
    for position, kind in enumerate(_kinds(calls)):
        call = calls[position]
        if kind in first and call.name not in allow:
            lines.append(f"  [{position}] repeats [{first[kind]}]: {call_text(call.name, call.args)}")
        first.setdefault(kind, position)
    if lines:
        raise AssertionError("\n".join([f"{len(lines)} call(s) repeat an earlier one:", *_shortened(lines)]))
    if not calls:
        warn_if_vacuous(result, "assert_no_duplicate_calls(result)", strict=strict)


def assert_no_loop(result: Subject, *, repeats: int = 3, longest: int = 10, strict: bool = False) -> None:
    """Assert that the agent did not go round in circles: the same calls in the same order, again and again.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        repeats: How many rounds in a row make a loop, at least 2.
        longest: The most calls in a round that are looked for.
        strict: Whether an empty trajectory, in which nothing happened at all, fails instead of warning.

    Raises:
        AssertionError: It did.
    """
    __tracebackhide__ = True
    if repeats < _FEWEST_ROUNDS or longest < 1:
        raise ExpectationError(f"A loop has 2 or more rounds of 1 or more calls, not {repeats} of {longest}.")
    calls = calls_of(result)
    kinds = _kinds(calls)
    for length in range(1, min(longest, len(kinds) // repeats) + 1):
        agreeing = 0
        for position in range(length, len(kinds)):
            agreeing = agreeing + 1 if kinds[position] == kinds[position - length] else 0
            if agreeing == length * (repeats - 1):
                start = position + 1 - length * repeats
                shown = [call_text(call.name, call.args) for call in calls[start : start + length]]
                lines = [f"  [{start + k}] {text}" for k, text in enumerate(shown)]
                title = f"The agent loops: {length} call(s), {repeats} times in a row from [{start}]:"
                raise AssertionError("\n".join([title, *lines]))
    if not calls:
        warn_if_vacuous(result, "assert_no_loop(result)", strict=strict)


def assert_only_tools(result: Subject, allowed: Iterable[str], *, strict: bool = False) -> None:
    """Assert that no tool but these was called.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        allowed: The names of the tools that may be called.
        strict: Whether an empty trajectory, in which nothing happened at all, fails instead of warning.

    Raises:
        AssertionError: Another was.
        ExpectationError: A name is not a tool of the agent.
    """
    __tracebackhide__ = True
    _refuse_text("allowed", allowed)
    names = list(allowed)
    check_known_tools(result, names)
    calls = calls_of(result)
    others = [(position, call) for position, call in enumerate(calls) if call.name not in names]
    if others:
        lines = [f"  [{position}] {call_text(call.name, call.args)}" for position, call in others]
        title = f"{len(others)} call(s) of tools that are not allowed; allowed: {listed(names)}."
        raise AssertionError("\n".join([title, *_shortened(lines)]))
    if not calls:
        warn_if_vacuous(result, "assert_only_tools(result, ...)", strict=strict)


def _kinds(calls: Sequence[ToolCall]) -> list[int]:
    """Give every call a number that calls with equal names and arguments share."""
    known: dict[Any, int] = {}
    others: list[tuple[ToolCall, int]] = []
    kinds = []
    for position, call in enumerate(calls):
        try:
            kinds.append(known.setdefault((call.name, freeze(call.args)), position))
        except UnfreezableError:
            equals = [
                kind for other, kind in others if equal((other.name, other.args), (call.name, call.args))
            ]
            kinds.append(equals[0] if equals else position)
            others.append((call, kinds[-1]))
    return kinds


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= _MOST_SHOWN:
        return lines
    return [*lines[:_MOST_SHOWN], f"  ... and {len(lines) - _MOST_SHOWN} more"]


def _refuse_text(option: str, names: Any) -> None:
    if isinstance(names, str):
        raise ExpectationError(f"{option} is a list of tool names, not {shown(names)}. Put it in brackets.")
