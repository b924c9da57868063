"""A body's text as a sequence of events, each a JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from callsheet._parsing._members import Data, shown
from callsheet._parsing._sse import ServerSentEvent, looks_like_sse, read_sse, split_lines
from callsheet._parsing._vercel_data import data_stream_event, looks_like_data_stream

_STRUCTURE = re.compile(r"[{}\[\],:\"]")
_BETWEEN_VALUES = re.compile(r"[\s,\[\]]*")


@dataclass
class EventStream:
    """What a payload or a body holds.

    Args:
        events: The JSON objects, in order.
        whole: Whether the payload was one value rather than a stream.
        cut: Whether the stream ended inside an event.
        ended: Whether the stream said it was over (`[DONE]`).
        error: What in the stream could not be read, or None.
        recognizable: Whether there was anything to read at all, comments included.
    """

    events: list[Data] = field(default_factory=list)
    whole: bool = False
    cut: bool = False
    ended: bool = False
    error: str | None = None
    recognizable: bool = True

    def add(self, value: object, source: object, *, last: bool) -> None:
        """Take a value that should be an event; an unreadable last one is where the stream was cut."""
        if isinstance(value, dict):
            self.events.append(value)
        elif value is None and last:
            self.cut = True
        elif self.error is None:
            self.error = f"An event of the stream is not a JSON object: {shown(source)}"


def parse_json(text: str) -> Any:
    """Give the value of a JSON text, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def events_of_text(text: str) -> EventStream:
    """Read server-sent events, data stream lines, a JSON array or a sequence of JSON objects."""
    body = text.lstrip("\ufeff \t\r\n")
    if body.startswith(("{", "[")):
        return _json_sequence(body)
    if looks_like_data_stream(body):
        return _data_stream(body)
    return _server_sent(body)


def _json_sequence(text: str) -> EventStream:
    whole = parse_json(text)
    if isinstance(whole, dict):
        return EventStream([whole], whole=True)
    stream = EventStream()
    if isinstance(whole, list):
        for item in whole:
            stream.add(item, item, last=False)
        return stream
    decoder = json.JSONDecoder()
    position, cut = 0, False
    while text.startswith("{", position := _past_separators(text, position)):
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            cut = _is_at_the_end(error)
            break
        except (ValueError, RecursionError):
            break
        stream.events.append(value)
    stream.recognizable = bool(stream.events)
    if position < len(text):
        stream.add(None, text[position:], last=cut)
    return stream


def _is_at_the_end(error: json.JSONDecodeError) -> bool:
    """Tell whether a text can't be read because it stops, perhaps inside a word, a number or a string."""
    return error.msg.startswith("Unterminated string") or not _STRUCTURE.search(error.doc, error.pos)


def _past_separators(text: str, position: int) -> int:
    match = _BETWEEN_VALUES.match(text, position)
    return match.end() if match is not None else position


def _data_stream(text: str) -> EventStream:
    stream = EventStream()
    lines = split_lines(text)
    for number, line in enumerate(lines, 1):
        if line:
            stream.add(data_stream_event(line), line, last=number == len(lines))
    return stream


def _server_sent(text: str) -> EventStream:
    stream = EventStream(recognizable=not text or looks_like_sse(text))
    for event in read_sse(text):
        for source in _sources(event):
            if source.strip().startswith("[DONE]"):
                stream.ended = True
            elif source.strip():
                _add_sse(stream, event, source)
    return stream


def _sources(event: ServerSentEvent) -> Iterator[str]:
    """Give the texts of an event, one unless it was written without the blank line between events."""
    joined = "\n".join(event.lines)
    if len(event.lines) == 1 or parse_json(joined) is not None:
        yield joined
    else:
        yield from event.lines


def _add_sse(stream: EventStream, event: ServerSentEvent, source: str) -> None:
    value = parse_json(source)
    if isinstance(value, dict):
        stream.add({"type": event.type, **value} if event.type else value, source, last=False)
    elif event.type == "error":
        stream.add({"type": "error", "message": source}, source, last=False)
    elif event.type != "ping":
        stream.add(value, source, last=not event.dispatched)
