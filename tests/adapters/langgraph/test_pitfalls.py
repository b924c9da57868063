"""What LangChain and LangGraph do between a test and a tool, one by one."""

import asyncio
import contextlib
import contextvars
import dataclasses
import gc
import inspect
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
)
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, ToolException, tool
from langgraph import types
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel.remote import RemoteGraph

import callsheet
from callsheet import (
    AmbiguousSessionError,
    FakeModel,
    MockConfigError,
    MockTool,
    UnknownMockError,
    UnmockedToolError,
)
from callsheet.adapters import LangGraphAdapter as FromCore
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.models import ProviderModel
from tests.adapters.langgraph.styles import HITS, MODEL, async_lookup, lookup, loop

LOOKUP = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
MOCK = MockTool("lookup", response="mocked")


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


def one_call(graph, *mocks, step=LOOKUP, **options):
    return LangGraphAdapter(graph, tools=mocks, model=FakeModel([step, "done"]), **options)


# Errors


def test_error_of_a_mock_is_a_failing_tool_message_where_the_tool_node_handles_errors():
    adapter = one_call(
        loop(ToolNode([lookup], handle_tool_errors=True)), MockTool("lookup", error="no such city")
    )
    result = adapter.sync_invoke("?")
    message = result.native["messages"][-2]
    assert (message.status, "no such city" in message.content) == ("error", True)
    call = result.tool_calls[0]
    assert (call.outcome, call.error) == ("failed", "no such city")
    assert call.seen_by_model == message.content


def test_error_of_a_mock_ends_the_run_where_nobody_handles_it():
    adapter = one_call(create_agent(MODEL, [lookup]), MockTool("lookup", error="no such city"), strict=False)
    with pytest.raises(ToolException, match="no such city"):
        adapter.sync_invoke("?")
    assert adapter.last_result.tool_calls[0].outcome == "failed"
    assert "ToolException" in adapter.last_result.error


def test_exception_of_a_mock_is_raised_inside_the_tool():
    def explain(error: ZeroDivisionError) -> str:
        return f"explained: {error}"

    adapter = one_call(
        loop(ToolNode([lookup], handle_tool_errors=explain)),
        MockTool("lookup", raises=ZeroDivisionError("by zero")),
    )
    assert adapter.sync_invoke("?").tool_calls[0].seen_by_model == "explained: by zero"


def test_arguments_the_tool_does_not_accept_are_refused_in_the_frameworks_words():
    adapter = one_call(
        create_agent(MODEL, [lookup]),
        MOCK,
        step={"tool_calls": [{"name": "lookup", "args": {"town": "Oslo"}}]},
    )
    call = adapter.sync_invoke("?").tool_calls[0]
    assert call.outcome == "invalid"
    assert "city" in call.seen_by_model
    assert "Field required" in call.seen_by_model
    assert call.raw_args == '{"town": "Oslo"}'


def json_schema_tool():
    def body(**kwargs):
        HITS["lookup"] += 1

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return StructuredTool(name="lookup", description="Look a city up.", args_schema=schema, func=body)


def test_arguments_of_a_json_schema_tool_are_checked_though_langchain_does_not():
    step = {"tool_calls": [{"name": "lookup", "args": {"city": 7}}]}
    adapter = one_call(create_agent(MODEL, [json_schema_tool()]), MockTool("lookup", response="x"), step=step)
    call = adapter.sync_invoke("?").tool_calls[0]
    assert call.outcome == "invalid"
    assert "7 is not of type" in call.seen_by_model
    assert call.seen_by_model.startswith("Error invoking tool 'lookup'")
    assert call.raw_args == '{"city": 7}'


def test_tool_that_handles_its_validation_errors_itself_still_does():
    @tool("lookup")
    def handled(city: str) -> str:
        """Look a city up."""
        HITS["lookup"] += 1

    handled.handle_validation_error = "write a city"
    adapter = one_call(
        create_agent(MODEL, [handled]), MOCK, step={"tool_calls": [{"name": "lookup", "args": {}}]}
    )
    call = adapter.sync_invoke("?").tool_calls[0]
    assert (call.outcome, call.seen_by_model) == ("invalid", "write a city")


def test_unknown_mock_is_refused_with_the_closest_name():
    with pytest.raises(UnknownMockError, match=r"'lokup'.*Did you mean 'lookup'"):
        one_call(create_agent(MODEL, [lookup]), MockTool("lokup")).sync_invoke("?")
    with pytest.raises(UnknownMockError, match="lokup"):
        one_call(loop(ToolNode([lookup])), MOCK, MockTool("lokup")).sync_invoke("?")


def test_recursion_limit_is_the_frameworks_own_and_keeps_what_happened():
    adapter = LangGraphAdapter(
        create_agent(MODEL, [lookup]), tools=[MOCK], model=FakeModel(default_response=LOOKUP)
    )
    with pytest.raises(GraphRecursionError):
        adapter.sync_invoke("?", config={"recursion_limit": 5})
    assert [call.outcome for call in adapter.last_result.tool_calls] == ["success", "success", "skipped"]
    assert adapter.last_result.error.startswith("GraphRecursionError")


# Timeouts


def test_virtual_delay_lets_the_step_timeout_fire_at_once():
    graph = loop(ToolNode([async_lookup]))
    graph.step_timeout = 60
    step = {"tool_calls": [{"name": "async_lookup", "args": {"city": "Oslo"}}]}
    adapter = one_call(graph, MockTool("async_lookup", response="x", delay=3600), step=step, strict=False)
    with pytest.raises(Exception, match=r"60|[Tt]imed out"):
        asyncio.run(adapter.invoke("?"))
    assert "timed out after 60" in adapter.last_result.tool_calls[0].error


def test_virtual_delay_within_the_limit_is_part_of_the_duration():
    graph = loop(ToolNode([lookup]))
    adapter = one_call(graph, MockTool("lookup", response="x", delay=30))
    assert adapter.sync_invoke("?").tool_calls[0].duration >= 30


@pytest.mark.parametrize("limit", [5, timedelta(seconds=5)])
def test_virtual_delay_lets_the_timeout_of_a_node_fire(limit):
    # Nodes have timeouts since LangGraph 1.2.
    if not hasattr(types, "TimeoutPolicy"):
        return
    graph = StateGraph(MessagesState)

    async def act(state):
        return {"messages": [AIMessage(await async_lookup.ainvoke({"city": "Oslo"}))]}

    graph.add_node("act", act, timeout=limit)
    graph.add_edge(START, "act")
    adapter = LangGraphAdapter(graph.compile(), tools=[MockTool("async_lookup", response="x", delay=60)])
    with pytest.raises(Exception, match="Node 'act' exceeded its run timeout") as raised:
        asyncio.run(adapter.invoke("?"))
    assert type(raised.value).__name__ == "NodeTimeoutError"


# Middleware


def test_summarized_calls_are_still_recorded():
    accepted = inspect.signature(SummarizationMiddleware).parameters
    # LangChain 1.1 has other names for it.
    when = {"trigger": ("messages", 4), "keep": ("messages", 1)}
    before = {"max_tokens_before_summary": 1, "messages_to_keep": 1}
    middleware = SummarizationMiddleware(model=ProviderModel(), **(when if "trigger" in accepted else before))
    model = FakeModel(agents={"model": [LOOKUP, LOOKUP, LOOKUP, "done"]}, default_response="a summary")
    graph = create_agent(MODEL, [lookup], middleware=[middleware])
    result = LangGraphAdapter(graph, tools=[MOCK], model=model).sync_invoke("?")
    assert result.tool_names == ["lookup"] * 3
    assert len([m for m in result.native["messages"] if m.type == "tool"]) < 3


def test_call_limits_stop_as_they_do():
    graph = create_agent(
        MODEL, [lookup], middleware=[ModelCallLimitMiddleware(run_limit=2, exit_behavior="end")]
    )
    result = LangGraphAdapter(graph, tools=[MOCK], model=FakeModel(default_response=LOOKUP)).sync_invoke("?")
    assert result.tool_call_count == 2
    limited = create_agent(MODEL, [lookup], middleware=[ToolCallLimitMiddleware(run_limit=1)])
    mock = MockTool("lookup", response="x")
    model = FakeModel([LOOKUP, LOOKUP, "done"])
    result = LangGraphAdapter(limited, tools=[mock], model=model, strict=False).sync_invoke("?")
    assert mock.call_count == 1
    assert result.tool_calls[0].outcome == "success"
    assert result.tool_calls[-1].seen_by_model


def test_fallback_of_middleware_is_asked():
    graph = create_agent(MODEL, [lookup], middleware=[ModelFallbackMiddleware(ProviderModel(model="second"))])
    result = LangGraphAdapter(
        graph, model=FakeModel([ConnectionError("down"), "from the second"])
    ).sync_invoke("?")
    assert result.response == "from the second"


def test_langchains_own_state_tools_run():
    step = {
        "tool_calls": [{"name": "write_todos", "args": {"todos": [{"content": "x", "status": "pending"}]}}]
    }
    adapter = one_call(create_agent(MODEL, [lookup], middleware=[TodoListMiddleware()]), step=step)
    result = adapter.sync_invoke("?")
    assert result.native["todos"] == [{"content": "x", "status": "pending"}]


def test_dynamic_tool_of_middleware_is_judged_by_its_name():
    class Swapping(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            return handler(dataclasses.replace(request, tool=lookup))

    graph = create_agent(MODEL, [async_lookup], middleware=[Swapping()])
    step = {"tool_calls": [{"name": "async_lookup", "args": {"city": "Oslo"}}]}
    with pytest.raises(UnmockedToolError, match="'lookup'"):
        one_call(graph, MockTool("async_lookup", response="x"), step=step).sync_invoke("?")


# Injected arguments and artifacts


def test_mock_sees_what_the_model_wrote_and_nothing_injected():
    from tests.adapters.langgraph.styles import STYLES

    given = []
    style = "tool-runtime" if "tool-runtime" in STYLES else "artifact"
    adapter = one_call(STYLES[style](), MockTool("lookup", response=lambda args: given.append(args) or "x"))
    adapter.sync_invoke("?")
    assert given == [{"city": "Oslo"}]


def test_mock_may_give_an_artifact():
    from tests.adapters.langgraph.styles import STYLES

    adapter = one_call(STYLES["artifact"](), MockTool("lookup", response=("told", {"kept": 1})))
    message = adapter.sync_invoke("?").native["messages"][-2]
    assert (message.content, message.artifact) == ("told", {"kept": 1})


def test_callbacks_of_the_application_see_what_they_always_see():
    class Seen(BaseCallbackHandler):
        def __init__(self):
            self.names = []

        def on_tool_start(self, serialized, input_str, **kwargs):
            self.names.append(("start", serialized["name"]))

        def on_tool_end(self, output, **kwargs):
            self.names.append(("end", output.content))

        def on_chat_model_start(self, serialized, messages, **kwargs):
            self.names.append(("model", len(messages[0])))

    seen = Seen()
    one_call(create_agent(MODEL, [lookup]), MOCK).sync_invoke("?", config={"callbacks": [seen]})
    assert seen.names == [("model", 1), ("start", "lookup"), ("end", "mocked"), ("model", 3)]


# Remote graphs, tracing, imports


def remote_desk():
    remote = RemoteGraph("expert", url="http://127.0.0.1:9")
    graph = StateGraph(MessagesState)
    graph.add_node("expert", remote)
    graph.add_edge(START, "expert")
    return graph.compile()


def test_graph_on_a_server_is_answered_by_its_mock():
    answer = {"messages": [{"role": "assistant", "content": "from afar"}]}
    result = LangGraphAdapter(remote_desk(), tools=[MockTool("expert", response=answer)]).sync_invoke("?")
    assert result.response == "from afar"
    assert (result.tool_calls[0].name, result.tool_calls[0].kind) == ("expert", "agent")


def test_graph_on_a_server_is_not_asked_without_a_mock():
    with pytest.raises(UnmockedToolError, match="expert"):
        LangGraphAdapter(remote_desk()).sync_invoke("?")


@pytest.mark.parametrize("stream", ["stream", "astream"])
def test_streams_of_a_graph_on_a_server_are_answered_too(stream):
    remote = RemoteGraph("expert", url="http://127.0.0.1:9")
    adapter = LangGraphAdapter(remote_desk(), tools=[MockTool("expert", response={"answer": 1})])

    async def collect():
        return [event async for event in remote.astream({"q": 1})]

    with adapter.session() as session:
        events = list(remote.stream({"q": 1})) if stream == "stream" else asyncio.run(collect())
    assert events == [{"answer": 1}]
    assert session.tool_calls[0].args == {"q": 1}


def test_langsmith_is_silent_in_a_session(monkeypatch):
    from langchain_core.callbacks import CallbackManager
    from langchain_core.tracers import LangChainTracer

    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "x")
    traced = []

    def act(state):
        handlers = CallbackManager.configure().handlers
        traced.extend(handler for handler in handlers if isinstance(handler, LangChainTracer))
        return {}

    graph = StateGraph(MessagesState)
    graph.add_node("act", act)
    graph.add_edge(START, "act")
    LangGraphAdapter(graph.compile()).sync_invoke("?")
    assert traced == []


def test_importing_the_adapter_loads_no_provider():
    providers = "{'anthropic', 'langchain', 'mcp', 'openai'}"
    code = f"import sys, callsheet_langgraph; print({providers} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_adapter_is_found_from_the_core():
    assert FromCore is LangGraphAdapter
    assert isinstance(callsheet.wrap(create_agent(MODEL, [lookup])), LangGraphAdapter)
    assert isinstance(callsheet.wrap(loop(ToolNode([lookup])).with_config(tags=["x"])), LangGraphAdapter)


def test_uncompiled_graph_is_refused():
    with pytest.raises(MockConfigError, match="wraps a compiled graph"):
        LangGraphAdapter(StateGraph(MessagesState))


def test_patches_go_when_the_session_is_gone():
    adapter = one_call(create_agent(MODEL, [lookup]), MOCK)
    adapter.sync_invoke("?")
    del adapter
    gc.collect()
    assert not LangGraphAdapter.patches.installed


def test_agents_built_and_run_in_threads_do_not_meet():
    answers = []

    def one(answer):
        saver = InMemorySaver()
        agent = create_agent(MODEL, [lookup], checkpointer=saver)
        adapter = LangGraphAdapter(
            agent, tools=[MockTool("lookup", response=answer)], model=FakeModel([LOOKUP, "done"])
        )
        asked = adapter.sync_invoke("?")
        answers.append((answer, asked.tool_calls[0].response, list(saver.list(None))))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, map(str, range(24))))
    assert sorted(answers) == sorted((str(n), str(n), []) for n in range(24))


def test_function_of_a_tool_is_refused_where_no_session_can_be_told():
    taken = []
    reading = threading.Thread(target=lambda: taken.append(lookup.func))
    with contextlib.ExitStack() as sessions:
        sessions.enter_context(pytest.raises(AmbiguousSessionError))
        for _ in range(2):
            sessions.enter_context(LangGraphAdapter(create_agent(MODEL, [lookup])).session())
        contextvars.Context().run(reading.start)
        reading.join()
        contextvars.Context().run(taken[0], "Oslo")
