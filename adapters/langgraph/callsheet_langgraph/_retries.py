"""Retries that do not wait: LangGraph's policies, LangChain's `with_retry` and its retry middleware."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

from langchain_core.runnables.retry import RunnableRetry
from tenacity import wait_none

from callsheet.adapters import Patch, active_scope

# LangChain need not be installed, so nothing here imports it. In 1.0 a middleware computes its pause itself.
_MIDDLEWARE = "langchain.agents.middleware"
_PAUSES = (
    ("tool_retry", None, "calculate_delay"),
    ("model_retry", None, "calculate_delay"),
    ("tool_retry", "ToolRetryMiddleware", "_calculate_delay"),
)


def patches() -> Iterator[Patch]:
    """Give the replacements for `with_retry`."""
    yield Patch(RunnableRetry, "_sync_retrying", _without_wait)
    yield Patch(RunnableRetry, "_async_retrying", _without_wait)


def middleware_patches() -> Iterator[Patch]:
    """Give those for the retry middleware that is loaded by now and still pauses."""
    for module_name, class_name, function in _PAUSES:
        owner = sys.modules.get(f"{_MIDDLEWARE}.{module_name}")
        if owner is not None and class_name is not None:
            owner = getattr(owner, class_name, None)
        if owner is not None and function in vars(owner):
            yield Patch(owner, function, _no_pause)


def impatient(task: Any) -> Any:
    """Give a task whose retries do not wait."""
    return replace(task, retry_policy=without_waiting(task.retry_policy)) if task.retry_policy else task


def without_waiting(policies: Any) -> Any:
    """Give the policies with no pause between attempts; a test has nothing to wait for."""
    if not policies:
        return policies
    return [policy._replace(initial_interval=0.0, max_interval=0.0, jitter=False) for policy in policies]


def _without_wait(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def retrying(self: Any, **kwargs: Any) -> Any:
        attempts = original(self, **kwargs)
        if active_scope() is not None:
            attempts.wait = wait_none()
        return attempts

    return retrying


def _no_pause(original: Callable[..., float]) -> Callable[..., float]:
    @wraps(original)
    def delay(*args: Any, **kwargs: Any) -> float:
        return 0.0 if active_scope() is not None else original(*args, **kwargs)

    return delay
