"""Values as texts show them: as one would type them, bounded, secrets redacted."""

from __future__ import annotations

from typing import Any

from callsheet._redaction import redact_for_display, redact_text_for_display

LONGEST_VALUE = 200


def shown(value: Any, *, limit: int = LONGEST_VALUE) -> str:
    """Give a value's repr, secrets redacted, shortened in the middle when longer than `limit` characters."""
    return shortened(redact_text_for_display(repr(redacted(value))), limit)


def shown_under(name: str, value: Any, *, limit: int = LONGEST_VALUE) -> str:
    """Like `shown`, for a value whose name may say that it is a secret."""
    return shortened(redact_text_for_display(repr(redacted_under(name, value))), limit)


def shortened(text: str, limit: int = LONGEST_VALUE) -> str:
    """Shorten a text in the middle, saying how much is left out."""
    if len(text) <= limit:
        return text
    note = f"...<{len(text)} characters>..."
    head = max(0, limit - len(note)) * 2 // 3
    tail = max(0, limit - len(note) - head)
    return f"{text[:head]}{note}{text[len(text) - tail :]}"


def redacted(value: Any) -> Any:
    """Give a value with its secrets replaced."""
    return redact_for_display(value, mask_objects=True)


def redacted_under(name: str, value: Any) -> Any:
    """Give a value with its secrets replaced; all of it is one when its name says so."""
    return next(iter(redacted({name: value}).values()))
