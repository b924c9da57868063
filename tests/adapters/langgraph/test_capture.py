"""What is recorded of a graph: who, in which node, in which order, and what the model was told."""

import operator
import time
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, Send, interrupt
from typing_extensions import TypedDict

from callsheet import FakeModel, MockTool
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.models import ProviderModel
from tests.adapters.langgraph.styles import HITS, MODEL, handing_over, lookup, loop

LOOKUP = {"name": "lookup", "args": {"city": "Oslo"}}


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


def called(*calls: Any) -> dict[str, Any]:
    return {"tool_calls": list(calls)}


class Notes(TypedDict):
    notes: Annotated[list, operator.add]


def branches(count: int = 6):
    """Give a graph of parallel nodes, the earlier ones slower, each with a model and a tool."""

    def branch(name: str, number: int):
        def run(state):
            time.sleep((count - number) * 0.003)
            reply = MODEL.bind_tools([lookup]).invoke(f"branch {name}")
            (call,) = reply.tool_calls
            return {"notes": [lookup.invoke(call["args"])]}

        return run

    graph = StateGraph(Notes)
    for number in range(count):
        name = f"b{number}"
        graph.add_node(name, branch(name, number))
        graph.add_edge(START, name)
    return graph.compile()


def test_parallel_branches_are_told_in_the_graphs_order_every_time():
    graph = branches()
    script = {f"b{n}": [called({"name": "lookup", "args": {"city": f"C{n}"}})] for n in range(6)}
    mock = MockTool("lookup", response=lambda args: f"found {args['city']}")
    results = [
        LangGraphAdapter(graph, tools=[mock], model=FakeModel(agents=script)).sync_invoke({"notes": []})
        for _ in range(4)
    ]
    first = results[0]
    assert [(call.agent, call.response) for call in first.tool_calls] == [
        (f"b{n}", f"found C{n}") for n in range(6)
    ]
    assert [call.turn for call in first.tool_calls] == list(range(6))
    assert len({call.id for call in first.tool_calls}) == 6
    for other in results[1:]:
        assert other.trace == first.trace
        assert [call.id for call in other.tool_calls] == [call.id for call in first.tool_calls]


def test_sent_tasks_are_told_in_the_order_they_were_sent():
    def spread(state):
        return [Send("work", {"city": city}) for city in ("Oslo", "Rome", "Bern", "Kyiv")]

    def work(state):
        time.sleep(0.01 if state["city"] == "Oslo" else 0)
        return {"notes": [lookup.invoke({"city": state["city"]})]}

    graph = StateGraph(Notes)
    graph.add_node("work", work)
    graph.add_conditional_edges(START, spread, ["work"])
    adapter = LangGraphAdapter(graph.compile(), tools=[MockTool("lookup", response="x")])
    result = adapter.sync_invoke({"notes": []})
    assert [call.args["city"] for call in result.tool_calls] == ["Oslo", "Rome", "Bern", "Kyiv"]


def test_calls_say_in_which_node_and_superstep_they_ran():
    adapter = LangGraphAdapter(
        loop(ToolNode([lookup])),
        tools=[MockTool("lookup", response="x")],
        model=FakeModel([called(LOOKUP), "done"]),
    )
    (call,) = adapter.sync_invoke("Oslo?").tool_calls
    assert call.metadata == {"langgraph_step": 2, "langgraph_node": "tools"}
    assert call.agent == "llm"


def test_a_batch_is_one_reply():
    other = {"name": "lookup", "args": {"city": "Rome"}}
    adapter = LangGraphAdapter(
        create_agent(MODEL, [lookup], name="Guide"),
        tools=[MockTool("lookup", response=lambda args: args["city"])],
        model=FakeModel([called(LOOKUP, other), called(LOOKUP), "done"]),
    )
    result = adapter.sync_invoke("?")
    assert [[call.response for call in batch] for batch in result.batches] == [["Oslo", "Rome"], ["Oslo"]]


def test_sub_graph_nodes_are_told_in_place_and_by_their_own_name():
    inner = create_agent(ProviderModel(), [lookup], name="Inner")
    graph = StateGraph(MessagesState)
    graph.add_node("before", lambda state: {"messages": [MODEL.invoke(state["messages"])]})
    graph.add_node("inner", inner)
    graph.add_node("after", lambda state: {"messages": [MODEL.invoke(state["messages"])]})
    graph.add_edge(START, "before")
    graph.add_edge("before", "inner")
    graph.add_edge("inner", "after")
    model = FakeModel(agents={"before": ["one"], "Inner": [called(LOOKUP), "two"], "after": ["three"]})
    result = LangGraphAdapter(
        graph.compile(), tools=[MockTool("lookup", response="x")], model=model
    ).sync_invoke("?")
    told = [(entry["agent"], entry["content"]) for entry in result.trajectory()[1:]]
    assert told == [("before", "one"), ("Inner", "x"), ("Inner", "two"), ("after", "three")]
    assert result.response == "three"


def test_graphs_a_node_calls_one_after_the_other_are_told_one_after_the_other():
    first = create_agent(ProviderModel(), [lookup], name="First")
    second = create_agent(ProviderModel(), [lookup], name="Second")

    def both(state):
        told = first.invoke({"messages": state["messages"]})
        return {"messages": second.invoke({"messages": told["messages"]})["messages"]}

    graph = StateGraph(MessagesState)
    graph.add_node("both", both)
    graph.add_edge(START, "both")
    model = FakeModel(agents={"First": [called(LOOKUP), "one"], "Second": [called(LOOKUP), "two"]})
    result = LangGraphAdapter(
        graph.compile(), tools=[MockTool("lookup", response="x")], model=model
    ).sync_invoke("?")
    assert [entry["agent"] for entry in result.trajectory()[1:]] == ["First", "First", "Second", "Second"]


def test_handoff_runs_and_is_told_as_one():
    model = FakeModel(agents={"front": [{"handoff": "expert"}], "expert": [called(LOOKUP), "done"]})
    adapter = LangGraphAdapter(handing_over(), tools=[MockTool("lookup", response="x")], model=model)
    result = adapter.sync_invoke("?")
    told = [(entry["role"], entry["name"], entry["agent"]) for entry in result.trajectory()]
    assert told == [
        ("user", None, None),
        ("handoff", "expert", "front"),
        ("tool", "lookup", "expert"),
        ("assistant", None, "expert"),
    ]
    assert result.tool_calls[0].kind == "handoff"
    assert result.tool_calls[0].seen_by_model == "Over to you"


def test_script_that_hands_over_to_nobody_says_what_is_offered():
    model = FakeModel(agents={"front": [{"handoff": "exprt"}]})
    with pytest.raises(BaseException, match=r"'exprt'.*Offered are: 'transfer_to_expert'"):
        LangGraphAdapter(handing_over(), model=model, strict=False).sync_invoke("?")


def test_interrupt_in_a_tool_is_recorded_and_resumed_without_losing_the_call():
    def ask(args):
        return f"{args['city']}: {interrupt('Which country?')}"

    graph = create_agent(MODEL, [lookup], name="Guide", checkpointer=InMemorySaver())
    adapter = LangGraphAdapter(
        graph,
        tools=[MockTool("lookup", response=ask)],
        model=FakeModel([called(LOOKUP), "done"]),
        strict=False,
    )
    first = adapter.sync_invoke("?")
    assert first.tool_calls[0].outcome == "interrupted"
    assert [(entry.role, entry.content) for entry in first.trace if entry.role == "interrupt"] == [
        ("interrupt", "Which country?")
    ]
    second = adapter.sync_invoke(Command(resume="Norway"), **adapter.turn_options(first))
    assert second.response == "done"
    assert [(entry.role, entry.content) for entry in second.trace[:1]] == [("user", "Norway")]
    assert second.tool_calls[0].response == "Oslo: Norway"


def test_answers_to_several_interrupts_are_told_without_their_random_ids():
    def work(state):
        return {"notes": [interrupt(state["city"])]}

    graph = StateGraph(Notes)
    graph.add_node("work", work)
    cities = ("Oslo", "Rome")
    graph.add_conditional_edges(
        START, lambda state: [Send("work", {"city": city}) for city in cities], ["work"]
    )
    adapter = LangGraphAdapter(graph.compile(checkpointer=InMemorySaver()))
    first = adapter.sync_invoke({"notes": []})
    answers = {raised.id: f"{raised.value} it is" for raised in first.native["__interrupt__"]}
    second = adapter.sync_invoke(Command(resume=answers), **adapter.turn_options(first))
    assert [entry.content for entry in second.trace] == [["Oslo it is", "Rome it is"]]
    by_name = adapter.sync_invoke(Command(resume={"Oslo": "yes"}), **adapter.turn_options(first))
    assert by_name.trace[0].content == {"Oslo": "yes"}


def test_interrupt_of_a_sub_graph_is_told_once():
    inner = StateGraph(MessagesState)
    inner.add_node("ask", lambda state: {"messages": [AIMessage(interrupt({"question": "sure?"}))]})
    inner.add_edge(START, "ask")
    outer = StateGraph(MessagesState)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    adapter = LangGraphAdapter(outer.compile(checkpointer=InMemorySaver()))
    result = adapter.sync_invoke("?")
    assert [entry.content for entry in result.trace if entry.role == "interrupt"] == [{"question": "sure?"}]


def test_static_breakpoint_is_told():
    adapter = LangGraphAdapter(
        create_agent(MODEL, [lookup], checkpointer=InMemorySaver(), interrupt_before=["tools"]),
        model=FakeModel([called(LOOKUP)]),
    )
    result = adapter.sync_invoke("?")
    assert [entry.content for entry in result.trace if entry.role == "interrupt"] == ["tools"]
    assert result.tool_calls[0].outcome == "skipped"


def approved_desk():
    return create_agent(
        MODEL,
        [lookup],
        name="Guide",
        checkpointer=InMemorySaver(),
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"lookup": True})],
    )


def decided(decision: dict[str, Any]):
    adapter = LangGraphAdapter(
        approved_desk(), tools=[MockTool("lookup", response="x")], model=FakeModel([called(LOOKUP), "done"])
    )
    with adapter.session() as session:
        config = {"configurable": {"thread_id": "t"}}
        adapter.agent.invoke({"messages": [("user", "?")]}, config)
        adapter.agent.invoke(Command(resume={"decisions": [decision]}), config)
    return session.result


def test_approved_call_runs():
    call = decided({"type": "approve"}).tool_calls[0]
    assert (call.outcome, call.args, call.response) == ("success", {"city": "Oslo"}, "x")


def test_call_edited_by_a_human_is_recorded_as_run_and_as_written():
    edited = {"name": "lookup", "args": {"city": "Rome"}}
    call = decided({"type": "edit", "edited_action": edited}).tool_calls[0]
    assert call.args == {"city": "Rome"}
    assert call.metadata["written_args"] == {"city": "Oslo"}


def test_call_rejected_by_a_human_is_denied_and_says_what_the_model_was_told():
    result = decided({"type": "reject", "message": "not today"})
    call = result.tool_calls[0]
    assert call.outcome == "denied"
    assert "not today" in str(call.seen_by_model)
    assert result.response == "done"


def test_call_answered_by_middleware_reached_no_tool():
    class Shortcut(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            return ToolMessage("from the middleware", tool_call_id=request.tool_call["id"])

    adapter = LangGraphAdapter(
        create_agent(MODEL, [lookup], middleware=[Shortcut()]), model=FakeModel([called(LOOKUP), "done"])
    )
    call = adapter.sync_invoke("?").tool_calls[0]
    assert (call.outcome, call.seen_by_model, call.mocked) == ("skipped", "from the middleware", False)


def test_retried_node_runs_its_tool_again_without_waiting():
    graph = StateGraph(MessagesState)
    graph.add_node(
        "act",
        lambda state: {"messages": [AIMessage(lookup.invoke({"city": "Oslo"}))]},
        retry_policy=RetryPolicy(initial_interval=3600.0, max_attempts=3),
    )
    graph.add_edge(START, "act")
    mock = MockTool("lookup", responses=[ConnectionError("down"), ConnectionError("down"), "up"])
    result = LangGraphAdapter(graph.compile(), tools=[mock]).sync_invoke("?")
    assert mock.call_count == 3
    assert [call.outcome for call in result.tool_calls] == ["failed", "failed", "success"]


def test_retry_policy_of_the_graph_is_left_as_it_was():
    policy = RetryPolicy(initial_interval=3600.0)
    graph = StateGraph(MessagesState)
    graph.add_node(
        "act", lambda state: {"messages": [AIMessage(lookup.invoke({"city": "Oslo"}))]}, retry_policy=policy
    )
    graph.add_edge(START, "act")
    compiled = graph.compile()
    LangGraphAdapter(compiled, tools=[MockTool("lookup", response="x")]).sync_invoke("?")
    assert list(compiled.nodes["act"].retry_policy) == [policy]


def test_batched_runs_are_told_in_the_order_of_their_inputs():
    graph = create_agent(MODEL, [lookup], name="Guide")
    model = FakeModel(rules=[(str(n), f"answer {n}") for n in range(8)])
    adapter = LangGraphAdapter(graph, model=model)
    with adapter.session() as session:
        graph.batch([{"messages": [("user", str(n))]} for n in range(8)])
    assert [entry.content for entry in session.trace if entry.role == "assistant"] == [
        f"answer {n}" for n in range(8)
    ]
    assert session.result.response == "answer 7"


def test_agent_as_tool_runs_and_its_calls_stand_under_it():
    researcher = create_agent(ProviderModel(), [lookup], name="Researcher")

    @tool
    def research(question: str) -> str:
        """Ask the researcher."""
        return researcher.invoke({"messages": [("user", question)]})["messages"][-1].content

    boss = create_agent(ProviderModel(), [research], name="Boss")
    ask = {"name": "research", "args": {"question": "Oslo"}}
    model = FakeModel(
        agents={
            "Boss": [called(ask), called(ask), "done"],
            "Researcher": [called(LOOKUP), "a", called(LOOKUP), "b"],
        }
    )
    result = LangGraphAdapter(boss, tools=[MockTool("lookup", response="x")], model=model).sync_invoke("?")
    research_call, inner, *_ = result.tool_calls
    assert research_call.kind == "agent"
    assert inner.parent_id == research_call.id
    assert result.agents == ["Boss", "Researcher"]
    assert len(result.tool_calls) == 4


def test_tool_that_does_more_than_ask_a_graph_is_judged_like_any_other():
    researcher = create_agent(ProviderModel(), [lookup], name="Researcher")

    @tool
    def research(question: str) -> str:
        """Ask the researcher and keep a note."""
        HITS.update(["research"])
        return researcher.invoke({"messages": [("user", question)]})["messages"][-1].content

    boss = create_agent(ProviderModel(), [research], name="Boss")
    model = FakeModel([called({"name": "research", "args": {"question": "Oslo"}})])
    with pytest.raises(BaseException, match="No mock for tool 'research'"):
        LangGraphAdapter(boss, model=model).sync_invoke("?")


def test_provider_side_tools_are_read_from_the_reply():
    said = AIMessage(
        [
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "Oslo"}},
            {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"title": "Oslo"}]},
            {"type": "text", "text": "It is in Norway"},
        ]
    )
    adapter = LangGraphAdapter(create_agent(MODEL, [lookup]), model=FakeModel([{"native": [said]}]))
    result = adapter.sync_invoke("?")
    (call,) = result.tool_calls
    assert (call.name, call.args, call.kind, call.outcome) == (
        "web_search",
        {"query": "Oslo"},
        "hosted",
        "success",
    )
    assert call.response == [{"title": "Oslo"}]
    assert result.response == "It is in Norway"


def test_exported_messages_are_the_conversation():
    adapter = LangGraphAdapter(
        create_agent(MODEL, [lookup]),
        tools=[MockTool("lookup", response="x")],
        model=FakeModel([called(LOOKUP), "done"]),
    )
    result = adapter.sync_invoke("Oslo?")
    messages = result.to_messages()
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    again = LangGraphAdapter(create_agent(MODEL, [lookup]), model=FakeModel(["still done"]))
    carried = again.sync_invoke("And now?", history=messages)
    assert [m["role"] for m in again.model.call_log[0]["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert carried.response == "still done"
