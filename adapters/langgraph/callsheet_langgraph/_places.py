"""Where in a graph the running code stands.

Nodes, branches and sub-graphs finish in any order. A place knows the superstep and the path of its node,
those of the graph around it first, so that what happened there is told in the graph's own order.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from callsheet.adapters import CallRecord, ReplyRecord, RunRecord

Order = tuple[Any, ...]

_PULLED = "__pregel_pull"


@dataclass(eq=False)
class Place:
    """A graph that runs, or a node of it.

    Args:
        graph: The graph.
        agent: The agent's name where the graph is one agent, else None.
        tools: The names of the tools the graph's own tool nodes have.
        order: The order of the graph, or of the node in it.
        node: The node's name, or None for the graph itself.
        outer: The node the graph runs in, or None at the top and under a tool call.
        timeout: Seconds after which the framework gives the node up, or None.
        trail: The names of the nodes around and of the node itself, joined by colons.
    """

    graph: Any
    agent: str | None
    tools: frozenset[str]
    order: Order = ()
    node: str | None = None
    outer: Place | None = None
    timeout: float | None = None
    trail: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    _children: int = 0

    def begin_child(self, index: int | None = None) -> int:
        """Give the number of the next task or graph that the node's own code starts."""
        number = self._children if index is None else index
        self._children = max(self._children, number + 1)
        return number

    def child_order(self, number: int, name: str) -> Order:
        """Give the order of a task or graph that the node's own code started."""
        return (*self.order, 2 * number + 1, name)

    def branch(self) -> Place:
        """Give the place of work that the node's own code hands to a thread: told where it was begun."""
        if self.node is None:
            return self
        return Place(
            self.graph,
            self.agent,
            self.tools,
            self.child_order(self.begin_child(), ""),
            self.node,
            self.outer,
            self.timeout,
            self.trail,
            self.metadata,
        )

    @property
    def here(self) -> Order:
        """The order of what the node's own code does next, after the tasks it started before."""
        return (*self.order, 2 * self._children, "") if self._children else self.order

    @property
    def speaker(self) -> str | None:
        """The name an agent's reply is told under."""
        return self.agent if self.agent is not None else self.node

    def names(self) -> Iterator[str]:
        """Give every name a script may have for what runs here, the closest first."""
        for name in (self.agent, self.node):
            if name is not None:
                yield name
        if self.outer is not None:
            yield from self.outer.names()

    def label(self) -> str:
        """Give the order as a text that may stand in the id of a tool call."""
        return "-".join(_plain(part) for part in self.here if part != "")


def order_of(place: Place | None, run: RunRecord | None) -> Order:
    """Give the order of what happens now; where nothing is known, it comes last."""
    if place is not None and place.node is not None:
        return place.here
    return run.steps[-1][0] if run is not None and run.steps else ()


def unanswered_call(
    run: RunRecord | None, name: str, args: Any, order: Order, *, taken: Container[CallRecord] = ()
) -> CallRecord | None:
    """Give the call of a model reply that a node runs by hand, without saying which one it is.

    The latest reply told before the node counts, and in it the first call that nobody ran; one with the
    same arguments before others.
    """
    if run is None:
        return None
    asked = [
        call
        for step_order, step in sorted(run.steps, key=lambda step: step[0], reverse=True)
        if isinstance(step, ReplyRecord) and step_order <= order
        for call in step.calls
        if call.name == name and not call.attempts and call not in taken
    ]
    return next((call for call in asked if call.args == args), asked[0] if asked else None)


def path_text(path: tuple[Any, ...]) -> str:
    """Give a task's path as a text that sorts as the paths do: nodes by name, sent tasks by number."""
    if len(path) == 2 and path[0] == _PULLED and isinstance(path[1], str):  # noqa: PLR2004
        return path[1]
    return "/".join(_flat(path)).removeprefix(f"{_PULLED}/")


def _flat(path: tuple[Any, ...]) -> Iterator[str]:
    for part in path:
        if isinstance(part, tuple):
            yield from _flat(part)
        elif not isinstance(part, bool):
            yield f"{part:06}" if isinstance(part, int) else str(part)


@lru_cache(maxsize=4096)
def _plain(part: object) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", str(part)).strip("_")
