"""Class-level patches that go in together, come out exactly, and stay while anyone can still reach them."""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from callsheet._identity import identity
from callsheet._patch import Patch, Place

# What the collector comes to by itself in the end. Python 3.14 does old objects bit by bit, as generation 1.
_OLDEST = 2 if sys.version_info < (3, 14) else 1


class PatchSet:
    """The patches of one adapter.

    Args:
        patches: Gives the patches. Called at each installation, so that it may look at the framework first.
        classes: Gives those of classes that may come to be, or change, while the others are in place. Called
            whenever somebody holds them.
    """

    def __init__(
        self, patches: Callable[[], Iterable[Patch]], *, classes: Callable[[], Iterable[Patch]] = tuple
    ) -> None:
        self.patches = patches
        self._classes = classes
        self.installed = False
        """Whether the patches are in place."""
        # Reentrant, because the collector may run an object's `__del__` in here, and that may open a session.
        self._work = _Work()
        self._overdue = False
        self._holders: dict[int, weakref.ref[Any]] = {}
        self._released: deque[weakref.ref[Any]] = deque()
        self._places: dict[tuple[int, str], Place] = {}

    def targets(self) -> list[tuple[Any, str]]:
        """Give every owner and attribute the patches replace."""
        return [(patch.owner, patch.name) for patch in (*self.patches(), *self._classes())]

    def hold(self, holder: object) -> Callable[[], object]:
        """Keep the patches in place for as long as `holder` is alive, or until what this gives is called.

        A task that outlives its session still holds the session through its context, and so still meets
        the patch. What others replaced since is replaced again. When installing fails half-way and nobody
        else holds them, what was replaced is put back; the error is raised.

        The patches come out at the first garbage collection of old objects that finds no holder: taking
        them out between two tests and putting them in again would cost each of them more than its run.
        Where it finds one, they come out between this holder and the next: no class is kept for good.
        """
        reference = weakref.ref(holder, self._released.append)
        with self._work:
            self._settle()
            if self._overdue and not self._holders:
                self._restore()
            self._holders[identity(reference)] = reference
            try:
                self._install()
            except BaseException:
                del self._holders[identity(reference)]
                if not self._holders:
                    self._restore()
                raise
        return partial(self._released.append, reference)

    def add(self, patch: Patch) -> None:
        """Replace one more attribute, until the others are put back; without them nothing happens.

        For a class that comes to be while the patches are in place.
        """
        with self._work:
            if self.installed:
                self._cover(patch)

    def leave(self) -> None:
        """Put everything back if no holder is left, and nobody is at work here.

        Runs wherever the garbage collector happens to run, even inside `hold` on this very thread.
        """
        self._overdue = True
        if self._work.begins_alone():
            try:
                for place in tuple(self._places.values()):
                    place.forget()
                self._settle()
                if not self._holders:
                    self._restore()
            finally:
                self._work.end()

    def after_fork(self) -> None:
        """Be free in a forked child: the thread that was at work here is not there."""
        self._work = _Work()

    def _settle(self) -> None:
        while self._released:
            self._holders.pop(identity(self._released.popleft()), None)

    def _install(self) -> None:
        if not self.installed:
            if self not in _standing:
                _standing.append(self)
            if _after_collection not in gc.callbacks:
                gc.callbacks.append(_after_collection)
            for patch in self.patches():
                self._cover(patch)
            self.installed = True
        for patch in self._classes():
            self._cover(patch)
        for place in tuple(self._places.values()):
            # Every session passes here, so what may be taken for granted costs no call.
            if place.attributes.get(place.name) is not place.standing:
                place.cover()

    def _cover(self, patch: Patch) -> None:
        key = identity(patch.owner), patch.name
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = Place(patch)
            place.cover()

    def _restore(self) -> None:
        for place in reversed(tuple(self._places.values())):
            place.uncover()
        self._places = {key: place for key, place in self._places.items() if not place.is_clear}
        self.installed = self._overdue = False
        if not self._places and self in _standing:
            _standing.remove(self)


class _Work:
    """Says whether somebody is at work, on this thread or another.

    The collector may run an object's `__del__` in the midst of it, and that may open a session: whoever works
    may begin again on the same thread, and be told that he is not alone.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = 0

    def begins_alone(self) -> bool:
        """Begin if nobody is at work, and say whether that is so; `end` has to follow."""
        if not self._lock.acquire(blocking=False):
            return False
        self._depth += 1
        if self._depth == 1:
            return True
        self.end()
        return False

    def end(self) -> None:
        """End what was begun."""
        self._depth -= 1
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1

    def __exit__(self, *raised: object) -> None:
        self.end()


# In the order they were installed: one may stand on another's, and has to go first. One that others still
# stand on stays in here until it is out.
_standing: list[PatchSet] = []


def _after_collection(phase: str, info: dict[str, int]) -> None:
    if phase == "stop" and info["generation"] >= _OLDEST:
        for patches in tuple(reversed(_standing)):
            patches.leave()


def _after_fork() -> None:
    for patches in _standing:
        patches.after_fork()


with suppress(AttributeError):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)
