"""Which nodes call the function of a tool by its name, read from their source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool

from callsheet_langgraph._references import is_users, reachable
from callsheet_langgraph._source import definition_of

_found: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()


def direct_calls(graph: Any) -> dict[str, str]:
    """Give the tool function each node of a graph calls by its name, for the nodes that do."""
    known = _found.get(graph)
    if known is None:
        bodies = _tool_bodies(graph)
        known = _found[graph] = {} if not bodies else dict(_calling_nodes(graph, bodies))
    return known


def _tool_bodies(graph: Any) -> set[int]:
    tools = [thing for thing in reachable(graph) if isinstance(thing, BaseTool)]
    own = (vars(tool).get(field) for tool in tools for field in ("func", "coroutine"))
    return {id(body) for body in own if isinstance(body, FunctionType)}


def _calling_nodes(graph: Any, bodies: set[int]) -> Iterator[tuple[str, str]]:
    for name, node in graph.nodes.items():
        for function in reachable(node.bound, enter=(FunctionType,)):
            if isinstance(function, FunctionType) and is_users(function) and id(function) not in bodies:
                called = next(_called(function, bodies), None)
                if called is not None:
                    yield name, called
                    break


def _called(function: FunctionType, bodies: set[int]) -> Iterator[str]:
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for call in _calls(function):
        target = call.func.value if isinstance(call.func, ast.Subscript) else call.func
        if not isinstance(target, ast.Name):
            continue
        for called in _functions(known.get(target.id)):
            if id(called) in bodies:
                yield called.__name__


def _calls(function: FunctionType) -> Iterator[ast.Call]:
    definition = definition_of(function)
    if definition is not None:
        yield from (node for node in ast.walk(definition) if isinstance(node, ast.Call))


def _functions(value: Any) -> Iterator[FunctionType]:
    if isinstance(value, Mapping):
        value = list(value.values())
    for item in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(item, FunctionType):
            yield item
