"""The providers' real models over HTTP: the tools are mocked, the model is not faked."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from callsheet import AgentResult, MockTool, UnmockedToolError
from callsheet_langgraph import LangGraphAdapter
from tests.loopback import Fault, Loopback, Reply

SCRIPT = [
    Reply("Looking.", tool_calls=[("search", {"q": "Rome"}), ("book", {"flight": "DY1"})]),
    Reply("Booked DY1."),
]
hits: list[str] = []


@tool
def search(q: str) -> str:
    """Search flights."""
    hits.append("search")
    return q


@tool
async def book(flight: str) -> str:
    """Book a flight."""
    hits.append("book")
    return flight


def chat(provider, **options):
    # LangChain asks a provider at another address for no usage while streaming, unless it is told to.
    wired = {"base_url": provider.base_url, "api_key": "test", "max_retries": 0, "stream_usage": True}
    return ChatOpenAI(model="wire-model", **wired, **options)


def responses(provider, **options):
    return chat(provider, use_responses_api=True, **options)


def claude(provider, **options):
    return ChatAnthropic(
        model="wire-model", base_url=provider.origin, api_key="test", max_retries=0, **options
    )


MODELS = pytest.mark.parametrize("model", [chat, responses, claude])


@pytest.fixture(autouse=True)
def _no_hits():
    hits.clear()
    yield
    assert not hits


def wrapped(model, provider, *mocks, **options) -> LangGraphAdapter:
    agent = create_agent(model(provider, **options), [search, book], name="Desk")
    return LangGraphAdapter(agent, tools=mocks)


def mocks() -> list[MockTool]:
    return [MockTool("search", response={"flight": "DY1"}), MockTool("book", response="B7")]


def awaited(adapter) -> AgentResult:
    return asyncio.run(adapter.invoke("Fly me to Rome"))


def streamed(adapter) -> AgentResult:
    async def main() -> None:
        assert [event async for event in adapter.stream("Fly me to Rome", stream_mode="messages")]

    asyncio.run(main())
    return adapter.last_result


@MODELS
@pytest.mark.parametrize("run", [awaited, streamed])
def test_calls_names_headers_and_usage_come_from_what_was_sent(model, run):
    with Loopback(SCRIPT) as provider:
        result = run(wrapped(model, provider, *mocks(), default_headers={"X-Team": "travel"}))
    assert result.response == "Booked DY1."
    assert [(call.name, call.args, call.turn, call.index) for call in result.tool_calls] == [
        ("search", {"q": "Rome"}, 0, 0),
        ("book", {"flight": "DY1"}, 0, 1),
    ]
    assert [call.response for call in result.tool_calls] == [{"flight": "DY1"}, "B7"]
    assert [entry.content for entry in result.trace if entry.role == "assistant"] == [
        "Looking.",
        "Booked DY1.",
    ]
    assert {request.body["model"] for request in provider.received} == {result.model_used} == {"wire-model"}
    assert result.headers["X-Team"] == provider.received[0].headers["x-team"] == "travel"
    assert result.usage.requests == 2
    assert result.usage.output_tokens == 14
    if run is awaited:
        assert result.usage.input_tokens == 22


@MODELS
def test_headers_of_a_run_reach_the_wire(model):
    with Loopback(SCRIPT) as provider:
        result = asyncio.run(wrapped(model, provider, *mocks()).invoke("Go", headers={"X-Tenant": "acme"}))
    assert [request.headers["x-tenant"] for request in provider.received] == ["acme", "acme"]
    assert result.headers["X-Tenant"] == "acme"


@MODELS
def test_what_a_mock_answered_is_what_the_provider_is_told(model):
    with Loopback(SCRIPT) as provider:
        result = awaited(wrapped(model, provider, *mocks()))
    assert result.tool_calls[0].seen_by_model == '{"flight": "DY1"}'
    assert "DY1" in str(provider.received[1].body)
    assert "B7" in str(provider.received[1].body)


@MODELS
@pytest.mark.parametrize("run", [awaited, streamed])
def test_unmocked_tool_asked_for_over_the_wire_is_refused(model, run):
    with Loopback(SCRIPT) as provider, pytest.raises(UnmockedToolError, match="book"):
        run(wrapped(model, provider, mocks()[0]))


@MODELS
def test_provider_fault_reaches_the_test_as_the_clients_own_error(model):
    with Loopback([SCRIPT[0], Fault(500)]) as provider:
        adapter = wrapped(model, provider, *mocks())
        with pytest.raises(Exception, match="in trouble") as raised:
            awaited(adapter)
    assert "InternalServerError" in [base.__name__ for base in type(raised.value).__mro__]
    assert adapter.last_result.tool_names == ["search", "book"]
