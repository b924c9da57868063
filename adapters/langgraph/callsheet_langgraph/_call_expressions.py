"""What calls in the source of a function stand for, as far as that needs no code to run."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from callsheet_langgraph._imports import imported
from callsheet_langgraph._references import FRAMEWORKS, is_users
from callsheet_langgraph._source import code_of

# What is told about a function, rather than given it to call.
_TELLING = (
    *("add_node", "add_tool", "append", "bind", "bind_tools", "from_function", "override"),
    *("debug", "error", "exception", "info", "log", "warning"),
)
_TELLING_MODULES = sys.stdlib_module_names.union(FRAMEWORKS) - {
    "_functools",
    "_thread",
    "asyncio",
    "atexit",
    "concurrent",
    "contextlib",
    "contextvars",
    "functools",
    "itertools",
    "multiprocessing",
    "sched",
    "signal",
    "threading",
    "timeit",
}
_CALLING_BUILTINS = (map, filter)
# Through this many functions a function is followed that is passed on; further it counts as called.
_DEEPEST = 5
_PICKING = ("get", "items", "pop", "values")


def called(
    function: FunctionType,
    bodies: set[int],
    held: Mapping[str, Any],
    given: Mapping[str, Any] | None = None,
    depth: int = 0,
) -> Iterator[str]:
    """Give the names of those of some functions that a function calls, or passes on to be called.

    Args:
        function: Whose source is read.
        bodies: The ids of the functions looked for.
        held: What objects the function may reach hold in their attributes, by the attribute's name.
        given: What the function's parameters stand for, where that is known.
        depth: Through how many functions these came.
    """
    for code in code_of(function):
        meant = _Meaning(function, code, held, given or {})
        for call in (node for node in ast.walk(code) if isinstance(node, ast.Call)):
            for target in map(unwrapped, items(meant.of(call.func))):
                if id(target) in bodies:
                    yield target.__name__
            passed = {name: meant.of(argument) for name, argument in _arguments(call)}
            passed = {name: value for name, value in passed.items() if id(unwrapped(value)) in bodies}
            if passed and not meant.only_tells(call.func):
                target = unwrapped(meant.of(call.func))
                yield from _calls_given(target, passed, bodies, depth)


def _calls_given(target: Any, passed: Mapping[int | str, Any], bodies: set[int], depth: int) -> Iterator[str]:
    """Give the names of the functions passed that what they are passed to calls; all where nobody can say."""
    known = isinstance(target, FunctionType) and is_users(target) and bool(code_of(target))
    names = list(inspect.signature(target, follow_wrapped=False).parameters) if known else []
    if depth < _DEEPEST and all(name in names or name in range(len(names)) for name in passed):
        given = {names[name] if isinstance(name, int) else name: value for name, value in passed.items()}
        yield from called(target, bodies, {}, given, depth + 1)
    else:
        yield from (unwrapped(value).__name__ for value in passed.values())


def items(value: Any) -> Iterable[Any]:
    """Give what a container holds, or a value itself."""
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, (list, tuple)) else (value,)


def unwrapped(value: Any) -> Any:
    """Give the function a partial or a bound method is of."""
    while isinstance(value, (partial, MethodType)):
        value = value.func if isinstance(value, partial) else value.__func__
    return value


class _Meaning:
    """What names stand for in a function.

    Args:
        function: The function.
        code: Its source.
        held: What objects it may reach hold, by the attribute's name.
        given: What its parameters stand for, where that is known.
    """

    def __init__(
        self, function: FunctionType, code: ast.AST, held: Mapping[str, Any], given: Mapping[str, Any]
    ) -> None:
        self._held = held
        self._known: dict[str, Any] = {
            **function.__globals__,
            **inspect.getclosurevars(function).nonlocals,
            **_defaults(function),
            **dict(imported(function)),
            **given,
        }
        self._take_names(code)

    def of(self, expression: ast.expr) -> Any:
        """Give what an expression stands for, or what it may pick from."""
        match expression:
            case ast.Name(name):
                return self._known.get(name)
            case ast.Subscript(value) | ast.Starred(value) | ast.NamedExpr(_, value) | ast.Await(value):
                return self.of(value)
            case ast.List(elements) | ast.Tuple(elements):
                return [item for element in elements for item in items(self.of(element))]
            case ast.Call(ast.Attribute(value, name)) if name in _PICKING:
                return self.of(value)
            case ast.Attribute(value, attribute):
                return self._attribute(self.of(value), attribute)
        return None

    def only_tells(self, expression: ast.expr) -> bool:
        """Say whether what is called is told about its arguments rather than given them to call."""
        match expression:
            case ast.Attribute(_, name) if name in _TELLING:
                return True
            case ast.Call(made_by):
                # A decorator with arguments, as `tool("search")`.
                return self.only_tells(made_by)
            case ast.Name(name) if name not in self._known:
                target = getattr(builtins, name, None)
            case _:
                target = self.of(expression)
        if isinstance(target, type) and issubclass(target, Runnable):
            return issubclass(target, BaseTool)
        module = (getattr(target, "__module__", None) or "").partition(".")[0]
        return module in _TELLING_MODULES and not any(target is each for each in _CALLING_BUILTINS)

    def _attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, BaseTool):
            # Its fields are answered where they are read.
            return None
        if isinstance(owner, ModuleType):
            return vars(owner).get(name)
        if owner is None:
            return self._held.get(name)
        found = inspect.getattr_static(owner, name, None)
        return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found

    def _take_names(self, code: ast.AST) -> None:
        """Take names that stand for what another name does, or for what a loop picks."""
        for node in ast.walk(code):
            match node:
                case ast.Assign([ast.Name(name)], value) | ast.NamedExpr(ast.Name(name), value):
                    meant = self.of(value)
                case ast.For(target, value) | ast.comprehension(target, value):
                    name = target.id if isinstance(target, ast.Name) else _last_name(target)
                    meant = self.of(value)
                case _:
                    continue
            if meant is not None and name:
                self._known[name] = meant


def _last_name(target: ast.expr) -> str:
    # `for name, function in table.items()`
    last = target.elts[-1] if isinstance(target, ast.Tuple) and target.elts else target
    return last.id if isinstance(last, ast.Name) else ""


def _arguments(call: ast.Call) -> Iterator[tuple[int | str, ast.expr]]:
    yield from enumerate(call.args)
    for keyword in call.keywords:
        yield keyword.arg or "", keyword.value


def _defaults(function: FunctionType) -> dict[str, Any]:
    parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}
