"""Which nodes a graph went through: captured, read from a thread, and brought back for assertions."""

import asyncio
import json
import operator
import time
from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy, Send, interrupt
from typing_extensions import TypedDict

from callsheet import (
    AgentResult,
    CallsheetError,
    Conversation,
    FakeModel,
    MockTool,
    assert_calls,
    assert_tool_call_order,
)
from callsheet.order import Before, InOrder, Never, Times
from callsheet_langgraph import GraphTrajectory, LangGraphAdapter
from tests.adapters.langgraph.models import ProviderModel
from tests.adapters.langgraph.styles import HITS, MODEL, lookup

LOOKUP = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
MOCK = MockTool("lookup", response="cold")
THREAD = {"configurable": {"thread_id": "t"}}


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


class Text(TypedDict):
    text: Annotated[str, operator.add]


def writes(text):
    def node(state):
        return {"text": text}

    return node


def asks(question):
    def node(state):
        return {"text": interrupt(question)}

    return node


def chain(*nodes, **options):
    """Give a graph of nodes one after the other, by name and what they run."""
    graph = StateGraph(Text)
    before = START
    for name, node in nodes:
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    return graph.compile(**options)


def chain_of_replies(*replies):
    """Give a graph whose one node says these."""
    graph = StateGraph(MessagesState)
    graph.add_node("say", lambda state: {"messages": list(replies)})
    graph.add_edge(START, "say")
    return graph.compile()


def with_sub_graph():
    """Give a graph of a sub-graph that asks, beside another node, and of one after both."""
    inner = chain(("read", writes("r")), ("ask", asks("sure?")), ("write", writes("w")))
    graph = StateGraph(Text)
    graph.add_node("inner", inner)
    graph.add_node("beside", writes("b"))
    graph.add_node("last", writes("l"))
    graph.add_edge(START, "inner")
    graph.add_edge(START, "beside")
    graph.add_edge(["inner", "beside"], "last")
    return graph.compile(checkpointer=InMemorySaver())


def spread():
    """Give a graph that sends three tasks, the first one the slowest."""

    def work(state):
        time.sleep(0.01 if state["text"] == "a" else 0)
        return {"text": state["text"]}

    graph = StateGraph(Text)
    graph.add_node("work", work)
    graph.add_node("join", writes("."))
    graph.add_conditional_edges(START, lambda state: [Send("work", {"text": c}) for c in "abc"], ["work"])
    graph.add_edge("work", "join")
    return graph.compile(checkpointer=InMemorySaver())


# Captured


def test_agent_run_is_told_node_by_node():
    adapter = LangGraphAdapter(create_agent(MODEL, [lookup]), tools=[MOCK], model=FakeModel([LOOKUP, "done"]))
    result = adapter.sync_invoke("Oslo?")
    assert GraphTrajectory.of(result).to_dict() == {
        "inputs": [{"__start__": {"messages": [{"role": "user", "content": "Oslo?"}]}}],
        "results": [{"messages": [{"role": "assistant", "content": "done"}]}],
        "steps": [["__start__", "model", "tools", "model"]],
    }
    assert result.metadata["graph_trajectory"] == GraphTrajectory.of(result).to_dict()


def test_graph_without_messages_tells_its_state():
    result = LangGraphAdapter(chain(("one", writes("1")), ("two", writes("2")))).sync_invoke({"text": "0"})
    trajectory = GraphTrajectory.of(result)
    assert trajectory.inputs == [{"__start__": {"text": "0"}}]
    assert trajectory.results == [{"text": "012"}]
    assert trajectory.steps == [["__start__", "one", "two"]]


@pytest.mark.parametrize(
    "messages",
    ["Oslo?", HumanMessage("Oslo?"), ["Oslo?"], [("human", "Oslo?")], [{"role": "user", "content": "Oslo?"}]],
    ids=["text", "message", "texts", "pairs", "dicts"],
)
def test_messages_of_an_input_are_told_openai_style_however_they_are_given(messages):
    result = LangGraphAdapter(create_agent(MODEL, []), model=FakeModel(["x"])).sync_invoke(
        {"messages": messages}
    )
    assert GraphTrajectory.of(result).inputs == [
        {"__start__": {"messages": [{"role": "user", "content": "Oslo?"}]}}
    ]


def test_last_message_is_told_with_all_it_says():
    fetch = tool(return_direct=True)(lookup.func)
    step = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
    direct = LangGraphAdapter(
        create_agent(MODEL, [fetch], name="Guide"), tools=[MOCK], model=FakeModel([step])
    )
    (state,) = GraphTrajectory.of(direct.sync_invoke("?")).results
    assert state["messages"][0]["role"] == "tool"
    assert state["messages"][0]["content"] == "cold"
    limited = chain_of_replies(AIMessage("", tool_calls=[{"name": "lookup", "args": {}, "id": "c1"}]))
    (state,) = GraphTrajectory.of(LangGraphAdapter(limited).sync_invoke("?")).results
    assert state["messages"][0]["tool_calls"][0]["function"] == {"name": "lookup", "arguments": "{}"}


def test_two_runs_tell_the_same_trajectory_though_branches_finish_in_any_order():
    graph = spread()
    told = [
        GraphTrajectory.of(LangGraphAdapter(graph).sync_invoke({"text": ""}, config=THREAD)) for _ in range(3)
    ]
    assert told[0].steps == [["__start__", "work", "work", "work", "join"]]
    assert told == [told[0]] * 3


def test_interrupt_ends_a_turn_and_the_resumed_node_is_not_told_again():
    adapter = LangGraphAdapter(
        chain(("a", writes("a")), ("b", asks("?")), ("c", writes("c")), checkpointer=InMemorySaver())
    )
    first = adapter.sync_invoke({"text": ""}, config=THREAD)
    second = adapter.sync_invoke(Command(resume="b"), config=THREAD)
    assert GraphTrajectory.of(first, second).to_dict() == {
        "inputs": [{"__start__": {"text": ""}}, "__resuming__"],
        "results": [{}, {"text": "abc"}],
        "steps": [["__start__", "a", "b", "__interrupt__"], ["c"]],
    }


def test_interrupt_and_resume_in_one_session_are_two_turns():
    graph = create_agent(
        MODEL,
        [lookup],
        checkpointer=InMemorySaver(),
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"lookup": True})],
    )
    with LangGraphAdapter(graph, tools=[MOCK], model=FakeModel([LOOKUP, "done"])).session() as session:
        graph.invoke({"messages": [("user", "?")]}, THREAD)
        assert GraphTrajectory.of(session).steps[0][-1] == "__interrupt__"
        graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    waits = "HumanInTheLoopMiddleware.after_model"
    assert GraphTrajectory.of(session.result).steps == [
        ["__start__", "model", waits, "__interrupt__"],
        ["tools", "model", waits],
    ]
    assert GraphTrajectory.of(session).inputs[1] == "__resuming__"


def test_second_question_of_a_node_is_a_turn_of_its_own():
    def twice(state):
        return {"text": interrupt("first") + interrupt("second")}

    graph = chain(("ask", twice), checkpointer=InMemorySaver())
    with LangGraphAdapter(graph).session() as session:
        for given in ({"text": ""}, Command(resume="1"), Command(resume="2")):
            graph.invoke(given, THREAD)
    assert GraphTrajectory.of(session).steps == [
        ["__start__", "ask", "__interrupt__"],
        ["__interrupt__"],
        [],
    ]
    assert GraphTrajectory.of(session).results[2] == {"text": "12"}


def test_breakpoint_ends_a_turn_too():
    graph = chain(("a", writes("a")), ("b", writes("b")), checkpointer=InMemorySaver())
    adapter = LangGraphAdapter(graph)
    runs = [
        adapter.sync_invoke({"text": ""}, config=THREAD, interrupt_before=["b"]),
        adapter.sync_invoke(None, config=THREAD),
    ]
    trajectory = GraphTrajectory.of(*runs)
    assert trajectory.steps == [["__start__", "a", "__interrupt__"], ["b"]]
    assert trajectory.results == [{}, {"text": "ab"}]


@pytest.mark.parametrize("run", ["sync", "async"])
def test_sub_graphs_nodes_are_told_inside_their_node(run):
    graph = with_sub_graph()
    given = [{"text": ""}, Command(resume="y")]
    adapter = LangGraphAdapter(graph)
    if run == "sync":
        runs = [adapter.sync_invoke(each, config=THREAD) for each in given]
    else:
        runs = [asyncio.run(adapter.invoke(each, config=THREAD)) for each in given]
    assert GraphTrajectory.of(*runs).steps == [
        [
            "__start__",
            "beside",
            "inner",
            "__interrupt__",
            "inner:__start__",
            "inner:read",
            "inner:ask",
            "__interrupt__",
        ],
        ["inner:write", "last"],
    ]


def test_deeper_sub_graphs_say_the_whole_way():
    deepest = chain(("act", writes("x")))
    graph = chain(("outer", chain(("middle", deepest))))
    result = LangGraphAdapter(graph).sync_invoke({"text": ""})
    assert GraphTrajectory.of(result).steps[0][-1] == "outer:middle:act"


def test_tasks_of_an_entrypoint_are_told_under_it():
    @task
    def add(number):
        return number + 1

    @entrypoint()
    def flow(number):
        return add(number).result() + add(number).result()

    trajectory = GraphTrajectory.of(LangGraphAdapter(flow).sync_invoke(1))
    assert trajectory == GraphTrajectory([{"__start__": 1}], [4], [["flow", "flow:add", "flow:add"]])


def test_nodes_of_an_agent_that_a_tool_asks_are_not_the_graphs():
    researcher = create_agent(ProviderModel(), [lookup], name="Researcher")

    @tool
    def research(question: str) -> str:
        """Ask the researcher."""
        return researcher.invoke({"messages": [("user", question)]})["messages"][-1].content

    boss = create_agent(ProviderModel(), [research], name="Boss")
    ask = {"tool_calls": [{"name": "research", "args": {"question": "Oslo"}}]}
    model = FakeModel(agents={"Boss": [ask, "done"], "Researcher": [LOOKUP, "a"]})
    result = LangGraphAdapter(boss, tools=[MOCK], model=model).sync_invoke("?")
    assert GraphTrajectory.of(result).steps == [["__start__", "model", "tools", "model"]]


def test_retried_node_is_visited_once():
    graph = StateGraph(MessagesState)
    graph.add_node(
        "act",
        lambda state: {"messages": [AIMessage(lookup.invoke({"city": "Oslo"}))]},
        retry_policy=RetryPolicy(max_attempts=3),
    )
    graph.add_edge(START, "act")
    mock = MockTool("lookup", responses=[ConnectionError("down"), "up"])
    result = LangGraphAdapter(graph.compile(), tools=[mock]).sync_invoke("?")
    assert GraphTrajectory.of(result).steps == [["__start__", "act"]]
    assert result.tool_call_count == 2


def test_run_that_fails_tells_how_far_it_came():
    def fail(state):
        raise ZeroDivisionError

    adapter = LangGraphAdapter(chain(("a", writes("a")), ("b", fail)))
    with pytest.raises(ZeroDivisionError):
        adapter.sync_invoke({"text": ""})
    trajectory = GraphTrajectory.of(adapter.last_result)
    assert (trajectory.steps, trajectory.results) == ([["__start__", "a", "b"]], [{}])


@pytest.mark.parametrize("mode", ["values", "updates", "messages"])
def test_streams_tell_the_same(mode):
    graph = chain(("a", writes("a")), ("b", writes("b")))
    adapter = LangGraphAdapter(graph)

    async def run():
        return [event async for event in adapter.stream({"text": ""}, stream_mode=mode)]

    asyncio.run(run())
    assert GraphTrajectory.of(adapter.last_result).steps == [["__start__", "a", "b"]]
    assert GraphTrajectory.of(adapter.last_result).results == [{"text": "ab"}]


def test_stream_that_is_left_tells_how_far_it_came():
    graph = chain(("a", writes("a")), ("b", writes("b")))
    with LangGraphAdapter(graph).session() as session:
        next(graph.stream({"text": ""}, stream_mode="updates"))
    trajectory = GraphTrajectory.of(session)
    assert trajectory.steps[0][:2] == ["__start__", "a"]
    assert trajectory.results == [{}]


def test_batch_has_a_turn_for_each_input():
    graph = chain(("a", writes("a")))
    with LangGraphAdapter(graph).session() as session:
        graph.batch([{"text": str(number)} for number in range(4)])
    trajectory = GraphTrajectory.of(session)
    assert trajectory.inputs == [{"__start__": {"text": str(number)}} for number in range(4)]
    assert trajectory.results == [{"text": f"{number}a"} for number in range(4)]


def test_turns_of_a_conversation_are_put_together():
    adapter = LangGraphAdapter(
        create_agent(MODEL, [lookup], checkpointer=InMemorySaver()),
        tools=[MOCK],
        model=FakeModel(["Where?", LOOKUP, "Cold"]),
    )
    with Conversation(adapter) as talk:
        talk.say_sync("How is the weather?")
        talk.say_sync("In Oslo")
    trajectory = GraphTrajectory.of(*talk.results)
    assert trajectory.steps == [["__start__", "model"], ["__start__", "model", "tools", "model"]]
    assert [turn["messages"][0]["content"] for turn in trajectory.results] == ["Where?", "Cold"]


def test_captured_trajectory_is_json():
    graph = create_agent(MODEL, [lookup], name="Guide")
    adapter = LangGraphAdapter(graph, tools=[MOCK], model=FakeModel([LOOKUP, "done"]))
    told = GraphTrajectory.of(adapter.sync_invoke("Oslo?")).to_dict()
    assert json.loads(json.dumps(told)) == told


def test_what_was_not_recorded_of_a_graph_has_no_trajectory():
    with pytest.raises(CallsheetError, match=r"Run 0 .*LangGraphAdapter"):
        GraphTrajectory.of(AgentResult())


# From a thread


def ran(graph, *given):
    """Give what was captured of a graph run on each input, and what its thread tells, read in the session."""
    with LangGraphAdapter(graph).session() as session:
        for each in given:
            graph.invoke(each, THREAD)
        of_thread = GraphTrajectory.of_thread(graph, THREAD)
        assert asyncio.run(GraphTrajectory.of_thread_async(graph, THREAD)) == of_thread
    return GraphTrajectory.of(session), of_thread


@pytest.mark.parametrize(
    ("graph", "given"),
    [
        (chain(("a", writes("a")), checkpointer=InMemorySaver()), [{"text": "1"}, {"text": "2"}]),
        (
            chain(("a", writes("a")), ("b", asks("?")), ("c", writes("c")), checkpointer=InMemorySaver()),
            [{"text": ""}, Command(resume="b"), {"text": "again"}],
        ),
        (spread(), [{"text": ""}]),
        (with_sub_graph(), [{"text": ""}, Command(resume="y"), {"text": "again"}, Command(resume="y")]),
    ],
    ids=["turns", "interrupts", "sent tasks", "sub-graph"],
)
def test_thread_tells_what_was_captured(graph, given):
    captured, of_thread = ran(graph, *given)
    assert of_thread == captured


def test_thread_of_an_entrypoint_tells_its_input():
    @entrypoint(checkpointer=InMemorySaver())
    def flow(number):
        return number + 1

    captured, of_thread = ran(flow, 1)
    assert of_thread == captured == GraphTrajectory([{"__start__": 1}], [2], [["flow"]])


def test_thread_that_was_run_without_any_session_is_read_as_well():
    graph = chain(("a", writes("a")), ("b", asks("?")), checkpointer=InMemorySaver())
    graph.invoke({"text": ""}, THREAD)
    assert GraphTrajectory.of_thread(graph, THREAD).steps == [["__start__", "a", "b", "__interrupt__"]]


def test_what_a_thread_went_back_on_is_left_out():
    graph = chain(("a", writes("a")), ("b", writes("b")), checkpointer=InMemorySaver())
    graph.invoke({"text": ""}, THREAD)
    before_b = next(s for s in graph.get_state_history(THREAD) if s.next == ("b",))
    graph.invoke(None, before_b.config)
    assert GraphTrajectory.of_thread(graph, THREAD).steps == [["__start__", "a", "b"]]


def test_thread_begun_by_hand_is_told_from_where_it_runs():
    graph = chain(("a", writes("a")), ("b", writes("b")), checkpointer=InMemorySaver())
    graph.update_state(THREAD, {"text": "put in"}, as_node="a")
    graph.invoke(None, THREAD)
    assert GraphTrajectory.of_thread(graph, THREAD) == GraphTrajectory(
        ["__resuming__"], [{"text": "put inb"}], [["b"]]
    )


def test_thread_without_checkpoints_is_an_error():
    graph = chain(("a", writes("a")), checkpointer=InMemorySaver())
    LangGraphAdapter(graph).sync_invoke({"text": ""}, config=THREAD)
    with pytest.raises(CallsheetError, match=r"'t' has no checkpoints.*inside its session"):
        GraphTrajectory.of_thread(graph, THREAD)


# Brought back


def test_nodes_are_asserted_on_like_calls():
    trajectory = GraphTrajectory.from_dict({"steps": [["__start__", "model", "tools"], ["model"]]})
    assert [(node.name, node.run) for node in trajectory.nodes] == [
        ("__start__", 0),
        ("model", 0),
        ("tools", 0),
        ("model", 1),
    ]
    assert_tool_call_order(trajectory.nodes, ["model", "tools", "model"])
    assert_calls(trajectory.nodes, InOrder("__start__", "model", "tools", "model"), extras="forbid")
    assert_calls(trajectory.nodes, Times("model", 2, 2))
    assert_calls(trajectory.nodes, Before("model", "tools"))
    with pytest.raises(AssertionError, match="tools"):
        assert_calls(trajectory.nodes, Never("tools"))


def test_exported_trajectory_comes_back_equal():
    trajectory, _ = ran(with_sub_graph(), {"text": ""}, Command(resume="y"))
    assert GraphTrajectory.from_dict(trajectory.to_dict()) == trajectory
    assert GraphTrajectory.from_dict(json.loads(json.dumps(trajectory.to_dict()))) == trajectory


def test_what_agentevals_extracts_is_taken():
    extracted = {
        "inputs": [{"__start__": {"text": ""}}],
        "outputs": {"inputs": [], "results": [{"text": "a"}], "steps": [["__start__", "a"]]},
    }
    assert GraphTrajectory.from_dict(extracted) == GraphTrajectory(
        [{"__start__": {"text": ""}}], [{"text": "a"}], [["__start__", "a"]]
    )


@pytest.mark.parametrize(
    "data", [{}, {"steps": "model"}, {"steps": ["model"]}, {"steps": [[1]]}, {"outputs": 3}]
)
def test_what_is_no_trajectory_is_refused(data):
    with pytest.raises(CallsheetError, match="lists of node names"):
        GraphTrajectory.from_dict(data)
