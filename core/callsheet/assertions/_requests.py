"""Assertions about the model requests: their headers and the model they went to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callsheet._checks import report_vacuous, warn_if_vacuous
from callsheet._equality import equal
from callsheet._errors import ExpectationError
from callsheet._rendering import listed_lines, narrowed
from callsheet._showing import shown, shown_under
from callsheet._subject import Subject, result_of
from callsheet._suggest import did_you_mean, listed

_MOST_SHOWN = 10


def assert_headers(
    result: Subject,
    expected: Mapping[str, Any],
    exact: bool = False,  # noqa: FBT001, FBT002 - a position of the public contract
    *,
    strict: bool = False,
) -> None:
    """Assert that headers reached the model requests; names are compared without regard to case (RFC 9110).

    Args:
        result: An `AgentResult` or a session.
        expected: Header name -> value or matcher.
        exact: Whether no other header may be there.
        strict: Whether what nothing could fail (no header, without `exact`) fails instead of warning, as does
            a pass on an empty trajectory, in which nothing happened at all.

    Raises:
        AssertionError: A header is missing, different, or (exact) too many.
        ExpectationError: `expected` is no mapping of names.
    """
    __tracebackhide__ = True
    if not isinstance(expected, Mapping) or not all(isinstance(name, str) for name in expected):
        raise ExpectationError(f"assert_headers() wants a mapping of header names, not {shown(expected)}.")
    whole = result_of(result)
    headers = whole.headers
    actual = {name.lower(): (name, value) for name, value in headers.items()}
    wanted = {name.lower() for name in expected}
    missing = [name for name in expected if name.lower() not in actual]
    wrong = [
        (name, actual[name.lower()][1])
        for name in expected
        if name.lower() in actual and not equal(expected[name], actual[name.lower()][1])
    ]

    def missed(name: str) -> str:
        hint = did_you_mean(name, headers)
        return f"  Missing header '{name}': expected {shown_under(name, expected[name])}{hint}"

    def differed(each: tuple[str, str]) -> str:
        name, value = each
        return (
            f"  Header '{name}': expected {shown_under(name, expected[name])}, got {shown_under(name, value)}"
        )

    lines = listed_lines(missing, missed, most=_MOST_SHOWN) + listed_lines(wrong, differed, most=_MOST_SHOWN)
    if exact:
        extra = [name for key, (name, _) in actual.items() if key not in wanted]
        if extra:
            more = f" and {len(extra) - _MOST_SHOWN} more" if len(extra) > _MOST_SHOWN else ""
            lines.append(f"  Unexpected headers: {listed(extra[:_MOST_SHOWN])}{more}")
    if lines:
        title = "Headers do not match exactly:" if exact else "Header assertion failed:"
        raise AssertionError(narrowed([title, *lines]))
    if not expected and not exact:
        report_vacuous("assert_headers() without a header passes whatever was sent.", strict=strict)
    else:
        warn_if_vacuous(whole, "assert_headers(result, ...)", strict=strict)


def assert_model_used(result: Subject, expected: Any, *, strict: bool = False) -> None:
    """Assert which model the agent was configured with.

    Args:
        result: An `AgentResult` or a session.
        expected: The model's name, or a matcher for it.
        strict: Whether a pass on an empty trajectory, in which nothing happened at all, fails instead of
            warning.

    Raises:
        AssertionError: It was another.
    """
    __tracebackhide__ = True
    whole = result_of(result)
    actual = whole.model_used
    if not equal(expected, actual):
        raise AssertionError(narrowed([f"Expected model {shown(expected)}, got {shown(actual)}."]))
    warn_if_vacuous(whole, "assert_model_used(result, ...)", strict=strict)
