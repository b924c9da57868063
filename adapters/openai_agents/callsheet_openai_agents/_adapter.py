"""`OpenAIAgentsAdapter`: an OpenAI Agents SDK agent under test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from agents import Agent, Model, Runner

from callsheet.adapters import AgentResult, BaseAdapter, Inventory, Session
from callsheet_openai_agents._inventory import Reach
from callsheet_openai_agents._patches import PATCHES
from callsheet_openai_agents._turns import AFTER, start


class OpenAIAgentsAdapter(BaseAdapter[Agent[Any]]):
    """An OpenAI Agents SDK agent, wrapped for tests.

    Handoffs and agents used as tools run; their own tools are judged one by one. `**options` of a run go
    to `Runner.run` (`context`, `max_turns`, `run_config`, `session`, ...). `starting_agent` starts it
    at another agent; a `Conversation` starts each turn at the agent that ended the one before.
    """

    framework_name = "openai-agents"
    agent_description = "an agents.Agent"
    model_type = Model
    model_description = "an agents.Model"
    patches = PATCHES

    @classmethod
    def handles(cls, agent: object) -> bool:
        """Say whether an object is an `agents.Agent`."""
        return isinstance(agent, Agent)

    def turn_options(self, result: AgentResult) -> dict[str, Any]:
        """Give the run to go on from: its last agent, and its items unless the SDK keeps them elsewhere."""
        return {AFTER: result.native}

    def session(self, **options: Any) -> Session:
        """Give a session to open around any code that reaches the agent.

        Args:
            **options: Those of `BaseAdapter.session`.

        Raises:
            MockConfigError: A mock stands for a handoff, or for a tool that runs at the provider.
        """
        session = super().session(**options)
        self.reach.check(session.tools)
        return session

    def _inventory(self) -> Inventory:
        # An application may give its agents tools and handoffs at any time.
        self.reach = Reach(self.agent)
        # In a session an application may run agents nobody knows of yet. Where a misspelt mock would let the
        # real tool run, that can not be waited for.
        return self.reach.inventory(complete=self.reach.complete and self._unmocked == "real")

    async def _run(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        self._check_names(session, options)
        agent, given, options = start(self.agent, message, history, options)
        await Runner.run(agent, given, **options)

    async def _stream(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        self._check_names(session, options)
        agent, given, options = start(self.agent, message, history, options)
        return _events(Runner.run_streamed(agent, given, **options))

    def _check_names(self, session: Session, options: dict[str, Any]) -> None:
        # Hooks of a run may give its agents tools, and a tool that runs for real may run further agents.
        adds = any(options.get(name) is not None for name in ("hooks", "starting_agent"))
        if self.reach.complete and not adds and not any(mock.is_spy for mock in session.tools):
            session.check_names()


async def _events(streamed: Any) -> AsyncIterator[Any]:
    try:
        async for event in streamed.stream_events():
            yield event
    except Exception:
        # The run's task was cancelled and has yet to say how it ended.
        await asyncio.wait({streamed.run_loop_task})
        raise
