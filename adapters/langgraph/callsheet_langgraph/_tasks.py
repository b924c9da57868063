"""Nodes and tasks: where code runs, and what interrupts it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from langgraph.errors import GraphInterrupt

from callsheet.adapters import RunRecord, Scope, TraceEntry, active_scope
from callsheet_langgraph._direct_calls import refuse_direct_calls
from callsheet_langgraph._places import Place, path_text
from callsheet_langgraph._retries import impatient, without_waiting
from callsheet_langgraph._tool_errors import TimedOut, timeout_error
from callsheet_langgraph._turns import turn_of

# What of a task's metadata the steps in it are told with.
_NODE = ("langgraph_step", "langgraph_node")
_interrupts: WeakKeyDictionary[RunRecord, set[str]] = WeakKeyDictionary()


def placed_task(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `run_with_retry`, by which every version runs a node or task in a thread."""

    @wraps(original)
    def run_with_retry(task: Any, retry_policy: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None:
            return original(task, retry_policy, *args, **kwargs)
        with _in_place(scope, task):
            return original(impatient(task), without_waiting(retry_policy), *args, **kwargs)

    return run_with_retry


def placed_async_task(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `arun_with_retry`, the same on an event loop."""

    @wraps(original)
    async def arun_with_retry(task: Any, retry_policy: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None:
            return await original(task, retry_policy, *args, **kwargs)
        with _in_place(scope, task):
            return await original(impatient(task), without_waiting(retry_policy), *args, **kwargs)

    return arun_with_retry


def placed_map(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `ContextThreadPoolExecutor.map`: what a node hands over is told in the order of the items.

    It runs each item in a context of the node's, where nothing says which item it is.
    """

    @wraps(original)
    def in_branches(self: Any, fn: Callable[..., Any], *iterables: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        place: Place | None = scope.place if scope is not None else None
        if scope is None or place is None:
            return original(self, fn, *iterables, **kwargs)
        session, run, call = scope.session, scope.run, scope.call

        def in_branch(branch: Place, *args: Any) -> Any:
            with session.inside(run, call, place=branch):
                return fn(*args)

        return original(self, in_branch, [place.branch() for _ in iterables[0]], *iterables, **kwargs)

    return in_branches


class _in_place:  # noqa: N801 - used as a function
    """Make the code inside belong to the place of a task, and note what interrupts it.

    A class, because every node passes here and a generator costs more.
    """

    def __init__(self, scope: Scope, task: Any) -> None:
        session = scope.session
        session.require_open(f"Node {task.name!r}")
        self._task = task
        self._run = scope.run
        self._place = _place(scope.place, task)
        self._turn = turn_of(session, scope.run)
        if self._turn is not None:
            self._turn.visited(self._place.trail, self._place.order, task.id)
        refuse_direct_calls(session, self._place.graph, task)
        self._inside = session.inside(scope.run, scope.call, place=self._place)

    def __enter__(self) -> None:
        self._inside.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._inside.__exit__(None, None, None)
        if isinstance(error, GraphInterrupt):
            if self._run is not None:
                _note_interrupts(self._run, self._place, error)
            if self._turn is not None:
                self._turn.interrupted(self._place.order, self._task.id)
        elif isinstance(error, TimedOut):
            raise timeout_error(self._task.name, error.seconds) from error


def _place(around: Place | None, task: Any) -> Place:
    metadata = task.config.get("metadata") or {}
    node = {key: metadata[key] for key in _NODE if key in metadata}
    if around is None:
        order = (metadata.get("langgraph_step", 0), path_text(task.path))
        return Place(None, None, frozenset(), order, task.name, trail=task.name, metadata=node)
    if around.node is None:
        order = (*around.order, metadata.get("langgraph_step", 0), path_text(task.path))
    else:
        # The node's own code started a task, as the functional API does.
        number = around.begin_child(task.path[2])
        order = around.child_order(number, task.name)
    return Place(
        around.graph,
        around.agent,
        around.tools,
        order,
        task.name,
        around.outer,
        _timeout(around, task),
        f"{around.trail}:{task.name}" if around.trail else task.name,
        metadata=node,
    )


def _timeout(around: Place, task: Any) -> float | None:
    # LangGraph 1.2 has timeouts of single nodes.
    policy = getattr(task, "timeout", None)
    limits = (around.graph.step_timeout, getattr(policy, "run_timeout", None))
    if limits == (None, None):
        return None
    seconds = [
        limit.total_seconds() if isinstance(limit, timedelta) else limit
        for limit in limits
        if limit is not None
    ]
    return min(seconds, default=None)


def _note_interrupts(run: RunRecord, place: Place, interrupt: GraphInterrupt) -> None:
    # A sub-graph's interrupt comes by again at each node around it. Its id is random: none for the trace.
    known = _interrupts.setdefault(run, set())
    for raised in interrupt.args[0] if interrupt.args else ():
        if raised.id not in known:
            known.add(raised.id)
            entry = TraceEntry("interrupt", raised.value, agent=place.speaker, metadata=place.metadata)
            run.add(entry, place.here)
