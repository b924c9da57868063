"""Tools that are agents: whose code does nothing but ask a graph."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable
from typing import Any

from langgraph.pregel.protocol import PregelProtocol

from callsheet_langgraph._source import definition_of

_ASK = ("invoke", "ainvoke", "stream", "astream")
_HARMLESS = ("str", "dict", "list", "tuple", "len", "isinstance", "getattr")


def only_asks_graphs(body: Callable[..., Any]) -> bool:
    """Say whether a function does nothing but ask a graph and shape what goes in and out.

    Anything else it calls would run for real whenever the sub-agent does, so it makes the tool one like any
    other. So does code whose source is not there to be read.
    """
    # `graph.as_tool()` gives a function around a runnable.
    runnable = inspect.getclosurevars(body).nonlocals.get("runnable")
    if isinstance(runnable, PregelProtocol) and (body.__module__ or "").startswith("langchain_core."):
        return True
    definition = definition_of(body)
    if definition is None:
        return False
    known = {**body.__globals__, **inspect.getclosurevars(body).nonlocals}
    local = {argument.arg for argument in ast.walk(definition.args) if isinstance(argument, ast.arg)}
    inner = [node for statement in definition.body for node in ast.walk(statement)]
    local |= {node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if any(
        isinstance(node, (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Lambda)) for node in inner
    ):
        return False
    calls = [node.func for node in inner if isinstance(node, ast.Call)]
    asked = [call for call in calls if _asks_graph(call, known)]
    return bool(asked) and all(_asks_graph(call, known) or _only_shapes(call, known, local) for call in calls)


def _asks_graph(call: ast.expr, known: dict[str, Any]) -> bool:
    if not isinstance(call, ast.Attribute) or call.attr not in _ASK or not isinstance(call.value, ast.Name):
        return False
    return isinstance(known.get(call.value.id), PregelProtocol)


def _only_shapes(call: ast.expr, known: dict[str, Any], local: set[str]) -> bool:
    """Say whether a call makes a message, or is of a method of what the function was given or got."""
    if isinstance(call, ast.Name):
        target = known.get(call.id, getattr(builtins, call.id, None))
        is_message = isinstance(target, type) and target.__module__.startswith("langchain_core.messages")
        return is_message or (call.id in _HARMLESS and call.id not in known)
    root: ast.expr = call
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    return isinstance(root, ast.Constant) or (
        isinstance(root, ast.Name) and (root.id in local or root.id in _HARMLESS)
    )
