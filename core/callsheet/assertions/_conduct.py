"""Assertions about how an agent goes about its work: repeats, loops, and tools it should not touch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from callsheet._checks import check_known_tools, warn_if_vacuous
from callsheet._equality import UnfreezableError, equal, freeze
from callsheet._errors import ExpectationError
from callsheet._rendering import call_text, listed_lines, narrowed
from callsheet._showing import shown
from callsheet._subject import Subject, calls_of
from callsheet._suggest import listed
from callsheet._values import ToolCall

_MOST_SHOWN = 10
_MOST_NAMES = 20
_LONGEST_CALL = 48
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
    repeats = []
    for position, kind in enumerate(_kinds(calls)):
        if kind in first and calls[position].name not in allow:
            repeats.append((position, first[kind]))
        first.setdefault(kind, position)
    if repeats:
        title = f"{len(repeats)} call(s) repeat an earlier one:"
        lines = listed_lines(
            repeats,
            lambda each: f"  [{each[0]}] repeats [{each[1]}]: {_shown(calls[each[0]])}",
            most=_MOST_SHOWN,
        )
        raise AssertionError(narrowed([title, *lines]))
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
    counts = all(isinstance(number, int) and not isinstance(number, bool) for number in (repeats, longest))
    if not counts or repeats < _FEWEST_ROUNDS or longest < 1:
        raise ExpectationError(
            f"A loop has 2 or more rounds of 1 or more calls, not {shown(repeats)} of {shown(longest)}."
        )
    calls = calls_of(result)
    numbers: dict[Any, int] = {}
    keys = [None if key is None else numbers.setdefault(key, len(numbers)) for key in map(_key, calls)]
    for length in range(1, min(longest, len(calls) // repeats) + 1):
        agreeing = 0
        for position in range(length, len(calls)):
            earlier = position - length
            known = keys[position] is not None and keys[earlier] is not None
            same = keys[position] == keys[earlier] if known else _same(calls[position], calls[earlier])
            agreeing = agreeing + 1 if same else 0
            if agreeing == length * (repeats - 1):
                start = position + 1 - length * repeats
                lines = listed_lines(
                    range(start, start + length),
                    lambda position: f"  [{position}] {_shown(calls[position])}",
                    most=_MOST_SHOWN,
                )
                title = f"The agent loops: {length} call(s), {repeats} times in a row from [{start}]:"
                raise AssertionError(narrowed([title, *lines]))
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
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        allowed_names = f"{listed(names[:_MOST_NAMES])}{more}"
        title = f"{len(others)} call(s) of tools that are not allowed; allowed: {allowed_names}."
        lines = listed_lines(others, lambda each: f"  [{each[0]}] {_shown(each[1])}", most=_MOST_SHOWN)
        raise AssertionError(narrowed([title, *lines]))
    if not calls:
        warn_if_vacuous(result, "assert_only_tools(result, ...)", strict=strict)


def _kinds(calls: Sequence[ToolCall]) -> list[int]:
    """Give every call a number that calls with equal names and arguments share."""
    known: dict[Any, int] = {}
    others: list[tuple[ToolCall, int]] = []
    kinds = []
    for position, call in enumerate(calls):
        key = _key(call)
        if key is not None:
            kinds.append(known.setdefault(key, position))
            continue
        kinds.append(next((kind for other, kind in others if _same(other, call)), position))
        others.append((call, kinds[-1]))
    return kinds


def _key(call: ToolCall) -> Any:
    try:
        return call.name, freeze(call.args)
    except UnfreezableError:
        return None


def _same(one: ToolCall, other: ToolCall) -> bool:
    return one.name == other.name and equal(one.args, other.args)


def _shown(call: ToolCall) -> str:
    return call_text(call.name, call.args, limit=_LONGEST_CALL)


def _refuse_text(option: str, names: Any) -> None:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ExpectationError(f"{option} is a list of tool names, not {shown(names)}. Put it in brackets.")
