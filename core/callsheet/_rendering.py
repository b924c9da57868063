"""Calls and steps as failure texts show them: as one would write them, bounded, secrets redacted."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

from callsheet._expected import Expected, ExpectedFields
from callsheet._redaction import redact_text_for_display
from callsheet._showing import redacted, shortened, shown
from callsheet._steps import Step

WIDTH = 76  # pytest puts "E   " before every line of an 80-column terminal
LONGEST_CALL = 150
_LONGEST_NAME = 100

T = TypeVar("T")


def wrapped(label: str, text: str, *, indent: int, deeper: int = 0) -> list[str]:
    """Give a labelled text as lines no wider than a terminal, continued under where the text starts."""
    first = " " * indent + label
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * (len(first) + deeper),
        break_on_hyphens=False,
        drop_whitespace=False,
        replace_whitespace=False,
    )
    return [line.rstrip() for line in lines or [first]]


def narrowed(lines: Iterable[str]) -> str:
    """Join lines to a text no wider than a terminal; what is continued is indented deeper."""
    return "\n".join(narrow for line in lines for narrow in _narrow(line))


def _narrow(line: str) -> list[str]:
    if len(line) <= WIDTH:
        return [line]
    text = line.lstrip(" ")
    return wrapped("", text, indent=min(len(line) - len(text), WIDTH // 2), deeper=4)


def listed_lines(items: Iterable[T], line: Callable[[T], str], *, most: int) -> list[str]:
    """Give a line for each of the first items, and count the others.

    Args:
        items: The items.
        line: Gives the line of an item; it is asked for those that are shown.
        most: How many are shown.
    """
    rest = iter(items)
    lines = [line(item) for item in islice(rest, most)]
    hidden = sum(1 for _ in rest)
    return [*lines, f"  ... and {hidden} more"] if hidden else lines


def name_text(name: Any) -> str:
    """Give a tool's name as it is, or its repr where it would break the line; a model may write anything."""
    return shortened(name if isinstance(name, str) and name.isprintable() else repr(name), _LONGEST_NAME)


def call_text(name: Any, args: Any, *, limit: int = LONGEST_CALL) -> str:
    """Give a call as one would write it: `book(city='Oslo', nights=2)`."""
    title = name_text(name)
    if not isinstance(args, Mapping):
        return f"{title}({shown(args, limit=limit)})"
    inside = ", ".join(f"{key}={value!r}" for key, value in redacted(args).items())
    return f"{title}({shortened(redact_text_for_display(inside), limit)})"


def item_text(item: Any, *, limit: int = LONGEST_CALL) -> str:
    """Give an actual call or step in one line."""
    if isinstance(item, Step):
        return _step_text(item.role, item.name, item.args, item.content, limit)
    return call_text(item.name, item.args, limit=limit)


def expected_text(expected: Expected, *, limit: int = LONGEST_CALL) -> str:
    """Give an expected call or step in one line; what is left open shows as `...`."""
    if not isinstance(expected, ExpectedFields):
        return shown(expected.source, limit=limit)
    fields = expected.fields
    if "role" in fields:
        args, content = fields.get("args", ...), fields.get("content")
        return _step_text(fields["role"], fields.get("name"), args, content, limit)
    text = _open_call_text(fields["name"], fields.get("args", ...), limit)
    others = [key for key, value in fields.items() if key not in ("name", "args") and value is not None]
    rest = [f"{key}={shown(fields[key], limit=60)}" for key in others]
    return f"{text} with {', '.join(rest)}" if rest else text


def _open_call_text(name: Any, args: Any, limit: int) -> str:
    if args is ...:
        return f"{name_text(name)}(...)"
    return call_text(name, args, limit=limit)


def _step_text(role: Any, name: Any, args: Any, content: Any, limit: int) -> str:
    title = name_text(role)
    if name is not None:
        return f"{title}: {_open_call_text(name, ... if args is None else args, limit)}"
    return f"{title}: {shown(content, limit=limit) if content is not None else '...'}"
