"""Assertions about the final text."""

from __future__ import annotations

import re
from typing import Any

from callsheet._equality import equal
from callsheet._errors import ExpectationError
from callsheet._rendering import shown
from callsheet._subject import Subject, result_of
from callsheet.diff import format_value_diff


def assert_response_contains(result: Subject, substring: str) -> None:
    """Assert that the final text contains a text, case counting.

    Args:
        result: An `AgentResult` or a session.
        substring: The text.

    Raises:
        AssertionError: It does not.
        ExpectationError: What is looked for is no text.
    """
    __tracebackhide__ = True
    response = result_of(result).response
    if not isinstance(substring, str):
        raise ExpectationError(f"What the response should contain is {substring!r}. Give a text.")
    if substring not in response:
        hint = ""
        if substring.casefold() in response.casefold():
            hint = "\n  It does when case is ignored: assert_response_matches(result, '(?i)...')."
        raise AssertionError(
            "Response does not contain expected substring.\n"
            f"  Expected substring: {shown(substring)}\n"
            f"  Actual response: {shown(response, limit=1000)}{hint}"
        )


def assert_response_matches(result: Subject, pattern: str | re.Pattern[str]) -> None:
    """Assert that a regular expression is found in the final text (`re.search`).

    Args:
        result: An `AgentResult` or a session.
        pattern: The expression, as text or compiled.

    Raises:
        AssertionError: It is not.
        ExpectationError: It is no regular expression.
    """
    __tracebackhide__ = True
    response = result_of(result).response
    try:
        found = re.search(pattern, response)
    except (re.error, TypeError) as problem:
        raise ExpectationError(
            f"{pattern!r} is no regular expression: {problem}. Escape a text with re.escape."
        ) from problem
    if not found:
        text = pattern if isinstance(pattern, str) else pattern.pattern
        raise AssertionError(
            "Response does not match expected pattern.\n"
            f"  Pattern: {shown(text)}\n"
            f"  Actual response: {shown(response, limit=1000)}"
        )


def assert_response_equals(result: Subject, expected: Any) -> None:
    """Assert that the final text is exactly a text, or what a matcher accepts.

    Args:
        result: An `AgentResult` or a session.
        expected: The text, or a matcher for it.

    Raises:
        AssertionError: It is another.
    """
    __tracebackhide__ = True
    response = result_of(result).response
    if not equal(expected, response):
        difference = format_value_diff(expected, response, label="response")
        raise AssertionError(f"Response does not match exactly:\n{difference}")
