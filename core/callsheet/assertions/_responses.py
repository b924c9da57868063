"""Assertions about the final text."""

from __future__ import annotations

import re
from typing import Any

from callsheet._checks import report_vacuous, warn_if_vacuous
from callsheet._equality import equal
from callsheet._errors import ExpectationError
from callsheet._rendering import narrowed
from callsheet._showing import shown
from callsheet._subject import Subject, result_of
from callsheet.diff import format_value_diff


def assert_response_contains(result: Subject, substring: str, *, strict: bool = False) -> None:
    """Assert that the final text contains a text, case counting.

    Args:
        result: An `AgentResult` or a session.
        substring: The text.
        strict: Whether an empty text, which every response contains, fails instead of warning.

    Raises:
        AssertionError: It does not.
        ExpectationError: The substring is no text.
    """
    __tracebackhide__ = True
    if not isinstance(substring, str):
        raise ExpectationError(f"What the response should contain is {shown(substring)}. Give a text.")
    response = result_of(result).response
    if substring not in response:
        hint = []
        if substring.casefold() in response.casefold():
            hint.append("  It does when case is ignored: assert_response_matches(result, '(?i)...').")
        raise AssertionError(
            narrowed(
                [
                    "Response does not contain expected substring.",
                    f"  Expected substring: {shown(substring)}",
                    f"  Actual response: {shown(response, limit=1000)}",
                    *hint,
                ]
            )
        )
    if not substring:
        report_vacuous("assert_response_contains(result, '') passes whatever was said.", strict=strict)


def assert_response_matches(result: Subject, pattern: str | re.Pattern[str], *, strict: bool = False) -> None:
    """Assert that a regular expression is found in the final text (`re.search`).

    Args:
        result: An `AgentResult` or a session.
        pattern: The expression, as text or compiled.
        strict: Whether a pass on an empty trajectory, in which nothing happened at all, fails instead of
            warning.

    Raises:
        AssertionError: It is not.
        ExpectationError: The expression is malformed, or none for text.
    """
    __tracebackhide__ = True
    whole = result_of(result)
    response = whole.response
    try:
        found = re.search(pattern, response)
    except (re.error, TypeError) as problem:
        raise ExpectationError(
            f"{shown(pattern)} is no regular expression: {problem}. Escape a text with re.escape."
        ) from problem
    if not found:
        text = pattern if isinstance(pattern, str) else pattern.pattern
        raise AssertionError(
            narrowed(
                [
                    "Response does not match expected pattern.",
                    f"  Pattern: {shown(text)}",
                    f"  Actual response: {shown(response, limit=1000)}",
                ]
            )
        )
    warn_if_vacuous(whole, "assert_response_matches(result, ...)", strict=strict)


def assert_response_equals(result: Subject, expected: Any, *, strict: bool = False) -> None:
    """Assert that the final text is exactly a text, or what a matcher accepts.

    Args:
        result: An `AgentResult` or a session.
        expected: The text, or a matcher for it.
        strict: Whether a pass on an empty trajectory, in which nothing happened at all, fails instead of
            warning.

    Raises:
        AssertionError: It is another.
    """
    __tracebackhide__ = True
    whole = result_of(result)
    response = whole.response
    if not equal(expected, response):
        difference = format_value_diff(expected, response, label="response")
        raise AssertionError(narrowed(["Response does not match exactly:", *difference.splitlines()]))
    warn_if_vacuous(whole, "assert_response_equals(result, ...)", strict=strict)
