"""The agents and tools that can be reached from a graph, and what an agent is called."""

from __future__ import annotations

from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from callsheet.adapters import Inventory
from langchain_core.tools import BaseTool
from langgraph.pregel import Pregel

from callsheet_langgraph._references import is_users, reachable

UNNAMED = "LangGraph"
# Where the functions of ready-made agents are defined.
_AGENT_MODULES = ("langchain.agents.factory", "langgraph.prebuilt.chat_agent_executor")

_agents: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
_tools: WeakKeyDictionary[Any, frozenset[str]] = WeakKeyDictionary()


def inventory(root: Any) -> Inventory:
    """Walk a graph, its sub-graphs, and the code of its nodes and tools.

    What the application's own code can do while it runs is only known then, so the walk is complete only
    for graphs that have none beside their tools.
    """
    agents: dict[str, set[str]] = {}
    names: set[str] = set()
    complete = True
    tool_bodies = set()
    functions: list[FunctionType] = []
    for thing in reachable(root):
        if isinstance(thing, BaseTool):
            names.add(thing.name)
            tool_bodies.update(id(vars(thing).get(field)) for field in ("func", "coroutine"))
        elif isinstance(thing, Pregel):
            tools = own_tools(thing)
            for label in (agent_name(thing), thing.get_name(), *thing.nodes):
                if label is not None and not label.startswith("__"):
                    agents.setdefault(label, set()).update(tools)
        elif isinstance(thing, FunctionType) and is_users(thing):
            functions.append(thing)
        elif not isinstance(thing, FunctionType):
            complete = complete and not _is_remote(thing)
    complete = complete and all(id(function) in tool_bodies for function in functions)
    return Inventory({label: tools | names for label, tools in agents.items()}, complete)


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


def _is_remote(thing: Any) -> bool:
    return type(thing).__name__ == "RemoteGraph"
