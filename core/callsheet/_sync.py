"""Running async code to its end from sync code, whether or not this thread already runs a loop."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


def finish(awaitable: Awaitable[T]) -> T:
    """Run an awaitable to its end and give its result.

    The event loop this thread may keep is left alone: frameworks come back to theirs. With one already
    running in this thread, a second one runs in a thread of its own, in a copy of this context.
    """
    import asyncio

    async def main() -> T:
        return await awaitable

    def run() -> T:
        # `asyncio.run` would drop the loop this thread keeps, unclosed.
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
            return runner.run(main())

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="callsheet-sync") as pool:
        return pool.submit(contextvars.copy_context().run, run).result()
