"""What a kickoff changes in the user's objects, put back when the session ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.tools.base_tool import BaseTool
from pydantic import BaseModel

from callsheet.adapters import SessionError
from callsheet_crewai._objects import reachable

_lock = threading.Lock()
_held: dict[int, _Hold] = {}


@contextmanager
def restored(root: Any) -> Iterator[None]:
    """Put everything that hangs on an object back at the end.

    Agents may be held several times at once and are put back after the last; a crew or a flow keeps the
    state of its run in itself and may not.

    Raises:
        SessionError: A crew or flow is held already.
    """
    with _lock:
        hold = _held.get(id(root))
        if hold is None:
            hold = _held[id(root)] = _Hold(root)
        elif not isinstance(root, BaseAgent):
            kind = type(root).__name__
            raise SessionError(
                f"This {kind} object is in a session already, and two runs of one {kind} change each other. "
                "Give the adapter a function that builds one: CrewAIAdapter(build_crew)."
            )
        hold.count += 1
    try:
        yield
    finally:
        with _lock:
            hold.count -= 1
            if not hold.count:
                del _held[id(root)]
                hold.put_back()


class _Hold:
    def __init__(self, root: Any) -> None:
        self.count = 0
        self._root = root  # keeps its id from becoming another object's
        self._saved = [(found, _copied(found)) for found in reachable(root)]

    def put_back(self) -> None:
        for found, saved in self._saved:
            _put_back(found, saved)


def _copied(found: Any) -> Any:
    if isinstance(found, BaseTool):
        # The rest of a tool is its author's: what the real body noted in it is not CrewAI's doing.
        return found.current_usage_count
    if isinstance(found, BaseModel):
        private = found.__pydantic_private__
        return dict(vars(found)), dict(private) if private is not None else None, set(found.model_fields_set)
    return found.copy()


def _put_back(found: Any, saved: Any) -> None:
    if isinstance(found, BaseTool):
        found.current_usage_count = saved
    elif isinstance(found, BaseModel):
        fields, private, given = saved
        _refill(vars(found), fields)
        _refill(found.model_fields_set, given)
        if private is None:
            object.__setattr__(found, "__pydantic_private__", None)
        elif found.__pydantic_private__ is None:
            object.__setattr__(found, "__pydantic_private__", private)
        else:
            _refill(found.__pydantic_private__, private)
    elif found != saved or len(found) != len(saved):
        _refill(found, saved)


def _refill(container: Any, saved: Any) -> None:
    if isinstance(container, list):
        container[:] = saved
    else:
        container.clear()
        container.update(saved)
