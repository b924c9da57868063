"""Watches the interpreter itself: connections, prompts and files, whoever makes them."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path

_seen: list[tuple[str, str]] | None = None
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "builtins.input")
# Where CrewAI keeps what is the user's: even to read it would let it into a test.
_KEPT = (".local/share", ".config", ".crewai")


def _hook(event, args):
    if _seen is None:
        return
    if event in _NETWORK:
        _seen.append(("network", f"{event} {args}"))
    elif event == "open" and isinstance(args[0], str | bytes | os.PathLike):
        mode, flags = args[1], args[2]
        path = os.fsdecode(args[0])
        writes = (isinstance(mode, str) and set(mode) & set("wax+")) or (mode is None and flags & _WRITES)
        if writes or _is_users_data(path):
            _seen.append(("file", path))
    elif event in ("os.mkdir", "sqlite3.connect"):
        _seen.append(("file", os.fsdecode(args[0])))


def _is_users_data(path):
    return any(Path(path).is_relative_to(Path.home() / folder) for folder in _KEPT)


sys.addaudithook(_hook)


@contextmanager
def watched():
    """Give two lists, full at the end: what was sent or asked, and files outside the session's folder."""
    global _seen
    network, files = [], []
    _seen = seen = []
    try:
        yield network, files
    finally:
        _seen = None
        allowed = (os.environ["CREWAI_STORAGE_DIR"], os.devnull)
        for kind, what in seen:
            if kind == "network":
                network.append(what)
            elif not str(Path(what)).startswith(allowed) and "__pycache__" not in what and what != ":memory:":
                files.append(what)
