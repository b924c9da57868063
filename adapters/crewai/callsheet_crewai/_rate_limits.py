"""Scripted rate-limit errors are tried again as CrewAI tries them, without the waiting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# CrewAI 1.15.3 has no retry policy of its own yet.
POLICY: Any = import_module("crewai.llms.retry") if find_spec("crewai.llms.retry") is not None else None


def retried(operation: Callable[[], Any]) -> Any:
    """Run an operation under CrewAI's retry policy."""
    if POLICY is None:
        return operation()
    return POLICY.run_with_rate_limit_retry(operation, sleep=lambda _: None)


async def aretried(operation: Callable[[], Awaitable[Any]]) -> Any:
    """Like `retried`, on the running event loop."""
    if POLICY is None:
        return await operation()
    return await POLICY.arun_with_rate_limit_retry(operation, sleep=_no_wait)


async def _no_wait(seconds: float) -> None:
    return None
