"""Colour in failure texts, on a terminal only: logs, reports and CI get the same plain text every time."""

from __future__ import annotations

import os
import re
import sys

_RED, _GREEN, _YELLOW, _RESET = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
_COLOURS = {"-": _RED, "+": _GREEN}
_MARKED = re.compile(r"^(  (?:\[\d+\] )?)([-+✗↕⇥⇤])(?= )", re.MULTILINE)


def painted(text: str) -> str:
    """Colour the marks of a failure text when standard error is a terminal that wants it (NO_COLOR, CI)."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return text
    if any(os.environ.get(name) for name in ("NO_COLOR", "CI")):
        return text
    return _MARKED.sub(lambda found: f"{found[1]}{_COLOURS.get(found[2], _YELLOW)}{found[2]}{_RESET}", text)
