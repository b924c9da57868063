"""`CrewAIAdapter`: a CrewAI crew, agent or flow under test."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from crewai.events.event_bus import crewai_event_bus
from crewai.llms.base_llm import BaseLLM

from callsheet.adapters import (
    AgentResult,
    BaseAdapter,
    Inventory,
    MockConfigError,
    ModelRequest,
    Session,
    finish,
)
from callsheet_crewai._input import kickoff_arguments, told_so_far
from callsheet_crewai._inventory import inventory
from callsheet_crewai._objects import ROOTS
from callsheet_crewai._patches import PATCHES
from callsheet_crewai._restoration import restored
from callsheet_crewai._streaming import drained, events_of


class CrewAIAdapter(BaseAdapter[Any]):
    """A CrewAI crew, agent or flow, or a function that builds one, wrapped for tests.

    An agent's name is its role. For a crew or a flow the `message` of a run is its `inputs`; a text becomes
    `{"message": text}`. For an agent it is the message. `**options` of a run go to the kickoff.

    With an object, what a run changes in it is put back when the session ends, and one crew or flow can be in
    one session at a time. With a function, each run builds its own.
    """

    framework_name = "crewai"
    agent_description = "a crewai Crew, Agent or Flow, or a function without parameters that builds one"
    model_type = BaseLLM
    model_description = "a crewai.BaseLLM"
    patches = PATCHES

    @classmethod
    def handles(cls, agent: object) -> bool:
        """Say whether an object is a crew, an agent or a flow."""
        return isinstance(agent, ROOTS)

    @classmethod
    def accepts(cls, agent: object) -> bool:
        """Say whether an object is one of these, or can be called to build one."""
        return cls.handles(agent) or (callable(agent) and _needs_nothing(agent))

    def turn_options(self, result: AgentResult) -> dict[str, Any]:
        """Give everything said so far as the history of the next run."""
        return {"history": told_so_far(result)}

    def _around(self) -> AbstractContextManager[Any]:
        surroundings = ExitStack()
        if self.handles(self.agent):
            surroundings.enter_context(restored(self.agent))
        # What CrewAI prints, it prints from threads that may be behind.
        surroundings.callback(crewai_event_bus.flush)
        return surroundings

    def _inventory(self) -> Inventory:
        return inventory(self.agent)

    async def _run(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        root = self._root(session, history)
        await drained(await root.kickoff_async(*kickoff_arguments(root, message, history), **options))

    def _run_sync(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            root = self._root(session, history)
            result = root.kickoff(*kickoff_arguments(root, message, history), **options)
            finish(drained(result))
        else:
            # Inside a loop an agent's kickoff gives a coroutine, which nobody here could await.
            finish(self._run(session, message, history, options))

    async def _stream(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        return events_of(self._run(session, message, history, options))

    def _root(self, session: Session, history: Sequence[Any] | None) -> Any:
        if history:
            session.metadata["history"] = list(history)
            # Not every way CrewAI tells of them has their ids.
            session.recording.reserve(ModelRequest(messages=history).taken_call_ids())
        if self.handles(self.agent):
            return self.agent
        built = self.agent()
        if not self.handles(built):
            raise MockConfigError(
                f"{self.agent!r} built {type(built).__module__}.{type(built).__qualname__}. "
                "Give a function that builds a crewai Crew, Agent or Flow."
            )
        for role, tools in inventory(built).agents.items():
            session.note_tools(role, tools)
        return built


def _needs_nothing(function: Any) -> bool:
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True
