"""Telling formats apart, and saying why where that is impossible."""

from __future__ import annotations

from typing import Any

import pytest

from callsheet import AgentResult, UnknownFormatError, parse_response, parse_stream

SHAPES: dict[str, dict[str, Any]] = {
    "openai": {"choices": [{"message": {"content": "Hi"}}]},
    "openai-responses": {
        "object": "response",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
    },
    "anthropic": {"type": "message", "content": [{"type": "text", "text": "Hi"}]},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]},
    "vercel": {"text": "Hi", "toolCalls": [], "finishReason": "stop"},
}
EVENTS: dict[str, dict[str, Any]] = {
    "openai": {"choices": [{"delta": {"content": "Hi"}}]},
    "openai-responses": {"type": "response.output_text.delta", "delta": "Hi"},
    "anthropic": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hi"}},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]},
    "vercel": {"type": "text-delta", "id": "0", "delta": "Hi"},
}


@pytest.mark.parametrize("format", SHAPES)
def test_a_response_shows_its_format(format: Any) -> None:
    for result in (parse_response(SHAPES[format]), parse_response(SHAPES[format], format)):
        assert (result.response, result.metadata["format"]) == ("Hi", format)


@pytest.mark.parametrize("format", EVENTS)
def test_a_stream_shows_its_format(format: str) -> None:
    named: Any = f"sse-{format}"
    for result in (parse_stream([EVENTS[format]]), parse_stream([EVENTS[format]], named)):
        assert (result.response, result.metadata["format"]) == ("Hi", format)


@pytest.mark.parametrize("format", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_a_payload_of_another_format_than_named_is_refused_never_read_as_empty(
    format: Any, other: str
) -> None:
    if format != other:
        with pytest.raises(UnknownFormatError, match=rf"is not of the format '{format}'.* like '{other}'"):
            parse_response(SHAPES[other], format)


def test_a_stream_of_another_format_than_named_is_refused() -> None:
    with pytest.raises(UnknownFormatError, match=r"not of the format 'sse-gemini'.* it looks like 'openai'"):
        parse_stream([EVENTS["openai"]], "sse-gemini")


CALL = {"functionCall": {"name": "get", "args": {}}}


@pytest.mark.parametrize(
    ("payload", "format"),
    [
        ({"index": 0, "finish_reason": "stop", "message": {"content": "Hi"}}, "openai"),
        ([{"finish_reason": None, "message": {"content": "Hi"}}], "openai"),
        ({"finishReason": "STOP", "content": {"parts": [{"text": "Hi"}]}}, "gemini"),
        ([{"content": {"role": "model", "parts": [{"text": "Hi"}]}}], "gemini"),
        ({"role": "model", "parts": [{"text": "Hi"}]}, "gemini"),
        ([{"role": "model", "parts": [CALL]}, {"parts": [CALL, {"text": "Hi"}]}], "gemini"),
    ],
)
def test_what_stands_inside_a_response_is_one(payload: Any, format: str) -> None:
    result = parse_response(payload)
    assert (result.response, result.metadata["format"]) == ("Hi", format)


@pytest.mark.parametrize("payload", [{"parts": [{"text": "Hi"}]}, {"role": "model", "parts": []}])
def test_parts_that_may_be_anyones_are_refused(payload: Any) -> None:
    with pytest.raises(UnknownFormatError, match="Can't tell the format"):
        parse_response(payload)


def test_gemini_contents_of_a_user_make_a_conversation() -> None:
    contents = [{"role": role, "parts": [{"text": "Hi"}]} for role in ("user", "model")]
    with pytest.raises(UnknownFormatError, match="a conversation, not a model's response"):
        parse_response(contents)


def test_events_that_say_nothing_about_the_format_are_passed_over() -> None:
    assert parse_stream([{"x": 1}, EVENTS["vercel"]]).metadata["format"] == "vercel"


@pytest.mark.parametrize("payload", [{}, {"foo": 1, 2: 3}, {"name": "Bob"}, {"output": [1]}, {"steps": [1]}])
def test_the_error_says_what_was_found_looked_for_and_can_be_passed(payload: object) -> None:
    with pytest.raises(UnknownFormatError) as caught:
        parse_response(payload)
    message = str(caught.value)
    assert message.startswith("Can't tell the format of an object with ")
    assert "'choices' (openai)" in message
    assert message.endswith("one of openai, openai-responses, anthropic, gemini, vercel, calls.")


def test_the_error_for_several_objects_shows_the_first() -> None:
    with pytest.raises(UnknownFormatError, match="2 objects, the first with 'a'"):
        parse_response([{"a": 1}, {"b": 2}])


def test_the_error_for_a_named_format_says_what_was_looked_for_where_nothing_fits() -> None:
    with pytest.raises(UnknownFormatError, match=r"not of the format 'gemini': .* looked for 'choices'"):
        parse_response({"a": 1}, "gemini")


def test_the_error_for_text_shows_its_start() -> None:
    with pytest.raises(UnknownFormatError, match="str 'Service unavailable'"):
        parse_response("Service unavailable")
    with pytest.raises(UnknownFormatError, match="str ''"):
        parse_response("", "openai")


def test_a_format_that_does_not_exist_is_refused_with_the_ones_that_do() -> None:
    wrong: Any = "openai"
    with pytest.raises(UnknownFormatError, match=r"no format 'openai'.* Did you mean 'sse-openai'"):
        parse_stream([], wrong)
    with pytest.raises(UnknownFormatError, match=r"no format 'claude'. Pass one of auto, openai, "):
        parse_response({}, wrong.replace("openai", "claude"))


def test_a_conversation_is_referred_to_from_messages() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    with pytest.raises(UnknownFormatError, match=r"AgentResult.from_messages"):
        parse_response(messages)
    assert AgentResult.from_messages(messages).response == "Hello"


@pytest.mark.parametrize(
    ("payload", "error", "format"),
    [
        ({"error": {"message": "Bad key", "type": "auth", "code": 1}}, "auth: Bad key", "openai"),
        ({"error": "Bad key"}, "Bad key", "openai"),
        ({"error": {"code": 429, "message": "Slow", "status": "EXHAUSTED"}}, "EXHAUSTED: Slow", "gemini"),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}},
            "overloaded_error: Busy",
            "anthropic",
        ),
        (
            {"type": "error", "code": "server_error", "message": "Oops"},
            "server_error: Oops",
            "openai-responses",
        ),
        ({"type": "error", "errorText": "Oops"}, "Oops", "vercel"),
        ({"error": {"odd": 1}}, '{"odd": 1}', "openai"),
        ({"error": {"code": 5, "content": "Why"}}, "5: Why", "openai"),
    ],
)
def test_an_error_alone_is_a_result_with_an_error(payload: dict[str, Any], error: str, format: str) -> None:
    for result in (parse_response(payload), parse_stream(payload)):
        assert (result.error, result.metadata["format"], result.tool_calls) == (error, format, [])
        assert [entry.role for entry in result.trace] == ["error"]


@pytest.mark.parametrize("format", SHAPES)
def test_an_error_is_read_whatever_format_is_named(format: Any) -> None:
    assert parse_response({"error": {"message": "Bad key"}}, format).error == "Bad key"
