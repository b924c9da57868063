"""What a graph remembers under test stays with the test, and a conversation goes on."""

import asyncio

import pytest
from langchain.agents import create_agent
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import CachePolicy, Command, interrupt

from callsheet import Conversation, FakeModel, MockTool
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.models import ProviderModel
from tests.adapters.langgraph.styles import HITS, MODEL, ask, lookup

LOOKUP = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
THREAD = {"configurable": {"thread_id": "customer-1"}}


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


def said_by_users(model: FakeModel, call: int) -> list[str]:
    return [message["content"] for message in model.call_log[call]["messages"] if message["role"] == "user"]


@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["no saver", "saver"])
def test_conversation_goes_on(saver):
    model = FakeModel(["Where?", LOOKUP, "Cold"])
    adapter = LangGraphAdapter(
        create_agent(MODEL, [lookup], checkpointer=saver),
        tools=[MockTool("lookup", response="x")],
        model=model,
    )
    with Conversation(adapter) as talk:
        talk.say_sync("How is the weather?")
        result = talk.say_sync("In Oslo")
    assert said_by_users(model, 1) == ["How is the weather?", "In Oslo"]
    assert [entry.content for entry in result.trace if entry.role == "user"] == ["In Oslo"]
    assert result.tool_names == ["lookup"]


def test_call_nobody_answers_is_not_told_the_answer_of_an_earlier_turn():
    def route(state):
        calls = state["messages"][-1].tool_calls
        return "tools" if calls and calls[0]["args"]["city"] == "Oslo" else END

    graph = StateGraph(MessagesState)
    graph.add_node("llm", ask)
    graph.add_node("tools", ToolNode([lookup], handle_tool_errors=True))
    graph.add_edge(START, "llm")
    graph.add_conditional_edges("llm", route, ["tools", END])
    graph.add_edge("tools", "llm")
    elsewhere = {"tool_calls": [{"name": "lookup", "args": {"city": "Rome"}}]}
    adapter = LangGraphAdapter(
        graph.compile(),
        tools=[MockTool("lookup", error="no such city")],
        model=FakeModel([LOOKUP, "Sorry", elsewhere]),
    )
    with Conversation(adapter) as talk:
        talk.say_sync("Oslo?")
        (call,) = talk.say_sync("Rome?").tool_calls
    assert (call.outcome, call.seen_by_model, call.error) == ("skipped", None, None)
    assert len({call.id for call in talk.all_tool_calls}) == 2


def test_the_applications_saver_is_not_written():
    saver = InMemorySaver()
    graph = create_agent(MODEL, [lookup], checkpointer=saver)
    LangGraphAdapter(graph, model=FakeModel(["hi"])).sync_invoke("?", config=THREAD)
    assert list(saver.list(None)) == []
    assert graph.checkpointer is saver
    assert graph.get_state(THREAD).values == {}


def test_what_the_applications_saver_has_is_read():
    saver = InMemorySaver()
    graph = create_agent(ProviderModel(), [], checkpointer=saver)
    graph.invoke({"messages": [("user", "before the test")]}, THREAD)
    kept = len(list(saver.list(None)))
    model = FakeModel(["hi"])
    asyncio.run(LangGraphAdapter(graph, model=model).invoke("in the test", config=THREAD))
    assert said_by_users(model, 0) == ["before the test", "in the test"]
    assert len(list(saver.list(None))) == kept


def test_state_can_be_read_and_changed_inside_the_session():
    graph = create_agent(MODEL, [], checkpointer=InMemorySaver())
    model = FakeModel(["one", "two"])
    adapter = LangGraphAdapter(graph, model=model)
    with adapter.session():
        graph.invoke({"messages": [("user", "first")]}, THREAD)
        assert [message.content for message in graph.get_state(THREAD).values["messages"]] == ["first", "one"]
        graph.update_state(THREAD, {"messages": [("user", "put in")]})
        graph.invoke({"messages": [("user", "second")]}, THREAD)
        assert list(graph.get_state_history(THREAD))
    assert said_by_users(model, 1) == ["first", "put in", "second"]


def test_adapters_do_not_share_what_they_remember():
    graph = create_agent(MODEL, [], checkpointer=InMemorySaver())
    one, two = FakeModel(["a"]), FakeModel(["b"])
    LangGraphAdapter(graph, model=one).sync_invoke("first", config=THREAD)
    LangGraphAdapter(graph, model=two).sync_invoke("second", config=THREAD)
    assert said_by_users(two, 0) == ["second"]


def test_thread_of_a_run_is_in_its_metadata():
    graph = create_agent(MODEL, [], checkpointer=InMemorySaver())
    adapter = LangGraphAdapter(graph, model=FakeModel(default_response="hi"))
    assert adapter.sync_invoke("?").metadata["thread_id"] == "callsheet-1"
    assert adapter.sync_invoke("?").metadata["thread_id"] == "callsheet-2"
    assert adapter.sync_invoke("?", config=THREAD).metadata["thread_id"] == "customer-1"


def test_run_that_began_in_the_application_is_resumed_in_the_test():
    graph = StateGraph(MessagesState)
    graph.add_node("ask", lambda state: {"messages": [("ai", interrupt("sure?"))]})
    graph.add_edge(START, "ask")
    compiled = graph.compile(checkpointer=InMemorySaver())
    compiled.invoke({"messages": [("user", "do it")]}, THREAD)
    result = LangGraphAdapter(compiled).sync_invoke(Command(resume="yes"), config=THREAD)
    assert result.response == "yes"
    assert compiled.get_state(THREAD).next == ("ask",)


def caching_graph():
    graph = StateGraph(MessagesState)
    graph.add_node(
        "act",
        lambda state: {"messages": [("ai", lookup.invoke({"city": "Oslo"}))]},
        cache_policy=CachePolicy(),
    )
    graph.add_edge(START, "act")
    return graph.compile(cache=InMemoryCache())


def test_cached_result_of_a_node_does_not_come_back_in_another_session():
    compiled = caching_graph()
    given = {"messages": [("user", "?")]}
    for answer in ("first", "second"):
        adapter = LangGraphAdapter(compiled, tools=[MockTool("lookup", response=answer)])
        assert adapter.sync_invoke(given).response == answer


def test_node_cache_works_within_a_session():
    compiled = caching_graph()
    mock = MockTool("lookup", response="once")
    with LangGraphAdapter(compiled, tools=[mock]).session():
        for _ in range(2):
            compiled.invoke({"messages": [{"role": "user", "content": "?", "id": "1"}]})
    assert mock.call_count == 1
