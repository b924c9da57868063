"""Class-level patches that go in together, come out exactly, and stay while anyone can still reach them."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from callsheet._identity import identity

_MISSING: Any = object()


@dataclass(frozen=True)
class Patch:
    """One attribute to replace.

    Args:
        owner: The class or module that has the attribute.
        name: The attribute.
        replace: Takes what is there now, as `owner.__dict__` has it (None where only a base class has
            it or nobody does), and gives the replacement.
    """

    owner: Any
    name: str
    replace: Callable[[Any], Any]
    _made: list[tuple[Any, Any]] = field(default_factory=list, init=False, repr=False, compare=False)

    def replacement(self, saved: Any) -> Any:
        """Give the replacement of what is there now, the same as last time if that is the same."""
        if not self._made or self._made[0][0] is not saved:
            self._made[:] = [(saved, self.replace(None if saved is _MISSING else saved))]
        return self._made[0][1]


class PatchSet:
    """The patches of one adapter.

    Args:
        patches: Gives the patches. Called at each installation, so that it may look at the framework first;
            giving the same ones again spares making their replacements again.
    """

    def __init__(self, patches: Callable[[], Iterable[Patch]]) -> None:
        self.patches = patches
        self._lock = threading.Lock()
        self._holders = 0
        self._released: deque[None] = deque()
        self._undo: list[tuple[Any, str, Any, Any]] = []
        # Patches of ours that somebody patched over: what was there before, and ours.
        self._covered: dict[tuple[int, str], tuple[Any, Any]] = {}

    def targets(self) -> list[tuple[Any, str]]:
        """Give every owner and attribute the patches replace."""
        return [(patch.owner, patch.name) for patch in self.patches()]

    @property
    def installed(self) -> bool:
        """Whether the patches are in place."""
        return bool(self._undo)

    def hold(self, holder: object) -> Callable[[], object]:
        """Keep the patches in place for as long as `holder` is alive, or until what this gives is called.

        A task that outlives its session still holds the session through its context, and so still meets
        the patch. When installing fails half-way, what was replaced is put back and the error raised.
        """
        with self._lock:
            self._settle()
            if not self._holders:
                self._install()
            self._holders += 1
        finalizer = weakref.finalize(holder, self._release)
        finalizer.atexit = False
        return finalizer

    def add(self, patch: Patch) -> None:
        """Replace one more attribute, until the others are put back; without them nothing happens.

        For a class that comes to be while the patches are in place.
        """
        with self._lock:
            if self._undo:
                self._replace(patch)

    def _release(self) -> None:
        # Runs wherever the garbage collector happens to run, even inside `hold` on this very thread: note
        # the release, and settle it only if nobody is at work. Whoever is settles it at its next turn.
        self._released.append(None)
        while self._released and self._lock.acquire(blocking=False):
            try:
                self._settle()
                if not self._holders:
                    self._restore()
            finally:
                self._lock.release()

    def _settle(self) -> None:
        while self._released:
            self._released.popleft()
            self._holders -= 1

    def _install(self) -> None:
        if self._undo:
            return
        try:
            for patch in self.patches():
                self._replace(patch)
        except BaseException:
            self._restore()
            raise

    def _replace(self, patch: Patch) -> None:
        saved = patch.owner.__dict__.get(patch.name, _MISSING)
        before, covered = self._covered.pop((identity(patch.owner), patch.name), (_MISSING, _MISSING))
        if covered is not _MISSING and _leads_to(saved, covered):
            # A second one of ours on top would record everything twice.
            self._undo.append((patch.owner, patch.name, before, covered))
            return
        replacement = patch.replacement(saved)
        setattr(patch.owner, patch.name, replacement)
        self._undo.append((patch.owner, patch.name, saved, replacement))

    def _restore(self) -> None:
        while self._undo:
            owner, name, saved, replacement = self._undo.pop()
            # Someone patched on top in the meantime: theirs stays, and ours beneath it finds no session.
            if owner.__dict__.get(name) is not replacement:
                self._covered[identity(owner), name] = saved, replacement
                continue
            if saved is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, saved)


def _leads_to(found: Any, wanted: Any) -> bool:
    """Say whether an attribute is what is wanted, or wraps it and says so."""
    seen: set[int] = set()
    while found is not _MISSING and found is not None and id(found) not in seen:
        if found is wanted:
            return True
        seen.add(id(found))
        found = getattr(found, "__wrapped__", None)
    return False
