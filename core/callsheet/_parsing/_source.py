"""Any payload a user may pass, as a sequence of events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from callsheet._errors import UnknownFormatError
from callsheet._parsing._events import EventStream, events_of_text
from callsheet._parsing._members import as_mapping, shown


def read_source(payload: object) -> EventStream:
    """Give the events of a payload.

    Raises:
        UnknownFormatError: The payload is nothing that can hold a model's reply.
    """
    if isinstance(payload, str):
        return events_of_text(payload)
    if isinstance(payload, bytes | bytearray | memoryview):
        return events_of_text(_decode(bytes(payload)))
    plain = as_mapping(payload)
    if plain is not None:
        return EventStream([plain], whole=True)
    if isinstance(payload, Iterable):
        return _read_items(payload)
    hint = " Collect an asynchronous stream into a list first." if hasattr(payload, "__aiter__") else ""
    raise UnknownFormatError(
        f"A payload of type {type(payload).__name__!r} can't be read: {shown(payload)}.{hint} "
        "Pass a dict, a list, JSON text, a provider SDK's object, or a stream's body or chunks."
    )


def _read_items(items: Iterable[Any]) -> EventStream:
    parts = list(items)
    if parts and all(isinstance(part, str | bytes | bytearray | memoryview) for part in parts):
        return events_of_text(_joined(parts))
    stream = EventStream()
    for number, part in enumerate(parts):
        event = as_mapping(part)
        if event is None:
            raise UnknownFormatError(
                f"Item {number} of the payload is a {type(part).__name__}: {shown(part)}. "
                "Pass only text or bytes (the chunks of a stream), or only dicts or SDK objects."
            )
        stream.events.append(event)
    return stream


def _joined(parts: list[str | bytes | bytearray | memoryview]) -> str:
    if all(isinstance(part, str) for part in parts):
        return "".join(map(str, parts))
    # Bytes are decoded together: a chunk may end inside a character.
    return _decode(
        b"".join(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts)
    )


def _decode(body: bytes) -> str:
    return body.decode("utf-8", "replace")
