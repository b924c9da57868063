"""`PydanticAIAdapter`: a Pydantic AI agent under test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from pydantic_ai.agent import AbstractAgent, Agent, WrapperAgent
from pydantic_ai.models import Model

from callsheet.adapters import AgentResult, BaseAdapter, Inventory, Session
from callsheet_pydantic_ai._inventory import inventory
from callsheet_pydantic_ai._messages import to_history
from callsheet_pydantic_ai._patches import PATCHES


class PydanticAIAdapter(BaseAdapter[AbstractAgent[Any, Any]]):
    """A Pydantic AI agent, wrapped for tests.

    A nested agent is run by the body of a tool: let that tool run with `MockTool.spy(...)` and mock the
    nested agent's own tools, or mock the tool. `**options` of a run go to `Agent.run` (`deps`,
    `output_type`, `usage_limits`, ...).
    """

    framework_name = "pydantic-ai"
    agent_description = "a pydantic_ai.Agent"
    model_type = Model
    model_description = "a pydantic_ai Model such as TestModel"
    patches = PATCHES

    @classmethod
    def handles(cls, agent: object) -> bool:
        """Say whether an object is a Pydantic AI agent, or wraps one."""
        # Another AbstractAgent need not run by the framework's own graph, where the session stands.
        while isinstance(agent, WrapperAgent):
            agent = agent.wrapped
        return isinstance(agent, Agent)

    def turn_options(self, result: AgentResult) -> dict[str, Any]:
        """Give every message of the run so far as the history of the next."""
        return {"history": result.native.all_messages()}

    def _inventory(self) -> Inventory:
        return inventory(self.agent)

    async def _run(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        await self.agent.run(message, **_run_options(history, options))

    async def _stream(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        return _events(self.agent, message, _run_options(history, options))


async def _events(
    agent: AbstractAgent[Any, Any], message: Any, options: dict[str, Any]
) -> AsyncIterator[Any]:
    async with agent.run_stream_events(message, **options) as events:
        async for event in events:
            yield event


def _run_options(history: Sequence[Any] | None, options: dict[str, Any]) -> dict[str, Any]:
    # Inferred here, an agent's name would be that of a variable of this module.
    options = {"infer_name": False, **options}
    return options if history is None else {**options, "message_history": to_history(history)}
