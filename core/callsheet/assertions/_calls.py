"""Assertions about which tools were called, how often, in which order and with what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callsheet._arg_policy import ArgPolicy, apply_policies
from callsheet._checks import check_known_tools, check_mentioned_tools, report_vacuous, warn_if_vacuous
from callsheet._equality import equal
from callsheet._errors import ExpectationError
from callsheet._expected import expected_calls
from callsheet._failures import calls_failure, names_text
from callsheet._matching import match_in_order, match_one_to_one, match_subsequence
from callsheet._plain import surely_the_same
from callsheet._redaction import redact_text_for_display
from callsheet._rendering import listed_lines, narrowed
from callsheet._showing import shown, shown_under
from callsheet._subject import Subject, calls_of
from callsheet._suggest import did_you_mean


def assert_tool_calls(
    result: Subject,
    expected: Iterable[Any],
    strict_order: bool = True,  # noqa: FBT001, FBT002 - a position of the public contract
    *,
    policies: Mapping[str, ArgPolicy] | None = None,
    strict: bool = False,
) -> None:
    """Assert that the agent made exactly the expected tool calls.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        expected: `{"name", "args"}` dicts (args omitted: any), `ToolCall`s, names, or matchers.
        strict_order: Whether the order counts. If not, expected and actual calls are paired one to one,
            optimally: whenever some pairing satisfies everything, it is found.
        policies: Tool name -> `callsheet.match.ArgPolicy`: arguments to ignore, to fill in, or to compare
            in another way.
        strict: Whether expecting no calls fails, instead of warning, on an empty trajectory, in which
            nothing happened at all.

    Raises:
        AssertionError: The calls differ; the message leads with the smallest edit that would pass.
        ExpectationError: An expectation is malformed or names a tool the agent does not have.
    """
    __tracebackhide__ = True
    actual = calls_of(result)
    if not policies and surely_the_same(expected, actual, ordered=strict_order):
        return
    wanted = expected_calls(expected)
    check_mentioned_tools(result, wanted)
    wanted, actual = apply_policies(policies, wanted, actual)
    if not wanted:
        warn_if_vacuous(result, "assert_tool_calls(result, [])", strict=strict)
    matching = None
    if strict_order:
        passed = match_in_order(wanted, actual)
    else:
        matching = match_one_to_one(wanted, actual)
        passed = not matching.missing and not matching.extra
    if not passed:
        raise AssertionError(calls_failure(wanted, actual, ordered=strict_order, matching=matching))


def assert_tool_call_count(result: Subject, expected: int, *, strict: bool = False) -> None:
    """Assert how many tool calls the agent made.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        expected: How many, from 0.
        strict: Whether expecting none fails, instead of warning, on an empty trajectory, in which nothing
            happened at all.

    Raises:
        AssertionError: It made another number.
        ExpectationError: The number is no whole number from 0.
    """
    __tracebackhide__ = True
    if isinstance(expected, bool) or not isinstance(expected, int) or expected < 0:
        raise ExpectationError(f"The expected count is a whole number from 0, not {shown(expected)}.")
    actual = calls_of(result)
    if expected == 0:
        warn_if_vacuous(result, "assert_tool_call_count(result, 0)", strict=strict)
    if len(actual) != expected:
        title = f"Expected {expected} tool call(s), got {len(actual)}."
        raise AssertionError(narrowed([title, f"  Actual calls: {names_text(actual)}"]))


def assert_no_tool_calls(result: Subject, *, strict: bool = False) -> None:
    """Assert that the agent called no tool.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        strict: Whether an empty trajectory, in which nothing happened at all, fails instead of warning.

    Raises:
        AssertionError: It called one.
    """
    __tracebackhide__ = True
    actual = calls_of(result)
    if actual:
        raise AssertionError(calls_failure([], actual, title="Expected no tool calls"))
    warn_if_vacuous(result, "assert_no_tool_calls(result)", strict=strict)


def assert_tool_call_order(
    result: Subject,
    names: Sequence[str],
    exact: bool = False,  # noqa: FBT001, FBT002 - a position of the public contract
    *,
    strict: bool = False,
) -> None:
    """Assert that tools were called in an order, other calls in between allowed.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        names: Tool names in the order wanted; a name given twice is wanted twice.
        exact: Whether these are all the calls there may be.
        strict: Whether what nothing could fail (no names) fails instead of warning, as does expecting exactly
            no calls on an empty trajectory.

    Raises:
        AssertionError: The order is another; the message starts with "Tool call order mismatch".
        ExpectationError: A name is not a tool of the agent.
    """
    __tracebackhide__ = True
    actual, wanted = calls_of(result), expected_calls(names)
    if not wanted and not exact:
        report_vacuous("assert_tool_call_order() without a name passes whatever happens.", strict=strict)
    check_mentioned_tools(result, wanted)
    passed = match_in_order(wanted, actual) if exact else not match_subsequence(wanted, actual).missing
    if not passed:
        raise AssertionError(calls_failure(wanted, actual, gaps=not exact, title="Tool call order mismatch"))
    if not wanted and exact:
        warn_if_vacuous(result, "assert_tool_call_order(result, [], exact=True)", strict=strict)


def assert_tool_args_contain(
    result: Subject, tool: str, partial: Mapping[str, Any], call_index: int = 0
) -> None:
    """Assert that a call of a tool has these arguments, whatever others it has.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        tool: The tool's name.
        partial: The arguments it must have; each value is compared whole, and may be a matcher.
        call_index: Which call of this tool, from 0; negative counts from the last.

    Raises:
        AssertionError: The tool was not called that often, or an argument is missing or different.
        ExpectationError: `partial` is no mapping, or the agent does not have the tool.
    """
    __tracebackhide__ = True
    if not isinstance(partial, Mapping):
        raise ExpectationError(f"The arguments wanted are a mapping, not {shown(partial)}.")
    actual = calls_of(result)
    check_known_tools(result, [tool])
    calls = [call for call in actual if call.name == tool]
    if not calls:
        title = f"Tool '{tool}' was never called.{did_you_mean(tool, {call.name for call in actual})}"
        raise AssertionError(narrowed([title, f"  Actual calls: {names_text(actual)}"]))
    if not -len(calls) <= call_index < len(calls):
        text = f"Tool '{tool}' was called {len(calls)} time(s), but call_index={call_index} was asked for."
        raise AssertionError(narrowed([text]))
    args = calls[call_index].args
    missing = [key for key in partial if key not in args]
    wrong = [key for key in partial if key in args and not equal(partial[key], args[key])]
    if missing or wrong:
        lines = [f"Partial argument mismatch for tool '{tool}' (call {call_index}):"]
        lines += listed_lines(missing, lambda key: _missing(key, partial[key], args), most=_MOST_SHOWN)
        lines += listed_lines(wrong, lambda key: _wrong(key, partial[key], args[key]), most=_MOST_SHOWN)
        raise AssertionError(narrowed(map(redact_text_for_display, lines)))


_MOST_SHOWN = 10


def _missing(key: str, expected: Any, args: Mapping[str, Any]) -> str:
    return f"  Missing argument '{key}': expected {shown_under(key, expected)}{did_you_mean(key, args)}"


def _wrong(key: str, expected: Any, actual: Any) -> str:
    return f"  Argument '{key}': expected {shown_under(key, expected)}, got {shown_under(key, actual)}"
