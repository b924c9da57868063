"""How a run differs from its snapshot, path by path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from callsheet._snapshot_codec import Path, shown

_ABSENT = object()
_MOST_LINES = 20
_LONGEST = 160


class Difference(NamedTuple):
    """One place where the two differ; `_ABSENT` on one side means only the other has it."""

    path: Path
    stored: Any
    actual: Any


def differences(stored: Any, actual: Any, exact: Any) -> list[Difference]:
    """Give every place where the stored tree is neither the actual one nor the exact one.

    Args:
        stored: What the snapshot holds.
        actual: The written form of this run, with volatile values replaced.
        exact: The same with volatile values as they are; a snapshot may hold those on purpose.
    """
    return list(_walk(stored, actual, exact, ()))


def described(found: list[Difference]) -> str:
    """Give the differences as lines, the snapshot's side marked "-" and this run's "+"."""
    lines = []
    for difference in found[:_MOST_LINES]:
        lines.append(f"  {shown(difference.path)}")
        stored, actual = _excerpts(difference.stored, difference.actual)
        lines += [f"    - {stored}"] if difference.stored is not _ABSENT else []
        lines += [f"    + {actual}"] if difference.actual is not _ABSENT else []
    if len(found) > _MOST_LINES:
        lines.append(f"  ... and {len(found) - _MOST_LINES} more")
    return "\n".join(lines)


def _walk(stored: Any, actual: Any, exact: Any, path: Path) -> Iterator[Difference]:
    if isinstance(stored, dict) and isinstance(actual, dict):
        for key in dict.fromkeys([*stored, *actual]):
            if key not in actual:
                yield Difference((*path, key), stored[key], _ABSENT)
            elif key not in stored:
                yield Difference((*path, key), _ABSENT, actual[key])
            else:
                yield from _walk(stored[key], actual[key], exact[key], (*path, key))
    elif isinstance(stored, list) and isinstance(actual, list):
        yield from _walk_lists(stored, actual, exact, path)
    elif not (_same(stored, actual) or _same(stored, exact)):
        yield Difference(path, stored, actual)


def _walk_lists(stored: list[Any], actual: list[Any], exact: list[Any], path: Path) -> Iterator[Difference]:
    if len(stored) == len(actual):
        for index, triple in enumerate(zip(stored, actual, exact, strict=True)):
            yield from _walk(*triple, (*path, index))
        return
    # One side has more: what both begin and end with is no difference.
    shorter = min(len(stored), len(actual))
    start = 0
    while start < shorter and _match(stored[start], actual[start], exact[start]):
        start += 1
    end = 0
    while end < shorter - start and _match(stored[-1 - end], actual[-1 - end], exact[-1 - end]):
        end += 1
    only_stored = stored[start : len(stored) - end]
    only_actual = actual[start : len(actual) - end]
    for offset, item in enumerate(only_stored):
        yield Difference((*path, start + offset), item, _ABSENT)
    for offset, item in enumerate(only_actual):
        yield Difference((*path, start + offset), _ABSENT, item)


def _match(stored: Any, actual: Any, exact: Any) -> bool:
    return next(_walk(stored, actual, exact, ()), None) is None


def _same(stored: Any, other: Any) -> bool:
    # In Python True == 1; in a snapshot they are two things.
    return isinstance(stored, bool) == isinstance(other, bool) and bool(stored == other)


def _excerpts(stored: Any, actual: Any) -> tuple[str, str]:
    texts = ["" if side is _ABSENT else json.dumps(side, ensure_ascii=False) for side in (stored, actual)]
    if max(map(len, texts)) <= _LONGEST:
        return texts[0], texts[1]
    shorter = min(map(len, texts))
    first = next((i for i in range(shorter) if texts[0][i] != texts[1][i]), shorter)
    start = max(0, first - _LONGEST // 2) if all(texts) else 0
    return _cut(texts[0], start), _cut(texts[1], start)


def _cut(text: str, start: int) -> str:
    before = "..." if start else ""
    after = f"... ({len(text)} characters)" if len(text) > start + _LONGEST else ""
    return f"{before}{text[start : start + _LONGEST]}{after}"
