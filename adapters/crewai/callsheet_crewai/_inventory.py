"""The agents and tools that can be reached from a crew, an agent or a flow."""

from __future__ import annotations

from typing import Any

from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.task import Task
from crewai.tools.base_tool import BaseTool
from crewai.utilities.string_utils import sanitize_tool_name

from callsheet.adapters import Inventory
from callsheet_crewai._objects import reachable
from callsheet_crewai._requests import aliases

# What CrewAI hands an agent itself while it runs.
_OPEN_ENDED = ("apps", "knowledge", "knowledge_sources", "mcps", "memory", "multimodal", "skills")


def inventory(root: Any) -> Inventory:
    """Give what is known before a run; CrewAI adds agents and tools while one runs."""
    parts = list(reachable(root))
    agents = [part for part in parts if isinstance(part, BaseAgent)]
    found: dict[str, set[str]] = {}
    for agent in agents:
        found.setdefault(agent.role.strip(), set()).update(tool_names(agent.tools))
    for task in parts:
        if isinstance(task, Task) and task.agent is not None:
            found.setdefault(task.agent.role.strip(), set()).update(tool_names(task.tools))
    if loose := tool_names(part for part in parts if isinstance(part, BaseTool)):
        # Nobody's yet: a function that builds agents refers to them.
        found.setdefault("", set()).update(loose)
    alone = isinstance(root, BaseAgent)
    settled = frozenset(agent.role.strip() for agent in agents if alone and not _is_open_ended(agent))
    return Inventory(found, complete=False, settled=settled)


def tool_names(tools: Any) -> list[str]:
    """Give every name a mock may use for tools."""
    return [name for tool in tools or () for name in (sanitize_tool_name(tool.name), *aliases(tool))]


def _is_open_ended(agent: Any) -> bool:
    return any(getattr(agent, field, None) for field in _OPEN_ENDED)
