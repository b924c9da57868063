"""Class-level patches that go in together, come out exactly, and stay while anyone can still reach them."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from callsheet._identity import identity

_MISSING: Any = object()
# The oldest of the collector's generations: collecting it is a full collection.
_FULL = 2


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
        self._holders: dict[int, weakref.ref[Any]] = {}
        self._released: deque[weakref.ref[Any]] = deque()
        self._places: dict[tuple[int, str], _Place] = {}

    def targets(self) -> list[tuple[Any, str]]:
        """Give every owner and attribute the patches replace."""
        return [(patch.owner, patch.name) for patch in self.patches()]

    @property
    def installed(self) -> bool:
        """Whether the patches are in place."""
        return self in _installed

    def hold(self, holder: object) -> Callable[[], object]:
        """Keep the patches in place for as long as `holder` is alive, or until what this gives is called.

        A task that outlives its session still holds the session through its context, and so still meets
        the patch. What others replaced since is replaced again. When installing fails half-way, what was
        replaced is put back and the error raised.

        The patches come out at the first full garbage collection that finds no holder: taking them out
        between two tests and putting them in again would cost each of them more than its run.
        """
        reference = weakref.ref(holder, self._released.append)
        with self._lock:
            self._settle()
            self._install()
            self._holders[identity(reference)] = reference
        return partial(self._released.append, reference)

    def add(self, patch: Patch) -> None:
        """Replace one more attribute, until the others are put back; without them nothing happens.

        For a class that comes to be while the patches are in place.
        """
        with self._lock:
            if self.installed:
                self._cover(patch)

    def leave(self) -> None:
        """Put everything back if no holder is left, and nobody is at work here.

        Runs wherever the garbage collector happens to run, even inside `hold` on this very thread.
        """
        if self._lock.acquire(blocking=False):
            try:
                self._settle()
                if not self._holders:
                    self._restore()
            finally:
                self._lock.release()

    def _settle(self) -> None:
        while self._released:
            self._holders.pop(identity(self._released.popleft()), None)

    def _install(self) -> None:
        if self.installed:
            for place in self._places.values():
                # Every session passes here, so what may be taken for granted costs no call.
                if place.attributes.get(place.name) is not place.ours:
                    place.cover()
            return
        _installed.append(self)
        if _after_collection not in gc.callbacks:
            gc.callbacks.append(_after_collection)
        try:
            for patch in self.patches():
                self._cover(patch)
        except BaseException:
            self._restore()
            raise

    def _cover(self, patch: Patch) -> None:
        key = identity(patch.owner), patch.name
        place = self._places.get(key) or _Place(patch)
        place.cover()
        self._places[key] = place

    def _restore(self) -> None:
        for place in reversed(self._places.values()):
            place.uncover()
        self._places = {key: place for key, place in self._places.items() if not place.is_clear}
        _installed.remove(self)


class _Place:
    """One attribute and what of ours is there.

    Args:
        patch: What is to be there.
    """

    __slots__ = ("_layers", "_patch", "attributes", "name", "ours")

    def __init__(self, patch: Patch) -> None:
        self._patch = patch
        # What was found and what replaced it, the oldest first: more than one where somebody replaced ours.
        self._layers: list[tuple[Any, Any]] = []
        self.attributes: Mapping[str, Any] = patch.owner.__dict__
        self.name = patch.name
        self.ours: Any = _MISSING

    @property
    def is_clear(self) -> bool:
        """Whether nothing of ours is left, nor anything of others that may lead to it."""
        return not self._layers

    def cover(self) -> None:
        """Replace what is there, unless it is ours or says that it wraps ours."""
        found = self._found()
        for number, (_, ours) in enumerate(self._layers):
            if _leads_to(found, ours):
                # A second one of ours on top would record everything twice.
                del self._layers[number + 1 :]
                self.ours = ours
                return
        self.ours = self._patch.replacement(found)
        setattr(self._patch.owner, self.name, self.ours)
        self._layers.append((found, self.ours))

    def uncover(self) -> None:
        """Put back what was there.

        Where somebody replaced ours in the meantime theirs stays, and ours beneath it finds no session.
        """
        for saved, ours in reversed(self._layers):
            if self._found() is not ours:
                continue
            if saved is _MISSING:
                delattr(self._patch.owner, self.name)
            else:
                setattr(self._patch.owner, self.name, saved)
        if self._found() is self._layers[0][0]:
            self._layers.clear()

    def _found(self) -> Any:
        return self.attributes.get(self.name, _MISSING)


# In the order they were installed: one may stand on another's, and has to go first.
_installed: list[PatchSet] = []


def _after_collection(phase: str, info: dict[str, int]) -> None:
    if phase == "stop" and info["generation"] == _FULL:
        for patches in tuple(reversed(_installed)):
            patches.leave()


def _leads_to(found: Any, wanted: Any) -> bool:
    """Say whether an attribute is what is wanted, or wraps it and says so."""
    seen: set[int] = set()
    while found is not _MISSING and found is not None and id(found) not in seen:
        if found is wanted:
            return True
        seen.add(id(found))
        found = getattr(found, "__wrapped__", None)
    return False
