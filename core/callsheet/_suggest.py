"""Closest names, for errors about a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable

# Comparing two texts takes the product of their lengths, and a model may write anything as a name.
_LONGEST = 200


def closest(name: object, candidates: Iterable[object]) -> list[str]:
    """Give up to three candidates that look like `name`, best first; what is no text looks like nothing."""
    if not isinstance(name, str) or len(name) > _LONGEST:
        return []
    from difflib import get_close_matches  # costs 3 ms to import, and only errors need it

    by_fold: dict[str, list[str]] = {}
    for candidate in candidates:
        if isinstance(candidate, str) and len(candidate) <= _LONGEST:
            by_fold.setdefault(candidate.casefold(), []).append(candidate)
    found = get_close_matches(name.casefold(), by_fold, n=3, cutoff=0.5)
    return [candidate for fold in found for candidate in by_fold[fold]][:3]


def did_you_mean(name: object, candidates: Iterable[object]) -> str:
    """Give " Did you mean 'a' or 'b'?", or "" when nothing is close."""
    found = closest(name, candidates)
    return f" Did you mean {' or '.join(map(repr, found))}?" if found else ""


def listed(names: Iterable[str], *, nothing: str = "none") -> str:
    """Give the names quoted and comma-separated, or `nothing`."""
    return ", ".join(map(repr, names)) or nothing
