"""Work that is handed to threads and pools is told apart by who hands it over."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from callsheet.adapters import Session, active_scope


class Place:
    """Where code stands: an adapter's own, which tells the work it hands over apart."""

    def __init__(self, path: tuple[int, ...] = ()) -> None:
        self.path = path
        self._branches = 0

    def branch(self) -> Place:
        self._branches += 1
        return Place((*self.path, self._branches))


def stand() -> tuple[int, ...]:
    scope = active_scope()
    assert scope is not None
    path: tuple[int, ...] = scope.place.path
    return path


def test_work_that_is_handed_over_stands_in_a_branch_of_its_own() -> None:
    def nested() -> tuple[int, ...]:
        with ThreadPoolExecutor(1) as workers:
            return workers.submit(stand).result()

    async def in_threads() -> list[tuple[int, ...]]:
        return await asyncio.gather(*[asyncio.to_thread(stand) for _ in range(2)])

    stood: list[tuple[int, ...]] = []
    with Session() as session, session.inside(None, place=Place()):
        with ThreadPoolExecutor(2) as workers:
            assert [*workers.map(lambda run: run(), [stand, nested])] == [(1,), (2, 1)]
            assert workers.submit(copy_context().run, stand).result() == (3,)
        thread = threading.Thread(target=lambda: stood.append(stand()))
        thread.start()
        thread.join()
        assert stood == [(4,)]
        assert asyncio.run(in_threads()) == [(5,), (6,)]
        assert stand() == ()


def test_a_context_that_is_at_work_already_stands_where_it_stands() -> None:
    entered, leave = threading.Event(), threading.Event()

    def stay() -> tuple[int, ...]:
        entered.set()
        leave.wait(10)
        return stand()

    with Session() as session, session.inside(None, place=Place()), ThreadPoolExecutor(2) as workers:
        context = copy_context()
        first = workers.submit(context.run, stay)
        assert entered.wait(10)
        with pytest.raises(RuntimeError, match="already entered"):
            workers.submit(context.run, stand).result()
        leave.set()
        assert first.result() == (1,)
