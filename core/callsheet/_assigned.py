"""Values that a text gives a name to: `password=...`, `"token": [...]`, `--api-key ...`, `("auth", ...)`."""

from __future__ import annotations

import re
from collections.abc import Callable

IsSecret = Callable[[str, str], bool]

_NAME = (
    r"(?:authorization|cookie|passw(?:or)?d|pwd|passphrase|secret|credential|jwt|token|"
    r"(?:api|access|private|secret|signing|encryption|session|auth|subscription)[_-]?key)[\w-]{0,40}"
)
_QUOTE = r"\\?[\"']"
_GAP = r"\s{0,8}"
_TITLED = rf"{_QUOTE}(?:name|key){_QUOTE}{_GAP}:{_GAP}b?{_QUOTE}(?P<title>[\w-]{{0,40}}{_NAME}){_QUOTE}"
_WAYS = (
    rf"(?P<name>{_NAME})(?:{_QUOTE})?[ \t]{{0,8}}(?:=>|[:=])[ \t]{{0,8}}",
    rf"(?<![\w-])--?(?P<option>[a-z-]{{0,40}}{_NAME})[ \t]{{1,8}}(?=[^\s-])",
    rf"\(b?{_QUOTE}(?P<first>[\w-]{{0,40}}{_NAME}){_QUOTE},{_GAP}",
    rf"{_TITLED},{_GAP}{_QUOTE}value{_QUOTE}{_GAP}:{_GAP}",
)
_ASSIGNED = re.compile("|".join(_WAYS), re.IGNORECASE)
_HEADER_LINE = re.compile(
    r"(?P<name>\b(?:proxy-)?authorization|\b(?:set-)?cookie)(?P<between>[ \t]{0,8}[:=][ \t]{0,8})"
    r"(?P<value>[^\s\"'][^\r\n\"']*)",
    re.IGNORECASE,
)
_LITERALS = ["auth", "cookie", "passw", "pwd", "passphrase", "secret", "credential", "jwt", "token", "key"]

_QUOTED = re.compile(
    r"(?P<open>b?(?:\"\"\"|'''))(?P<inside>(?s:.*?))(?P<close>\"\"\"|'''|\Z)"
    r"|(?P<open1>b?\")(?P<inside1>(?:[^\"\\]|\\.)*)(?P<close1>\"?)"
    r"|(?P<open2>b?')(?P<inside2>(?:[^'\\]|\\.)*)(?P<close2>'?)"
    r"|(?P<open3>\\\")(?P<inside3>(?:(?!\\\").)*)(?P<close3>)"
)
_OPENED = re.compile(r"[\w.]{0,80}[(\[{]")
_WORD = re.compile(r"[^\s\"'&,;(){}\[\]]+")
# An apostrophe inside a word opens nothing.
_STRUCTURE = re.compile(r"\\.|[(\[{]|[)\]}]|(?<!\w)[\"']|(?<=\bb)[\"']", re.DOTALL)
_STRING_ENDS = {mark: re.compile(rf"(?:[^{mark}\\]|\\.)*{mark}", re.DOTALL) for mark in "\"'"}


def mask_assigned(text: str, is_secret: IsSecret, mask: Callable[[str], str]) -> str:
    """Give the text with the values masked that are assigned to a secret's name.

    A value is a word, a quoted text, or everything between a pair of brackets, whatever is inside.

    Args:
        text: Any text.
        is_secret: Whether a value under a name is a secret.
        mask: Gives what stands in a value's place.
    """
    folded = text.lower()
    if not any(literal in folded for literal in _LITERALS):
        return text
    text = _HEADER_LINE.sub(
        lambda found: (
            f"{found['name']}{found['between']}{mask(found['value'])}"
            if is_secret(found["name"], found["value"])
            else found[0]
        ),
        text,
    )
    parts: list[str] = []
    done = 0
    for found in _ASSIGNED.finditer(text):
        start, name = found.end(), next(filter(None, found.groups()))
        # Asked before the value is looked for: a long text may assign to many other names.
        if found.start() < done or not is_secret(name, ""):
            continue
        before, value, after = _value(text, start)
        if value.strip(" []{}()") and is_secret(name, value):
            parts += [text[done:start], before, mask(value), after]
            done = start + len(before) + len(value) + len(after)
    return "".join([*parts, text[done:]])


def _value(text: str, start: int) -> tuple[str, str, str]:
    """Give the value that begins at a position, between what encloses it."""
    quoted = _QUOTED.match(text, start)
    if quoted is not None:
        before, value, after = (part for part in quoted.groups() if part is not None)
        return before, value, after
    if _OPENED.match(text, start):
        return "", text[start : _closed(text, start)], ""
    word = _WORD.match(text, start)
    return "", word[0] if word is not None else "", ""


def _closed(text: str, start: int) -> int:
    """Give the position after the bracket that closes the first one, or the end of a text cut short."""
    depth = 0
    position = start
    while found := _STRUCTURE.search(text, position):
        position = found.end()
        mark = found[0]
        if mark in _STRING_ENDS:
            string = _STRING_ENDS[mark].match(text, position)
            position = string.end() if string is not None else len(text)
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if depth == 0:
                return position
    return len(text)
