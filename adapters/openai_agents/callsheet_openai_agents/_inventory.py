"""The agents and tools that can be reached from an agent, and what a test calls them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agents import Agent, FunctionTool, Handoff

from callsheet.adapters import Inventory, MockConfigError, MockTool, Session, identity
from callsheet_openai_agents._mcp import mcp_binding

# Tools that a provider runs, by the names of their classes; some came after the floor.
_HOSTED = ("CodeInterpreterTool", "FileSearchTool", "HostedMCPTool", "ImageGenerationTool", "WebSearchTool")


class Reach:
    """Every agent that can be reached from one, by handoffs and agents used as tools.

    Of several agents with one name the second is called "Name#2", in scripts, mocks and records alike.

    Args:
        root: The agent.
    """

    def __init__(self, root: Agent[Any]) -> None:
        self._agents: dict[int, tuple[Agent[Any], str]] = {}
        self._complete = True
        taken: dict[str, int] = {}
        waiting: list[Any] = [root]
        for agent in waiting:
            if agent is None:
                self._complete = False
            elif identity(agent) not in self._agents:
                taken[agent.name] = number = taken.get(agent.name, 0) + 1
                self._agents[identity(agent)] = agent, agent.name if number == 1 else f"{agent.name}#{number}"
                waiting.extend(_next_agents(agent))

    def name_of(self, agent: Agent[Any]) -> str:
        """Give what a test calls an agent."""
        known = self._agents.get(identity(agent))
        return known[1] if known is not None else agent.name

    @property
    def complete(self) -> bool:
        """Whether that is all: MCP servers, sandboxes and hooks add tools while an agent runs."""
        return self._complete and not any(map(_adds_tools, (agent for agent, _ in self._agents.values())))

    def inventory(self, *, complete: bool) -> Inventory:
        """Give every agent's tools.

        Args:
            complete: Whether a mock of anything else is refused before anything runs.
        """
        agents = {name: set(tool_names(agent)) for agent, name in self._agents.values()}
        return Inventory(agents, complete)

    def check(self, mocks: Iterable[MockTool]) -> None:
        """Raise for a mock of what no mock can answer.

        Raises:
            MockConfigError: Naming it and what to do instead.
        """
        for mock in mocks:
            agent, _, name = mock.name.rpartition(".")
            owners = [one for one, called in self._agents.values() if agent in ("", called)]
            tools = [tool for owner in owners for tool in owner.tools if name in all_names(tool)]
            if not mock.is_spy and any(map(is_hosted, tools)):
                raise MockConfigError(
                    f"{mock.name!r} runs at the provider, where no mock can answer. Script what the provider "
                    'would have answered as an item of a reply: FakeModel([{"native": [item]}, ...]); '
                    f"MockTool.spy({mock.name!r}) lets the agent's own model use it."
                )
            if not tools and any(name == handoff_name(to) for owner in owners for to in owner.handoffs):
                raise MockConfigError(
                    f"{mock.name!r} hands over, which is no tool a mock could answer: handoffs always run. "
                    "Mock the tools of the agent it hands over to and script that agent: "
                    f'FakeModel(agents={{...}}). The call is in result.tool_calls, of kind "handoff".'
                )


def agent_name(session: Session, agent: Any) -> str:
    """Give what the test of a session calls an agent."""
    reach = getattr(session.owner, "reach", None)
    return reach.name_of(agent) if isinstance(reach, Reach) else str(agent.name)


def tool_names(agent: Agent[Any]) -> Iterator[str]:
    """Give every name a mock may use for a tool of this agent alone."""
    for tool in agent.tools:
        yield from all_names(tool)
    yield from (handoff_name(target) for target in agent.handoffs)


def all_names(tool: Any) -> tuple[str, ...]:
    """Give every name a mock may use for a tool, the one it is recorded under first."""
    return (called(tool), *other_names(tool))


def called(tool: Any) -> str:
    """Give the name by which a test calls a tool."""
    # The name the SDK kept for saved runs; everywhere else this tool is "computer".
    return "computer" if tool.name == "computer_use_preview" else str(tool.name)


def other_names(tool: Any) -> tuple[str, ...]:
    """Give the further names of a tool: with its namespace, or as its MCP server lists it."""
    name, binding = called(tool), mcp_binding(tool)
    qualified = getattr(tool, "qualified_name", name)
    if binding is None and tool.name == name == qualified:
        return ()
    mcp_names = (".".join(binding), binding[1]) if binding is not None else ()
    return tuple(other for other in dict.fromkeys((tool.name, qualified, *mcp_names)) if other != name)


def handoff_name(target: Agent[Any] | Handoff[Any, Any]) -> str:
    """Give the name of the tool by which a model hands over."""
    return target.tool_name if isinstance(target, Handoff) else Handoff.default_tool_name(target)


def is_hosted(tool: object) -> bool:
    """Say whether a tool runs at the provider."""
    shell_elsewhere = type(tool).__name__ == "ShellTool" and vars(tool).get("executor") is None
    return type(tool).__name__ in _HOSTED or shell_elsewhere


def _adds_tools(agent: Agent[Any]) -> bool:
    return bool(agent.mcp_servers) or agent.hooks is not None or hasattr(agent, "capabilities")


def _next_agents(agent: Agent[Any]) -> Iterator[Any]:
    for target in agent.handoffs:
        if isinstance(target, Handoff):
            reference = getattr(target, "_agent_ref", None)
            yield reference() if reference is not None else None
        else:
            yield target
    for tool in agent.tools:
        if isinstance(tool, FunctionTool) and tool._is_agent_tool:
            yield tool._agent_instance
