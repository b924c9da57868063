"""Paths into nested values: `filters.city`, `items[0].id`, `items[*].id`, or a tuple of keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

from callsheet._errors import ExpectationError

Part = Any
Path = tuple[Part, ...]

EVERY = "*"
_PART = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")


def parse_path(path: str | Sequence[Any]) -> Path:
    """Read a path; a tuple is taken part by part, for keys with dots in them.

    Raises:
        ExpectationError: The path is empty or malformed.
    """
    if not isinstance(path, str):
        parts = tuple(path)
    else:
        found = list(_PART.finditer(path))
        whole = "".join(match.group(0) for match in found)
        if whole != path or path.startswith("."):
            raise ExpectationError(f"Can't read the path {path!r}; write 'filters.city' or 'items[*].id'.")
        parts = tuple(_part(match) for match in found)
    if not parts:
        raise ExpectationError("A path is empty; name at least one argument.")
    return parts


def values_at(value: Any, path: Path) -> list[Any]:
    """Give every value a path leads to."""
    return [container[key] for container, key in places(value, path)]


def places(value: Any, path: Path) -> list[tuple[Any, Any]]:
    """Give every container and key a path leads to, where they exist."""
    *way, last = path
    containers = [value]
    for part in way:
        containers = [container[key] for container in containers for key in _keys(container, part)]
    return [(container, key) for container in containers for key in _keys(container, last)]


def remove(value: Any, path: Path) -> None:
    """Take out, in place, everything a path leads to."""
    for container, key in reversed(places(value, path)):
        if isinstance(container, MutableMapping | MutableSequence):
            del container[key]


def set_default(value: Any, path: Path, default: Any) -> None:
    """Put a value, in place, where the last part of a path is missing from what leads to it."""
    *way, last = path
    containers = values_at(value, tuple(way)) if way else [value]
    for container in containers:
        if isinstance(container, MutableMapping):
            container.setdefault(last, default)


def _keys(container: Any, part: Part) -> Iterator[Any]:
    if isinstance(container, Mapping):
        yield from list(container) if part == EVERY else [part] if part in container else []
    elif isinstance(container, list | tuple):
        if part == EVERY:
            yield from range(len(container))
        elif isinstance(part, int) and part < len(container):
            yield part


def _part(match: re.Match[str]) -> Part:
    key, index = match.groups()
    if index is None:
        return key
    return EVERY if index == EVERY else int(index)
