"""What functions import while they run."""

from __future__ import annotations

import ast
import dis
import importlib.util
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from callsheet_langgraph._source import code_of

_IMPORT = dis.opmap["IMPORT_NAME"]


def imported(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Give what a function's own import statements give it, by name, as far as it is loaded by now."""
    if _IMPORT not in function.__code__.co_code[::2]:
        return
    for code in code_of(function):
        for node in ast.walk(code):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.name if alias.asname is not None else alias.name.partition(".")[0]
                    yield alias.asname or name, sys.modules.get(name)
            elif isinstance(node, ast.ImportFrom):
                module = sys.modules.get(_module_name(function, node))
                for alias in node.names:
                    yield alias.asname or alias.name, getattr(module, alias.name, None)


def _module_name(function: FunctionType, node: ast.ImportFrom) -> str:
    name = node.module or ""
    package = function.__globals__.get("__package__") or ""
    if not node.level or not package:
        return name
    return importlib.util.resolve_name("." * node.level + name, package)
