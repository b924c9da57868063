"""What differs between two equal runs: random ids, the time of the run, durations, memory addresses.

Works on the written form. A fixed date or number in a script is no volatile value: a timestamp counts
only within minutes of now, a duration only with the digits of a measurement.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

_NOW_SECONDS = 15 * 60
_MEASURED_DIGITS = 3

_UUID = r"\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b"
_TIMESTAMP = r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?(?!\d)"
_ADDRESS = r"\bat 0x[0-9a-fA-F]{6,16}\b"
_VOLATILE = re.compile(f"(?P<uuid>{_UUID})|(?P<time>{_TIMESTAMP})|(?P<address>{_ADDRESS})", re.IGNORECASE)
_DURATION_NAME = re.compile(r"(?:^|_)(?:duration|elapsed|latency|took)(?:_|$)")


def normalized(tree: Any, ids: Iterable[str] = ()) -> Any:
    """Give the tree with volatile values replaced by what they are: "[id 1]", "[now]", "[duration]".

    Ids are numbered in order of appearance, so that which are the same stays visible.

    Args:
        tree: A written form.
        ids: The ids a framework gave to the tool calls of the run.
    """
    return _Normalizer(ids).walk(tree, "")


class _Normalizer:
    def __init__(self, ids: Iterable[str]) -> None:
        known = sorted({re.escape(name) for name in ids if name}, key=len, reverse=True)
        self._known = re.compile(rf"(?<![\w-])(?:{'|'.join(known)})(?![\w-])") if known else None
        self._numbers: dict[str, int] = {}
        self._now = time.time()

    def walk(self, tree: Any, name: str) -> Any:
        if isinstance(tree, dict):
            walked = {key: self.walk(tree[key], key) for key in sorted(tree)}
            return {key: walked[key] for key in tree}
        if isinstance(tree, list):
            return [self.walk(item, name) for item in tree]
        if isinstance(tree, str):
            return self._text(tree)
        if isinstance(tree, (int, float)) and not isinstance(tree, bool):
            return self._number(tree, name)
        return tree

    def _text(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(lambda match: self._numbered(match[0]), text)
        # A look for single characters is far cheaper on a long text.
        return _VOLATILE.sub(self._replaced, text) if "-" in text or "0x" in text else text

    def _replaced(self, match: re.Match[str]) -> str:
        if match["uuid"]:
            return self._numbered(match[0].lower())
        if match["address"]:
            return "at [address]"
        return "[now]" if self._is_now(match[0]) else match[0]

    def _numbered(self, name: str) -> str:
        return f"[id {self._numbers.setdefault(name, len(self._numbers) + 1)}]"

    def _is_now(self, text: str) -> bool:
        try:
            moment = datetime.fromisoformat(text.replace(",", "."))
            # Without a zone it may be local time or UTC.
            moments = [moment] if moment.tzinfo else [moment.astimezone(), moment.replace(tzinfo=UTC)]
            return any(abs(each.timestamp() - self._now) < _NOW_SECONDS for each in moments)
        except (ValueError, OverflowError):  # no date at all, or one at the edge of the calendar
            return False

    def _number(self, number: float, name: str) -> Any:
        for now in (self._now, self._now * 1000):
            window = _NOW_SECONDS * now / self._now
            if now - window < number < now + window:
                return "[now]"
        if isinstance(number, float) and _DURATION_NAME.search(name.lower()) and _is_measured(number):
            return "[duration]"
        return number


def _is_measured(number: float) -> bool:
    return round(number, _MEASURED_DIGITS) != number
