"""How the time to read a stream grows with its length: a ratio near 2 for twice the length is linear.

Run with `python benchmarks/parsing.py`. Prints, per kind of stream, the milliseconds for the longer
one, its size, and the ratio to one half as long.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from callsheet import parse_stream


def sse(events: Iterator[dict[str, Any]]) -> str:
    """Write events as server-sent events."""
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


def chat_fragments(size: int) -> str:
    """Give one call whose arguments come in `size` fragments."""

    def fragment(arguments: str, **rest: str) -> dict[str, Any]:
        wire = {"index": 0, "function": {"arguments": arguments, **rest}}
        return {"choices": [{"index": 0, "delta": {"tool_calls": [wire]}}]}

    pieces = [fragment('{"q": "', name="get"), *[fragment("xyz ")] * size, fragment('"}')]
    return sse(iter(pieces)) + "data: [DONE]\n\n"


def parallel_calls(size: int) -> str:
    """Give `size` calls of one reply."""
    wires = ({"index": index, "function": {"name": "get", "arguments": "{}"}} for index in range(size))
    return sse({"choices": [{"index": 0, "delta": {"tool_calls": [wire]}}]} for wire in wires)


def anthropic_text(size: int) -> str:
    """Give one text in `size` pieces."""
    delta = {"type": "text_delta", "text": "word "}
    return sse({"type": "content_block_delta", "index": 0, "delta": delta} for _ in range(size))


def gemini_array(size: int) -> str:
    """Give an array of `size` chunks, cut short."""
    chunk = json.dumps({"candidates": [{"content": {"parts": [{"text": "word "}]}}]})
    return "[" + ",\n".join([chunk] * size) + ",\n" + chunk[:20]


def gemini_paths(size: int) -> str:
    """Give one string argument streamed in `size` pieces."""
    piece = {"partialArgs": [{"jsonPath": "$.a", "stringValue": "xyz "}], "willContinue": True}
    calls = [{"name": "get", "willContinue": True}, *[piece] * size, {}]
    return sse({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]} for call in calls)


def data_stream(size: int) -> str:
    """Give `size` lines of text and as many steps."""
    return '0:"word "\ne:{"finishReason":"stop"}\n' * size


def one_event_of_many_lines(size: int) -> str:
    """Give events without blank lines between them, which look like one."""
    return 'data: {"choices": []}\n' * size


def seconds(read: Callable[[], object]) -> float:
    """Give the best of three."""

    def once() -> float:
        start = time.perf_counter()
        read()
        return time.perf_counter() - start

    return min(once() for _ in range(3))


def main(size: int = 20_000) -> None:
    """Measure every kind of stream at `size` and at twice that."""
    for make in (
        chat_fragments,
        parallel_calls,
        anthropic_text,
        gemini_array,
        gemini_paths,
        data_stream,
        one_event_of_many_lines,
    ):
        half, whole = make(size), make(2 * size)
        time_half = seconds(partial(parse_stream, half))
        time_whole = seconds(partial(parse_stream, whole))
        rate = len(whole) / time_whole / 1e6
        print(
            f"{make.__name__:24} {time_whole * 1e3:7.0f} ms for {len(whole) / 1e6:4.1f} MB "
            f"({rate:4.0f} MB/s)  x{time_whole / time_half:.2f}"
        )


if __name__ == "__main__":
    main()
