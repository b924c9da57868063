"""Agents of `langgraph-supervisor` and `langgraph-swarm`: handoffs run and are told, tools are judged."""

import asyncio
import warnings

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel.remote import RemoteGraph
from langgraph_supervisor import create_supervisor
from langgraph_supervisor.handoff import create_forward_message_tool
from langgraph_swarm import create_handoff_tool, create_swarm

from callsheet import (
    Conversation,
    FakeModel,
    MockTool,
    UnknownMockError,
    UnmockedToolError,
    assert_calls,
    assert_tool_call_order,
)
from callsheet.order import InOrder, Parallel
from callsheet_langgraph import GraphTrajectory, LangGraphAdapter
from tests.adapters.langgraph.models import ProviderModel
from tests.adapters.langgraph.paths import ASYNC, SYNC
from tests.adapters.langgraph.styles import FIRST_VERSION, HITS, lookup

LOOKUP = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
ADD = {"tool_calls": [{"name": "add", "args": {"a": 1, "b": 2}}]}
MOCKS = (MockTool("lookup", response="cold"), MockTool("add", response=3))
ASKED = {"messages": [{"role": "user", "content": "Oslo, and 1 + 2?"}]}


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


@tool
def add(a: int, b: int) -> int:
    """Add."""
    HITS["add"] += 1
    return a + b


def supervised(*others, **options):
    with warnings.catch_warnings():
        # It builds on the prebuilt agent that LangGraph has deprecated.
        warnings.simplefilter("ignore")
        graph = create_supervisor(
            [
                create_agent(ProviderModel(), [lookup], name="guide"),
                create_agent(ProviderModel(), [add], name="clerk"),
                *others,
            ],
            model=ProviderModel(),
            supervisor_name="boss",
            **options,
        )
    return graph.compile()


def swarm(**options):
    to_clerk, to_guide = create_handoff_tool(agent_name="clerk"), create_handoff_tool(agent_name="guide")
    guide = create_agent(ProviderModel(), [lookup, to_clerk], name="guide")
    clerk = create_agent(ProviderModel(), [add, to_guide], name="clerk")
    return create_swarm([guide, clerk], default_active_agent="guide").compile(**options)


def supervision():
    return FakeModel(
        agents={
            "boss": [{"handoff": "guide"}, {"handoff": "clerk"}, "Cold, and 3"],
            "guide": [LOOKUP, "It is cold"],
            "clerk": [ADD, "It is 3"],
        }
    )


# LangGraph 1.0.0 can not inject the state with today's pydantic, which both packages need.
if not FIRST_VERSION:

    @pytest.mark.parametrize("path", [*SYNC, *ASYNC])
    def test_supervisor_hands_over_and_gets_back(path):
        graph = supervised()
        with LangGraphAdapter(graph, tools=MOCKS, model=supervision()).session() as session:
            {**SYNC, **ASYNC}[path](graph, ASKED)
        result = session.result
        assert [(call.name, call.agent, call.kind) for call in result.tool_calls] == [
            ("transfer_to_guide", "boss", "handoff"),
            ("lookup", "guide", "function"),
            ("transfer_to_clerk", "boss", "handoff"),
            ("add", "clerk", "function"),
        ]
        assert [entry.content for entry in result.trace if entry.role == "handoff"] == ["guide", "clerk"]
        assert result.agents == ["boss", "guide", "clerk"]
        assert [call.mocked for call in result.tool_calls] == [False, True, False, True]

    def test_supervisor_goes_from_node_to_node():
        adapter = LangGraphAdapter(supervised(), tools=MOCKS, model=supervision())
        steps = GraphTrajectory.of(adapter.sync_invoke("?")).steps[0]
        assert [name for name in steps if ":" not in name] == [
            "__start__",
            "boss",
            "guide",
            "boss",
            "clerk",
            "boss",
        ]
        assert "guide:tools" in steps

    @pytest.mark.parametrize("missing", ["lookup", "add"])
    def test_tool_of_a_supervised_agent_is_refused_without_a_mock(missing):
        mocks = [mock for mock in MOCKS if mock.name != missing]
        adapter = LangGraphAdapter(supervised(), tools=mocks, model=supervision())
        with pytest.raises(UnmockedToolError, match=missing):
            adapter.sync_invoke("?")

    def test_supervisor_that_hands_over_to_two_at_once_goes_to_one():
        # As it does without a session: each tool has a task of its own, and the command of the fastest wins.
        two = [{"name": "transfer_to_guide", "args": {}}, {"name": "transfer_to_clerk", "args": {}}]
        script = {"boss": [{"tool_calls": two}, "done"], "guide": [LOOKUP, "cold"], "clerk": [ADD, "3"]}
        graph = supervised(parallel_tool_calls=True)
        adapter = LangGraphAdapter(graph, tools=MOCKS, model=FakeModel(agents=script), strict=False)
        result = adapter.sync_invoke("?")
        assert_calls(result, Parallel("transfer_to_guide", "transfer_to_clerk"))
        assert result.agents in (["boss", "guide"], ["boss", "clerk"])
        assert result.response == "done"

    def test_handoff_of_a_supervisor_may_be_mocked_away():
        model = FakeModel(agents={"boss": [{"handoff": "guide"}, "Nobody is there"]})
        mock = MockTool("transfer_to_guide", response="The guide is out")
        result = LangGraphAdapter(supervised(), tools=[mock], model=model).sync_invoke("?")
        assert result.tool_calls[0].seen_by_model == "The guide is out"
        assert result.agents == ["boss"]

    def test_message_forwarded_by_a_supervisor_is_judged_like_a_tool():
        graph = supervised(tools=[create_forward_message_tool("boss")])
        forward = {"tool_calls": [{"name": "forward_message", "args": {"from_agent": "guide"}}]}
        script = {"boss": [{"handoff": "guide"}, forward], "guide": ["It is cold"]}
        spied = LangGraphAdapter(
            graph, tools=[MockTool.spy("forward_message")], model=FakeModel(agents=script)
        )
        assert spied.sync_invoke("?").response == "It is cold"

    def test_mock_of_a_tool_that_no_supervised_agent_has_is_refused():
        adapter = LangGraphAdapter(supervised(), tools=[*MOCKS, MockTool("ad")], model=supervision())
        with pytest.raises(UnknownMockError, match=r"'ad'.*Did you mean 'add'"):
            adapter.sync_invoke("?")

    @pytest.mark.parametrize("path", [*SYNC, *ASYNC])
    def test_swarm_hands_over_for_good(path):
        graph = swarm()
        model = FakeModel(agents={"guide": [LOOKUP, {"handoff": "clerk"}], "clerk": [ADD, "It is 3"]})
        with LangGraphAdapter(graph, tools=MOCKS, model=model).session() as session:
            {**SYNC, **ASYNC}[path](graph, ASKED)
        result = session.result
        assert_tool_call_order(result, ["lookup", "transfer_to_clerk", "add"], exact=True)
        assert [call.agent for call in result.tool_calls] == ["guide", "guide", "clerk"]
        assert [entry.content for entry in result.trace if entry.role == "handoff"] == ["clerk"]

    def test_agent_of_a_swarm_stays_active_in_the_next_turn():
        model = FakeModel(agents={"guide": [{"handoff": "clerk"}], "clerk": ["What?", ADD, "It is 3"]})
        adapter = LangGraphAdapter(swarm(checkpointer=InMemorySaver()), tools=MOCKS[1:], model=model)
        with Conversation(adapter) as talk:
            talk.say_sync("The clerk, please")
            result = talk.say_sync("1 + 2")
        assert result.agents == ["clerk"]
        steps = GraphTrajectory.of(*talk.results)
        assert_calls(steps.nodes, InOrder("guide", "clerk", "clerk"))
        assert "guide" not in steps.steps[1]

    @pytest.mark.parametrize(("script", "missing"), [([LOOKUP], "lookup"), ([{"handoff": "clerk"}], "add")])
    def test_tool_of_a_swarm_is_refused_without_a_mock(script, missing):
        model = FakeModel(agents={"guide": script, "clerk": [ADD]})
        with pytest.raises(UnmockedToolError, match=missing):
            LangGraphAdapter(swarm(), model=model, strict=False).sync_invoke("?")

    @pytest.mark.parametrize("run", ["sync", "async"])
    def test_supervised_graph_on_a_server_is_answered_by_its_mock(run):
        def adapter(*mocks):
            remote = RemoteGraph("afar", url="http://127.0.0.1:9")
            model = FakeModel(agents={"boss": [{"handoff": "afar"}, "done"]})
            return LangGraphAdapter(supervised(remote), tools=mocks, model=model)

        def ran(asked):
            return asked.sync_invoke("?") if run == "sync" else asyncio.run(asked.invoke("?"))

        answer = {"messages": [{"role": "assistant", "content": "from afar"}]}
        result = ran(adapter(MockTool("afar", response=answer)))
        assert [(call.name, call.kind) for call in result.tool_calls] == [
            ("transfer_to_afar", "handoff"),
            ("afar", "agent"),
        ]
        with pytest.raises(UnmockedToolError, match="'afar'"):
            ran(adapter())
