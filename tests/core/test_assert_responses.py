"""The assertions about the final text, the headers and the model."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dirty_equals import IsStr

from callsheet import (
    AgentResult,
    ExpectationError,
    ToolCall,
    assert_headers,
    assert_model_used,
    assert_response_contains,
    assert_response_equals,
    assert_response_matches,
)

RESULT = AgentResult(
    "Invoice INV-042 was sent.", model_used="nova-pro", headers={"X-Site-Id": "1234", "Accept": "text/plain"}
)


class Session:
    result = RESULT
    tool_calls: list[ToolCall] = []


@pytest.mark.parametrize("subject", [RESULT, Session()])
def test_what_is_there_passes(subject: Any) -> None:
    assert_response_contains(subject, "INV-042")
    assert_response_matches(subject, r"INV-\d{3}")
    assert_response_matches(subject, re.compile("SENT", re.IGNORECASE))
    assert_response_equals(subject, "Invoice INV-042 was sent.")
    assert_response_equals(subject, IsStr(regex="Invoice .*"))
    assert_model_used(subject, "nova-pro")
    assert_headers(subject, {"x-site-id": "1234"})
    assert_headers(subject, {"X-SITE-ID": IsStr, "accept": "text/plain"}, exact=True)


@pytest.mark.parametrize(
    ("check", "says"),
    [
        (lambda: assert_response_contains(RESULT, "paid"), "does not contain expected substring"),
        (lambda: assert_response_contains(RESULT, "invoice"), "case is ignored"),
        (lambda: assert_response_matches(RESULT, r"INV-\d{4}"), "does not match expected pattern"),
        (lambda: assert_response_matches(RESULT, re.compile("x{3}")), re.escape("x{3}")),
        (lambda: assert_response_equals(RESULT, "Invoice INV-043 was sent."), "first diff at position 14"),
        (lambda: assert_model_used(RESULT, "nova"), "Expected model 'nova', got 'nova-pro'"),
        (lambda: assert_headers(RESULT, {"X-Site-Id": "1"}), "Header 'X-Site-Id': expected '1', got '1234'"),
        (
            lambda: assert_headers(RESULT, {"X-Site": "1"}),
            "Missing header 'X-Site'.*Did you mean 'X-Site-Id'",
        ),
        (lambda: assert_headers(RESULT, {"X-Site-Id": "1234"}, exact=True), "Unexpected headers: 'Accept'"),
    ],
)
def test_what_is_not_there_fails(check: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check()


@pytest.mark.parametrize(
    "check",
    [
        lambda: assert_response_contains(RESULT, None),  # type: ignore[arg-type]
        lambda: assert_headers(RESULT, ["X-Site-Id"]),  # type: ignore[arg-type]
        lambda: assert_headers(RESULT, {1: "x"}),  # type: ignore[dict-item]
    ],
)
def test_a_malformed_expectation_is_an_error_of_its_own(check: Any) -> None:
    with pytest.raises(ExpectationError, match=r"(Give a text|wants a mapping of header names, not)"):
        check()


@pytest.mark.parametrize(
    "check",
    [
        lambda: assert_response_contains([ToolCall("a")], "x"),
        lambda: assert_headers([], {}),
        lambda: assert_model_used("nova-pro", "nova-pro"),
    ],
)
def test_calls_alone_have_no_response_headers_or_model(check: Any) -> None:
    with pytest.raises(ExpectationError, match="Expected an AgentResult or a session"):
        check()


@pytest.mark.parametrize("pattern", ["(", 5, None])
def test_what_is_no_expression_is_no_expectation(pattern):
    with pytest.raises(ExpectationError, match="is no regular expression"):
        assert_response_matches(AgentResult("hi"), pattern)


def test_only_a_text_can_be_contained():
    with pytest.raises(ExpectationError, match="is 5. Give a text"):
        assert_response_contains(AgentResult("5"), 5)
