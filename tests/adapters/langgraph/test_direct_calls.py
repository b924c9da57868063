"""Ways past a tool: its own function, a class that runs in its own way, code that outlives the session."""

import asyncio
import gc
import sys
import threading
from collections import Counter

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, Tool, tool
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from callsheet import FakeModel, MockTool, SessionClosedError, UnmockedToolError
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.styles import HITS, MODEL, async_lookup, lookup, loop

LOOKUP = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
MOCK = MockTool("lookup", response="mocked")


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


def body(city: str) -> str:
    """Look a city up."""
    HITS["lookup"] += 1
    return f"REAL {city}"


plain = StructuredTool.from_function(body, name="lookup")
BODIES = {"lookup": body}


def node(run):
    graph = StateGraph(MessagesState)
    graph.add_node("act", run)
    graph.add_node("tools", ToolNode([plain]))
    graph.add_edge(START, "act")
    return graph.compile()


def by_name(state):
    return {"messages": [AIMessage(body("Oslo"))]}


def from_a_table(state):
    return {"messages": [AIMessage(BODIES["lookup"]("Oslo"))]}


def helper():
    return body(city="Oslo")


def through_a_helper(state):
    return {"messages": [AIMessage(helper())]}


TAKEN = lookup.func
this_module = sys.modules[__name__]


class Service:
    look_up = staticmethod(body)


def of_a_module(state):
    return {"messages": [AIMessage(this_module.body("Oslo"))]}


def of_a_class(state):
    return {"messages": [AIMessage(Service.look_up("Oslo"))]}


in_a_lambda = lambda state: {"messages": [AIMessage(body("Oslo"))]}  # noqa: E731


@pytest.mark.parametrize(
    "run", [by_name, from_a_table, through_a_helper, of_a_module, of_a_class, in_a_lambda, body]
)
def test_node_that_calls_the_function_of_a_tool_is_refused(run):
    with pytest.raises(UnmockedToolError, match=r"Node 'act' calls 'body'.*tool\.invoke"):
        LangGraphAdapter(node(run), tools=[MOCK]).sync_invoke("?")


def test_function_of_a_tool_that_is_in_no_graph_is_refused_too():
    graph = StateGraph(MessagesState)
    graph.add_node("act", lambda state: {"messages": [AIMessage(TAKEN("Oslo"))]})
    graph.add_edge(START, "act")
    with pytest.raises(UnmockedToolError, match="Node 'act' calls 'lookup'"):
        LangGraphAdapter(graph.compile()).sync_invoke("?")


@pytest.mark.parametrize("start", [START, "act"])
def test_function_of_a_tool_called_by_an_edge_is_refused(start):
    def route(state):
        body("Oslo")
        return "then"

    graph = StateGraph(MessagesState)
    graph.add_node("act", lambda state: {})
    graph.add_node("then", lambda state: {})
    graph.add_node("tools", ToolNode([plain]))
    graph.add_edge(START, "act")
    graph.add_conditional_edges(start, route, ["then"])
    with pytest.raises(UnmockedToolError, match=f"Node '{start}' calls 'body'"):
        LangGraphAdapter(graph.compile(), tools=[MOCK]).sync_invoke("?")


def test_task_made_of_the_function_of_a_tool_is_refused():
    look_up = task(TAKEN)

    @entrypoint()
    def flow(city):
        return look_up(city).result()

    with pytest.raises(UnmockedToolError, match="Node 'lookup' calls 'lookup'"):
        LangGraphAdapter(flow).sync_invoke("Oslo")
    assert LangGraphAdapter(flow, unmocked="real").sync_invoke("Oslo").native == "REAL Oslo"
    HITS.clear()


def test_such_a_node_runs_where_real_tools_may():
    LangGraphAdapter(node(by_name), unmocked="real").sync_invoke("?")
    assert HITS == {"lookup": 1}
    HITS.clear()


def test_node_that_only_binds_plain_functions_is_not_refused():
    def ask(state):
        return {"messages": [MODEL.bind_tools([body]).invoke(state["messages"])]}

    assert LangGraphAdapter(node(ask), model=FakeModel(["hi"])).sync_invoke("?").response == "hi"


@pytest.mark.parametrize("kind", [StructuredTool, Tool])
def test_function_read_from_a_tool_is_answered_by_the_mock(kind):
    made = plain if kind is StructuredTool else Tool(name="lookup", func=body, description="Look a city up.")

    def run(state):
        return {"messages": [AIMessage(made.func("Oslo"))]}

    result = LangGraphAdapter(node(run), tools=[MOCK]).sync_invoke("?")
    assert result.response == "mocked"
    assert list(result.tool_calls[0].args.values()) == ["Oslo"]


def test_coroutine_read_from_a_tool_is_answered_by_the_mock():
    async def run(state):
        return {"messages": [AIMessage(await async_lookup.coroutine(city="Oslo"))]}

    graph = StateGraph(MessagesState)
    graph.add_node("act", run)
    graph.add_edge(START, "act")
    adapter = LangGraphAdapter(graph.compile(), tools=[MockTool("async_lookup", response="mocked")])
    assert asyncio.run(adapter.invoke("?")).response == "mocked"


def test_spied_tool_runs_its_own_function():
    adapter = LangGraphAdapter(
        loop(ToolNode([lookup])), tools=[MockTool.spy("lookup")], model=FakeModel([LOOKUP, "done"])
    )
    (call,) = adapter.sync_invoke("?").tool_calls
    assert (call.response, call.mocked) == ("REAL Oslo", False)
    assert HITS == {"lookup": 1}
    HITS.clear()


def test_tool_keeps_its_function_as_it_was():
    adapter = LangGraphAdapter(loop(ToolNode([plain])), tools=[MOCK], model=FakeModel([LOOKUP, "done"]))
    with adapter.session():
        assert plain.func is not body
        adapter.agent.invoke({"messages": [("user", "?")]})
    assert plain.func is body
    assert vars(plain)["func"] is body


class Own(BaseTool):
    """Runs in a way of its own, and then as usual."""

    name: str = "lookup"
    description: str = "Look a city up."
    ran: Counter = Counter()

    def run(self, tool_input, *args, **kwargs):
        self.ran["run"] += 1
        return super().run(tool_input, *args, **kwargs)

    def _run(self, city: str) -> str:
        self.ran["_run"] += 1
        return f"REAL {city}"


def test_class_with_a_run_of_its_own_is_asked_about_once():
    own = Own()
    adapter = LangGraphAdapter(
        loop(ToolNode([own])), tools=[MockTool.spy("lookup")], model=FakeModel([LOOKUP, "done"])
    )
    (call,) = adapter.sync_invoke("?").tool_calls
    assert own.ran == {"run": 1, "_run": 1}
    assert call.attempts == 1


@pytest.mark.parametrize("way", ["defined", "replaced"])
def test_run_that_comes_to_be_unseen_between_two_sessions_is_answered(way, monkeypatch):
    def asked(given):
        adapter = LangGraphAdapter(loop(ToolNode([given])), tools=[MOCK], model=FakeModel([LOOKUP, "done"]))
        (call,) = adapter.sync_invoke("?").tool_calls
        return call.response

    def run(self, tool_input, *args, **kwargs):
        HITS["lookup"] += 1
        return ToolMessage("REAL", tool_call_id=kwargs["tool_call_id"])

    class Quiet:
        def __init_subclass__(cls, **options):
            """Tell no other base."""

    class Usual(Own):
        """Runs as its base does, as yet."""

    assert asked(Usual()) == "mocked"
    if way == "replaced":
        monkeypatch.setattr(Usual, "run", run)
        unseen = Usual()
    else:
        unseen = type("Unseen", (Quiet, Own), {"run": run, "__module__": __name__})()
    assert asked(unseen) == "mocked"


def test_class_with_a_run_of_its_own_does_not_run_when_mocked():
    own = Own()
    adapter = LangGraphAdapter(loop(ToolNode([own])), tools=[MOCK], model=FakeModel([LOOKUP, "done"]))
    (call,) = adapter.sync_invoke("?").tool_calls
    assert own.ran == {}
    assert (call.response, call.attempts) == ("mocked", 1)


def test_thread_left_behind_by_a_node_meets_the_closed_session():
    closed, met, done = threading.Event(), [], threading.Event()

    def later():
        closed.wait(10)
        try:
            lookup.invoke({"city": "Oslo"})
        except BaseException as error:
            met.append(error)
        done.set()

    def run(state):
        threading.Thread(target=later).start()
        return {"messages": [AIMessage("left")]}

    LangGraphAdapter(node(run)).sync_invoke("?")
    gc.collect()
    closed.set()
    assert done.wait(10)
    assert isinstance(met[0], SessionClosedError)


def test_stream_consumed_after_its_session_runs_nothing():
    graph = loop(ToolNode([lookup]))
    adapter = LangGraphAdapter(graph, tools=[MOCK], model=FakeModel([LOOKUP, "done"]), strict=False)
    with adapter.session():
        events = graph.stream({"messages": [("user", "?")]})
        next(events)
    with pytest.raises(SessionClosedError, match="came after its session was closed"):
        list(events)


def test_consumer_of_a_stream_is_outside_the_session():
    graph = loop(ToolNode([lookup]))
    adapter = LangGraphAdapter(graph, tools=[MOCK], model=FakeModel([LOOKUP, "done"]))
    seen = []

    async def main():
        async for _ in adapter.stream("?"):
            task = asyncio.create_task(asyncio.sleep(0))
            await task
            seen.append(graph.checkpointer)

    asyncio.run(main())
    assert seen == [None] * 3


def test_half_consumed_stream_can_be_closed_from_another_task():
    graph = loop(ToolNode([lookup]))

    async def main():
        with LangGraphAdapter(graph, tools=[MOCK], model=FakeModel([LOOKUP, "done"]), strict=False).session():
            events = graph.astream({"messages": [("user", "?")]})
            await anext(events)
            await asyncio.create_task(events.aclose())

    asyncio.run(main())


def test_cancelled_run_runs_nothing_and_keeps_what_happened():
    started = asyncio.Event()

    async def slow(args):
        started.set()
        await asyncio.sleep(3600)

    adapter = LangGraphAdapter(
        create_agent(MODEL, [async_lookup]),
        tools=[MockTool("async_lookup", response=slow)],
        model=FakeModel([{"tool_calls": [{"name": "async_lookup", "args": {"city": "Oslo"}}]}, "never"]),
    )

    async def main():
        run = asyncio.create_task(adapter.invoke("?"))
        await started.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    assert adapter.last_result.tool_names == ["async_lookup"]


def test_swallowed_refusal_still_fails_the_test():
    def careless(state):
        try:
            lookup.invoke({"city": "Oslo"})
        except BaseException:
            return {"messages": [AIMessage("fine")]}

    with pytest.raises(UnmockedToolError, match="lookup"):
        LangGraphAdapter(node(careless)).sync_invoke("?")


@tool
def remember(city: str) -> Command:
    """Note a city in the state."""
    HITS["remember"] += 1
    return Command(update={"messages": [ToolMessage("noted", tool_call_id="1")]})


def test_tool_that_only_writes_the_state_is_judged_like_any_other():
    step = {"tool_calls": [{"name": "remember", "args": {"city": "Oslo"}}]}
    with pytest.raises(UnmockedToolError, match="remember"):
        LangGraphAdapter(create_agent(MODEL, [remember]), model=FakeModel([step])).sync_invoke("?")


def test_mock_may_give_a_command():
    def answer(args):
        return Command(update={"messages": [ToolMessage("noted", tool_call_id="c1")]})

    step = {"tool_calls": [{"name": "remember", "args": {"city": "Oslo"}, "id": "c1"}]}
    adapter = LangGraphAdapter(
        create_agent(MODEL, [remember]),
        tools=[MockTool("remember", response=answer)],
        model=FakeModel([step, "done"]),
    )
    result = adapter.sync_invoke("?")
    assert result.tool_calls[0].seen_by_model == "noted"


def test_handoff_can_be_mocked_and_then_hands_nothing_over():
    from tests.adapters.langgraph.styles import handing_over

    model = FakeModel(agents={"front": [{"handoff": "expert"}, "I stay"]})
    adapter = LangGraphAdapter(
        handing_over(), tools=[MockTool("transfer_to_expert", response="expert is busy")], model=model
    )
    result = adapter.sync_invoke("?")
    assert result.response == "I stay"
    assert result.agents == ["front"]


def overriding(method):
    """Give a new tool class that has one method of its own."""

    def own(self, given, *args, **kwargs):
        HITS[method] += 1
        return "REAL"

    async def own_async(self, given, *args, **kwargs):
        return own(self, given)

    called = own_async if method.startswith("a") else own
    members = {
        "__module__": __name__,
        "__annotations__": {"name": str, "description": str},
        "name": "late",
        "description": "Look a city up.",
        "_run": own,
        method: called,
    }
    return type("Late", (BaseTool,), members)


@pytest.mark.parametrize("method", ["run", "arun", "invoke", "ainvoke"])
@pytest.mark.parametrize("when", ["while another session is alive", "inside the session"])
def test_tool_class_that_comes_to_be_with_the_patches_in_place_is_answered_too(method, when):
    earlier = LangGraphAdapter(loop(ToolNode([lookup]))).session()
    with earlier:
        pass
    made = [overriding(method)] if when != "inside the session" else []

    def act(state):
        tool_class = made[0] if made else overriding(method)
        given = {"name": "late", "args": {"city": "Oslo"}, "id": "c1", "type": "tool_call"}
        late = tool_class()
        if method.startswith("a"):
            answer = asyncio.run(late.ainvoke(given))
        else:
            answer = late.invoke(given)
        return {"messages": [AIMessage(answer.content)]}

    graph = StateGraph(MessagesState)
    graph.add_node("act", act)
    graph.add_edge(START, "act")
    result = LangGraphAdapter(graph.compile(), tools=[MockTool("late", response="mocked")]).sync_invoke("?")
    assert result.response == "mocked"
    assert not earlier.is_open


class Whole(BaseTool):
    """A tool class that is called, batched and streamed in a way of its own."""

    name: str = "whole"
    description: str = "Look a city up."

    def __call__(self, *args, **kwargs):
        return self._run("Oslo")

    def batch(self, inputs, *args, **kwargs):
        return [self._run("Oslo") for _ in inputs]

    async def abatch(self, inputs, *args, **kwargs):
        return self.batch.__wrapped__(self, inputs)

    def stream(self, given, *args, **kwargs):
        yield self._run("Oslo")

    async def astream(self, given, *args, **kwargs):
        yield self._run("Oslo")

    def _run(self, city: str) -> str:
        HITS["whole"] += 1
        return "REAL"


async def collected(events):
    return [event async for event in events]


GIVEN = {"city": "Oslo"}
WAYS = {
    "call": lambda: [Whole()(GIVEN)],
    "batch": lambda: Whole().batch([GIVEN]),
    "abatch": lambda: asyncio.run(Whole().abatch([GIVEN])),
    "stream": lambda: list(Whole().stream(GIVEN)),
    "astream": lambda: asyncio.run(collected(Whole().astream(GIVEN))),
}


@pytest.mark.parametrize("way", WAYS)
def test_tool_class_that_is_batched_or_streamed_in_its_own_way_is_answered_too(way):
    adapter = LangGraphAdapter(loop(ToolNode([Whole()])), tools=[MockTool("whole", response="mocked")])
    with adapter.session() as session:
        assert WAYS[way]() == ["mocked"]
    assert [call.response for call in session.tool_calls] == ["mocked"]
    with pytest.raises(UnmockedToolError, match="whole"), LangGraphAdapter(adapter.agent).session():
        WAYS[way]()


@pytest.mark.parametrize("way", [way for way in WAYS if way != "abatch"])
def test_tool_class_that_is_batched_or_streamed_in_its_own_way_runs_where_it_may(way):
    with LangGraphAdapter(loop(ToolNode([Whole()])), unmocked="real").session() as session:
        assert WAYS[way]() == ["REAL"]
    assert [call.name for call in session.tool_calls] == ["whole"]
    assert HITS == {"whole": 1}
    HITS.clear()
