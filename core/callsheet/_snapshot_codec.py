"""Python values as JSON and nothing lost: two values have the same written form only when they are equal.

What JSON has no word for is an object with one "$" key: `{"$tuple": [1, 2]}`, `{"$date": "2026-01-02"}`.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from callsheet._errors import ArtifactError

Path = tuple[str | int, ...]
Substitute = Callable[[Path, Any], Any]

KEEP = object()
_DEEPEST = 100
_LONGEST_NUMBER = 2**1024


def encode(value: Any, substitute: Substitute | None = None) -> Any:
    """Give the JSON form of a value.

    Args:
        value: Any composition of JSON's own types, tuples, sets, bytes, dates, times, timedeltas,
            Decimal, UUID, paths, enums, dataclasses, named tuples and pydantic models.
        substitute: Called with the path and each value; what it gives is written instead, unless `KEEP`.

    Raises:
        ArtifactError: If something inside has no written form; the error names its path.
    """
    return _Encoder(substitute).encode(value, ())


def shown(path: Path) -> str:
    """Give a path as one would write it: `tool_calls[0].args.city`."""
    text = ""
    for step in path:
        if isinstance(step, str) and step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{step!r}]"
    return text or "the value"


def canonical(tree: Any) -> str:
    """Give one text for equal trees."""
    return json.dumps(tree, sort_keys=True)


class _Encoder:
    def __init__(self, substitute: Substitute | None) -> None:
        self._substitute = substitute
        self._open: set[int] = set()

    def encode(self, value: Any, path: Path) -> Any:
        if self._substitute is not None:
            substituted = self._substitute(path, value)
            if substituted is not KEEP:
                return substituted
        for kind, write in _SCALARS:
            if isinstance(value, kind):
                return write(value)
        return self._guarded(value, path)

    def _guarded(self, value: Any, path: Path) -> Any:
        if id(value) in self._open:
            raise ArtifactError(f"{shown(path)} contains itself, so it can not be written.")
        if len(path) > _DEEPEST:
            raise ArtifactError(f"{shown(path[:5])}... is nested deeper than {_DEEPEST} levels.")
        self._open.add(id(value))
        try:
            return self._composed(value, path)
        finally:
            self._open.discard(id(value))

    def _composed(self, value: Any, path: Path) -> Any:
        if isinstance(value, Mapping):
            return self._mapping(value, path)
        if isinstance(value, (list, tuple)):
            return self._sequence(value, path)
        if isinstance(value, (set, frozenset)):
            tag = "$set" if isinstance(value, set) else "$frozenset"
            return {tag: sorted((self.encode(item, (*path, "*")) for item in value), key=canonical)}
        if is_dataclass(value) and not isinstance(value, type):
            compared = {field.name: getattr(value, field.name) for field in fields(value) if field.compare}
            return self._record("$dataclass", value, compared, path)
        if _is_pydantic_model(value):
            return self._record("$model", value, _model_fields(value), path)
        raise ArtifactError(
            f"{shown(path)} is {_brief(value)}, which has no written form. Let the tool answer with plain "
            "data, a dataclass or a pydantic model, or give the path a matcher with matchers={...}."
        )

    def _mapping(self, value: Mapping[Any, Any], path: Path) -> Any:
        if all(isinstance(key, str) and not key.startswith("$") and type(key) is str for key in value):
            return {key: self.encode(item, (*path, key)) for key, item in value.items()}
        pairs = [
            [self.encode(key, (*path, "(key)")), self.encode(item, (*path, str(key)))]
            for key, item in value.items()
        ]
        return {"$dict": sorted(pairs, key=canonical)}

    def _sequence(self, values: list[Any] | tuple[Any, ...], path: Path) -> Any:
        if isinstance(values, tuple) and hasattr(values, "_fields"):
            return self._record("$namedtuple", values, dict(zip(values._fields, values, strict=True)), path)
        items = [self.encode(item, (*path, index)) for index, item in enumerate(values)]
        return items if isinstance(values, list) else {"$tuple": items}

    def _record(self, tag: str, value: Any, named: dict[str, Any], path: Path) -> dict[str, Any]:
        encoded = {name: self.encode(item, (*path, name)) for name, item in named.items()}
        return {tag: type(value).__qualname__, "fields": encoded}


def _float(value: float) -> Any:
    return float(value) if math.isfinite(value) else {"$float": str(float(value))}


def _int(value: int) -> Any:
    return int(value) if abs(value) < _LONGEST_NUMBER else {"$int": hex(value)}


def _enum(value: Enum) -> Any:
    return {"$enum": f"{type(value).__qualname__}.{value.name}"}


def _timedelta(value: timedelta) -> str:
    return f"{value.days}d {value.seconds}s {value.microseconds}us"


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _tagged(tag: str, write: Callable[[Any], str]) -> Callable[[Any], Any]:
    return lambda value: {tag: write(value)}


# In this order: an IntEnum is an int, True is one too, and a datetime is a date.
_SCALARS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (type(None), lambda value: value),
    (Enum, _enum),
    (bool, lambda value: value),
    (str, str.__str__),
    (int, _int),
    (float, _float),
    (datetime, _tagged("$datetime", datetime.isoformat)),
    (date, _tagged("$date", date.isoformat)),
    (time, _tagged("$time", time.isoformat)),
    (timedelta, _tagged("$timedelta", _timedelta)),
    (Decimal, _tagged("$decimal", str)),
    (UUID, _tagged("$uuid", str)),
    (bytes, _tagged("$bytes", _base64)),
    (bytearray, _tagged("$bytearray", _base64)),
    (complex, _tagged("$complex", str)),
    (PurePath, _tagged("$path", PurePath.as_posix)),
)


def _is_pydantic_model(value: Any) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(value, pydantic.BaseModel)


def _model_fields(value: Any) -> dict[str, Any]:
    named = {name: getattr(value, name) for name in type(value).model_fields}
    return {**named, **(value.model_extra or {})}


def _brief(value: Any) -> str:
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"a {name}"
