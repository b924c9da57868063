"""Takes secrets out of everything that is written to disk or shown in a report.

A value is a secret by the name it is kept under (an Authorization header, a key called `api_key`) or by
its own shape (a bearer token, a JWT, a provider's key, a password in a URL).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass, replace
from types import TracebackType
from typing import Any

from callsheet._errors import OptionError

REDACTED = "[redacted]"
TOO_DEEP = "[nested too deeply]"
_MAX_DEPTH = 200

# Matched against names in snake case, so that `apiKey`, `API-KEY` and `OPENAI_API_KEY` are one.
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:authorization|auth|cookies?|passwords?|passwd|pwd|passphrases?|secrets?|credentials?|jwt|"
    r"bearer|(?:access|auth|refresh|id|session|bot)?tokens?|"
    r"(?:api|access|private|secret|signing|encryption|session|auth|subscription|account|master)_?keys?)(?:_|$)"
)
# Names that speak of tokens a model counts.
_COUNTED = re.compile(
    r"(?:^|_)tokens?_(?:counts?|usage|limit|type|details)$|(?:^|_)(?:max|min|input|output|prompt|completion|"
    r"total|cached|reasoning)_tokens(?:_|$)"
)
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")

_ASSIGNMENT = re.compile(
    r"(?P<name>(?:authorization|cookie|passw(?:or)?d|pwd|passphrase|secret|credential|jwt|token|"
    r"(?:api|access|private|secret|signing|encryption|session|auth|subscription)[_-]?key)[\w-]{0,40})"
    r"(?P<between>\\?[\"']?[ \t]{0,8}(?:=>|[:=])[ \t]{0,8})"
    r"(?P<value>\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|\\\"(?:(?!\\\").)*|[^\s\"'&,;(){}\[\]]+)",
    re.IGNORECASE,
)
_HEADER_LINE = re.compile(
    r"(?P<name>\b(?:proxy-)?authorization|\b(?:set-)?cookie)(?P<between>[ \t]{0,8}[:=][ \t]{0,8})"
    r"(?P<value>[^\s\"'][^\r\n\"']*)",
    re.IGNORECASE,
)
_SHAPES = [
    (re.compile(shape, flags), replacement)
    for shape, flags, replacement in (
        (
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            re.DOTALL,
            REDACTED,
        ),
        (r"\b(bearer)\s+[\w.~+/=-]{6,}", re.IGNORECASE, rf"\1 {REDACTED}"),
        (r"\b((?i:basic))\s+(?=\S*(?:\d|[a-z][A-Z]|=))[\w+/=-]{8,}", 0, rf"\1 {REDACTED}"),
        (r"(?<=://)[^\s/@?#\"']+@", 0, f"{REDACTED}@"),
        (r"\beyJ[\w-]{10,}(?:\.[\w-]*){0,4}", 0, REDACTED),
        (r"\bsk-[\w-]{8,}", 0, REDACTED),
        (r"\b(?:sk|rk|pk|whsec)_(?:live_|test_)?\w{16,}", 0, REDACTED),
        (
            r"\b(?:gh[pousr]_|github_pat_|glpat-|hf_|gsk_|xai-|pplx-|tvly-|npm_|pypi-|lsv2_\w\w_)[\w-]{16,}",
            0,
            REDACTED,
        ),
        (r"\bxox[abeoprs]-[\w-]{8,}", 0, REDACTED),
        (r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", 0, REDACTED),
        (r"\bAIza[\w-]{30,}", 0, REDACTED),
        (r"\bya29\.[\w-]{8,}", 0, REDACTED),
    )
]


@dataclass(frozen=True)
class _Settings:
    enabled: bool = True
    names: frozenset[str] = frozenset()
    keep: frozenset[str] = frozenset()
    shapes: tuple[re.Pattern[str], ...] = ()
    values: tuple[str, ...] = ()


_settings = _Settings()


def configure_redaction(
    *,
    enabled: bool | None = None,
    keys: Iterable[str] = (),
    keep: Iterable[str] = (),
    patterns: Iterable[str] = (),
    values: Iterable[str] = (),
) -> RedactionSettings:
    """Change what counts as a secret, from now on in the whole process; call it in conftest.py.

    As a context manager it takes the change back at the end of the block.

    Args:
        enabled: False switches redaction off.
        keys: Further names whose values are secrets. Case and separators do not matter.
        keep: Names whose values are no secrets after all.
        patterns: Further regular expressions; what they match in any text is redacted.
        values: Further secrets, word for word.

    Raises:
        OptionError: If a pattern is no regular expression, or a value is empty.
    """
    before = _settings
    secrets = tuple(values)
    if not all(secrets):
        raise OptionError("configure_redaction(values=...): '' is no secret; it would match everywhere.")
    _apply(
        replace(
            before,
            enabled=before.enabled if enabled is None else enabled,
            names=before.names | {_snake(name) for name in keys},
            keep=before.keep | {_snake(name) for name in keep},
            shapes=before.shapes + tuple(_compiled(pattern) for pattern in patterns),
            values=before.values + secrets,
        )
    )
    return RedactionSettings(before)


class RedactionSettings:
    """The settings `configure_redaction` replaced; leaving it as a context puts them back."""

    def __init__(self, before: _Settings) -> None:
        self._before = before

    def __enter__(self) -> None:
        """Leave the changed settings in force."""

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _apply(self._before)


def redact(value: Any) -> Any:
    """Give a deep copy in which every secret is replaced by "[redacted]".

    Mappings become dicts, dataclasses become dicts of their fields, lists, tuples and sets stay what
    they are, cycles included; objects of other classes are handed over untouched. Below 200 levels the
    rest is replaced as a whole.
    """
    return _Redactor().copy(value, secret=False, depth=0) if _settings.enabled else value


def redact_text(text: str) -> str:
    """Give the text with every secret in it replaced by "[redacted]"."""
    if not _settings.enabled:
        return text
    for secret in _settings.values:
        text = text.replace(secret, REDACTED)
    for shape in _settings.shapes:
        text = shape.sub(REDACTED, text)
    for shape, replacement in _SHAPES:
        text = shape.sub(replacement, text)
    text = _HEADER_LINE.sub(_redact_assignment, text)
    return _ASSIGNMENT.sub(_redact_assignment, text)


def is_secret_name(name: str) -> bool:
    """Say whether a value kept under this name is a secret."""
    snake = _snake(name)
    if snake in _settings.keep:
        return False
    return snake in _settings.names or (
        _SECRET_NAME.search(snake) is not None and _COUNTED.search(snake) is None
    )


class _Redactor:
    def __init__(self) -> None:
        # Originals are kept beside their copies, so that no id is used again meanwhile.
        self._copies: dict[tuple[int, bool], tuple[Any, Any]] = {}

    def copy(self, value: Any, *, secret: bool, depth: int) -> Any:
        if isinstance(value, (str, bytes, bytearray)):
            return _redact_scalar(value, secret=secret)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (int, float, complex)):
            return REDACTED if secret else value
        if depth > _MAX_DEPTH:
            return TOO_DEEP
        known = self._copies.get((id(value), secret))
        if known is not None:
            return known[1]
        return self._container(value, secret=secret, depth=depth + 1)

    def _container(self, value: Any, *, secret: bool, depth: int) -> Any:
        if is_dataclass(value) and not isinstance(value, type):
            value = {field.name: getattr(value, field.name) for field in fields(value)}
        if isinstance(value, Mapping):
            return self._mapping(value, secret=secret, depth=depth)
        if isinstance(value, list):
            copies: list[Any] = []
            self._copies[id(value), secret] = (value, copies)
            copies.extend(self._items(value, secret=secret, depth=depth))
            return copies
        if isinstance(value, tuple):
            return tuple(self._items(value, secret=secret, depth=depth))
        if isinstance(value, AbstractSet):
            kind = set if isinstance(value, set) else frozenset
            return kind(self._items(value, secret=secret, depth=depth))
        return REDACTED if secret else value

    def _mapping(self, value: Mapping[Any, Any], *, secret: bool, depth: int) -> dict[Any, Any]:
        copy: dict[Any, Any] = {}
        self._copies[id(value), secret] = (value, copy)
        named = _named_secret(value)
        for key, item in value.items():
            hidden = secret or (isinstance(key, str) and is_secret_name(key)) or (named and key == "value")
            if hidden and _is_count(key, item):
                hidden = secret
            copy[redact_text(key) if isinstance(key, str) else key] = self.copy(
                item, secret=hidden, depth=depth
            )
        return copy

    def _items(self, values: Iterable[Any], *, secret: bool, depth: int) -> list[Any]:
        items = list(values)
        # A header as a pair: ("Authorization", "Bearer ...").
        if isinstance(values, (list, tuple)) and len(items) == 2 and isinstance(items[0], str):  # noqa: PLR2004
            name, item = items
            return [
                self.copy(name, secret=secret, depth=depth),
                self.copy(item, secret=secret or is_secret_name(name), depth=depth),
            ]
        return [self.copy(item, secret=secret, depth=depth) for item in items]


def _named_secret(value: Mapping[Any, Any]) -> bool:
    # A header as an object: {"name": "Authorization", "value": "Bearer ..."}.
    name = value.get("name", value.get("key"))
    return "value" in value and isinstance(name, str) and is_secret_name(name)


def _is_count(key: Any, item: Any) -> bool:
    return isinstance(item, (int, float)) and isinstance(key, str) and _snake(key).endswith("tokens")


def _redact_scalar(value: str | bytes | bytearray, *, secret: bool) -> Any:
    if isinstance(value, str):
        return REDACTED if secret and value else redact_text(value)
    if secret and value:
        return REDACTED.encode()
    text = bytes(value).decode("utf-8", "surrogateescape")
    return redact_text(text).encode("utf-8", "surrogateescape")


def _redact_assignment(match: re.Match[str]) -> str:
    name, between, value = match["name"], match["between"], match["value"]
    if not is_secret_name(name) or _is_number_of_tokens(name, value):
        return match[0]
    quote = next((mark for mark in ('\\"', '"', "'") if value.startswith(mark)), "")
    closing = quote if quote and value.endswith(quote) and len(value) > len(quote) else ""
    return f"{name}{between}{quote}{REDACTED}{closing}"


def _is_number_of_tokens(name: str, value: str) -> bool:
    return _snake(name).endswith("tokens") and value.isdigit()


def _snake(name: str) -> str:
    return _WORD_BORDER.sub("_", name).strip("_").lower()


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise OptionError(
            f"configure_redaction(patterns=...): {pattern!r} is no regular expression: {error}."
        ) from None


def _apply(settings: _Settings) -> None:
    global _settings
    _settings = settings
