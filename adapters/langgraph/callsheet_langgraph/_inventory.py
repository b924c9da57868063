"""The agents and tools that can be reached from a graph, and what an agent is called."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool
from langgraph.pregel import Pregel
from langgraph.pregel.protocol import PregelProtocol

from callsheet.adapters import Inventory
from callsheet_langgraph._references import is_users, reachable

UNNAMED = "LangGraph"
# Where the functions of ready-made agents are defined.
_AGENT_MODULES = ("langchain.agents.factory", "langgraph.prebuilt.chat_agent_executor")

_agents: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
_inventories: WeakKeyDictionary[Any, Inventory] = WeakKeyDictionary()
_tools: WeakKeyDictionary[Any, frozenset[str]] = WeakKeyDictionary()


def inventory(root: Any) -> Inventory:
    """Give what a graph, its sub-graphs, and the code of its nodes and tools can be seen to reach.

    What the application's own nodes and middleware can do while they run is only known then, so this is
    complete only for graphs that have none.
    """
    known = _inventories.get(root)
    if known is None:
        known = _inventories[root] = _walk(root)
    return known


def _walk(root: Any) -> Inventory:
    found = list(reachable(root))
    graphs = [thing for thing in found if isinstance(thing, Pregel)]
    tools = [thing for thing in found if isinstance(thing, BaseTool)]
    agents: dict[str, set[str]] = {}
    for graph in graphs:
        for label, names in _labels(graph):
            agents.setdefault(label, set()).update(names)
    # A tool that only another tool's code calls belongs to nobody's list.
    loose = {tool.name for tool in tools}.difference(*agents.values())
    if loose:
        agents[""] = loose
    bodies = {id(vars(tool).get(field)) for tool in tools for field in ("func", "coroutine")}
    remote = any(isinstance(thing, PregelProtocol) and not isinstance(thing, Pregel) for thing in found)
    return Inventory(agents, not remote and not any(_has_code(graph, bodies) for graph in graphs))


def _labels(graph: Any) -> Iterator[tuple[str, frozenset[str]]]:
    """Give the names a graph and its nodes go by, each with its tools."""
    tools = own_tools(graph)
    for label in (agent_name(graph), graph.get_name()):
        if label is not None:
            yield label, tools
    for name, node in graph.nodes.items():
        if not name.startswith("__"):
            inner = [
                own_tools(thing) for thing in reachable(node.bound, enter=()) if isinstance(thing, Pregel)
            ]
            yield name, tools.union(*inner)


def agent_name(graph: Any, *, within: str | None = None) -> str | None:
    """Give the name of the agent a graph is, or None where it is no ready-made agent.

    Args:
        graph: The graph.
        within: The node the graph stands in, whose name an agent without one has.
    """
    if not _is_agent(graph):
        return None
    return within if graph.name == UNNAMED and within is not None else str(graph.name)


def own_tools(graph: Any) -> frozenset[str]:
    """Give the names of the tools in a graph's own tool nodes and code, sub-graphs left out."""
    known = _tools.get(graph)
    if known is None:
        found: set[str] = set()
        for thing in reachable(graph, enter=(FunctionType,)):
            if isinstance(thing, BaseTool):
                found.add(thing.name)
        known = _tools[graph] = frozenset(found)
    return known


def _is_agent(graph: Any) -> bool:
    known = _agents.get(graph)
    if known is None:
        bodies = (getattr(node.bound, "func", None) for node in graph.nodes.values())
        known = _agents[graph] = any(getattr(body, "__module__", None) in _AGENT_MODULES for body in bodies)
    return known


def _has_code(graph: Any, tool_bodies: set[int]) -> bool:
    """Say whether a graph has nodes or middleware of the application's own."""
    return any(
        isinstance(thing, FunctionType) and is_users(thing) and id(thing) not in tool_bodies
        for thing in reachable(graph, enter=(FunctionType,))
    )
