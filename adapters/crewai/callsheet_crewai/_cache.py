"""CrewAI's tool cache, kept per session: a mock's answer must not outlive it, nor a real one reach it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from callsheet.adapters import Session
from callsheet_crewai._abort import current_scope
from callsheet_crewai._asked import carried_out

# Session -> id of a handler -> the handler, so that no other gets that id, and its answers.
_CACHES: WeakKeyDictionary[Session, dict[int, tuple[Any, dict[tuple[str, str], Any]]]] = WeakKeyDictionary()


def private_add(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `CacheHandler.add`."""

    @wraps(original)
    def add(self: Any, tool: str, input: str, output: Any) -> None:
        scope = current_scope()
        if scope is None:
            original(self, tool, input, output)
        elif type(output).__name__ != "ToolFailure":  # CrewAI does not keep failures either
            _answers(scope.session, self)[tool, input] = output

    return add


def private_read(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `CacheHandler.read`."""

    @wraps(original)
    def read(self: Any, tool: str, input: str) -> Any:
        scope = current_scope()
        if scope is None:
            return original(self, tool, input)
        answer = _answers(scope.session, self).get((tool, input))
        asked = carried_out()
        if answer is not None and asked is not None:
            asked.from_cache, asked.cached = True, answer
        return answer

    return read


def _answers(session: Session, handler: Any) -> dict[tuple[str, str], Any]:
    return _CACHES.setdefault(session, {}).setdefault(id(handler), (handler, {}))[1]
