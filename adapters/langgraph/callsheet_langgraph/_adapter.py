"""`LangGraphAdapter`: a LangGraph graph or LangChain agent under test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableBinding
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel

from callsheet.adapters import AgentResult, BaseAdapter, Inventory, Session
from callsheet_langgraph._inventory import inventory
from callsheet_langgraph._isolation import introduce
from callsheet_langgraph._messages import with_history
from callsheet_langgraph._outcome import messages_in
from callsheet_langgraph._patches import PATCHES


class LangGraphAdapter(BaseAdapter[Any]):
    """A compiled LangGraph graph, a LangChain agent or an entrypoint, wrapped for tests.

    Sub-graphs, graphs called by tools and handoffs run; their tools are judged one by one. An agent's name
    is its graph's, or its node's where the graph has none. `**options` of a run go to the graph's `invoke`
    (`config`, `context`, `interrupt_before`, ...). A graph that has a checkpointer remembers what happens
    under test apart from its own saver, in a thread of the test's own where the config names none.
    """

    framework_name = "langgraph"
    agent_description = "a compiled graph: what create_agent, StateGraph.compile or @entrypoint gives"
    model_type = BaseChatModel
    model_description = "a LangChain chat model"
    patches = PATCHES

    _threads = 0

    @classmethod
    def handles(cls, agent: object) -> bool:
        """Say whether an object is a compiled graph, bare or with a config bound to it."""
        return isinstance(_unbound(agent), Pregel)

    def session(self, **options: Any) -> Session:
        """Give a session to open around any code that reaches the graph.

        Args:
            **options: `tools`, `headers`, `metadata` and `strict`, as every adapter has them.
        """
        session = super().session(**options)
        introduce(session)
        return session

    def turn_options(self, result: AgentResult) -> dict[str, Any]:
        """Give the thread of the run so far, or its messages as history where the graph keeps none."""
        thread = result.metadata.get("thread_id")
        if thread is not None:
            return {"config": {"configurable": {"thread_id": thread}}}
        return {"history": messages_in(result.native) or result.to_messages()}

    def _inventory(self) -> Inventory:
        return inventory(_unbound(self.agent))

    async def _run(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        await self.agent.ainvoke(self._input(message, history), **self._in_thread(session, options))

    def _run_sync(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        self.agent.invoke(self._input(message, history), **self._in_thread(session, options))

    async def _stream(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        events: AsyncIterator[Any] = self.agent.astream(
            self._input(message, history), **self._in_thread(session, options)
        )
        return events

    def _input(self, message: Any, history: Sequence[Any] | None) -> Any:
        takes_messages = "messages" in _unbound(self.agent).channels
        if history is not None:
            new = [HumanMessage(message)] if isinstance(message, str) else list(messages_in(message))
            messages = [*with_history(history), *new]
            return {**_rest(message), "messages": messages} if takes_messages else messages
        if isinstance(message, str) and takes_messages:
            return {"messages": [HumanMessage(message)]}
        return message

    def _in_thread(self, session: Session, options: dict[str, Any]) -> dict[str, Any]:
        graph = _unbound(self.agent)
        if not isinstance(graph.checkpointer, BaseCheckpointSaver):
            return options
        config = options.get("config") or {}
        bound = (getattr(self.agent, "config", None) or {}).get("configurable", {})
        configurable = {**bound, **config.get("configurable", {})}
        if "thread_id" not in configurable:
            self._threads += 1
            configurable["thread_id"] = f"callsheet-{self._threads}"
        session.metadata["thread_id"] = configurable["thread_id"]
        return {**options, "config": {**config, "configurable": configurable}}


def _unbound(agent: Any) -> Any:
    while isinstance(agent, RunnableBinding):
        agent = agent.bound
    return agent


def _rest(message: Any) -> dict[str, Any]:
    return (
        {key: value for key, value in message.items() if key != "messages"}
        if isinstance(message, dict)
        else {}
    )
