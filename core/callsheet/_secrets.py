"""What a secret looks like: the names it is kept under, and its own shapes in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import TracebackType

from callsheet._assigned import mask_assigned
from callsheet._errors import OptionError

REDACTED = "[redacted]"

# Gives what stands in a secret's place.
Mask = Callable[[str], str]

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
_NUMBERS = re.compile(r"[\d\s,.()\[\]{}]+")
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")

_PEM = "[A-Z ]*PRIVATE KEY-----"
# The literals stand before each shape because looking for them is far cheaper on a long text.
_SHAPES = [
    (literals, re.compile(shape), replacement)
    for literals, shape, replacement in (
        (["private key-----"], rf"(?s)-----BEGIN {_PEM}.*?(?:-----END {_PEM}|\Z)", REDACTED),
        (["bearer"], r"\b((?i:bearer))\s+[\w.~+/=-]{6,}", rf"\1 {REDACTED}"),
        (["basic"], r"\b((?i:basic))\s+(?=\S*(?:\d|[a-z][A-Z]|=))[\w+/=-]{8,}", rf"\1 {REDACTED}"),
        (["://"], r"(?<=://)[^\s/?#\"']+@", f"{REDACTED}@"),
        # A password that was not quoted may hold a slash; what follows a port is a path, and the next URL of
        # a list is another's: looking on would take the square of the list's length.
        (
            ["://"],
            r"(?<=://)[^\s/?#\"':@\[]*:(?!\d{1,5}[/,;|])(?:[^\s?#\"':]|:(?!//))+@",
            f"{REDACTED}@",
        ),
        (
            ["-u", "-user"],
            r"((?:^|\s)(?:-u|--(?:proxy-)?user)(?:=|\s+)[\"']?)(?!\d+:\d+\b)[^\s:\"']+:[^\s\"']+",
            rf"\1{REDACTED}",
        ),
        (["eyj"], r"\beyJ[\w-]{10,}(?:\.[\w-]*){0,4}", REDACTED),
        (["sk-"], r"\bsk-[\w-]{8,}", REDACTED),
        (["sk_", "rk_", "pk_", "whsec_"], r"\b(?:sk|rk|pk|whsec)_(?:live_|test_)?\w{16,}", REDACTED),
        (["gh", "github_pat_"], r"\b(?:gh[pousr]_|github_pat_)\w{16,}", REDACTED),
        (
            ["glpat-", "xai-", "pplx-", "tvly-", "pypi-"],
            r"\b(?:glpat|xai|pplx|tvly|pypi)-[\w-]{16,}",
            REDACTED,
        ),
        (["hf_", "gsk_", "npm_", "lsv2_"], r"\b(?:hf|gsk|npm|lsv2_\w\w)_\w{16,}", REDACTED),
        (["xox"], r"\bxox[abeoprs]-[\w-]{8,}", REDACTED),
        (["akia", "asia"], r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", REDACTED),
        (["aiza"], r"\bAIza[\w-]{30,}", REDACTED),
        (["ya29."], r"\bya29\.[\w-]{8,}", REDACTED),
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


def enabled() -> bool:
    """Say whether redaction is switched on."""
    return _settings.enabled


def masked(text: str, mask: Mask) -> str:
    """Give the text with every secret in it replaced by its mask."""
    for secret in _settings.values:
        text = text.replace(secret, mask(secret))
    for shape in _settings.shapes:
        text = shape.sub(lambda match: mask(match[0]), text)
    folded = text.lower()
    for literals, shape, template in _SHAPES:
        if any(literal in folded for literal in literals):
            text = _sub(shape, template, text, mask)
    return mask_assigned(text, _is_secret, mask)


def is_secret_name(name: str) -> bool:
    """Say whether a value kept under this name is a secret."""
    snake = _snake(name)
    if snake in _settings.keep:
        return False
    return snake in _settings.names or (
        _SECRET_NAME.search(snake) is not None and _COUNTED.search(snake) is None
    )


def counts_tokens(name: str, value: object) -> bool:
    """Say whether a value under a secret's name is only a number of tokens."""
    is_number = _NUMBERS.fullmatch(value) if isinstance(value, str) else isinstance(value, (int, float))
    return bool(is_number) and _snake(name).endswith("tokens")


def _sub(shape: re.Pattern[str], template: str, text: str, mask: Mask) -> str:
    return shape.sub(lambda match: match.expand(template).replace(REDACTED, mask(match[0])), text)


def _is_secret(name: str, value: str) -> bool:
    return is_secret_name(name) and not counts_tokens(name, value)


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
