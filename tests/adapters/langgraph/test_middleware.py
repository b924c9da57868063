"""LangChain's own middleware around a mocked tool and a scripted model: each kind does what it does."""

import asyncio
from typing import get_args

import pytest
from langchain.agents import create_agent, middleware
from langchain.agents.middleware import (
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    LLMToolEmulator,
    LLMToolSelectorMiddleware,
    PIIMiddleware,
    shell_tool,
)
from langchain.agents.middleware.human_in_the_loop import DecisionType
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.models import ProviderModel
from tests.adapters.langgraph.styles import HITS, MODEL, async_lookup, lookup

LOOKUP = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
MOCK = MockTool("lookup", response=lambda args: f"cold in {args['city']}")
ASKED = {"messages": [{"role": "user", "content": "Oslo?"}]}
THREAD = {"configurable": {"thread_id": "t"}}


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


def ran(adapter, way, given="Oslo?"):
    return adapter.sync_invoke(given) if way == "sync" else asyncio.run(adapter.invoke(given))


WAYS = pytest.mark.parametrize("way", ["sync", "async"])


@WAYS
def test_tool_a_model_emulates_reached_no_tool(way):
    emulator = LLMToolEmulator(tools=["lookup"], model=ProviderModel())
    graph = create_agent(MODEL, [lookup], middleware=[emulator])
    result = ran(LangGraphAdapter(graph, model=FakeModel([LOOKUP, "emulated", "done"])), way)
    (call,) = result.tool_calls
    assert (call.outcome, call.seen_by_model, call.mocked) == ("skipped", "emulated", False)


@WAYS
def test_model_that_selects_tools_is_scripted_by_its_output(way):
    selector = LLMToolSelectorMiddleware(model=ProviderModel(), max_tools=1)
    graph = create_agent(MODEL, [lookup, async_lookup], middleware=[selector])
    chosen = {"output": {"tools": ["lookup"]}}
    model = FakeModel([chosen, LOOKUP, chosen, "done"])
    result = ran(LangGraphAdapter(graph, tools=[MOCK], model=model), way)
    assert result.tool_names == ["lookup"]
    assert [tool["name"] for tool in model.call_log[1]["tools"]] == ["lookup"]


@WAYS
def test_what_the_model_is_told_is_edited_by_the_middleware(way):
    graph = create_agent(
        MODEL,
        [lookup],
        middleware=[PIIMiddleware("email", apply_to_input=True), ContextEditingMiddleware()],
    )
    model = FakeModel([LOOKUP, "done"])
    ran(LangGraphAdapter(graph, tools=[MOCK], model=model), way, "I am ada@example.com")
    assert model.call_log[0]["messages"][0]["content"] == "I am [REDACTED_EMAIL]"


# LangChain 1.0.0 has no search of files yet.
BRINGING = [
    (name, called, args)
    for name, called, args in (
        ("ShellToolMiddleware", "shell", {"command": "touch here"}),
        ("FilesystemFileSearchMiddleware", "glob_search", {"pattern": "*"}),
    )
    if hasattr(middleware, name)
]


@pytest.fixture
def _no_shell(monkeypatch):
    """Count what reaches the shell, which a refused run would leave running."""

    def execute(self, command, **options):
        HITS["shell"] += 1

    monkeypatch.setattr(shell_tool.ShellSession, "start", lambda self: None)
    monkeypatch.setattr(shell_tool.ShellSession, "stop", lambda self, timeout: None)
    monkeypatch.setattr(shell_tool.ShellSession, "execute", execute)


def bringing(kind, folder):
    made = getattr(middleware, kind)
    return made(folder) if kind == "ShellToolMiddleware" else made(root_path=folder)


@WAYS
@pytest.mark.usefixtures("_no_shell")
@pytest.mark.parametrize(("kind", "name", "args"), BRINGING)
def test_tool_that_middleware_brings_along_is_refused_without_a_mock(tmp_path, kind, name, args, way):
    graph = create_agent(MODEL, [], middleware=[bringing(kind, str(tmp_path))])
    step = {"tool_calls": [{"name": name, "args": args}]}
    with pytest.raises(UnmockedToolError, match=name):
        ran(LangGraphAdapter(graph, model=FakeModel([step])), way)
    assert list(tmp_path.iterdir()) == []
    mocked = LangGraphAdapter(
        graph, tools=[MockTool(name, response="mocked")], model=FakeModel([step, "done"])
    )
    assert ran(mocked, way).tool_calls[0].response == "mocked"


def decided(step, *decisions, **allowed):
    human = HumanInTheLoopMiddleware(interrupt_on={"lookup": allowed or True})
    graph = create_agent(MODEL, [lookup], checkpointer=InMemorySaver(), middleware=[human])
    adapter = LangGraphAdapter(graph, tools=[MOCK], model=FakeModel([step, "done"]))
    with adapter.session() as session:
        graph.invoke(ASKED, THREAD)
        graph.invoke(Command(resume={"decisions": list(decisions)}), THREAD)
    return session.result


def test_calls_of_one_reply_are_decided_one_by_one():
    step = {"tool_calls": [{"name": "lookup", "args": {"city": city}} for city in ("Oslo", "Rome", "Bern")]}
    edited = {"name": "lookup", "args": {"city": "Kyiv"}}
    calls = decided(
        step,
        {"type": "edit", "edited_action": edited},
        {"type": "reject", "message": "not today"},
        {"type": "approve"},
    ).tool_calls
    assert [(call.args["city"], call.outcome) for call in calls] == [
        ("Kyiv", "success"),
        ("Rome", "denied"),
        ("Bern", "success"),
    ]
    assert calls[0].metadata["written_args"] == {"city": "Oslo"}
    assert [call.response for call in calls] == ["cold in Kyiv", None, "cold in Bern"]


# Answering in the tool's place came after LangChain 1.0.
if "respond" in get_args(DecisionType):

    def test_call_a_human_answers_reached_no_tool():
        answer = {"type": "respond", "message": "by hand"}
        (call,) = decided(LOOKUP, answer, allowed_decisions=["respond"]).tool_calls
        assert (call.outcome, call.seen_by_model, call.mocked) == ("skipped", "by hand", False)


# What a graph is run by beside `invoke` and `stream`


def test_mock_of_a_node_that_is_resumed_is_asked_again():
    mock = MockTool("lookup", response="cold")
    graph = StateGraph(MessagesState)
    graph.add_node(
        "act", lambda state: {"messages": [("ai", lookup.invoke({"city": "Oslo"}) + interrupt("?"))]}
    )
    graph.add_edge(START, "act")
    compiled = graph.compile(checkpointer=InMemorySaver())
    with LangGraphAdapter(compiled, tools=[mock]).session() as session:
        compiled.invoke(ASKED, THREAD)
        compiled.invoke(Command(resume="!"), THREAD)
    assert mock.call_count == 2
    assert session.result.response == "cold!"


def test_thread_that_goes_back_in_time_asks_the_mock_again():
    graph = create_agent(MODEL, [lookup], checkpointer=InMemorySaver())
    adapter = LangGraphAdapter(graph, tools=[MOCK], model=FakeModel([LOOKUP, "first", "second"]))
    with adapter.session() as session:
        graph.invoke(ASKED, THREAD)
        before = next(state for state in graph.get_state_history(THREAD) if state.next == ("tools",))
        graph.invoke(None, before.config)
    assert session.result.response == "second"
    assert [call.attempts for call in session.tool_calls] == [2]


def test_batch_given_as_it_is_done_is_recorded():
    graph = create_agent(MODEL, [lookup])
    with LangGraphAdapter(graph, model=FakeModel(default_response="done")).session() as session:
        assert len(list(graph.batch_as_completed([ASKED] * 3))) == 3
    assert [entry.role for entry in session.trace] == ["user", "assistant"] * 3


def test_graph_in_a_chain_is_recorded():
    graph = create_agent(MODEL, [lookup])
    chain = (
        RunnableLambda(lambda text: {"messages": [("user", text)]})
        | graph
        | (lambda state: state["messages"][-1].content)
    )
    with LangGraphAdapter(graph, tools=[MOCK], model=FakeModel([LOOKUP, "done"])).session() as session:
        assert chain.invoke("Oslo?") == "done"
    assert session.result.tool_names == ["lookup"]
