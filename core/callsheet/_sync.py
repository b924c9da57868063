"""Running async code to its end from sync code, whether or not this thread already runs a loop."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


def finish(awaitable: Awaitable[T]) -> T:
    """Run an awaitable to its end and give its result.

    With an event loop already running in this thread, a second one runs in a thread of its own, in
    a copy of this context.
    """
    import asyncio

    async def main() -> T:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(main())
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="callsheet-sync") as pool:
        return pool.submit(contextvars.copy_context().run, asyncio.run, main()).result()
