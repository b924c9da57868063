"""The two public functions."""

from __future__ import annotations

from typing import Literal

from callsheet._errors import UnknownFormatError
from callsheet._parsing._detect import READERS, detect, refuse_conversation, unknown_format, with_envelope
from callsheet._parsing._events import EventStream
from callsheet._parsing._members import error_of
from callsheet._parsing._source import read_source
from callsheet._parsing._transcript import Transcript
from callsheet._result import AgentResult
from callsheet._suggest import did_you_mean

ResponseFormat = Literal["auto", "openai", "openai-responses", "anthropic", "gemini", "vercel", "calls"]
StreamFormat = Literal[
    "auto", "sse-openai", "sse-openai-responses", "sse-anthropic", "sse-gemini", "sse-vercel"
]
_RESPONSE_FORMATS = ("auto", *READERS)
_STREAM_FORMATS = ("auto", *(f"sse-{name}" for name in READERS if name != "calls"))


def parse_response(payload: object, format: ResponseFormat = "auto") -> AgentResult:
    """Read a provider's response: what the model said and which tools it called.

    Args:
        payload: A response as a dict, JSON text or bytes, or a provider SDK's object; a list of
            responses (each is a turn); a list of bare tool calls, content blocks or output items; or
            a stream, as `parse_stream` takes it.
        format: "openai" (chat completions), "openai-responses", "anthropic", "gemini", "vercel"
            (`generateText` results and UI messages), "calls" (bare tool calls), or "auto" to tell it
            from the shape.

    Returns:
        The result. `response` is the last text said; `usage.input_tokens` includes cached tokens.
        A call whose arguments are not a JSON object keeps them in `raw_args` and has the outcome
        "invalid". Tools the provider ran itself have the kind "hosted" or "mcp". `metadata` holds
        `format`, `turns` (model replies), `finish_reason` (the provider's own word), `truncated`,
        and where there is any: `response_id`, `reasoning`, `refusal`, `finish_message`, and
        `choices`, the results of the other choices as `AgentResult.to_dict()` gives them, each with
        its `index` in its metadata. `error` is the error the payload reports.

    Raises:
        UnknownFormatError: The payload is not of the format, or of none that is known.
    """
    _check_format(format, _RESPONSE_FORMATS)
    stream = read_source(payload)
    wrapped = with_envelope(stream.events) if format != "calls" else stream.events
    if wrapped is not stream.events:
        stream.events, stream.whole = wrapped, True
    if not stream.events:
        if not (isinstance(payload, list | tuple) and format in ("auto", "calls")):
            raise unknown_format((), payload, asked=format, formats=_RESPONSE_FORMATS)
        return _read(stream, payload, "calls", _RESPONSE_FORMATS)
    return _read(stream, payload, format, _RESPONSE_FORMATS)


def parse_stream(body: object, format: StreamFormat = "auto") -> AgentResult:
    """Read a streamed response, its fragments put back together.

    Args:
        body: The body as text or bytes, an iterable of chunks (which may end anywhere, also inside a
            character), or an iterable of events as dicts or a provider SDK's objects. Server-sent
            events, the Vercel AI SDK's data stream, and JSON arrays or lines of objects are read.
        format: "sse-openai" (chat completions), "sse-openai-responses", "sse-anthropic",
            "sse-gemini", "sse-vercel" (UI message stream and data stream), or "auto" to tell it from
            the events.

    Returns:
        The result, as `parse_response` describes it. Where the stream stops before the provider said
        it was finished, `metadata["truncated"]` is True, and a call that was not complete keeps what
        was there in `raw_args` and has the outcome "invalid". `error` is what the stream reports as
        an error, or says what in it could not be read; what came before is kept.

    Raises:
        UnknownFormatError: The body is not a stream of the format, or of none that is known.
    """
    _check_format(format, _STREAM_FORMATS)
    return _read(read_source(body), body, format, _STREAM_FORMATS)


def _check_format(format: str, known: tuple[str, ...]) -> None:
    if format not in known:
        raise UnknownFormatError(
            f"There is no format {format!r}.{did_you_mean(str(format), known)} "
            f"Pass one of {', '.join(known)}."
        )


def _read(stream: EventStream, payload: object, asked: str, formats: tuple[str, ...]) -> AgentResult:
    refuse_conversation(stream.events)
    found = detect(stream.events) if asked == "auto" else asked.removeprefix("sse-")
    if found is None or not stream.recognizable:
        raise unknown_format(stream.events, payload, asked=asked, formats=formats)
    transcript = Transcript()
    reader = READERS[found](transcript)
    strangers = []
    for event in stream.events:
        # In a list of calls, an error is the call's own.
        error = error_of(event) if found != "calls" else None
        if error is not None:
            transcript.fail(error)
        if not reader.feed(event) and error is None:
            strangers.append(event)
    # A stream may bring events this version does not know; a list of calls holds nothing else.
    if strangers and (found == "calls" or len(strangers) == len(stream.events)):
        raise unknown_format(strangers, payload, asked=asked, formats=formats)
    if stream.error is not None:
        transcript.fail(stream.error)
    transcript.ended |= stream.ended or stream.whole or found == "calls"
    return transcript.result(found, cut=stream.cut, native=payload if stream.whole else None)
