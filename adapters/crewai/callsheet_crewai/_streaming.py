"""A run as the events CrewAI sends, and scripted replies in chunks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Coroutine
from contextvars import ContextVar
from typing import Any

from crewai.events.stream_context import add_stream_sink
from crewai.types import streaming

_STREAMS = tuple(
    stream
    for name in ("StreamingOutputBase", "StreamSessionBase")
    if (stream := getattr(streaming, name, None))
)

# A chunk is a word with the white space after it, so that the chunks joined are the text.
_WORDS = re.compile(r"\S+\s*|\s+")
_STREAMED: ContextVar[bool] = ContextVar("callsheet_crewai_streamed", default=False)


def is_streamed(llm: Any) -> bool:
    """Say whether what a model says is to come in chunks."""
    return _STREAMED.get() or bool(llm._effective_stream())


def words(text: str) -> list[str]:
    """Give the chunks of a text."""
    return _WORDS.findall(text)


def is_unfinished(result: Any) -> bool:
    """Say whether what a kickoff gave is a stream that still has to be read."""
    return isinstance(result, _STREAMS)


async def drained(result: Any) -> None:
    """Read what a kickoff gave to its end, where it is a stream."""
    if is_unfinished(result):
        async for _ in result:
            pass


async def events_of(run: Coroutine[Any, Any, Any]) -> AsyncIterator[Any]:
    """Run something and give the events it sends, from whichever thread."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[Any] = asyncio.Queue()
    over = object()

    def sink(source: Any, event: Any) -> None:
        loop.call_soon_threadsafe(waiting.put_nowait, event)

    async def observed() -> None:
        _STREAMED.set(True)
        add_stream_sink(sink)
        try:
            await run
        finally:
            loop.call_soon_threadsafe(waiting.put_nowait, over)

    task = asyncio.create_task(observed())
    try:
        while (event := await waiting.get()) is not over:
            yield event
        await task
    finally:
        task.cancel()
