"""Files callsheet writes: names that can not leave their directory, contents written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from callsheet._errors import ArtifactError, OptionError

_LONGEST_PART = 150
_UNSAFE = frozenset('\\:*?"<>|')
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))]
)


def confined(directory: Path, name: str, suffix: str) -> Path:
    """Give the path of an artifact inside its directory.

    Args:
        directory: The directory it belongs to.
        name: Its name, the same file on every system; "/" makes subdirectories.
        suffix: The file's ending, such as ".json".

    Raises:
        OptionError: If the name is no file name on some system, or leads out of the directory.
    """
    if not isinstance(name, str):
        raise OptionError(f"{name!r} is no name for a file; pass text.")
    for part in name.split("/"):
        problem = _problem(part)
        if problem is not None:
            raise OptionError(
                f"{_shown(name)} can not name a file: {problem}. Use letters, digits, '-' and '/'."
            )
    path = directory / f"{name}{suffix}"
    if not path.resolve().is_relative_to(directory.resolve()):
        raise OptionError(f"{_shown(name)} leads out of {directory} through a link; remove the link.")
    return path


def file_safe(label: str) -> str:
    """Give a part of a file name that reads like the label, whatever is in it."""
    kept = "".join(
        character if character.isalnum() or character in "-_." else "-" for character in label[:80]
    )
    safe = "".join(character for character in kept if character.isascii()) or "-"
    return f"{safe}_" if _problem(safe) else safe


def write_whole(path: Path, text: str) -> None:
    """Replace the file's content at once: a reader sees the old or the new, whatever goes wrong.

    Raises:
        ArtifactError: If it can not be written; nothing has changed then.
    """
    with _explained(path), _written_beside(path, text) as temporary:
        temporary.replace(path)


def write_new(path: Path, text: str) -> bool:
    """Write the file unless it is there, or another process makes it just now; say whether this one did.

    Raises:
        ArtifactError: If it can not be written; nothing has changed then.
    """
    with _explained(path), _written_beside(path, text) as temporary:
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            if path.exists():
                return False
            temporary.replace(path)
    return True


@contextmanager
def _written_beside(path: Path, text: str) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not mkstemp: its files are closed to everybody but their owner.
    temporary = path.with_name(f".{path.name[:_LONGEST_PART]}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            # A lone surrogate is no UTF-8, but its escape is JSON and YAML.
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArtifactError(
            f"Can not write {path}: {error.strerror or error}. Nothing was changed. Make the directory "
            "writable, or free some space, and run again."
        ) from error


def _problem(part: str) -> str | None:
    if part in ("", ".", ".."):
        return f"{part!r} is no part of a path that stays inside its directory"
    if len(part.encode("utf-8", "replace")) > _LONGEST_PART:
        return f"a part of it is longer than {_LONGEST_PART} bytes"
    for character in part:
        if not character.isprintable() or character in _UNSAFE:
            return f"it contains {character!r}"
    if part != part.strip(" ") or part.endswith("."):
        return "a part of it starts or ends with a space, or ends with a dot"
    if part.partition(".")[0].lower() in _RESERVED:
        return f"{part!r} is a device on Windows"
    return None


def _shown(name: str) -> str:
    return repr(name) if len(name) <= _LONGEST_PART else f"{name[:_LONGEST_PART]!r}..."
