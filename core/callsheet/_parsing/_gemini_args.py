"""Arguments that Gemini streams as values at JSON paths (`google.genai.types.PartialArg`)."""

from __future__ import annotations

import re
from typing import Any

from callsheet._parsing._members import Data, member, text, written

_STEP = re.compile(r"""\.?([^.\[\]'"]+)|\[(\d{1,9})\]|\[(?:'([^']*)'|"([^"]*)")\]""")
_MAX_DEPTH = 64
_VALUES = ("stringValue", "string_value", "numberValue", "number_value", "boolValue", "bool_value")
Path = tuple[str | int, ...]


class PartialArguments:
    """Puts streamed values together; a string may come in several pieces at one path."""

    def __init__(self) -> None:
        self.pieces: list[Data] = []

    def add(self, piece: Data) -> str:
        """Take a value at a path; give it as the next piece of a JSON array that is never closed.

        That text is all there is to show of a call that is cut short.
        """
        opening = ", " if self.pieces else "["
        self.pieces.append(piece)
        return opening + written(dict(piece))

    def value(self) -> Any:
        """Give the arguments, or the pieces as they came where a path can't be followed."""
        leaves: dict[Path, Any] = {}
        texts: dict[Path, list[str]] = {}
        for piece in self.pieces:
            path = _parse_path(text(piece, "jsonPath", "json_path"))
            if path is None:
                return self.pieces
            value = _value_of(piece)
            if isinstance(value, str):
                texts.setdefault(path, []).append(value)
                value = texts[path]
            leaves[path] = value
        root: dict[str | int, Any] = {}
        for path, leaf in leaves.items():
            if not _place(root, path, "".join(leaf) if isinstance(leaf, list) else leaf):
                return self.pieces
        return _with_lists(root)


def _value_of(piece: Data) -> Any:
    return member(piece, *_VALUES)


def _parse_path(path: str) -> Path | None:
    if not path.startswith("$"):
        return None
    steps: list[str | int] = []
    position = 1
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None or len(steps) == _MAX_DEPTH:
            return None
        name, index, *quoted = match.groups()
        steps.append(int(index) if index else next(part for part in (name, *quoted) if part is not None))
        position = match.end()
    return tuple(steps) or None


def _place(root: dict[str | int, Any], path: Path, leaf: Any) -> bool:
    node = root
    for step in path[:-1]:
        node = node.setdefault(step, {})
        if not isinstance(node, dict):
            return False
    if isinstance(node.get(path[-1]), dict):
        return False
    node[path[-1]] = leaf
    return True


def _with_lists(node: Any) -> Any:
    """Turn objects whose keys are positions into lists."""
    if not isinstance(node, dict):
        return node
    if node and all(isinstance(key, int) for key in node):
        return [_with_lists(node[key]) for key in sorted(node)]
    return {str(key): _with_lists(value) for key, value in node.items()}
