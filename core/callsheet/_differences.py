"""What differs inside two values, by path (deepdiff)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callsheet._equality import equal
from callsheet._redaction import begins_with_secret_name, redact_for_display, redact_text_for_display
from callsheet._secrets import is_secret_name
from callsheet._showing import redacted, shown_under

# Beyond this many values, comparing path by path takes longer than it helps.
_MOST_VALUES = 5_000
_LONGEST_SIDE = 60
# deepdiff 9.1 fails on keys of bytes and on sets of values it can't hash; the values differ all the same.
_DEEPDIFF_FAILURES = (AttributeError, KeyError, NotImplementedError, RecursionError, TypeError, ValueError)
_TEXTS = (str, bytes, bytearray)

Path = Sequence[Any]


def differences(expected: Any, actual: Any) -> list[str]:
    """Give one line per difference, in path order: `~path: old → new`, `+path=new` or `-path=old`."""
    # Matchers stay matchers here; what they show is redacted where a line is written.
    old, new = (redact_for_display(value) for value in (expected, actual))
    if _size(old) + _size(new) > _MOST_VALUES:
        return [f"{_whole(old, new)} (too large to compare by path)"]
    try:
        return _changes(old, new) or [_whole(old, new)]
    except _DEEPDIFF_FAILURES as problem:
        return [f"{_whole(old, new)} (not compared by path: {type(problem).__name__} in deepdiff)"]


def path_text(path: Path) -> str:
    """Give a path as one would write it: `filters.dates[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


class _OurEquality:
    """Lets deepdiff stop wherever callsheet finds two values equal, matchers included."""

    def match(self, level: Any) -> bool:  # noqa: ARG002 (deepdiff names them)
        return True

    def give_up_diffing(self, level: Any, diff_instance: Any) -> bool:
        if equal(level.t1, level.t2):
            return True
        if isinstance(level.t1, _TEXTS) and isinstance(level.t2, _TEXTS):
            # deepdiff would compare texts of several lines by line, which takes the square of their number.
            diff_instance.custom_report_result("values_changed", level)
            return True
        return False

    def normalize_value_for_hashing(self, parent: Any, value: Any) -> Any:  # noqa: ARG002
        return value


def _changes(old: Any, new: Any) -> list[str]:
    from deepdiff import DeepDiff

    found = DeepDiff(old, new, view="tree", custom_operators=[_OurEquality()], threshold_to_diff_deeper=0)
    levels = [(kind, level) for kind, group in found.items() for level in group]
    paths = [_path(level) for _, level in levels]
    lines = [_line(kind, path, level) for (kind, level), path in zip(levels, paths, strict=True)]

    def place(k: int) -> tuple[list[tuple[int, int, str]], str]:
        # The items of a set come in another order in every process.
        return [_sortable(part) for part in paths[k]], lines[k] if levels[k][0].startswith("set_item") else ""

    return [lines[k] for k in sorted(range(len(levels)), key=place)]


def _path(level: Any) -> list[Any]:
    """Give the keys that lead to a level; deepdiff's own `path()` fails on keys of bytes."""
    parts = []
    step = level.all_up
    while step is not level:
        parts.append((step.t1_child_rel or step.t2_child_rel).param)
        step = step.down
    return [part for part in parts if part is not None]


def _line(kind: str, parts: Path, level: Any) -> str:
    path = redact_text_for_display(path_text([redacted(part) for part in parts])) or "value"
    name = _secret_name(parts, level)
    if kind.endswith("_added"):
        return f"+{path}={_side(level.t2, name)}"
    if kind.endswith("_removed"):
        return f"-{path}={_side(level.t1, name)}"
    return f"~{path}: {_side(level.t1, name)} → {_side(level.t2, name)}"


def _secret_name(parts: Path, level: Any) -> str:
    """Give a name on the way to a level that says that what is there is a secret, or ""."""
    inside = level.up.t1 if level.up is not None else None
    if isinstance(inside, tuple) and begins_with_secret_name(inside):
        return str(inside[0])
    return next((part for part in parts if isinstance(part, str) and is_secret_name(part)), "")


def _sortable(part: Any) -> tuple[int, int, str]:
    return (0, part, "") if isinstance(part, int) else (1, 0, str(part))


def _whole(old: Any, new: Any) -> str:
    return f"~value: {_side(old)} → {_side(new)}"


def _side(value: Any, name: str = "") -> str:
    return shown_under(name, value, limit=_LONGEST_SIDE)


def _size(value: Any) -> int:
    """Count the values inside, as far as the bound; a container that contains itself counts once."""
    count, pending, seen = 0, [value], set()
    while pending and count <= _MOST_VALUES:
        item = pending.pop()
        count += 1
        if isinstance(item, Mapping | list | tuple | set | frozenset) and id(item) not in seen:
            seen.add(id(item))
            pending.extend(item.values() if isinstance(item, Mapping) else item)
    return count
