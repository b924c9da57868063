"""Server-sent events, as the HTML standard interprets them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Not str.splitlines: JSON may hold U+2028 and friends unescaped, and they end no line here.
_LINE_END = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r"^(?:data|event|id|retry)?:|^data$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event.

    Args:
        lines: The values of its `data` fields.
        type: The value of its `event` field, or "".
        dispatched: Whether the blank line that ends an event was there.
    """

    lines: list[str]
    type: str
    dispatched: bool


def split_lines(text: str) -> list[str]:
    """Split at CRLF, LF and CR."""
    return _LINE_END.split(text)


def looks_like_sse(text: str) -> bool:
    """Tell whether any line is a field or a comment."""
    return _FIELD.search(text.replace("\r", "\n")) is not None


def read_sse(text: str) -> Iterator[ServerSentEvent]:
    """Give the events that have data.

    Comments, `id`, `retry` and unknown fields are passed over. The standard drops an event that the
    stream ends in; it is given here, marked, so that a reader can tell a cut stream.
    """
    lines: list[str] = []
    event_type = ""
    for line in split_lines(text):
        if not line:
            if lines:
                yield ServerSentEvent(lines, event_type, dispatched=True)
            lines, event_type = [], ""
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            lines.append(value)
        elif name == "event":
            event_type = value
    if lines:
        yield ServerSentEvent(lines, event_type, dispatched=False)
