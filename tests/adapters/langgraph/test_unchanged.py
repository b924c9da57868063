"""What tool nodes and agents do by themselves they do in a session that lets everything through."""

import asyncio
from contextlib import nullcontext
from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedStore, ToolNode, tools_condition
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt

from callsheet_langgraph import LangGraphAdapter


@pytest.fixture(params=["bare", "session"])
def around(request):
    """Give what opens a session that allows everything, or nothing."""
    if request.param == "bare":
        return lambda graph: nullcontext()
    return lambda graph: LangGraphAdapter(graph, unmocked="real").session()


@tool
def divide(a: int, b: int) -> float:
    """Divide."""
    return a / b


@tool
def fail(text: str) -> str:
    """Fail."""
    raise ToolException(text)


@tool(response_format="content_and_artifact")
def measure(what: str) -> tuple[str, dict]:
    """Measure."""
    return f"{what}: 3", {"value": 3}


@tool
def name_me(name: str, call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Note the name."""
    from langchain_core.messages import ToolMessage

    return Command(update={"messages": [ToolMessage(f"noted {name}", tool_call_id=call_id)]})


@tool
def recall(key: str, store: Annotated[object, InjectedStore()]) -> str:
    """Recall."""
    return store.get(("notes",), key).value["text"]


@tool
def confirm(what: str) -> str:
    """Ask a human."""
    return f"{what}: {interrupt('sure?')}"


def calling(*calls):
    return AIMessage("", tool_calls=[{"name": n, "args": a, "id": f"c{i}"} for i, (n, a) in enumerate(calls)])


def node_of(*tools, **options):
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools, **options))
    graph.add_edge(START, "tools")
    return graph.compile(store=InMemoryStore())


def answers(graph, message):
    return [
        (found.content, found.status, found.tool_call_id)
        for found in graph.invoke({"messages": [HumanMessage("?"), message]})["messages"][2:]
    ]


def test_parallel_calls_are_answered_in_their_order(around):
    graph = node_of(divide)
    with around(graph):
        found = answers(graph, calling(("divide", {"a": 4, "b": 2}), ("divide", {"a": 9, "b": 3})))
    assert found == [("2.0", "success", "c0"), ("3.0", "success", "c1")]


@pytest.mark.parametrize(
    ("handling", "told"),
    [
        (True, "Error: ZeroDivisionError('division by zero')\n Please fix your mistakes."),
        ("try another", "try another"),
        ((ZeroDivisionError,), "Error: ZeroDivisionError('division by zero')\n Please fix your mistakes."),
        (lambda error: f"told: {error}", "told: division by zero"),
    ],
)
def test_failures_are_handled_as_the_node_is_told_to(around, handling, told):
    graph = node_of(divide, handle_tool_errors=handling)
    with around(graph):
        assert answers(graph, calling(("divide", {"a": 1, "b": 0}))) == [(told, "error", "c0")]


@pytest.mark.parametrize("handling", [False, (KeyError,)])
def test_failures_nobody_handles_end_the_run(around, handling):
    graph = node_of(divide, handle_tool_errors=handling)
    with around(graph), pytest.raises(ZeroDivisionError):
        answers(graph, calling(("divide", {"a": 1, "b": 0})))


def test_unknown_tool_is_told_to_the_model(around):
    graph = node_of(divide)
    with around(graph):
        ((content, status, _),) = answers(graph, calling(("multiply", {"a": 1})))
    assert status == "error"
    assert content.startswith("Error: multiply is not a valid tool")


def test_wrong_arguments_are_told_to_the_model(around):
    graph = node_of(divide)
    with around(graph):
        ((content, status, _),) = answers(graph, calling(("divide", {"a": "x", "b": 1})))
    assert status == "error"
    assert "valid integer" in content


def test_artifacts_commands_and_the_store_work(around):
    graph = node_of(measure, name_me, recall)
    graph.store.put(("notes",), "k", {"text": "kept"})
    with around(graph):
        calls = calling(("measure", {"what": "wind"}), ("name_me", {"name": "Ada"}), ("recall", {"key": "k"}))
        messages = graph.invoke({"messages": [HumanMessage("?"), calls]})["messages"][2:]
    assert {message.content for message in messages} == {"wind: 3", "noted Ada", "kept"}
    assert next(m.artifact for m in messages if m.tool_call_id == "c0") == {"value": 3}


def test_interrupt_in_a_tool_waits_and_goes_on(around):
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([confirm]))
    graph.add_edge(START, "tools")
    compiled = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    with around(compiled):
        waiting = compiled.invoke({"messages": [calling(("confirm", {"what": "go"}))]}, config)
        assert [raised.value for raised in waiting["__interrupt__"]] == ["sure?"]
        done = compiled.invoke(Command(resume="yes"), config)
    assert done["messages"][-1].content == "go: yes"


class Careful(BaseTool):
    """A tool class of the application's own, which takes the config and the callbacks."""

    name: str = "careful"
    description: str = "Take everything."

    def _run(
        self, what: str, config: RunnableConfig, run_manager: CallbackManagerForToolRun | None = None
    ) -> str:
        return f"{what} {config['configurable']['who']} {type(run_manager).__name__}"


class Later(BaseTool):
    """A tool class with an annotation that can not be resolved."""

    name: str = "later"
    description: str = "Take what is only imported for type checkers."
    args_schema: dict = {"type": "object", "properties": {"what": {"type": "string"}}}

    def _run(self, what: "Unheard", run_manager=None) -> str:  # noqa: F821
        return f"{what} {type(run_manager).__name__}"


@pytest.mark.parametrize("run", ["sync", "async"])
@pytest.mark.parametrize(
    ("given", "told"),
    [(Careful(), "x Ada CallbackManagerForToolRun"), (Later(), "x CallbackManagerForToolRun")],
    ids=["config and callbacks", "unresolved annotation"],
)
def test_tools_are_given_what_their_signatures_ask_for(around, run, given, told):
    graph = node_of(given)
    asked = {"messages": [calling((given.name, {"what": "x"}))]}
    config = {"configurable": {"who": "Ada"}}
    with around(graph):
        state = graph.invoke(asked, config) if run == "sync" else asyncio.run(graph.ainvoke(asked, config))
    assert state["messages"][-1].content.replace("Async", "").replace("AsyncCallback", "Callback") == told


class Native(GenericFakeChatModel):
    """A fake of LangChain's own that takes tools."""

    def bind_tools(self, tools, **options):
        return self


@pytest.mark.parametrize("run", ["sync", "async", "stream"])
def test_agent_loops_until_its_model_is_done(around, run):
    model = Native(messages=iter([calling(("divide", {"a": 4, "b": 2})), AIMessage("it is 2")]))
    agent = create_agent(model, [divide])
    given = {"messages": [HumanMessage("?")]}
    with around(agent):
        if run == "sync":
            messages = agent.invoke(given)["messages"]
        elif run == "async":
            messages = asyncio.run(agent.ainvoke(given))["messages"]
        else:
            messages = [event["messages"][-1] for event in agent.stream(given, stream_mode="values")]
    assert [message.content for message in messages] == ["?", "", "2.0", "it is 2"]


def test_failing_tool_ends_an_agent_that_does_not_handle_it(around):
    agent = create_agent(Native(messages=iter([calling(("fail", {"text": "no"}))])), [fail])
    with around(agent), pytest.raises(ToolException, match="no"):
        agent.invoke({"messages": [HumanMessage("?")]})


def test_condition_routes_to_the_tools():
    assert tools_condition({"messages": [calling(("divide", {}))]}) == "tools"
    assert tools_condition({"messages": [AIMessage("done")]}) == "__end__"
