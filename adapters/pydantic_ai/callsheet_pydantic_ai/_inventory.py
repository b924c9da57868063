"""The agents and tools that can be reached from an agent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from pydantic_ai.agent import AbstractAgent
from pydantic_ai.toolsets import (
    AbstractToolset,
    ApprovalRequiredToolset,
    CombinedToolset,
    ExternalToolset,
    FilteredToolset,
    FunctionToolset,
    PrefixedToolset,
    PreparedToolset,
    RenamedToolset,
)

from callsheet.adapters import Inventory

_SAME_NAMES = (ApprovalRequiredToolset, FilteredToolset, PreparedToolset)


def inventory(root: AbstractAgent[Any, Any]) -> Inventory:
    """Walk the tools of an agent and of the agents their functions refer to.

    A function may reach further agents through what it is given when it runs, so the walk is never known to
    have found all of them.
    """
    found: dict[str, set[str]] = {}
    settled: set[str] = set()
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        agent = waiting.pop()
        if id(agent) in seen:
            continue
        seen.add(id(agent))
        walk = _Walk()
        name = agent.name or ""
        names = {name for toolset in agent.toolsets for name in walk.names(toolset)}
        if walk.complete and name not in found:
            settled.add(name)
        else:
            settled.discard(name)
        found.setdefault(name, set()).update(names, _output_names(agent))
        waiting.extend(nested for function in walk.functions for nested in agents_in(function))
    return Inventory(found, complete=False, settled=frozenset(settled))


class _Walk:
    """Names the tools of toolsets and gathers the functions behind them."""

    def __init__(self) -> None:
        self.complete = True
        self.functions: list[Callable[..., Any]] = []

    def names(self, toolset: AbstractToolset[Any]) -> set[str]:
        """Give the names the model knows the tools by."""
        if isinstance(toolset, FunctionToolset):
            self.functions.extend(tool.function for tool in toolset.tools.values())
            return set(toolset.tools)
        if isinstance(toolset, ExternalToolset):
            return {tool.name for tool in toolset.tool_defs}
        if isinstance(toolset, CombinedToolset):
            return {name for part in toolset.toolsets for name in self.names(part)}
        return self._wrapped_names(toolset)

    def _wrapped_names(self, toolset: Any) -> set[str]:
        inner = getattr(toolset, "wrapped", None)
        names = self.names(inner) if isinstance(inner, AbstractToolset) else set()
        if isinstance(toolset, PrefixedToolset):
            return {f"{toolset.prefix}_{name}" for name in names}
        if isinstance(toolset, RenamedToolset):
            renamed = {old: new for new, old in toolset.name_map.items()}
            return {renamed.get(name, name) for name in names}
        self.complete = self.complete and isinstance(toolset, _SAME_NAMES)
        return names


def _output_names(agent: Any) -> Iterator[str]:
    toolset = getattr(agent, "_output_toolset", None)
    for name, processor in getattr(toolset, "processors", {}).items():
        yield name
        schema = getattr(processor, "_function_schema", None)
        if schema is not None:
            yield schema.function.__name__


def agents_in(function: Callable[..., Any]) -> Iterator[AbstractAgent[Any, Any]]:
    """Give the agents a function refers to, by a global name, a variable around it, or as its own object.

    Functions of the same package that it refers to are followed, and objects are looked into.
    """
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        plain = inspect.unwrap(waiting.pop())
        owner = getattr(plain, "__self__", None)
        plain = getattr(plain, "__func__", plain)
        held = _attributes(owner)
        if inspect.isfunction(plain):
            variables = inspect.getclosurevars(plain)
            held += [*variables.nonlocals.values(), *variables.globals.values()]
        for value in held:
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, AbstractAgent):
                yield value
            elif inspect.isfunction(value) and _package(value) == _package(plain):
                waiting.append(value)
            else:
                yield from (agent for agent in _attributes(value) if isinstance(agent, AbstractAgent))


def _package(function: Any) -> str:
    return str(getattr(function, "__module__", "")).partition(".")[0]


def _attributes(value: Any) -> list[Any]:
    return list(vars(value).values()) if hasattr(value, "__dict__") else []
