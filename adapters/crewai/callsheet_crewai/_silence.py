"""Silence: CrewAI sends, asks, prints and stores nothing while it is under test."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from callsheet.adapters import any_session_open

_QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CREWAI_DISABLE_VERSION_CHECK": "true",
    "CREWAI_TESTING": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
}


def import_crewai() -> None:
    """Import CrewAI with its telemetry, tracing, version check and storage turned away from the user's.

    The variables stay: CrewAI reads most of them anew at each run, so they also work when it was imported
    before. Only what it does at its own import, such as writing a key under the home folder, is then past.
    """
    storage = tempfile.mkdtemp(prefix="callsheet-crewai-")
    atexit.register(shutil.rmtree, storage, ignore_errors=True)
    os.environ.update(_QUIET, CREWAI_STORAGE_DIR=storage)
    if "crewai" in sys.modules:
        return
    # With `-W error` CrewAI's own import warnings would keep it from being imported at all.
    with _home(storage), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("crewai")


def unasked(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `FirstTimeTraceHandler.handle_execution_completion`, which asks someone for consent.

    Whether it will is settled when CrewAI is imported, which may have been before this package was.
    """

    @wraps(original)
    def handle_execution_completion(self: Any) -> None:
        if not any_session_open():
            original(self)

    return handle_execution_completion


def locks_in_storage(original: Any) -> Any:
    """Replace `tempfile` in CrewAI's lock store, which leaves its lock files in the system's folder."""

    def gettempdir() -> str:
        return os.environ["CREWAI_STORAGE_DIR"] if any_session_open() else str(original.gettempdir())

    return SimpleNamespace(gettempdir=gettempdir)


@contextmanager
def _home(folder: str) -> Iterator[None]:
    saved = os.environ.get("HOME")
    os.environ["HOME"] = folder
    try:
        yield
    finally:
        if saved is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = saved
