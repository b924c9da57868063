"""The SDK's real models over HTTP: the tools are mocked, the model is not faked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
)
from openai import AsyncOpenAI, InternalServerError

from callsheet import AgentResult, FakeModel, MockTool, UnmockedToolError
from callsheet_openai_agents import OpenAIAgentsAdapter
from tests.loopback import Fault, Loopback, Reply

MODELS = [OpenAIChatCompletionsModel, OpenAIResponsesModel]
SCRIPT = [
    Reply("Looking.", tool_calls=[("search", {"q": "Rome"}), ("book", {"flight": "DY1"})]),
    Reply("Booked DY1."),
]
hits: list[str] = []


@function_tool
def search(q: str) -> str:
    """Search flights."""
    hits.append("search")
    return q


@function_tool
async def book(flight: str) -> str:
    """Book a flight."""
    hits.append("book")
    return flight


@pytest.fixture(params=MODELS, ids=["chat", "responses"])
def wired(request: Any) -> Callable[..., Agent[Any]]:
    hits.clear()

    def build(provider: Loopback, **options: Any) -> Agent[Any]:
        client = AsyncOpenAI(base_url=provider.base_url, api_key="sk-test-key", max_retries=0)
        model = request.param("gpt-wire", openai_client=client)
        return Agent(name="Desk", model=model, tools=[search, book], **options)

    return build


def mocks() -> list[MockTool]:
    return [MockTool("search", response={"flight": "DY1"}), MockTool("book", response="B7")]


def streamed(adapter: OpenAIAgentsAdapter) -> AgentResult:
    async def main() -> None:
        assert [event async for event in adapter.stream("Fly me to Rome")]

    asyncio.run(main())
    assert adapter.last_result is not None
    return adapter.last_result


def awaited(adapter: OpenAIAgentsAdapter) -> AgentResult:
    return asyncio.run(adapter.invoke("Fly me to Rome"))


@pytest.mark.parametrize("run", [awaited, streamed])
def test_calls_names_headers_and_usage_come_from_what_was_sent(wired: Any, run: Any) -> None:
    with Loopback(SCRIPT) as provider:
        agent = wired(
            provider, model_settings=ModelSettings(extra_headers={"X-Team": "travel"}, include_usage=True)
        )
        result = run(OpenAIAgentsAdapter(agent, tools=mocks()))
    assert result.response == "Booked DY1."
    assert [(c.name, c.args, c.response, c.turn, c.index) for c in result.tool_calls] == [
        ("search", {"q": "Rome"}, {"flight": "DY1"}, 0, 0),
        ("book", {"flight": "DY1"}, "B7", 0, 1),
    ]
    assert [entry.content for entry in result.trace if entry.role == "assistant"] == [
        "Looking.",
        "Booked DY1.",
    ]
    assert {request.body["model"] for request in provider.received} == {result.model_used} == {"gpt-wire"}
    assert result.headers["X-Team"] == provider.received[0].headers["x-team"] == "travel"
    assert (result.usage.requests, result.usage.input_tokens, result.usage.output_tokens) == (2, 22, 14)
    assert not hits


def test_headers_of_a_run_reach_the_wire(wired: Any) -> None:
    with Loopback(SCRIPT) as provider:
        adapter = OpenAIAgentsAdapter(wired(provider), tools=mocks())
        result = asyncio.run(adapter.invoke("Go", headers={"X-Tenant": "acme"}))
    assert [request.headers["x-tenant"] for request in provider.received] == ["acme", "acme"]
    assert result.headers["X-Tenant"] == "acme"


def test_what_a_mock_answered_is_what_the_provider_is_told(wired: Any) -> None:
    with Loopback(SCRIPT) as provider:
        result = awaited(OpenAIAgentsAdapter(wired(provider), tools=mocks()))
    said = str(provider.received[1].body)
    assert "{'flight': 'DY1'}" in said
    assert result.tool_calls[0].seen_by_model == "{'flight': 'DY1'}"


@pytest.mark.parametrize("run", [awaited, streamed])
def test_unmocked_tool_asked_for_over_the_wire_is_refused(wired: Any, run: Any) -> None:
    with Loopback(SCRIPT) as provider, pytest.raises(UnmockedToolError, match="book"):
        run(OpenAIAgentsAdapter(wired(provider), tools=mocks()[:1]))
    assert not hits


def test_provider_fault_reaches_the_test_as_the_clients_own_error(wired: Any) -> None:
    with Loopback([SCRIPT[0], Fault(500)]) as provider:
        adapter = OpenAIAgentsAdapter(wired(provider), tools=mocks())
        with pytest.raises(InternalServerError, match="in trouble"):
            awaited(adapter)
    assert adapter.last_result is not None
    assert adapter.last_result.tool_names == ["search", "book"]
    assert not hits


def test_settings_of_the_run_reach_wire_and_record(wired: Any) -> None:
    config = RunConfig(model_settings=ModelSettings(extra_headers={"X-Run": "7"}, temperature=0.5))
    with Loopback(SCRIPT) as provider:
        adapter = OpenAIAgentsAdapter(wired(provider), tools=mocks())
        result = asyncio.run(adapter.invoke("Go", run_config=config))
    assert provider.received[0].headers["x-run"] == result.headers["X-Run"] == "7"
    assert provider.received[0].body["temperature"] == 0.5


def test_code_that_runs_the_agent_itself_is_recorded_over_the_wire(wired: Any) -> None:
    with Loopback(SCRIPT) as provider:
        agent = wired(provider)
        with OpenAIAgentsAdapter(agent, tools=mocks()).session() as session:
            asyncio.run(Runner.run(agent, "Go"))
        assert session.result.tool_names == ["search", "book"]
    assert not hits


@pytest.mark.parametrize("run", [awaited, streamed])
@pytest.mark.parametrize(
    ("scripted", "sent"), [("length", "max_output_tokens"), ("content_filter", "content_filter")]
)
def test_scripted_reply_that_is_cut_short_ends_as_one_from_the_wire_does(
    run: Any, scripted: str, sent: str
) -> None:
    """What the SDK makes of it differs between versions, and between a run and a stream."""

    def outcome(adapter: OpenAIAgentsAdapter) -> tuple[str, str]:
        try:
            return "answered", run(adapter).response
        except Exception as error:
            assert adapter.last_result is not None
            assert adapter.last_result.error is not None
            return type(error).__name__, str(error)

    with Loopback([Reply("Half an", incomplete=sent)]) as provider:
        client = AsyncOpenAI(base_url=provider.base_url, api_key="sk-test-key", max_retries=0)
        model = OpenAIResponsesModel("gpt-wire", openai_client=client)
        wired = outcome(OpenAIAgentsAdapter(Agent(name="Desk", model=model)))
    script = FakeModel([{"content": "Half an", "finish_reason": scripted}])
    assert outcome(OpenAIAgentsAdapter(Agent(name="Desk"), model=script)) == wired
    assert wired == ("answered", "Half an") or sent in wired[1]
