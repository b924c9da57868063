"""Memory and knowledge: empty while the model is scripted, for both ask providers for embeddings."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from crewai.memory.types import MemoryRecord

from callsheet_crewai._abort import current_scope


def empty(answer: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace a method of a memory or a knowledge base: it gives this, where the model is scripted."""

    def replace(original: Callable[..., Any]) -> Callable[..., Any]:
        if iscoroutinefunction(original):

            @wraps(original)
            async def amethod(self: Any, *args: Any, **kwargs: Any) -> Any:
                return _fresh(answer) if _is_scripted() else await original(self, *args, **kwargs)

            return amethod

        @wraps(original)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return _fresh(answer) if _is_scripted() else original(self, *args, **kwargs)

        return method

    return replace


def forgetful(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Memory.remember`: it gives the record it would have kept."""

    @wraps(original)
    def remember(self: Any, content: str, *args: Any, **kwargs: Any) -> Any:
        if not _is_scripted():
            return original(self, content, *args, **kwargs)
        return None if self.read_only else MemoryRecord(content=content)

    return remember


def _fresh(answer: Any) -> Any:
    return list(answer) if isinstance(answer, list) else answer


def _is_scripted() -> bool:
    scope = current_scope()
    return scope is not None and scope.session.model is not None
