"""Which nodes call the function of a tool past the tool, read from their source."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from callsheet_langgraph._call_expressions import called, items, unwrapped
from callsheet_langgraph._references import FRAMEWORKS, is_users, names_in, reachable

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
        known = _named[function] = id(function) in _bodies(list(_tools_of_module(function)))
    return known


def _calling_nodes(graph: Any) -> Iterator[tuple[str, str]]:
    found = {
        name: _without_idle_methods(list(reachable(node, enter=(FunctionType,), whole=True)))
        for name, node in graph.nodes.items()
    }
    code = {name: [thing for thing in things if _is_code(thing)] for name, things in found.items()}
    tools = [thing for thing in reachable(graph) if isinstance(thing, BaseTool)]
    one_of_each_module = {id(each.__globals__): each for functions in code.values() for each in functions}
    for function in one_of_each_module.values():
        tools.extend(_tools_of_module(function))
    bodies = _bodies(tools)
    for name, things in found.items() if bodies else ():
        held = _held(things, bodies)
        calls = (calling for thing in things for calling in _calls(thing, bodies, held))
        first = next(calls, None)
        if first is not None:
            yield name, first


def _calls(thing: Any, bodies: set[int], held: Mapping[str, Any]) -> Iterator[str]:
    """Give the names of the tool functions that something a node reaches calls."""
    if isinstance(thing, Runnable) and not isinstance(thing, BaseTool):
        # A binding has what it binds give it for its own.
        own = getattr(thing, "__dict__", {})
        given: tuple[Any, ...] = (own.get("func"), own.get("afunc"))
    else:
        given = (*thing.args, *thing.keywords.values()) if isinstance(thing, partial) else ()
    for function in map(unwrapped, given):
        if id(function) in bodies:
            yield function.__name__
    if _is_code(thing) and id(thing) not in bodies:
        yield from called(thing, bodies, held)


def _held(things: list[Any], bodies: set[int]) -> dict[str, Any]:
    """Give the tool functions, and the containers of some, that objects of the application hold."""
    return {
        name: value
        for thing in things
        if not isinstance(thing, (BaseTool, FunctionType, type, ModuleType))
        for name, value in (*getattr(thing, "__dict__", {}).items(), *_methods(thing))
        if any(id(unwrapped(item)) in bodies for item in items(value))
    }


def _without_idle_methods(things: list[Any]) -> list[Any]:
    """Leave out methods of the application's objects that nothing on the way names; all are found."""
    code = [thing for thing in things if _is_code(thing)]
    named = {name for function in code for name in names_in(function.__code__)}
    if "getattr" in named:
        return things
    named.update(thing.__func__.__name__ for thing in things if isinstance(thing, MethodType))
    idle = {
        id(method)
        for thing in things
        for name, method in _methods(thing)
        if name not in named and "__" not in name
    }
    return [thing for thing in things if id(thing) not in idle]


def _methods(thing: Any) -> Iterator[tuple[str, Any]]:
    """Give the functions of an object's class where that derives from no framework's."""
    bases = [base for base in type(thing).__mro__ if base is not object]
    modules = {base.__module__.partition(".")[0] for base in bases}
    if modules.isdisjoint(FRAMEWORKS) and modules.isdisjoint(sys.stdlib_module_names):
        for base in bases:
            yield from (
                (name, value) for name, value in vars(base).items() if isinstance(value, FunctionType)
            )


def _is_code(thing: Any) -> bool:
    return isinstance(thing, FunctionType) and is_users(thing)


def function_of(runnable: Any) -> Any:
    """Give the function a node or task runs first, or None."""
    steps = getattr(runnable, "steps", None)
    first = steps[0] if steps else runnable
    return getattr(first, "func", None) or getattr(first, "afunc", None)


def _tools_of_module(function: FunctionType) -> Iterator[BaseTool]:
    """Give the tools among the globals a function sees; one that is in no graph has a body all the same."""
    for value in list(function.__globals__.values()):
        for item in items(value):
            if isinstance(item, BaseTool):
                yield item


def _bodies(tools: list[BaseTool]) -> set[int]:
    own = [vars(tool).get(field) for tool in tools for field in ("func", "coroutine")]
    # One taken from the class before it was replaced.
    own += [inspect.unwrap(body) for tool in tools for body in (type(tool)._run, type(tool)._arun)]
    return {id(body) for body in map(unwrapped, own) if _is_code(body)}
