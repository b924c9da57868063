"""Several sessions and runs side by side, as they meet in one process."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
from typing import Any

import pytest
from agents import Agent, function_tool

from callsheet import FakeModel, MockTool, NetworkBlockedError
from callsheet_openai_agents import OpenAIAgentsAdapter

ASK = {"tool_calls": [{"name": "search", "args": {"q": "rome"}}]}


@pytest.fixture
def hits() -> list[str]:
    return []


@pytest.fixture
def desk(hits: list[str]) -> Agent[Any]:
    @function_tool
    def search(q: str) -> str:
        """Search."""
        hits.append(q)
        return "REAL"

    return Agent(name="Desk", model="desk-model", tools=[search])


def test_tools_can_be_built_and_copied_beside_several_open_sessions(
    desk: Agent[Any], hits: list[str]
) -> None:
    one = OpenAIAgentsAdapter(desk, model=FakeModel()).session()
    two = OpenAIAgentsAdapter(desk, model=FakeModel()).session()
    one.open()
    two.open()

    @function_tool
    def built(q: str) -> str:
        """Built beside both."""
        return q

    copied = dataclasses.replace(desk.tools[0], name="copied")  # type: ignore[type-var]
    one.close()
    two.close()
    assert type(vars(copied)["on_invoke_tool"]) is type(vars(desk.tools[0])["on_invoke_tool"])
    assert built.name == "built"
    assert not hits


def test_the_network_is_closed_to_the_run_while_the_consumer_has_an_event(desk: Agent[Any]) -> None:
    met: list[BaseException] = []

    def answer(args: dict[str, Any]) -> str:
        with pytest.raises(NetworkBlockedError) as caught, socket.socket() as client:
            client.connect(("127.0.0.1", 9))
        met.append(caught.value)
        return "mocked"

    adapter = OpenAIAgentsAdapter(
        desk, tools=[MockTool("search", response=answer)], model=FakeModel([ASK, "done"])
    )

    async def main() -> None:
        async for _ in adapter.stream("hi"):
            await asyncio.sleep(0.01)

    with pytest.raises(NetworkBlockedError):
        asyncio.run(main())
    assert len(met) == 1


def test_a_sub_agent_whose_model_counts_ids_like_its_callers_is_told_apart(desk: Agent[Any]) -> None:
    root = Agent(name="Root", model="root-model", tools=[desk.as_tool("desk", "Ask the desk")])
    calls = {
        "Root": [{"tool_calls": [{"name": "desk", "args": {"input": "rome"}, "id": "c"}]}, "done"],
        "Desk": [{"tool_calls": [{"name": "search", "args": {"q": "rome"}, "id": "c"}]}, "found"],
    }
    adapter = OpenAIAgentsAdapter(
        root, tools=[MockTool("search", response="mocked")], model=FakeModel(agents=calls)
    )
    result = adapter.sync_invoke("hi")
    assert [(call.name, call.seen_by_model) for call in result.tool_calls] == [
        ("desk", "found"),
        ("search", "mocked"),
    ]
