"""Runs of graphs: `invoke`, `stream`, `batch` and the same awaited, which every other way goes through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from langchain_core.runnables.config import get_config_list
from langgraph.pregel import Pregel

from callsheet.adapters import RunRecord, Scope, Session, TraceEntry, active_scope, described
from callsheet_langgraph._inventory import agent_name, own_tools
from callsheet_langgraph._messages import note_told, opening
from callsheet_langgraph._outcome import final_output, final_text, messages_in
from callsheet_langgraph._places import Place, order_of
from callsheet_langgraph._turns import open_turn, turn_of

# The run a batch keeps for one of its inputs, so that runs are told in the order of the inputs.
_RESERVED = "__callsheet_run"


def recorded_invoke(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Pregel.invoke`."""

    @wraps(original)
    def invoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None:
            return original(self, input, config, **kwargs)
        graph_run, config = GraphRun.of(scope, self, input, config)
        with graph_run.whole():
            result = original(self, input, config, **kwargs)
            graph_run.returned(result)
        return result

    return invoke


def recorded_ainvoke(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Pregel.ainvoke`."""

    @wraps(original)
    async def ainvoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None:
            return await original(self, input, config, **kwargs)
        graph_run, config = GraphRun.of(scope, self, input, config)
        with graph_run.whole():
            result = await original(self, input, config, **kwargs)
            graph_run.returned(result)
        return result

    return ainvoke


def recorded_stream(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Pregel.stream`."""

    @wraps(original)
    def stream(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Iterator[Any]:
        scope = active_scope()
        if scope is None or _is_inside(scope, self):
            return original(self, input, config, **kwargs)  # type: ignore[no-any-return]
        graph_run, config = GraphRun.of(scope, self, input, config)
        return graph_run.steps(original(self, input, config, **kwargs))

    return stream


def recorded_astream(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Pregel.astream`."""

    @wraps(original)
    def astream(self: Any, input: Any, config: Any = None, **kwargs: Any) -> AsyncIterator[Any]:
        scope = active_scope()
        if scope is None or _is_inside(scope, self):
            return original(self, input, config, **kwargs)  # type: ignore[no-any-return]
        graph_run, config = GraphRun.of(scope, self, input, config)
        return graph_run.asteps(original(self, input, config, **kwargs))

    return astream


def recorded_batch(inherited: Any) -> Callable[..., Any]:
    """Add `Pregel.batch`, which keeps the runs in the order of the inputs."""
    original = inherited or Pregel.batch

    @wraps(original)
    def batch(self: Any, inputs: list[Any], config: Any = None, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or not inputs:
            return original(self, inputs, config, **kwargs)
        results = original(self, inputs, _reserved(scope, self, inputs, config), **kwargs)
        _finish_batch(scope.session, results)
        return results

    return batch


def recorded_abatch(inherited: Any) -> Callable[..., Any]:
    """Add `Pregel.abatch`."""
    original = inherited or Pregel.abatch

    @wraps(original)
    async def abatch(self: Any, inputs: list[Any], config: Any = None, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or not inputs:
            return await original(self, inputs, config, **kwargs)
        results = await original(self, inputs, _reserved(scope, self, inputs, config), **kwargs)
        _finish_batch(scope.session, results)
        return results

    return abatch


def recorded_exit(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `PregelLoop._suppress_interrupt`, where every run ends, a streamed one too."""

    @wraps(original)
    def _suppress_interrupt(self: Any, *error: Any) -> Any:
        suppressed = original(self, *error)
        scope = active_scope()
        if scope is not None and scope.run is not None and (error[0] is None or suppressed):
            _note_end(scope, scope.run, self, interrupted=error[0] is not None)
        return suppressed

    return _suppress_interrupt


class GraphRun:
    """One run of a graph: on top, under the tool call that started it, or inside the node it is.

    Args:
        session: The session.
        run: The run to record under.
        place: Where the graph stands.
        is_own: Whether `run` is the graph's own rather than that of the graph around it.
    """

    def __init__(self, session: Session, run: RunRecord, place: Place, *, is_own: bool) -> None:
        self._session = session
        self._run = run
        self._place = place
        self._is_own = is_own

    @classmethod
    def of(cls, scope: Scope, graph: Any, given: Any, config: Any) -> tuple[GraphRun, Any]:
        """Begin a run of a graph; gives it and the config to run the graph with."""
        session, around = scope.session, scope.place
        name = graph.get_name()
        session.require_open(f"A run of graph {name!r}")
        reserved, config = _taken(config)
        is_node = around is not None and around.node is not None and scope.call is None
        outer = around if is_node else None
        order = outer.child_order(outer.begin_child(), name) if outer is not None else ()
        agent = agent_name(graph, within=outer.node if outer is not None else None)
        trail = outer.trail if outer is not None else ""
        place = Place(graph, agent, own_tools(graph), order, outer=outer, trail=trail)
        if is_node and scope.run is not None:
            return cls(session, scope.run, place, is_own=False), config
        run = reserved or _opened(session, given, agent or name)
        return cls(session, run, place, is_own=True), config

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Make the code inside belong to the run, and note the exception that ends it."""
        try:
            with self._session.inside(self._run, place=self._place):
                yield
        except BaseException as error:
            self._ended_by(error)
            raise

    def steps(self, events: Iterator[Any]) -> Iterator[Any]:
        """Give a stream's events; only making one belongs to the run, not what is done with it."""
        events = iter(events)
        try:
            while True:
                self._session.require_open(f"A stream of graph {self._place.graph.get_name()!r}")
                with self.whole():
                    try:
                        event = next(events)
                    except StopIteration:
                        return
                yield event
        finally:
            with self._session.inside(self._run, place=self._place):
                events.close()  # type: ignore[attr-defined]

    async def asteps(self, events: Any) -> AsyncIterator[Any]:
        """Like `steps`, on an event loop."""
        try:
            while True:
                self._session.require_open(f"A stream of graph {self._place.graph.get_name()!r}")
                with self.whole():
                    try:
                        event = await anext(events)
                    except StopAsyncIteration:
                        return
                yield event
        finally:
            with self._session.inside(self._run, place=self._place):
                await events.aclose()

    def returned(self, result: Any) -> None:
        """Note what the graph gave back."""
        if self._is_own and self._run.parent is None:
            self._session.finish(response=final_text(result), output=final_output(result), native=result)

    def _ended_by(self, error: BaseException) -> None:
        if self._is_own and not isinstance(error, GeneratorExit):
            self._run.error = described(error)


def _note_end(scope: Scope, run: RunRecord, loop: Any, *, interrupted: bool) -> None:
    place: Place | None = scope.place
    if place is None:
        return
    note_told(scope.session, run, messages_in(loop.output), place.tools)
    stopped = loop.status in ("interrupt_before", "interrupt_after")
    if stopped:
        waiting = ", ".join(sorted(task.name for task in loop.tasks.values()))
        run.add(TraceEntry("interrupt", waiting, metadata={"status": loop.status}), order_of(None, run))
    if place.outer is None and run.parent is None:
        output = loop.output
        scope.session.finish(response=final_text(output), output=final_output(output), native=output)
        turn = turn_of(scope.session, run)
        if turn is not None and stopped:
            turn.stopped()
        elif turn is not None and not interrupted:
            turn.ended(output)


def _is_inside(scope: Scope, graph: Any) -> bool:
    """Say whether a graph is streamed by its own `invoke`."""
    place = scope.place
    return place is not None and place.graph is graph and place.node is None and scope.call is None


def _reserved(scope: Scope, graph: Any, inputs: list[Any], config: Any) -> list[Any]:
    session = scope.session
    configs = get_config_list(config, len(inputs))
    for given, own in zip(inputs, configs, strict=True):
        run = _opened(session, given, agent_name(graph) or graph.get_name())
        own["configurable"] = {**own.get("configurable", {}), _RESERVED: run}
    return configs


def _opened(session: Session, given: Any, agent: str) -> RunRecord:
    run = session.open_run(agent=agent, opening=opening(given))
    if run.parent is None:
        open_turn(session, run, given)
    return run


def _taken(config: Any) -> tuple[RunRecord | None, Any]:
    configurable = (config or {}).get("configurable") or {}
    if _RESERVED not in configurable:
        return None, config
    rest = {key: value for key, value in configurable.items() if key != _RESERVED}
    return configurable[_RESERVED], {**config, "configurable": rest}


def _finish_batch(session: Session, results: list[Any]) -> None:
    last = results[-1]
    if not isinstance(last, Exception):
        session.finish(response=final_text(last), output=final_output(last), native=results)
