"""Retries of LangGraph and LangChain are made, counted, and not waited for."""

import asyncio
import importlib
import sys
import time

import pytest
from langchain.agents import create_agent, middleware
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import RetryPolicy

from callsheet import FakeModel, MockTool
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.styles import HITS, MODEL, async_lookup, lookup

LONG = {"initial_delay": 3600.0, "max_delay": 3600.0}
DOWN = ConnectionError("down")


@pytest.fixture(autouse=True)
def _awake(monkeypatch):
    """Fail a test at the first pause, rather than wait for it."""

    def slept(seconds, *result):
        assert seconds < 0.5, f"slept for {seconds} seconds"
        return kept(seconds, *result)

    def slept_sync(seconds):
        assert seconds < 0.5, f"slept for {seconds} seconds"

    kept = asyncio.sleep
    monkeypatch.setattr(time, "sleep", slept_sync)
    monkeypatch.setattr(asyncio, "sleep", slept)
    HITS.clear()
    yield
    assert not HITS


def ran(adapter, way, given="?"):
    return adapter.sync_invoke(given) if way == "sync" else asyncio.run(adapter.invoke(given))


WAYS = pytest.mark.parametrize("way", ["sync", "async"])


@WAYS
def test_tool_retried_by_middleware_is_one_call_of_several_attempts(way):
    graph = create_agent(MODEL, [lookup], middleware=[ToolRetryMiddleware(max_retries=3, **LONG)])
    mock = MockTool("lookup", responses=[DOWN, DOWN, "up"])
    step = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
    result = ran(LangGraphAdapter(graph, tools=[mock], model=FakeModel([step, "done"])), way)
    (call,) = result.tool_calls
    assert (call.outcome, call.response, call.attempts) == ("success", "up", 3)
    assert mock.call_count == 3


@WAYS
def test_tool_that_stays_down_is_told_to_the_model(way):
    graph = create_agent(MODEL, [lookup], middleware=[ToolRetryMiddleware(max_retries=2, **LONG)])
    mock = MockTool("lookup", raises=DOWN)
    step = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
    (call,) = ran(LangGraphAdapter(graph, tools=[mock], model=FakeModel([step, "done"])), way).tool_calls
    assert (call.outcome, call.attempts) == ("failed", 3)
    assert "ConnectionError" in call.seen_by_model


@WAYS
def test_refused_tool_is_not_retried_into_running(way):
    graph = create_agent(MODEL, [lookup], middleware=[ToolRetryMiddleware(max_retries=2, **LONG)])
    step = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
    with pytest.raises(BaseException, match="No mock for tool 'lookup'"):
        ran(LangGraphAdapter(graph, model=FakeModel([step, "done"])), way)


# Came with LangChain 1.1.
if hasattr(middleware, "ModelRetryMiddleware"):

    @WAYS
    def test_model_retried_by_middleware_goes_on_with_the_script(way):
        graph = create_agent(MODEL, [], middleware=[middleware.ModelRetryMiddleware(max_retries=3, **LONG)])
        model = FakeModel([DOWN, DOWN, "up"])
        result = ran(LangGraphAdapter(graph, model=model), way)
        assert result.response == "up"
        assert model.call_count == 3
        assert result.metadata["turns"] == 1


@WAYS
def test_runnable_with_retry_does_not_wait(way):
    def ask(state):
        return {"messages": [asking.invoke(state["messages"])]}

    async def ask_async(state):
        return {"messages": [await asking.ainvoke(state["messages"])]}

    asking = MODEL.with_retry(stop_after_attempt=3)
    graph = StateGraph(MessagesState)
    graph.add_node("ask", RunnableLambda(ask, afunc=ask_async))
    graph.add_edge(START, "ask")
    model = FakeModel([DOWN, DOWN, "up"])
    assert ran(LangGraphAdapter(graph.compile(), model=model), way).response == "up"
    assert model.call_count == 3


@WAYS
def test_tool_with_retry_is_counted_each_time(way):
    async def act(state):
        found = await async_lookup.with_retry().ainvoke({"city": "Oslo"})
        return {"messages": [AIMessage(found)]}

    def act_sync(state):
        found = lookup.with_retry().invoke({"city": "Oslo"})
        return {"messages": [AIMessage(found)]}

    graph = StateGraph(MessagesState)
    graph.add_node("act", RunnableLambda(act_sync, afunc=act))
    graph.add_edge(START, "act")
    name = "lookup" if way == "sync" else "async_lookup"
    mock = MockTool(name, responses=[DOWN, DOWN, "up"])
    result = ran(LangGraphAdapter(graph.compile(), tools=[mock]), way)
    assert result.response == "up"
    assert [call.outcome for call in result.tool_calls] == ["failed", "failed", "success"]


@WAYS
def test_node_with_a_retry_policy_does_not_wait(way):
    graph = StateGraph(MessagesState)
    graph.add_node(
        "act",
        lambda state: {"messages": [AIMessage(lookup.invoke({"city": "Oslo"}))]},
        retry_policy=RetryPolicy(initial_interval=3600.0, max_attempts=3),
    )
    graph.add_edge(START, "act")
    mock = MockTool("lookup", responses=[DOWN, DOWN, "up"])
    assert ran(LangGraphAdapter(graph.compile(), tools=[mock]), way).response == "up"
    assert mock.call_count == 3


def test_middleware_loaded_after_the_patches_does_not_wait_either(monkeypatch):
    name = "langchain.agents.middleware.tool_retry"
    loaded = importlib.import_module(name)
    monkeypatch.delitem(sys.modules, name)
    first = LangGraphAdapter(create_agent(MODEL, [])).session()
    with first:
        pass
    monkeypatch.setitem(sys.modules, name, loaded)
    test_tool_retried_by_middleware_is_one_call_of_several_attempts("sync")
    assert not first.is_open


def test_without_a_session_retries_wait_as_they_do():
    flaky = RunnableLambda(lambda given: 1 / 0).with_retry()
    held = LangGraphAdapter(create_agent(MODEL, [])).session()
    with held:
        pass
    with pytest.raises(AssertionError, match="slept for"):
        flaky.invoke("?")
