"""The fields in which the SDK's tools keep what runs them: with a session, reading one gives a stand-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from callsheet.adapters import Patch, identity, kept_in_reach

_NO_DEFAULT: Any = object()
# Every field in which a kind of tool keeps what runs it.
_FIELDS = ("on_invoke_tool", "executor", "editor")


class StandIn:
    """Stands before what runs a tool.

    Args:
        tool: The tool.
        own: What the tool's field holds.
    """

    def __init__(self, tool: Any, own: Any) -> None:
        self.tool = tool
        self.own = own


class Slot:
    """A data descriptor in the place of a tool's field.

    What the field holds stays where it was, in the instance. Without a session that is what reading the
    attribute gives; with one it gives a stand-in.

    Args:
        name: The field.
        stand_in: Makes the stand-in of a tool and what its field holds.
        default: The field's default, where it has one.
    """

    def __init__(self, name: str, stand_in: Callable[[Any, Any], StandIn], default: Any) -> None:
        self._name = name
        self._stand_in = stand_in
        self._default = default

    def __get__(self, tool: Any, owner: type | None = None) -> Any:
        if tool is None:
            # A dataclass field without a default is no class attribute.
            if self._default is _NO_DEFAULT:
                raise AttributeError(self._name)
            return self._default
        try:
            own = tool.__dict__[self._name]
        except KeyError:
            raise AttributeError(self._name) from None
        kept = kept_in_reach()
        if kept is None or own is None:
            return own
        # The SDK reads this a hundred times in a run of three turns, and compares what it read by identity.
        known = kept.get((self, identity(tool)))
        if known is None or known[0] is not own:
            known = kept[self, identity(tool)] = own, self._stand_in(tool, own)
        return known[1]

    def __set__(self, tool: Any, value: Any) -> None:
        # A copy of a tool reads the attribute and sets what it read.
        vars(tool)[self._name] = value.own if isinstance(value, StandIn) else value

    def __delete__(self, tool: Any) -> None:
        try:
            del vars(tool)[self._name]
        except KeyError:
            raise AttributeError(self._name) from None


def is_beyond_reach(tool: Any) -> bool:
    """Say whether a tool's class defines anew what runs it, so that no stand-in is met there."""
    for name in _FIELDS:
        owner = next((owner for owner in type(tool).__mro__ if name in vars(owner)), None)
        if owner is not None and not isinstance(vars(owner)[name], Slot):
            return True
    return False


def slot_patch(owner: type, name: str, stand_in: Callable[[Any, Any], StandIn]) -> Patch:
    """Give the patch that puts a slot in the place of a tool class's field."""
    default = vars(owner).get(name, _NO_DEFAULT)
    return Patch(owner, name, lambda _: Slot(name, stand_in, default))
