"""Child processes of a session: nothing of an agent runs there, and the test hears of what was refused.

A forked child has a copy of the session, whose answers and records are lost; a spawned one has none, and
its agent's tools would be the real ones. So a child of `multiprocessing`, each piece of work given to a
process pool, and a plain fork all meet a session that refuses. What it refused stands in a file that the
session reads when it closes.

Not reached: programs, and a `multiprocessing.Pool` that is older than the session.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any, NamedTuple

from callsheet._child_run import carrying_process_start
from callsheet._errors import SessionError, SessionProcessError
from callsheet._patch import Patch
from callsheet._patching import PatchSet
from callsheet._scope import SCOPE, open_sessions


class Orders(NamedTuple):
    """What a child process takes along.

    Args:
        adapters: The adapter classes whose interception the child needs.
        reports: The files to which it appends what it refused.
    """

    adapters: tuple[Any, ...]
    reports: tuple[str, ...]


class Children:
    """The child processes of one session, and what they were refused.

    Args:
        owner: The adapter of the session.
    """

    def __init__(self, owner: object) -> None:
        self._adapters: tuple[Any, ...] = (type(owner),) if hasattr(owner, "patches") else ()
        self._report: str | None = None
        # Set in a child, where the session refuses everything.
        self._orders: Orders | None = None

    def report(self) -> str:
        """Give the file the children append to."""
        if self._report is None:
            from tempfile import mkstemp

            handle, self._report = mkstemp(prefix="callsheet-session-", suffix=".txt")
            os.close(handle)
        return self._report

    def orders(self, *, listening: bool) -> Orders:
        """Give what a further child takes along.

        Args:
            listening: Whether anybody still reads what it was refused.
        """
        if self._orders is not None:
            return self._orders
        return Orders(self._adapters, (self.report(),) if listening else ())

    def become_child(self, orders: Orders | None) -> None:
        """Follow these orders from now on, or after a fork the session's own."""
        reports = () if self._report is None else (self._report,)
        self._orders = Orders(self._adapters, reports) if orders is None else orders

    def refuse_in_child(self, what: str) -> None:
        """Refuse what comes in a child process.

        An ordinary exception: a worker of a `multiprocessing.Pool` dies of any other, and its pool hangs.

        Raises:
            SessionError: This is a child process.
        """
        if self._orders is None:
            return
        refusal = (
            f"{what} came in a child process of its session, where nothing can answer or record it. "
            "Run the agent in the test's own process, in a thread if need be, or outside the session."
        )
        for report in self._orders.reports:
            _append(report, refusal)
        raise SessionError(refusal)

    def collect(self) -> list[SessionProcessError]:
        """Give what the children were refused, and remove the file."""
        if self._report is None:
            return []
        report = Path(self._report)
        refused = report.read_text(encoding="utf-8").splitlines()
        report.unlink()
        self._report = None
        return [SessionProcessError(line) for line in refused]


def _append(report: str, line: str) -> None:
    with suppress(FileNotFoundError):  # the session is over and nobody reads it any more
        target = os.open(report, os.O_WRONLY | os.O_APPEND)
        os.write(target, f"{line}\n".encode())
        os.close(target)


@cache
def _patches() -> tuple[Patch, ...]:
    from concurrent.futures.process import ProcessPoolExecutor
    from multiprocessing.process import BaseProcess

    carrying_start = partial(carrying_process_start, orders=_orders, run=_run_refusing)
    return (
        Patch(BaseProcess, "start", carrying_start),
        Patch(ProcessPoolExecutor, "submit", _carrying_submit),
    )


# Each session holds this set for as long as it can be reached.
process_patches = PatchSet(_patches)
# A pool's worker outlives the session it was born in: its work takes the orders along instead.
_giving_work: ContextVar[bool] = ContextVar("callsheet_giving_work", default=False)


def _orders() -> Orders | None:
    scope = SCOPE.get()
    sessions = [*open_sessions.values()] if scope is None else [scope.session]
    if not sessions or _giving_work.get():
        return None
    given = [session.children.orders(listening=session.is_open) for session in sessions]
    return Orders(
        tuple(adapter for orders in given for adapter in orders.adapters),
        tuple(report for orders in given for report in orders.reports),
    )


def _run_refusing(orders: Orders, run: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    with _refusing(orders):
        return run(*args, **kwargs)


@contextmanager
def _refusing(orders: Orders) -> Iterator[None]:
    from callsheet._session import Session

    session = Session()
    session.open()
    for adapter in orders.adapters:
        adapter.patches.hold(session)
    session.become_child(orders)
    try:
        with session.activated():
            yield
    finally:
        del open_sessions[id(session)]


def _carrying_submit(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def submit(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        orders = _orders()
        if orders is None:
            return original(self, fn, *args, **kwargs)
        token = _giving_work.set(True)
        try:
            return original(self, partial(_run_refusing, orders, fn), *args, **kwargs)
        finally:
            _giving_work.reset(token)

    return submit


def _before_fork() -> None:
    for session in open_sessions.values():
        session.children.report()


def _in_forked_child() -> None:
    if _giving_work.get():
        open_sessions.clear()
        SCOPE.set(None)
    for session in open_sessions.values():
        session.become_child(None)


with suppress(AttributeError):  # Windows has no fork
    os.register_at_fork(before=_before_fork, after_in_child=_in_forked_child)
