"""One attribute that is replaced, and what others may make of it in the meantime."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

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


class _Layer:
    """What was found at a place, and what of ours replaced it.

    Args:
        found: What was found.
        ours: What replaced it. Whoever wrapped it may put it back; once it is gone nobody can.
    """

    __slots__ = ("_ours", "_reference", "found")

    def __init__(self, found: Any, ours: Any) -> None:
        self.found = found
        self._ours = self._reference = None
        try:
            self._reference = weakref.ref(ours)
        except TypeError:
            self._ours = ours

    @property
    def is_kept(self) -> bool:
        """Whether it is there for as long as this is, because nothing tells when it is gone."""
        return self._reference is None

    @property
    def ours(self) -> Any:
        """What replaced it, or the mark of what is missing when that is gone."""
        if self._reference is None:
            return self._ours
        ours = self._reference()
        return _MISSING if ours is None else ours

    def is_at(self, found: Any) -> bool:
        """Say whether what was found is what replaced it."""
        return found is not _MISSING and found is self.ours


class Place:
    """One attribute and what of ours is there.

    Args:
        patch: What is to be there.
    """

    __slots__ = ("_layers", "_patch", "attributes", "name", "standing")

    def __init__(self, patch: Patch) -> None:
        self._patch = patch
        self.attributes: Mapping[str, Any] = patch.owner.__dict__
        self.name = patch.name
        # The oldest first: more than one where somebody replaced ours.
        self._layers: list[_Layer] = []
        # What was last seen there, and is ours or leads to it.
        self.standing: Any = _MISSING

    @property
    def is_clear(self) -> bool:
        """Whether nothing of ours is left, nor anything of others that may lead to it."""
        return not self._layers

    def cover(self) -> None:
        """Replace what is there, unless it is ours or says that it wraps ours."""
        found = self._found()
        self.forget()
        for number, layer in reversed(list(enumerate(self._layers))):
            if _leads_to(found, layer.ours):
                # A second one of ours on top would record everything twice.
                del self._layers[number + 1 :]
                self.standing = found
                return
        self.standing = self._patch.replace(None if found is _MISSING else found)
        setattr(self._patch.owner, self.name, self.standing)
        self._layers.append(_Layer(found, self.standing))

    def uncover(self) -> None:
        """Put back what was there.

        Where somebody replaced ours in the meantime theirs stays, and ours beneath it finds no session.
        """
        for layer in reversed(self._layers):
            if layer.is_at(self._found()):
                self._put_back(layer)
        self.forget()

    def forget(self) -> None:
        """Let go of what others took away: what it wrapped may be a test's, and lead to the holder."""
        if self._found() is not self.standing:
            self.standing = _MISSING
        self._layers = [layer for layer in self._layers if layer.ours is not _MISSING]

    def _put_back(self, layer: _Layer) -> None:
        if layer.found is _MISSING:
            delattr(self._patch.owner, self.name)
        else:
            setattr(self._patch.owner, self.name, layer.found)
        if layer.is_kept:
            self._layers.remove(layer)

    def _found(self) -> Any:
        return self.attributes.get(self.name, _MISSING)


def _leads_to(found: Any, wanted: Any) -> bool:
    """Say whether an attribute is what is wanted, or calls it and says so."""
    seen: set[int] = set()
    while found is not _MISSING and found is not None and id(found) not in seen:
        if found is wanted:
            return True
        seen.add(id(found))
        found = _called_by(found)
    return False


def _called_by(found: Any) -> Any:
    """Give what is called by what `functools.wraps` has marked, or by a spy of `unittest.mock`."""
    mocks = sys.modules.get("unittest.mock")
    # With a spec of a function a mock hides behind a function.
    spy = getattr(found, "mock", found)
    if mocks is not None and isinstance(spy, mocks.NonCallableMock):
        return spy.side_effect or spy._mock_wraps  # noqa: SLF001 - it is said nowhere else
    return getattr(found, "__wrapped__", None)
