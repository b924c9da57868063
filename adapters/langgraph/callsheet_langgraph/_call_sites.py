"""Which nodes call the function of a tool past the tool, read from their source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool

from callsheet_langgraph._references import is_users, reachable
from callsheet_langgraph._source import code_of

_found: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()
_named: WeakKeyDictionary[FunctionType, bool] = WeakKeyDictionary()


def direct_calls(graph: Any) -> dict[str, str]:
    """Give the tool function each node of a graph calls by its name, for the nodes that do.

    What a node's edges run counts as the node's.
    """
    known = _found.get(graph)
    if known is None:
        known = _found[graph] = dict(_calling_nodes(graph))
    return known


def is_tool_body(function: Any) -> bool:
    """Say whether a function is that of a tool its module knows."""
    if not isinstance(function, FunctionType):
        return False
    known = _named.get(function)
    if known is None:
        known = _named[function] = id(function) in _bodies(_tools_of_module(function))
    return known


def _calling_nodes(graph: Any) -> Iterator[tuple[str, str]]:
    code = {name: list(_code(node)) for name, node in graph.nodes.items()}
    tools = [thing for thing in reachable(graph) if isinstance(thing, BaseTool)]
    one_of_each_module = {id(each.__globals__): each for functions in code.values() for each in functions}
    for function in one_of_each_module.values():
        tools.extend(_tools_of_module(function))
    bodies = _bodies(tools)
    for name, functions in code.items() if bodies else ():
        own = function_of(graph.nodes[name].bound)
        if id(own) in bodies:
            yield name, own.__name__
            continue
        for function in functions:
            called = next(_called(function, bodies), None) if id(function) not in bodies else None
            if called is not None:
                yield name, called
                break


def function_of(runnable: Any) -> Any:
    """Give the function a node or task runs first, or None."""
    steps = getattr(runnable, "steps", None)
    first = steps[0] if steps else runnable
    return getattr(first, "func", None) or getattr(first, "afunc", None)


def _code(node: Any) -> Iterator[FunctionType]:
    for thing in reachable(node, enter=(FunctionType,)):
        if isinstance(thing, FunctionType) and is_users(thing):
            yield thing


def _tools_of_module(function: FunctionType) -> Iterator[BaseTool]:
    """Give the tools among the globals a function sees; one that is in no graph has a body all the same."""
    for value in list(function.__globals__.values()):
        for item in _items(value):
            if isinstance(item, BaseTool):
                yield item


def _bodies(tools: Iterable[BaseTool]) -> set[int]:
    own = (vars(tool).get(field) for tool in tools for field in ("func", "coroutine"))
    return {id(body) for body in own if isinstance(body, FunctionType)}


def _called(function: FunctionType, bodies: set[int]) -> Iterator[str]:
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for call in _calls(function):
        for called in _items(_meant(call.func, known)):
            if id(called) in bodies:
                yield called.__name__


def _calls(function: FunctionType) -> Iterator[ast.Call]:
    for code in code_of(function):
        yield from (node for node in ast.walk(code) if isinstance(node, ast.Call))


def _meant(expression: ast.expr, known: Mapping[str, Any]) -> Any:
    """Give what an expression stands for, or what it may pick from, as far as that needs no code to run."""
    match expression:
        case ast.Name(name):
            return known.get(name)
        case ast.Subscript(value):
            return _meant(value, known)
        case ast.Attribute(value, attribute):
            owner = _meant(value, known)
            if isinstance(owner, BaseTool):
                # Its fields are answered where they are read.
                return None
            if isinstance(owner, ModuleType):
                return vars(owner).get(attribute)
            found = inspect.getattr_static(owner, attribute, None) if owner is not None else None
            return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    return None


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, (list, tuple)) else (value,)
