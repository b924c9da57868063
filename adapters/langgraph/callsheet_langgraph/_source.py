"""The source of functions."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import threading
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

_Definition = ast.FunctionDef | ast.AsyncFunctionDef

_definitions: WeakKeyDictionary[Any, _Definition | None] = WeakKeyDictionary()
# CPython 3.11 and 3.12 lose count of their depth when two threads make syntax trees at once.
_parsing = threading.Lock()


def definition_of(function: Callable[..., Any] | CodeType) -> _Definition | None:
    """Give the definition of a function, or None for a lambda and where there is no source to read.

    Of a function that wraps another it is the other's; of a code object it is its own.
    """
    if function not in _definitions:
        _definitions[function] = _read(function)
    return _definitions[function]


def code_of(function: FunctionType) -> list[ast.AST]:
    """Give a function's definition, or every lambda that begins where it does; nothing without a source."""
    code = function.__code__
    if code.co_name != "<lambda>":
        definition = definition_of(code)
        return [] if definition is None else [definition]
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    return [found for found in _lambdas("".join(lines)) if found.lineno == code.co_firstlineno]


def _read(function: Any) -> _Definition | None:
    try:
        tree = _parsed(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):  # no file, a lambda inside a line, around a builtin
        return None
    found = tree.body[0] if tree.body else None
    return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


@lru_cache(maxsize=32)
def _lambdas(source: str) -> tuple[ast.Lambda, ...]:
    try:
        tree = _parsed(source)
    except SyntaxError:  # a file that is no module, such as a notebook's
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))


def _parsed(source: str) -> ast.Module:
    with _parsing:
        return ast.parse(source)
