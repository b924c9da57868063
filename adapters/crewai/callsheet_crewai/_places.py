"""Where in a session code stands: what runs beside each other is told in the order it was started in."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from callsheet.adapters import RunRecord, Scope
from callsheet_crewai._abort import current_scope

# From the session's first kickoff down to a task: which one it is of those started there.
Place = tuple[int, ...]

_lock = threading.Lock()


def next_place(scope: Scope) -> Place:
    """Give the place of what is started now."""
    around: Place = scope.place or ()
    with _lock:
        started: Counter[Place] = scope.session.kept.setdefault(next_place, Counter())
        started[around] += 1
        return (*around, started[around])


def in_place(scope: Scope) -> AbstractContextManager[None]:
    """Make what is started inside stand below what is started now."""
    return scope.session.inside(scope.run, scope.call, place=next_place(scope))


def run_of(scope: Scope) -> RunRecord:
    """Give the run code belongs to: its own, or the one of everything outside every agent."""
    if scope.run is not None:
        return scope.run
    outside = scope.session.recording.outside
    if not outside.order:
        outside.order = next_place(scope)
    return outside


def placed(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Task.execute_async`, which starts a thread."""

    @wraps(original)
    def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return original(self, *args, **kwargs)
        with in_place(scope):
            return original(self, *args, **kwargs)

    return start


def aplaced(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Crew.kickoff_async`, which leaves its work to a thread."""

    @wraps(original)
    async def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return await original(self, *args, **kwargs)
        with in_place(scope):
            return await original(self, *args, **kwargs)

    return start


def placed_method(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Flow._execute_method`, which may leave its work to a thread."""
    in_its_place = aplaced(original)

    @wraps(original)
    def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        # No coroutine around the steps of CrewAI's own agent loop, of which there are many.
        return (original if is_executor(self) else in_its_place)(self, *args, **kwargs)

    return start


def is_executor(flow: Any) -> bool:
    """Say whether a flow is CrewAI's own: it writes its agent loop and its memory as flows."""
    # A flow from a definition is a plain one.
    package, _, module = type(flow).__module__.partition(".")
    return package == "crewai" and module.partition(".")[0] not in ("crew", "flow")
