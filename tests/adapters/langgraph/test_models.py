"""Any model of a compiled graph is replaced, however the graph holds it, and says what it is scripted to."""

import asyncio
import json
import os
import warnings
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain.chat_models import init_chat_model
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

from callsheet import FakeModel, MockConfigError, MockTool, ScriptExhaustedError, Usage
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.models import ProviderModel
from tests.adapters.langgraph.styles import HITS, MODEL, lookup

LOOKUP = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}
MOCK = MockTool("lookup", response="cold")


class Weather(BaseModel):
    """The weather somewhere."""

    city: str
    degrees: int


@dataclass
class Wind:
    """The wind somewhere."""

    knots: int


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


def openai(**options):
    return ChatOpenAI(**{"model": "gpt-5-nano", "api_key": "x", **options})


def anthropic(**options):
    return ChatAnthropic(**{"model": "claude-haiku-4-5", "api_key": "x", **options})


def node_of(runnable):
    """Give a graph of one node that asks a runnable."""

    def ask(state):
        answer = runnable.invoke(state["messages"])
        return {"messages": [answer if isinstance(answer, AIMessage) else AIMessage(str(answer))]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    return graph.compile()


@pytest.mark.parametrize("build", [openai, anthropic, ProviderModel], ids=["openai", "anthropic", "own"])
def test_model_of_a_compiled_agent_is_replaced(build):
    adapter = LangGraphAdapter(
        create_agent(build(), [lookup]), tools=[MOCK], model=FakeModel([LOOKUP, "It is cold"])
    )
    assert adapter.sync_invoke("?").response == "It is cold"
    assert asyncio.run(
        LangGraphAdapter(
            create_agent(build(), [lookup]), tools=[MOCK], model=FakeModel([LOOKUP, "ok"])
        ).invoke("?")
    ).tool_names == ["lookup"]


def test_name_and_headers_are_those_the_agent_was_configured_with():
    model = openai(default_headers={"X-Team": "a"})
    adapter = LangGraphAdapter(create_agent(model, [lookup]), model=FakeModel(["hi"]))
    result = adapter.sync_invoke("?", headers={"X-Test": "1"})
    assert result.model_used == "gpt-5-nano"
    assert result.headers == {"X-Team": "a", "X-Test": "1"}
    assert adapter.model.call_log[0]["tools"][0]["name"] == "lookup"


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda: openai().bind_tools([lookup]),
        lambda: openai().with_fallbacks([anthropic()]),
        lambda: openai().with_retry(),
        lambda: openai().with_config(tags=["x"]),
        lambda: init_chat_model("openai:gpt-5-nano", api_key="x"),
        lambda: init_chat_model(
            "gpt-5-nano", model_provider="openai", configurable_fields=("model",), api_key="x"
        ),
    ],
    ids=["bound", "fallbacks", "retry", "config", "init", "configurable"],
)
def test_model_is_replaced_however_the_graph_holds_it(wrapped):
    adapter = LangGraphAdapter(node_of(wrapped()), model=FakeModel(["scripted"]))
    assert adapter.sync_invoke("?").response == "scripted"


def test_model_named_in_a_text_is_replaced(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    adapter = LangGraphAdapter(create_agent("openai:gpt-5-nano", [lookup]), model=FakeModel(["scripted"]))
    assert adapter.sync_invoke("?").response == "scripted"
    assert "OPENAI_API_KEY" in os.environ


def test_model_chosen_while_running_is_replaced():
    class Choosing(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            return handler(request.override(model=openai(model="gpt-5")))

    adapter = LangGraphAdapter(
        create_agent(MODEL, [lookup], middleware=[Choosing()]), model=FakeModel(["scripted"])
    )
    result = adapter.sync_invoke("?")
    assert (result.response, result.model_used) == ("scripted", "gpt-5")


def test_fallback_is_asked_when_the_script_fails_the_first():
    graph = node_of(openai().with_fallbacks([anthropic()]))
    adapter = LangGraphAdapter(graph, model=FakeModel([ConnectionError("down"), "from the second"]))
    assert adapter.sync_invoke("?").response == "from the second"


@pytest.mark.parametrize("method", ["function_calling", "json_schema", "json_mode"])
@pytest.mark.parametrize("output", [Weather(city="Oslo", degrees=3), {"city": "Oslo", "degrees": 3}])
def test_structured_output_of_openai_comes_out_parsed(method, output):
    asked = openai().with_structured_output(Weather, method=method)
    adapter = LangGraphAdapter(node_of(asked), model=FakeModel([{"output": output}]))
    result = adapter.sync_invoke("?")
    assert result.response == str(Weather(city="Oslo", degrees=3))
    assert result.tool_calls == []


@pytest.mark.parametrize("method", ["function_calling", "json_schema"])
def test_structured_output_of_anthropic_comes_out_parsed(method):
    asked = anthropic().with_structured_output(Weather, method=method)
    adapter = LangGraphAdapter(node_of(asked), model=FakeModel([{"output": {"city": "Oslo", "degrees": 3}}]))
    assert adapter.sync_invoke("?").response == str(Weather(city="Oslo", degrees=3))


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_structured_output_of_an_agent_comes_in_the_form_it_expects(strategy):
    graph = create_agent(openai(), [lookup], response_format=strategy(Weather))
    model = FakeModel([LOOKUP, {"output": {"city": "Oslo", "degrees": 3}}])
    result = LangGraphAdapter(graph, tools=[MOCK], model=model).sync_invoke("?")
    assert result.output == Weather(city="Oslo", degrees=3)
    assert result.tool_names == ["lookup"]


def test_one_of_several_structured_outputs_is_told_by_its_type():
    graph = create_agent(openai(), [lookup], response_format=ToolStrategy(Weather | Wind))
    result = LangGraphAdapter(graph, model=FakeModel([{"output": Wind(knots=9)}])).sync_invoke("?")
    assert result.output == Wind(knots=9)
    by_fields = LangGraphAdapter(graph, model=FakeModel([{"output": {"knots": 4}}])).sync_invoke("?")
    assert by_fields.output == Wind(knots=4)


def test_streamed_reply_comes_in_chunks_that_make_the_reply():
    graph = create_agent(ProviderModel(), [lookup])
    usage = {"input_tokens": 7, "output_tokens": 3}
    adapter = LangGraphAdapter(
        graph,
        tools=[MOCK],
        model=FakeModel([{**LOOKUP, "usage": usage}, {"content": "It is cold", "usage": usage}]),
    )

    async def run():
        return [event async for event in adapter.stream("?", stream_mode="messages")]

    chunks = [chunk for chunk, _ in asyncio.run(run()) if isinstance(chunk, AIMessageChunk)]
    parts = [part for chunk in chunks for part in chunk.tool_call_chunks]
    assert json.loads("".join(part["args"] for part in parts)) == {"city": "Oslo"}
    assert len(parts) == 2
    assert [chunk.content for chunk in chunks if chunk.content] == ["It ", "is ", "cold"]
    assert adapter.last_result.usage == Usage(2, 14, 6)
    assert adapter.last_result.response == "It is cold"


def test_model_that_can_not_stream_is_not_made_to():
    class Whole(ProviderModel):
        _stream = ProviderModel.__mro__[1]._stream

    adapter = LangGraphAdapter(create_agent(Whole(), [lookup]), model=FakeModel(["It is cold"]))

    async def run():
        return [event async for event in adapter.stream("?", stream_mode="messages")]

    assert [message.content for message, _ in asyncio.run(run())] == ["It is cold"]


def test_malformed_arguments_reach_no_tool():
    step = {"tool_calls": [{"name": "lookup", "args": '{"city": nope'}]}
    adapter = LangGraphAdapter(
        create_agent(MODEL, [lookup]), tools=[MOCK], model=FakeModel([step]), strict=False
    )
    (call,) = adapter.sync_invoke("?").tool_calls
    assert (call.outcome, call.raw_args) == ("invalid", '{"city": nope')


def test_malformed_arguments_are_told_as_written_though_a_stream_repairs_them():
    step = {"tool_calls": [{"name": "lookup", "args": '{"city": nope'}]}
    adapter = LangGraphAdapter(create_agent(MODEL, [lookup]), tools=[MOCK], model=FakeModel([step, "done"]))

    async def run():
        return [event async for event in adapter.stream("?", stream_mode="messages")]

    asyncio.run(run())
    (call,) = adapter.last_result.tool_calls
    assert (call.args, call.outcome, call.raw_args) == ({}, "invalid", '{"city": nope')


def test_refusal_thinking_and_finish_reason_are_where_langchain_has_them():
    model = FakeModel(
        [{"content": "Cold", "thinking": "It is winter", "finish_reason": "length"}, {"refusal": "No"}]
    )
    graph = create_agent(MODEL, [])
    adapter = LangGraphAdapter(graph, model=model)
    with adapter.session():
        first = graph.invoke({"messages": [("user", "?")]})["messages"][-1]
        second = graph.invoke({"messages": [("user", "?")]})["messages"][-1]
    assert first.content_blocks[0] == {"type": "reasoning", "reasoning": "It is winter"}
    assert first.response_metadata["finish_reason"] == "length"
    assert second.additional_kwargs["refusal"] == "No"


def test_rate_limit_of_the_real_model_does_not_hold_the_script_up():
    limiter = InMemoryRateLimiter(requests_per_second=0.0001, max_bucket_size=1)
    limiter.acquire(blocking=False)
    adapter = LangGraphAdapter(
        create_agent(ProviderModel(rate_limiter=limiter), []), model=FakeModel(["now"])
    )
    assert adapter.sync_invoke("?").response == "now"


def test_model_of_the_frameworks_own_is_used_instead():
    fake = GenericFakeChatModel(messages=iter([AIMessage("native")]))
    adapter = LangGraphAdapter(create_agent(openai(), []), model=fake, offline=True)
    result = adapter.sync_invoke("?")
    assert result.response == "native"
    assert result.model_used == "gpt-5-nano"


def test_agents_own_fake_model_is_left_alone_without_one():
    fake = GenericFakeChatModel(messages=iter([AIMessage("own")]))
    assert LangGraphAdapter(create_agent(fake, [])).sync_invoke("?").response == "own"


def test_what_is_no_model_is_refused():
    with pytest.raises(MockConfigError, match="model is int"):
        LangGraphAdapter(create_agent(MODEL, []), model=3)


def test_exhausted_script_reaches_the_test_through_a_fallback():
    graph = node_of(openai().with_fallbacks([anthropic()]))
    with pytest.raises(ScriptExhaustedError):
        LangGraphAdapter(graph, model=FakeModel([])).sync_invoke("?")


def test_the_model_object_is_left_as_it_was():
    model = ProviderModel()
    before = dict(vars(model))
    LangGraphAdapter(create_agent(model, []), model=FakeModel(["x"])).sync_invoke("?")
    # LangChain itself keeps a description of the model in it.
    assert {name: value for name, value in vars(model).items() if name != "_serialized"} == before
    assert model.invoke("?").content == "REAL"


def test_stream_of_content_blocks_is_recorded_once_it_is_whole():
    model = ProviderModel()
    # Such streams came after langchain-core 1.0.
    if "_iter_v2_events" not in vars(BaseChatModel):
        return
    with LangGraphAdapter(create_agent(model, []), model=FakeModel(["It is cold"])).session() as session:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert str(model.stream_events([("user", "?")], version="v3").text) == "It is cold"
        assert [entry.content for entry in session.trace] == ["It is cold"]


def own_way(method):
    """Give a method of that name that is the real model replying."""

    def own(self, *args, **kwargs):
        raise AssertionError("the real model was asked")

    async def own_async(self, *args, **kwargs):
        raise AssertionError("the real model was asked")

    def own_stream(self, *args, **kwargs):
        yield own(self)

    async def own_astream(self, *args, **kwargs):
        yield own(self)

    kinds = {"stream": own_stream, "astream": own_astream}
    is_async = method.startswith(("a", "_a"))
    return kinds.get(method, own_async if is_async else own)


def replying(method):
    """Give a new model class that replies in its own way."""
    return type("Replying", (ProviderModel,), {"__module__": __name__, method: own_way(method)})


ENTRIES = {
    "invoke": lambda model: model.invoke("?").content,
    "ainvoke": lambda model: asyncio.run(model.ainvoke("?")).content,
    "batch": lambda model: model.batch(["?"])[0].content,
    "abatch": lambda model: asyncio.run(model.abatch(["?"]))[0].content,
    "stream": lambda model: "".join(chunk.content for chunk in model.stream("?")),
    "astream": lambda model: asyncio.run(streamed(model)),
    "generate": lambda model: model.invoke("?").content,
    "agenerate": lambda model: asyncio.run(model.ainvoke("?")).content,
    "generate_prompt": lambda model: model.invoke("?").content,
    "agenerate_prompt": lambda model: asyncio.run(model.ainvoke("?")).content,
    "_generate_with_cache": lambda model: model.invoke("?").content,
    "_agenerate_with_cache": lambda model: asyncio.run(model.ainvoke("?")).content,
}


async def streamed(model):
    return "".join([chunk.content async for chunk in model.astream("?")])


@pytest.mark.parametrize("when", ["before", "inside the session"])
@pytest.mark.parametrize("method", ENTRIES)
def test_model_class_that_replies_in_its_own_way_is_replaced_too(method, when):
    made = [replying(method)] if when == "before" else []
    with LangGraphAdapter(create_agent(MODEL, []), model=FakeModel(["scripted"])).session() as session:
        model = (made[0] if made else replying(method))()
        assert ENTRIES[method](model) == "scripted"
    assert [entry.content for entry in session.trace] == ["scripted"]


@pytest.mark.parametrize("method", ["invoke", "ainvoke", "stream"])
def test_model_class_that_replies_in_the_way_of_a_class_beside_it_is_replaced_too(method):
    beside = type("Beside", (), {"__module__": __name__, method: own_way(method)})
    model = type("Mixed", (beside, ProviderModel), {"__module__": __name__})()
    with LangGraphAdapter(create_agent(MODEL, []), model=FakeModel(["scripted"])).session():
        assert ENTRIES[method](model) == "scripted"


def test_model_class_that_replies_in_its_own_way_does_so_where_nothing_stands_in():
    class Own(ProviderModel):
        def invoke(self, *args, **kwargs):
            return AIMessage("own")

    with LangGraphAdapter(create_agent(MODEL, [])).session():
        assert Own().invoke("?").content == "own"


def test_model_class_that_only_adds_to_what_is_said_still_does():
    class Polite(ProviderModel):
        def invoke(self, *args, **kwargs):
            reply = super().invoke(*args, **kwargs)
            return reply.model_copy(update={"content": f"{reply.content}, please"})

    with LangGraphAdapter(create_agent(MODEL, []), model=FakeModel(["wait"])).session():
        assert Polite().invoke("?").content == "wait, please"
