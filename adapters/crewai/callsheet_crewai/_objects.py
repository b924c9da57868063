"""What hangs on a crew, an agent or a flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import getclosurevars, isclass, isfunction, unwrap
from typing import Any

from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.crew import Crew
from crewai.flow.flow import Flow
from crewai.tools.base_tool import BaseTool
from pydantic import BaseModel

ROOTS = (Crew, BaseAgent, Flow)


def reachable(root: Any) -> Iterator[BaseModel | list[Any] | dict[Any, Any] | set[Any]]:
    """Give every model and container that can be reached from an object, itself first.

    A function leads to the crews, agents, flows and tools it refers to, and to the functions beside it:
    that is how a tool holds the agent it runs, a flow its crews, and a factory what it builds from.
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
        elif isclass(value):
            waiting.extend(_methods(value))
        elif isinstance(value, (BaseModel, list, dict, set, tuple)):
            if not isinstance(value, tuple):
                yield value
            waiting.extend(_parts(value))


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if not isinstance(value, BaseModel):
        return list(value)
    methods = _methods(type(value)) if isinstance(value, (BaseTool, Flow)) else ()
    return [*vars(value).values(), *(value.__pydantic_private__ or {}).values(), *methods]


def _methods(cls: type) -> Iterator[Any]:
    own = (base for base in cls.__mro__ if _package(base) not in ("builtins", "crewai", "pydantic", "typing"))
    for base in own:
        for member in vars(base).values():
            # A flow's methods are objects around functions.
            yield unwrap(getattr(member, "_meth", member))


def _referred(function: Any) -> Iterator[Any]:
    try:
        named = getclosurevars(function)
    except (TypeError, ValueError):  # a closure cell can still be empty
        return
    for value in (*named.nonlocals.values(), *named.globals.values()):
        beside = (isfunction(value) or isclass(value)) and _package(value) == _package(function)
        if beside or isinstance(value, (*ROOTS, BaseTool)):
            yield value


def _package(value: Any) -> str:
    return str(value.__module__).partition(".")[0]
