"""Functions that look like the methods they stand in for.

LangChain reads signature and annotations of a tool's `_run` at every call, which takes longer than answering
it. A stand-in has them ready.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, get_type_hints
from weakref import WeakKeyDictionary

# For each function of a class: its signature as a bound method, and its annotations, or None.
_looks: WeakKeyDictionary[Any, tuple[inspect.Signature, dict[str, Any]] | None] = WeakKeyDictionary()


def posing_as(method: Callable[..., Any], stand_in: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the look of a bound method."""
    function = getattr(method, "__func__", None)
    if function is not None and function not in _looks:
        _looks[function] = _look_of(method)
    look = _looks.get(function) if function is not None else None
    if look is None:
        return wraps(method)(stand_in)
    signature, annotations = look
    vars(stand_in)["__signature__"] = signature
    stand_in.__annotations__ = annotations
    return stand_in


def _look_of(method: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]] | None:
    try:
        return inspect.signature(method), get_type_hints(method, include_extras=True)
    except (NameError, TypeError):
        # An annotation names what is only imported for type checkers. LangChain is to find that out itself.
        return None
