"""Reading members of JSON objects that may hold anything."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

from callsheet._errors import UnknownFormatError

Data = Mapping[str, Any]
_shorten = reprlib.Repr()
_shorten.maxstring = 80


def member(data: Data, *names: str) -> Any:
    """Give the first of these members that is there and not null, or None."""
    return next((data[name] for name in names if data.get(name) is not None), None)


def as_mapping(value: object) -> Data | None:
    """Give a mapping, or what a pydantic model or an object with `to_dict` dumps; None for others.

    Raises:
        UnknownFormatError: The object can't be made a dict.
    """
    # Most values are dicts or nothing, and asking for those is several times faster than asking the ABC.
    if value is None or isinstance(value, dict):
        return value
    if isinstance(value, Mapping):
        return value
    if isinstance(value, str | list | int | type):
        return None
    try:
        if callable(dump := getattr(value, "model_dump", None)):
            # `by_alias` gives the wire's names, which google-genai's models otherwise lack; what a model
            # does not set was not on the wire (the arguments inside are dicts and keep their nulls). The
            # events of the clients' stream helpers repeat in `snapshot` all there was before them.
            plain = dump(mode="json", by_alias=True, exclude_none=True, exclude={"snapshot"}, warnings=False)
        elif callable(dump := getattr(value, "to_dict", None)):
            plain = dump()
        else:
            return None
    except (TypeError, ValueError) as error:
        raise UnknownFormatError(
            f"{type(value).__name__} can't be read as a dict: {error}. Pass the dict or its JSON text."
        ) from error
    return plain if isinstance(plain, Mapping) else None


def text(data: Data, *names: str) -> str:
    """Give the first of these members that is a string, or ""."""
    for name in names:
        value = data.get(name)
        if isinstance(value, str):
            return value
    return ""


def mapping(data: Data, *names: str) -> Data:
    """Give the first of these members that is an object, or an empty one."""
    for name in names:
        found = as_mapping(data.get(name))
        if found is not None:
            return found
    return {}


def is_list(value: object) -> bool:
    """Tell whether a value is what JSON calls an array."""
    if isinstance(value, list):
        return True
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def mappings(data: Data, *names: str) -> list[Data]:
    """Give the objects in the first of these members that is a list."""
    for name in names:
        value: Any = data.get(name)
        if is_list(value):
            return [plain for item in value if (plain := as_mapping(item)) is not None]
    return []


def integer(value: object) -> int | None:
    """Give a value that is a whole number, or None; a boolean is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(data: Data, *names: str) -> int:
    """Give the first of these members that is a number of tokens, or 0."""
    for name in names:
        value = data.get(name)
        if isinstance(value, Mapping):
            value = value.get("total")
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return int(value)
    return 0


def written(value: object) -> str:
    """Give a value as the JSON text a model would have written."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, default=str)
    except (TypeError, ValueError, RecursionError):
        return shown(value)


def shown(value: object) -> str:
    """Give a short repr of a value."""
    return _shorten.repr(value)


def error_text(error: object) -> str:
    """Give a provider's error as one line: its kind, where it has one, and its message."""
    if not isinstance(error, Mapping):
        return written(error)
    kinds = (error.get(name) for name in ("type", "status", "error_code", "code"))
    kind = next((kind for kind in kinds if kind not in (None, "", "error")), None)
    message = text(error, "message", "errorText", "error_message")
    if not message:
        inner = member(error, "error", "content", "cause")
        message = error_text(inner) if isinstance(inner, str | Mapping) else written(dict(error))
    return message if kind is None else f"{written(kind)}: {message}"


def error_of(event: Data) -> str | None:
    """Give the text of an event that says the request failed, or None."""
    error = event.get("error")
    if event.get("type") == "error":
        return error_text(error if isinstance(error, Mapping | str) and error else event)
    # A tool call or a tool's own failure also has a member `error`.
    if isinstance(error, Mapping | str) and error and not text(event, "toolName", "name", "toolCallId"):
        return error_text(error)
    return None
