"""The data stream protocol of the Vercel AI SDK 3.1 to 4: lines of a one-character code and a JSON value.

Each line becomes the event that says the same in the UI message stream of the SDK's later versions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_LINE = re.compile(r"[0-9a-k]:(?:[\[{\"]|\Z)")
_EVENT_TYPES = {
    "9": "tool-input-available",
    "a": "tool-output-available",
    "b": "tool-input-start",
    "c": "tool-input-delta",
    "d": "finish",
    "e": "finish-step",
    "f": "start-step",
}
_TEXT_EVENTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "0": lambda text: {"type": "text-delta", "delta": text},
    "3": lambda text: {"type": "error", "errorText": text},
    "g": lambda text: {"type": "reasoning-delta", "delta": text},
}
_OTHER_CODES = frozenset("1245678hijk")  # data, annotations, sources, files, signatures


def looks_like_data_stream(text: str) -> bool:
    """Tell whether a text begins with a line of the protocol."""
    return _LINE.match(text) is not None


def data_stream_event(line: str) -> dict[str, Any] | None:
    """Give the event of a line, or None for a line that is not of the protocol."""
    code, _, source = line.partition(":")
    try:
        value = json.loads(source)
    except (ValueError, RecursionError):
        return None
    if code in _TEXT_EVENTS and isinstance(value, str):
        return _TEXT_EVENTS[code](value)
    if code in _EVENT_TYPES and isinstance(value, dict):
        return {**value, "type": _EVENT_TYPES[code]}
    return {"type": f"data-{code}", "data": value} if code in _OTHER_CODES else None
