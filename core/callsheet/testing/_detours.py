"""Ways for a tool to leave the thread it was called on."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class old_thread:  # noqa: N801 - used as a function
    """Give a function that runs code in a thread started before anything else happened."""

    def __init__(self) -> None:
        self._work: queue.Queue[tuple[Callable[[], Any], queue.Queue[BaseException | None]] | None] = (
            queue.Queue()
        )
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> Callable[[Callable[[], Any]], None]:
        return self._run

    def __exit__(self, *raised: object) -> None:
        self._work.put(None)
        self._thread.join(10)

    def _serve(self) -> None:
        while (job := self._work.get()) is not None:
            work, done = job
            try:
                work()
            except BaseException as error:
                done.put(error)
            else:
                done.put(None)

    def _run(self, work: Callable[[], Any]) -> None:
        done: queue.Queue[BaseException | None] = queue.Queue()
        self._work.put((work, done))
        error = done.get(timeout=30)
        if error is not None:
            raise error


def _in_a_thread(run: Callable[[], Any]) -> Any:
    answers: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            answers.append(run())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return answers[0]


def _in_a_pool(run: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def _in_an_executor(run: Callable[[], Any]) -> Any:
    async def main() -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, run)

    # The tool may itself run inside a loop, so the loop of its own is in a thread.
    return _in_a_thread(lambda: asyncio.run(main()))


DETOURS: dict[str, Callable[[Callable[[], Any]], Any]] = {
    "thread": _in_a_thread,
    "pool": _in_a_pool,
    "executor": _in_an_executor,
}
