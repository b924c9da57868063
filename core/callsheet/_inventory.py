"""The agents and tools a test could name, and which names in it stand for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from callsheet._errors import UnknownMockError
from callsheet._suggest import did_you_mean, listed


@dataclass(frozen=True)
class Inventory:
    """What can be reached from an agent.

    Args:
        agents: The names of the tools of each agent, by the agent's name.
        complete: Whether that is all. False when tools are only known while the agent runs (an MCP
            server, a dynamic tool set): unknown names are then judged when the session ends.
        settled: The agents whose tools are all named here, even where others are not known yet.
    """

    agents: Mapping[str, Iterable[str]] = field(default_factory=dict)
    complete: bool = True
    settled: frozenset[str] = frozenset()

    def tool_names(self) -> set[str]:
        """Every tool's plain name."""
        return {name for tools in self.agents.values() for name in tools}

    def mock_names(self) -> set[str]:
        """Every name a mock may have: a tool's, and an agent's and a tool's joined by a dot."""
        qualified = {f"{agent}.{name}" for agent, tools in self.agents.items() for name in tools}
        return self.tool_names() | qualified

    def joined(self, agent: str | None, tools: Iterable[str]) -> Inventory:
        """Give the inventory with tools added that an agent was seen to have."""
        key = agent if agent is not None else ""
        known = frozenset(self.agents.get(key, ()))
        if key in self.agents and known.issuperset(tools := tuple(tools)):
            return self
        return Inventory({**self.agents, key: known.union(tools)}, self.complete, self.settled)

    def check_mocks(self, names: Iterable[str]) -> None:
        """Raise for a mock that stands for no tool.

        Raises:
            UnknownMockError: With the closest names.
        """
        known = self.mock_names()
        for name in names:
            if name not in known:
                tools = listed(sorted(self.tool_names()))
                raise UnknownMockError(
                    f"No tool is named {name!r}, so its mock would never answer."
                    f"{did_you_mean(name, known)} The tools are: {tools}."
                )

    def check_bound_mocks(self, names: Iterable[str]) -> None:
        """Raise for a mock bound to a settled agent that does not have the tool.

        Raises:
            UnknownMockError: With the closest names.
        """
        self.check_mocks(name for name in names if name.rpartition(".")[0] in self.settled)

    def check_scripts(self, names: Iterable[str]) -> None:
        """Raise for a script that no agent follows.

        Raises:
            UnknownMockError: With the closest names.
        """
        for name in names:
            if name not in self.agents:
                raise UnknownMockError(
                    f"No agent is named {name!r}, so its script would never be asked."
                    f"{did_you_mean(name, self.agents)} The agents are: {listed(self.agents)}."
                )
