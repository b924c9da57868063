"""The transport: what any body may look like around its events."""

from __future__ import annotations

import json
from itertools import count

import pytest

from callsheet import UnknownFormatError, parse_response, parse_stream

CHUNK = {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}
LAST = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
BODY = f"data: {json.dumps(CHUNK)}\n\ndata: {json.dumps(LAST)}\n\ndata: [DONE]\n\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_of_the_standard_is_one(line_end: str) -> None:
    result = parse_stream(BODY.replace("\n", line_end))
    assert (result.response, result.metadata["truncated"]) == ("Hi", False)


@pytest.mark.parametrize(
    "noise",
    [": keep-alive\n\n", "retry: 3000\n", "id: 7\n", "event: ping\ndata: \n\n", "unknown: x\n", ":\n"],
)
def test_comments_and_other_fields_say_nothing(noise: str) -> None:
    result = parse_stream(noise + BODY)
    assert (result.response, result.error) == ("Hi", None)


def test_a_ping_need_not_be_json() -> None:
    assert parse_stream("event: ping\ndata: tick\n\n" + BODY).error is None


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\n\n  "])
def test_a_byte_order_mark_is_passed_over(mark: str) -> None:
    assert parse_stream(mark + BODY).response == "Hi"
    assert parse_stream((mark + BODY).encode()).response == "Hi"


def test_the_lines_of_an_event_are_joined() -> None:
    lines = json.dumps(CHUNK, indent=1).splitlines()
    body = "".join(f"data: {line}\n" for line in lines) + "\n" + BODY
    assert parse_stream(body).response == "HiHi"


def test_a_field_needs_no_space_after_its_colon() -> None:
    assert parse_stream(BODY.replace("data: ", "data:")).response == "Hi"


def test_line_separators_of_unicode_end_no_line() -> None:
    chunk = '{"choices": [{"index": 0, "delta": {"content": "a\u2028b\x85c"}}]}'
    assert parse_stream(f"data: {chunk}\n\n").response == "a\u2028b\x85c"


def test_events_without_a_blank_line_between_them_are_told_apart() -> None:
    result = parse_stream(BODY.replace("\n\n", "\n"))
    assert (result.response, result.metadata["truncated"]) == ("Hi", False)


def test_a_body_cut_inside_an_event_is_truncated_and_keeps_what_came_before() -> None:
    body = f"data: {json.dumps(CHUNK)}\n\ndata: " + json.dumps(LAST)[:-9]
    result = parse_stream(body)
    assert (result.response, result.metadata["truncated"], result.error) == ("Hi", True, None)


def test_a_body_cut_after_its_last_event_but_before_the_blank_line_is_whole() -> None:
    assert parse_stream(BODY.rstrip()).metadata["truncated"] is False


def test_a_cut_is_told_even_after_the_finish_reason() -> None:
    assert parse_stream(BODY.removesuffix("E]\n\n")).metadata["truncated"] is True


@pytest.mark.parametrize("junk", ["{oops", "12", "null", '"text"', "[1]"])
def test_an_unreadable_event_is_an_error_and_the_rest_is_kept(junk: str) -> None:
    result = parse_stream(f"data: {junk}\n\n" + BODY)
    assert result.response == "Hi"
    assert result.error is not None
    assert result.error.startswith("An event of the stream is not a JSON object: ")
    assert result.trace[-1].role == "error"


def test_an_event_of_type_error_need_not_be_json() -> None:
    result = parse_stream(f"data: {json.dumps(CHUNK)}\n\nevent: error\ndata: overloaded\n\n")
    assert (result.response, result.error, result.metadata["truncated"]) == ("Hi", "overloaded", True)


def test_the_type_field_serves_events_whose_data_has_no_type() -> None:
    body = 'event: error\ndata: {"message": "no capacity", "code": 503}\n\n'
    assert parse_stream(body, "sse-openai").error == "503: no capacity"


def test_the_first_error_is_the_one_reported() -> None:
    body = 'data: {"error": {"message": "first"}}\n\ndata: {"error": {"message": "second"}}\n\n'
    assert parse_stream(body).error == "first"


def test_the_first_unreadable_event_is_the_one_reported() -> None:
    result = parse_stream("data: 7\n\ndata: 8\n\n" + BODY)
    assert result.error == "An event of the stream is not a JSON object: '7'"


def test_nesting_too_deep_to_read_is_an_error_not_a_crash() -> None:
    deep = "[" * 100_000
    assert parse_stream(f"data: {deep}\n\n" + BODY).error is not None
    with pytest.raises(UnknownFormatError):
        parse_response('{"a":' * 100_000)


@pytest.mark.parametrize("body", ["", " \n", b"", ": hello\n\n", "data:\n\n", [], iter(())], ids=count())
def test_a_stream_of_nothing_is_truncated_where_the_format_is_named(body: object) -> None:
    result = parse_stream(body, "sse-openai")
    assert (result.tool_calls, result.metadata["truncated"], result.metadata["turns"]) == ([], True, 0)


@pytest.mark.parametrize("body", ["", "hello", "<html>Bad gateway</html>", ": hello\n\n", []])
def test_a_stream_of_nothing_has_no_format_to_tell(body: object) -> None:
    with pytest.raises(UnknownFormatError, match="Can't tell the format of"):
        parse_stream(body)


def test_a_body_that_is_no_stream_is_refused_whatever_format_is_named() -> None:
    with pytest.raises(UnknownFormatError, match="is not of the format 'sse-openai'"):
        parse_stream("<html>Bad gateway</html>", "sse-openai")


@pytest.mark.parametrize(
    "end", ['{"a', '{"a": tr', '{"a": -', '{"a": "\\u12', '{"a": 1', '{"a": 1,', "{", '{"a": [', ""]
)
def test_an_array_may_be_cut_anywhere(end: str) -> None:
    result = parse_stream(f"[{json.dumps(CHUNK)}, {end}")
    assert (result.response, result.metadata["truncated"], result.error) == ("Hi", True, None)


@pytest.mark.parametrize(
    "junk", ["{a: 1}", '{"a" 1}', '{"a": 1]', '{"a":' * 100_000, f'{{"a": {"9" * 5000}}}']
)
def test_an_array_with_an_unreadable_object_is_an_error_and_keeps_what_came_before(junk: str) -> None:
    result = parse_stream(f"[{json.dumps(CHUNK)}, {junk}, {json.dumps(LAST)}]")
    assert (result.response, result.metadata["truncated"]) == ("Hi", True)
    assert result.error is not None
    assert result.error.startswith("An event of the stream is not a JSON object: ")


def test_an_array_is_read_up_to_where_it_was_cut() -> None:
    body = json.dumps([CHUNK, LAST])
    assert parse_stream(body).metadata["truncated"] is False
    cut = parse_stream(body[:-20])
    assert (cut.response, cut.metadata["truncated"], cut.error) == ("Hi", True, None)


def test_an_array_that_goes_on_with_something_else_reports_it() -> None:
    assert parse_stream(f"[{json.dumps(CHUNK)}, oops").error is not None
    assert parse_stream(f"[{json.dumps(CHUNK)}, 7]").error is not None


def test_objects_on_lines_of_their_own_are_events() -> None:
    result = parse_stream(f"{json.dumps(CHUNK)}\n{json.dumps(LAST)}\n")
    assert (result.response, result.metadata["truncated"]) == ("Hi", False)


def test_an_array_of_no_objects_is_no_stream() -> None:
    with pytest.raises(UnknownFormatError):
        parse_stream('[{"choices": [')
