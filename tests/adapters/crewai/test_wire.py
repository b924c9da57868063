"""A real provider client over real HTTP: tools mocked, the model not."""

from __future__ import annotations

import asyncio

import pytest
from crewai import LLM, Agent, Crew, Task

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai.crews import HITS, Search
from tests.loopback import Loopback, Reply

SEARCH = Reply(tool_calls=[("search", {"q": "rust"})])


def agent(provider, **options):
    llm = LLM(model="gpt-4o", provider="openai", base_url=provider.base_url, api_key="secret", **options)
    return Agent(role="Researcher", goal="g", backstory="b", llm=llm, tools=[Search()])


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", ["sync", "async"])
def test_real_model_is_recorded_and_its_tools_are_mocked(path, streamed):
    with Loopback([SEARCH, Reply("Found")]) as provider:
        adapter = CrewAIAdapter(agent(provider, stream=streamed), tools=[MockTool("search", response="MOCK")])
        headers = {"X-Tenant": "acme"}
        if path == "sync":
            result = adapter.sync_invoke("?", headers=headers)
        else:
            result = asyncio.run(adapter.invoke("?", headers=headers))
    call = result.tool_calls[0]
    assert (call.name, call.args, call.response, call.mocked) == ("search", {"q": "rust"}, "MOCK", True)
    assert (result.response, result.model_used) == ("Found", "gpt-4o")
    assert (result.usage.input_tokens, result.usage.output_tokens) == (22, 14)
    assert [request.headers["x-tenant"] for request in provider.received] == ["acme", "acme"]
    assert provider.received[1].body["messages"][-1]["content"] == "MOCK" == call.seen_by_model
    assert not HITS


def test_crew_over_the_wire_keeps_its_order():
    with Loopback([SEARCH, Reply("Found")]) as provider:
        who = agent(provider)
        crew = Crew(agents=[who], tasks=[Task(description="Find", expected_output="A fact", agent=who)])
        result = CrewAIAdapter(crew, tools=[MockTool("search", response="MOCK")]).sync_invoke(None)
    assert [step["role"] for step in result.trajectory()] == ["user", "tool", "assistant"]
    assert not HITS


def test_unmocked_tool_of_a_real_model_is_refused_before_it_asks_again():
    with Loopback([SEARCH, Reply("Found")]) as provider:
        with pytest.raises(UnmockedToolError, match="search"):
            CrewAIAdapter(agent(provider)).sync_invoke("?")
        assert len(provider.received) == 1
    assert not HITS


def test_scripted_model_sends_nothing():
    with Loopback([]) as provider:
        result = CrewAIAdapter(agent(provider), model=FakeModel(["scripted"])).sync_invoke("?")
        assert result.response == "scripted"
        assert provider.received == []
