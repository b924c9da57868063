"""Model classes that reply in a way of their own.

A class that overrides `invoke` or one of its kin may never come to the method of `BaseChatModel` that asks
the session. While the session has a model to answer with, it is asked the usual way instead, unless the
override only does something around the usual way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any

from langchain_core.language_models import BaseChatModel

from callsheet.adapters import Patch, active_scope
from callsheet_langgraph._references import is_users
from callsheet_langgraph._subclasses import own_methods, subclasses

_METHODS = (
    "invoke",
    "ainvoke",
    "batch",
    "abatch",
    "stream",
    "astream",
    "generate",
    "agenerate",
    "generate_prompt",
    "agenerate_prompt",
    "_generate_with_cache",
    "_agenerate_with_cache",
)


def patches() -> Iterator[Patch]:
    """Give a replacement for each such method of every model class of the application's."""
    for model_class in subclasses(BaseChatModel):
        yield from patches_of(model_class)


def patches_of(model_class: Any) -> Iterator[Patch]:
    """Give the replacements for one class."""
    # Every session passes here, and most classes are the framework's.
    if not is_users(model_class):
        return
    for name, method in own_methods(model_class, BaseChatModel, _METHODS):
        if callable(method) and is_users(method) and not _goes_on(method):
            yield Patch(model_class, name, partial(_usual, name, method))


def _usual(name: str, method: Callable[..., Any], found: Any) -> Callable[..., Any]:
    original: Callable[..., Any] = found or method

    @wraps(original)
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        answers = scope is not None and (scope.session.model or scope.session.native_model) is not None
        return (getattr(BaseChatModel, name) if answers else original)(self, *args, **kwargs)

    return ask


def _goes_on(method: Any) -> bool:
    """Say whether a method says `super()`: it changes what goes in or out, and does not reply itself."""
    return "__class__" in method.__code__.co_freevars if hasattr(method, "__code__") else False
