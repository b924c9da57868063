"""The source of functions."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


def definition_of(function: Callable[..., Any]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Give the definition of a function, or None where there is no source to read."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):  # no file, or a lambda in the middle of a line
        return None
    found = tree.body[0] if tree.body else None
    return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
