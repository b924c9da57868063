"""Watches the interpreter itself: connections and files, whoever makes them."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path

_seen: list[tuple[str, str]] | None = None
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def _hook(event, args):
    if _seen is None:
        return
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        if not _is_local_plumbing(args):
            _seen.append(("network", repr(args[1:])))
    elif event == "open" and isinstance(args[0], str | bytes | os.PathLike):
        mode, flags = args[1], args[2]
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (mode is None and flags & _WRITES):
            _seen.append(("file", os.fsdecode(args[0])))
    elif event in ("os.mkdir", "sqlite3.connect"):
        _seen.append(("file", os.fsdecode(args[0])))


def _is_local_plumbing(args):
    return isinstance(args[1], str | bytes) and not isinstance(args[0], str)


sys.addaudithook(_hook)


@contextmanager
def watched():
    """Give two lists, full at the end: connections tried, files written outside the session's folder."""
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
