"""Checks of the question itself: can this assertion fail at all, and is it about a tool that exists?"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from callsheet._equality import equal
from callsheet._errors import UnknownToolError, VacuousAssertionWarning
from callsheet._expected import Expected
from callsheet._subject import Subject, calls_of, known_tools_of, trace_of
from callsheet._suggest import did_you_mean, listed


def check_mentioned_tools(result: Subject, expected: Iterable[Expected]) -> None:
    """Raise for an expectation about a tool that the agent neither has nor called.

    Raises:
        UnknownToolError: Whoever ran the agent recorded its tools, and a name is not one of them.
    """
    __tracebackhide__ = True
    check_known_tools(result, (name for item in expected for name in item.mentioned_tools()))


def check_known_tools(result: Subject, names: Iterable[Any]) -> None:
    """Raise for a name, or a matcher for names, of no tool of the agent and of no call it made.

    Raises:
        UnknownToolError: Whoever ran the agent recorded its tools, and the name is not one of them.
    """
    __tracebackhide__ = True
    known = known_tools_of(result)
    if known is None:
        return
    everything = {*known, *(call.name for call in calls_of(result))}
    for name in names:
        there = name in everything if isinstance(name, str) else any(equal(name, each) for each in everything)
        if not there:
            raise UnknownToolError(
                f"The agent has no tool {name!r}, so this assertion is about nothing; "
                f"its tools: {listed(sorted(known))}.{did_you_mean(name, everything)}"
            )


def warn_if_vacuous(result: Subject, question: str, *, strict: bool = False) -> None:
    """Warn, or fail when strict, if nothing happened at all: then any negative assertion passes.

    Raises:
        AssertionError: Nothing happened and `strict` is set.
    """
    __tracebackhide__ = True
    if _something_happened(result):
        return
    report_vacuous(
        f"{question} passed on an empty trajectory: no message, no reply, no call. "
        "Check that the agent ran and that this is its result.",
        strict=strict,
        stacklevel=4,
    )


def report_vacuous(message: str, *, strict: bool, stacklevel: int = 3) -> None:
    """Warn that an assertion passed for want of anything to check, or fail when strict.

    Args:
        message: What could not be checked.
        strict: Whether to fail.
        stacklevel: How many frames up the test is.

    Raises:
        AssertionError: `strict` is set.
    """
    __tracebackhide__ = True
    if strict:
        raise AssertionError(message)
    warnings.warn(message, VacuousAssertionWarning, stacklevel=stacklevel)


def _something_happened(result: Subject) -> bool:
    if calls_of(result) or trace_of(result):
        return True
    metadata = getattr(result, "metadata", None) or {}
    evidence = ("response", "error", "output", "model_used", "headers")
    return bool(metadata.get("turns")) or any(getattr(result, field, None) for field in evidence)
