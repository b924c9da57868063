"""Takes secrets out of everything that is written to disk or shown in a report.

A value is a secret by the name it is kept under (an Authorization header, a key called `api_key`) or by
its own shape (a bearer token, a JWT, a provider's key, a password in a URL).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from callsheet._secrets import REDACTED, Mask, counts_tokens, enabled, is_secret_name, masked

TOO_DEEP = "[nested too deeply]"
_MAX_DEPTH = 200
_MARK = re.compile(rf"{re.escape(REDACTED[:-1])} [0-9a-f]{{4}}\]")


def redact(value: Any) -> Any:
    """Give a deep copy in which every secret is replaced by "[redacted]".

    Mappings become dicts, dataclasses become dicts of their fields, lists, tuples and sets stay what
    they are, cycles included; objects of other classes are handed over untouched. Below 200 levels the
    rest is replaced as a whole.

    Args:
        value: Any composition of these; while redaction is switched off, it is given back as it is.
    """
    return (
        _Redactor(_constant, dataclasses=True, mask_objects=True).copy(value, secret=False, depth=0)
        if enabled()
        else value
    )


def redact_text(text: str) -> str:
    """Give the text with every secret in it replaced by "[redacted]"."""
    return masked(text, _constant) if enabled() else text


def redact_for_display(value: Any, *, mask_objects: bool = False) -> Any:
    """Like `redact`, for a failure text: equal secrets look equal, different ones different.

    Each is "[redacted 3fa1]" with a mark of its own that means nothing in another process. Objects stay
    what they are, so that their repr is still theirs; `redact_text_for_display` takes care of that.

    Args:
        value: What is to be shown.
        mask_objects: Whether objects under a secret's name are replaced too; a matcher no longer matches.
    """
    if not enabled():
        return value
    redactor = _Redactor(_marked, dataclasses=False, mask_objects=mask_objects)
    return redactor.copy(value, secret=False, depth=0)


def redact_text_for_display(text: str) -> str:
    """Like `redact_text`, with the marks of `redact_for_display`."""
    return masked(text, _marked) if enabled() else text


class _Redactor:
    def __init__(self, mask: Mask, *, dataclasses: bool, mask_objects: bool) -> None:
        self._mask = mask
        self._masks_objects = mask_objects
        self._opens_dataclasses = dataclasses
        # Originals are kept beside their copies, so that no id is used again meanwhile.
        self._copies: dict[tuple[int, bool], tuple[Any, Any]] = {}

    def copy(self, value: Any, *, secret: bool, depth: int) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (str, bytes, bytearray)):
            return self._text(value, secret=secret)
        if isinstance(value, (int, float, complex)):
            return self._mask(repr(value)) if secret else value
        if depth > _MAX_DEPTH:
            return TOO_DEEP
        known = self._copies.get((id(value), secret))
        if known is not None:
            return known[1]
        return self._composed(value, secret=secret, depth=depth + 1)

    def _text(self, value: str | bytes | bytearray, *, secret: bool) -> Any:
        text = value if isinstance(value, str) else bytes(value).decode("utf-8", "surrogateescape")
        text = self._mask(text) if secret and text else masked(text, self._mask)
        return text if isinstance(value, str) else text.encode("utf-8", "surrogateescape")

    def _composed(self, value: Any, *, secret: bool, depth: int) -> Any:
        if self._opens_dataclasses and is_dataclass(value) and not isinstance(value, type):
            value = {field.name: getattr(value, field.name) for field in fields(value)}
        if isinstance(value, Mapping):
            return self._mapping(value, secret=secret, depth=depth)
        if isinstance(value, list):
            copies: list[Any] = []
            self._copies[id(value), secret] = (value, copies)
            copies.extend(self._items(value, secret=secret, depth=depth))
            return copies
        if isinstance(value, tuple):
            return self._tuple(value, secret=secret, depth=depth)
        if isinstance(value, AbstractSet):
            items = self._items(value, secret=secret, depth=depth)
            if self._opens_dataclasses:
                return set(items) if isinstance(value, set) else frozenset(items)
            return _ShownSet(items) if isinstance(value, set) else _ShownFrozenset(items)
        return self._mask(repr(value)) if secret and self._masks_objects else value

    def _tuple(self, value: tuple[Any, ...], *, secret: bool, depth: int) -> Any:
        names = getattr(value, "_fields", None)
        if names is not None:
            fields_of = dict(zip(names, value, strict=True))
            copies = self._mapping(fields_of, secret=secret, depth=depth).values()
            return tuple(copies) if self._opens_dataclasses else type(value)._make(copies)  # type: ignore[attr-defined]
        items = self._items(value, secret=secret, depth=depth)
        return tuple(items) if type(value) is tuple or self._opens_dataclasses else value

    def _mapping(self, value: Mapping[Any, Any], *, secret: bool, depth: int) -> dict[Any, Any]:
        copy: dict[Any, Any] = {}
        self._copies[id(value), secret] = (value, copy)
        header = _is_header(value)
        for key, item in value.items():
            name = _name(key)
            hidden = secret
            if name is not None and not counts_tokens(name, item):
                hidden = secret or is_secret_name(name) or (header and name == "value")
            copy[self._key(key, depth)] = self.copy(item, secret=hidden, depth=depth)
        return copy

    def _key(self, key: Any, depth: int) -> Any:
        if not isinstance(key, (str, bytes)) and type(key) not in (tuple, frozenset):
            return key
        copy = self.copy(key, secret=False, depth=depth)
        # A dataclass inside has become a dict.
        return copy if _is_hashable(copy) else masked(repr(copy), self._mask)

    def _items(self, values: Iterable[Any], *, secret: bool, depth: int) -> list[Any]:
        items = list(values)
        first = [self.copy(item, secret=secret, depth=depth) for item in items[:1]]
        hidden = secret or (isinstance(values, (list, tuple)) and begins_with_secret_name(values))
        return first + [self.copy(item, secret=hidden, depth=depth) for item in items[1:]]


class _ShownSet(set[Any]):
    """A set whose repr is the same in every process, whatever the hash seed."""

    def __repr__(self) -> str:
        return _sorted_repr(self) if self else "set()"


class _ShownFrozenset(frozenset[Any]):
    """The same for a frozenset."""

    def __repr__(self) -> str:
        return f"frozenset({_sorted_repr(self) if self else ''})"


def _sorted_repr(items: AbstractSet[Any]) -> str:
    # Sets are ordered by inclusion, so that sorting mixed values by themselves may not sort them.
    keys = [(0, item, "") if type(item) is int else (1, 0, repr(item)) for item in items]
    return f"{{{', '.join(text or repr(number) for _, number, text in sorted(keys))}}}"


def begins_with_secret_name(items: list[Any] | tuple[Any, ...]) -> bool:
    """Say whether a sequence is a header as a pair, ("Authorization", "Bearer ..."), or a longer tuple."""
    name = _name(items[0]) if items else None
    is_pair = len(items) == 2 or isinstance(items, tuple)  # noqa: PLR2004
    return is_pair and name is not None and is_secret_name(name)


def _name(key: Any) -> str | None:
    # ASGI writes the names of headers as bytes.
    return key.decode("latin-1") if isinstance(key, bytes) else key if isinstance(key, str) else None


def _is_header(value: Mapping[Any, Any]) -> bool:
    # A header as an object: {"name": "Authorization", "value": "Bearer ..."}.
    name = value.get("name", value.get("key"))
    return "value" in value and isinstance(name, str) and is_secret_name(name)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _constant(_: str) -> str:
    return REDACTED


def _marked(secret: str) -> str:
    from hashlib import blake2b

    if _MARK.fullmatch(secret):
        return secret
    mark = blake2b(secret.encode("utf-8", "surrogatepass"), key=_key(), digest_size=2).hexdigest()
    return f"{REDACTED[:-1]} {mark}]"


@cache
def _key() -> bytes:
    from secrets import token_bytes

    return token_bytes(16)
