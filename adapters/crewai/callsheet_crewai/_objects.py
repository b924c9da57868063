"""What hangs on a crew, an agent or a flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import getclosurevars, isfunction
from typing import Any

from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.crew import Crew
from crewai.flow.flow import Flow
from crewai.tools.base_tool import BaseTool
from pydantic import BaseModel

ROOTS = (Crew, BaseAgent, Flow)


def reachable(root: Any) -> Iterator[BaseModel | list[Any] | dict[Any, Any] | set[Any]]:
    """Give every model and container that can be reached from an object, itself first.

    A function leads to the crews, agents and flows it refers to: that is how a tool holds the agent it runs.
    """
    seen: set[int] = set()
    waiting: list[Any] = [root]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isfunction(value):
            waiting.extend(_referred(value))
        elif isinstance(value, (BaseModel, list, dict, set, tuple)):
            if not isinstance(value, tuple):
                yield value
            waiting.extend(_parts(value))


def agents_of(root: Any) -> list[BaseAgent]:
    """Give every agent that can be reached from an object."""
    return [found for found in reachable(root) if isinstance(found, BaseAgent)]


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if not isinstance(value, BaseModel):
        return list(value)
    methods = _methods(value) if isinstance(value, (BaseTool, Flow)) else ()
    return [*vars(value).values(), *(value.__pydantic_private__ or {}).values(), *methods]


def _methods(value: Any) -> Iterator[Any]:
    own = (
        cls for cls in type(value).__mro__ if cls.__module__.partition(".")[0] not in ("crewai", "pydantic")
    )
    for cls in own:
        for member in vars(cls).values():
            yield getattr(member, "__wrapped__", member)


def _referred(function: Any) -> Iterator[Any]:
    try:
        named = getclosurevars(function)
    except (TypeError, ValueError):  # a closure cell can still be empty
        return
    for value in (*named.nonlocals.values(), *named.globals.values()):
        if isinstance(value, (*ROOTS, BaseTool)):
            yield value
