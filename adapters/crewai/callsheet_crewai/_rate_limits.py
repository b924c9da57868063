"""Scripted rate-limit errors are tried again as CrewAI tries them, without the waiting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

try:
    from crewai.llms.retry import arun_with_rate_limit_retry, run_with_rate_limit_retry
except ImportError:  # CrewAI before it had a retry policy of its own
    run_with_rate_limit_retry = arun_with_rate_limit_retry = None


def retried(operation: Callable[[], Any]) -> Any:
    """Run an operation under CrewAI's retry policy."""
    if run_with_rate_limit_retry is None:
        return operation()
    return run_with_rate_limit_retry(operation, sleep=lambda seconds: None)


async def aretried(operation: Callable[[], Awaitable[Any]]) -> Any:
    """Like `retried`, on the running event loop."""
    if arun_with_rate_limit_retry is None:
        return await operation()
    return await arun_with_rate_limit_retry(operation, sleep=_no_wait)


async def _no_wait(seconds: float) -> None:
    return None
