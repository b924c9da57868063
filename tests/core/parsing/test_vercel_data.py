"""The Vercel AI SDK's data stream protocol (SDK 3.1 to 4)."""

from __future__ import annotations

import pytest

from callsheet import ToolCall, UnknownFormatError, Usage, parse_response, parse_stream

BODY = "\n".join(
    [
        'f:{"messageId":"msg_1"}',
        'g:"hm"',
        'g:"m"',
        'j:{"signature":"s"}',
        '0:"Let me "',
        '0:"look."',
        '2:[{"progress":1}]',
        '8:[{"id":7}]',
        'b:{"toolCallId":"a","toolName":"get"}',
        'b:{"toolCallId":"b","toolName":"put"}',
        'c:{"toolCallId":"a","argsTextDelta":"{\\"q\\":"}',
        'c:{"toolCallId":"b","argsTextDelta":"{\\"v\\":"}',
        'c:{"toolCallId":"a","argsTextDelta":" 1}"}',
        'c:{"toolCallId":"b","argsTextDelta":" 2}"}',
        '9:{"toolCallId":"a","toolName":"get","args":{"q":1}}',
        '9:{"toolCallId":"b","toolName":"put","args":{"v":2}}',
        'a:{"toolCallId":"a","result":"sunny"}',
        'a:{"toolCallId":"b","result":[1]}',
        'e:{"finishReason":"tool-calls","usage":{"promptTokens":10,"completionTokens":5},"isContinued":false}',
        'f:{"messageId":"msg_2"}',
        '0:"It is sunny."',
        'e:{"finishReason":"stop","usage":{"promptTokens":20,"completionTokens":6},"isContinued":false}',
        'd:{"finishReason":"stop","usage":{"promptTokens":30,"completionTokens":11}}',
        "",
    ]
)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_stream_is_put_together(line_end: str) -> None:
    result = parse_stream(BODY.replace("\n", line_end))
    assert result.response == "It is sunny."
    assert result.tool_calls == [
        ToolCall("get", {"q": 1}, response="sunny"),
        ToolCall("put", {"v": 2}, response=[1]),
    ]
    assert [(call.id, call.turn, call.index) for call in result.tool_calls] == [("a", 0, 0), ("b", 0, 1)]
    assert [entry.content for entry in result.trace if entry.role == "assistant"] == [
        "Let me look.",
        "It is sunny.",
    ]
    assert result.usage == Usage(2, 30, 11)
    assert result.metadata == {
        "format": "vercel",
        "turns": 2,
        "truncated": False,
        "response_id": "msg_1",
        "finish_reason": "stop",
        "reasoning": "hmm",
    }


def test_the_fragments_alone_make_a_call() -> None:
    body = "".join(line + "\n" for line in BODY.splitlines() if not line.startswith("9:"))
    assert [call.args for call in parse_stream(body).tool_calls] == [{"q": 1}, {"v": 2}]


def test_a_cut_stream_keeps_the_call_it_was_cut_in() -> None:
    body = BODY[: BODY.index('c:{"toolCallId":"b","argsTextDelta":" 2}"}')]
    result = parse_stream(body)
    assert result.metadata["truncated"] is True
    assert [(call.outcome, call.raw_args) for call in result.tool_calls] == [
        ("success", None),
        ("invalid", '{"v":'),
    ]


def test_a_cut_inside_the_first_line_is_no_error_where_the_format_is_named() -> None:
    result = parse_stream("0:", "sse-vercel")
    assert (result.response, result.error, result.metadata["truncated"]) == ("", None, True)


def test_a_cut_inside_a_line_is_no_error() -> None:
    result = parse_stream(BODY[: BODY.index('ook."')])
    assert (result.response, result.error, result.metadata["truncated"]) == ("Let me ", None, True)


@pytest.mark.parametrize("junk", ["z:1", "0:7", "9:[1]", "0:", "hello", '9:{"toolCallId"'])
def test_an_unreadable_line_is_an_error_and_the_rest_is_kept(junk: str) -> None:
    result = parse_stream(BODY.replace('8:[{"id":7}]', junk))
    assert result.response == "It is sunny."
    assert result.error is not None
    assert junk in result.error


def test_a_last_line_that_is_whole_but_unreadable_is_an_error() -> None:
    assert parse_stream(BODY + "oops\n").error is not None
    assert parse_stream(BODY + "oops").error is None


def test_an_error_in_the_stream_keeps_what_came_before() -> None:
    result = parse_stream('0:"Hi"\n3:"Overloaded"\n')
    assert (result.response, result.error, result.metadata["truncated"]) == ("Hi", "Overloaded", True)


def test_steps_that_do_not_announce_themselves_are_turns() -> None:
    body = (
        '9:{"toolCallId":"a","toolName":"get","args":{}}\n'
        'e:{"finishReason":"tool-calls"}\n'
        'a:{"toolCallId":"a","result":1}\n'
        '9:{"toolCallId":"b","toolName":"get","args":{}}\n'
        'e:{"finishReason":"stop"}\n'
        'd:{"finishReason":"stop"}\n'
    )
    result = parse_stream(body)
    assert [len(batch) for batch in result.batches] == [1, 1]
    assert result.tool_calls[0].response == 1


def test_a_format_may_be_named() -> None:
    assert parse_stream(BODY, "sse-vercel").response == "It is sunny."
    assert parse_response(BODY, "vercel").response == "It is sunny."
    with pytest.raises(UnknownFormatError, match="it looks like 'vercel'"):
        parse_stream(BODY, "sse-openai")
