"""What a graph, a node's code or a tool can be seen to reach without running it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langgraph.pregel import Pregel
from langgraph.pregel.protocol import PregelProtocol

from callsheet_langgraph._imports import imported

# Code of these is known: nothing a test could name is found in it but what it was given.
FRAMEWORKS = (
    "callsheet",
    "callsheet_langgraph",
    "langchain",
    "langchain_core",
    "langgraph",
    "langgraph_supervisor",
    "langgraph_swarm",
)
_INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]")
_LIMIT = 20_000
_TOLD = (BaseTool, PregelProtocol, FunctionType, BaseLanguageModel)
EVERYTHING = (BaseTool, PregelProtocol, FunctionType)


def reachable(root: Any, *, enter: tuple[type, ...] = EVERYTHING, whole: bool = False) -> Iterator[Any]:
    """Give every tool, graph, model and function reached from an object.

    Closures, defaults, the globals that code names, attributes of the user's own objects and everything in
    lists and dicts are followed.

    Args:
        root: Where to begin; given first.
        enter: Which of the things found are looked into, beside the root.
        whole: Whether everything on the way is given too.
    """
    seen: dict[int, Any] = {}
    waiting = [root]
    while waiting and len(seen) < _LIMIT:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, (str, bytes, int, float, bool, type(None))):
            continue
        # Kept, so that its id stays its own.
        seen[id(thing)] = thing
        if whole or isinstance(thing, _TOLD):
            yield thing
        if thing is root or isinstance(thing, enter) or not isinstance(thing, _TOLD):
            waiting.extend(_parts(thing))


def is_users(function: FunctionType | type) -> bool:
    """Say whether a function or class is of the application rather than of the framework."""
    return (function.__module__ or "").partition(".")[0] not in FRAMEWORKS


def names_in(code: CodeType) -> Iterator[str]:
    """Give the names of globals and attributes that code says, the code inside it included."""
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from names_in(const)


def _parts(thing: Any) -> Iterable[Any]:
    if isinstance(thing, FunctionType):
        return _named_by(thing)
    if isinstance(thing, MethodType):
        return (thing.__func__, thing.__self__)
    if isinstance(thing, partial):
        return (thing.func, *thing.args, *thing.keywords.values())
    if isinstance(thing, Mapping):
        return list(thing.values())
    if isinstance(thing, (list, tuple, set, frozenset)):
        return list(thing)
    if isinstance(thing, BaseTool):
        own = vars(thing)
        return [own.get("func"), own.get("coroutine"), *_methods_of(thing)]
    if isinstance(thing, Pregel):
        return list(thing.nodes.values())
    if isinstance(thing, BaseLanguageModel) or inspect.isclass(thing) or inspect.ismodule(thing):
        return ()
    if type(thing).__name__ == "OutputToolBinding":
        # How `create_agent` asks for a structured answer: a tool in form only.
        return ()
    return _attributes(thing)


def _named_by(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a variable that has no value yet
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        yield wrapped
    if is_users(function):
        names = list(names_in(function.__code__))
        for value in (*map(function.__globals__.get, names), *dict(imported(function)).values()):
            yield value
            if _is_of_application(value, function):
                # Which attribute is of which name is not told apart: each is looked for in each.
                yield from (vars(value).get(attribute) for attribute in names)


def _is_of_application(value: Any, function: FunctionType) -> bool:
    """Say whether something is a module of the application whose function names it."""
    if not inspect.ismodule(value):
        return False
    package = value.__name__.partition(".")[0]
    if package == (function.__module__ or "").partition(".")[0]:
        return True
    # Whole libraries would be read otherwise.
    is_installed = _INSTALLED.search(getattr(value, "__file__", None) or "") is not None
    return not is_installed and package not in FRAMEWORKS and package not in sys.stdlib_module_names


def _methods_of(tool: BaseTool) -> Iterator[Any]:
    """Give what a tool class of the application's own runs and holds."""
    for method in (type(tool)._run, type(tool)._arun):
        if isinstance(method, FunctionType) and is_users(method):
            yield method
            yield from _attributes(tool)


def _attributes(thing: Any) -> Iterable[Any]:
    module = (type(thing).__module__ or "").partition(".")[0]
    if module in ("builtins", "pydantic", "threading", "asyncio", "re", "typing", "logging"):
        return ()
    own = list(getattr(thing, "__dict__", {}).values())
    if isinstance(thing, Runnable) or module in FRAMEWORKS:
        return [*own, *_slots(thing)]
    # An object of the application's: its methods reach what its attributes do not say.
    methods = [value for base in type(thing).__mro__ for value in vars(base).values()]
    return [*own, *(method for method in methods if isinstance(method, FunctionType) and is_users(method))]


def _slots(thing: Any) -> Iterator[Any]:
    for base in type(thing).__mro__:
        for name in getattr(base, "__slots__", ()):
            yield getattr(thing, name, None)
