"""Replaces methods of the standard library for as long as anybody needs it, and puts them back exactly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

Patch = tuple[type, str, Callable[[Any], Any]]


class SharedPatches:
    """Patches that are in place while at least one holder holds them.

    Args:
        targets: Gives (class, method name, function that makes the replacement from the original). Asked
            when the first holder comes, so that what is patched is imported late.
    """

    def __init__(self, targets: Callable[[], Iterable[Patch]]) -> None:
        self._targets = targets
        # Reentrant: `release` may run in a finalizer, which the garbage collector can start anywhere.
        self._lock = threading.RLock()
        self._holders = 0
        self._installed: list[tuple[type, str, Any, Any]] = []

    def hold(self) -> None:
        """Keep the patches in place until `release` has been called as often as `hold`."""
        with self._lock:
            if self._holders == 0:
                self._install()
            self._holders += 1

    def release(self) -> None:
        """Undo one `hold`; the last one puts the original methods back."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._restore()

    def _install(self) -> None:
        try:
            for owner, name, make in self._targets():
                original = owner.__dict__[name]
                replacement = make(original)
                setattr(owner, name, replacement)
                self._installed.append((owner, name, original, replacement))
        except BaseException:
            self._restore()
            raise

    def _restore(self) -> None:
        while self._installed:
            owner, name, original, replacement = self._installed.pop()
            # Someone patched on top in the meantime: theirs stays, and ours beneath it is idle.
            if owner.__dict__.get(name) is replacement:
                setattr(owner, name, original)
