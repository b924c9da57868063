"""Bodies of streams, built from events."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def sse() -> Callable[..., str]:
    """Give a function that writes events as server-sent events; a str is written as it is."""

    def write(*events: dict[str, Any] | str, typed: bool = False) -> str:
        blocks = []
        for event in events:
            data = event if isinstance(event, str) else json.dumps(event)
            prefix = f"event: {event['type']}\n" if typed and isinstance(event, dict) else ""
            blocks.append(f"{prefix}data: {data}\n\n")
        return "".join(blocks)

    return write
