"""`CallableAdapter`: any Python callable is an agent, and its tools are refused unless mocked."""

import asyncio
import functools
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest

from callsheet import (
    AgentResult,
    CallableAdapter,
    Conversation,
    MockConfigError,
    MockTool,
    NetworkBlockedError,
    SessionClosedError,
    UnknownMockError,
    UnmockedToolError,
    assert_tool_calls,
)
from callsheet.adapters import FrameworkAdapter

Tools = Mapping[str, Callable[..., Any]]
WEATHER = MockTool("weather", response={"temp": 7})


def plain(message: str, tools: Tools) -> str:
    return f"{message}: {tools['weather'](city='Oslo')['temp']}"


async def awaiting(message: str, tools: Tools) -> str:
    return f"{message}: {(await tools['weather'](city='Oslo'))['temp']}"


def generating(message: str, tools: Tools) -> Iterator[str]:
    yield f"{message}: "
    yield str(tools["weather"](city="Oslo")["temp"])


async def async_generating(message: str, tools: Tools) -> AsyncIterator[str]:
    yield f"{message}: "
    yield str((await tools["weather"](city="Oslo"))["temp"])


class Agent:
    def __call__(self, message: str, tools: Tools) -> str:
        return plain(message, tools)


class AsyncAgent:
    async def __call__(self, message: str, tools: Tools) -> str:
        return await awaiting(message, tools)


AGENTS: dict[str, Callable[..., Any]] = {
    "function": plain,
    "coroutine function": awaiting,
    "generator": generating,
    "async generator": async_generating,
    "object": Agent(),
    "object with an async call": AsyncAgent(),
    "partial": functools.partial(awaiting),
    "lambda": lambda message, tools: plain(str(message), tools),
}


def invoke(adapter: CallableAdapter, way: str, message: str = "Oslo") -> AgentResult:
    if way == "invoke":
        return asyncio.run(adapter.invoke(message))
    if way == "sync_invoke":
        return adapter.sync_invoke(message)
    if way == "sync_invoke in a loop":

        async def inside() -> AgentResult:
            return adapter.sync_invoke(message)

        return asyncio.run(inside())

    async def stream() -> None:
        async for _ in adapter.stream(message):
            pass

    asyncio.run(stream())
    assert adapter.last_result is not None
    return adapter.last_result


WAYS = ["invoke", "sync_invoke", "sync_invoke in a loop", "stream"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", AGENTS)
def test_every_callable_runs_every_way(kind: str, way: str) -> None:
    result = invoke(CallableAdapter(AGENTS[kind], tools=[WEATHER]), way)
    assert result.response == result.output == "Oslo: 7"
    assert_tool_calls(result, [{"name": "weather", "args": {"city": "Oslo"}}])
    assert result.tool_calls[0].mocked
    assert [step["content"] for step in result.trajectory()] == ["Oslo", {"temp": 7}, "Oslo: 7"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", AGENTS)
def test_a_tool_nobody_mocked_is_refused(kind: str, way: str) -> None:
    hits: Counter[str] = Counter()

    def weather(city: str) -> dict[str, int]:
        hits["weather"] += 1
        return {"temp": -1}

    adapter = CallableAdapter(AGENTS[kind], real_tools={"weather": weather})
    with pytest.raises(UnmockedToolError, match="No mock for tool 'weather'"):
        invoke(adapter, way)
    assert hits == {}
    assert adapter.last_result is not None
    assert adapter.last_result.error is not None


def test_a_refusal_fails_the_test_though_it_was_swallowed() -> None:
    def careless(message: str, tools: Tools) -> str:
        try:
            tools["pay"]()
        except BaseException:
            return "fine"
        return "paid"

    with pytest.raises(UnmockedToolError):
        CallableAdapter(careless).sync_invoke("hi")


def test_a_tool_kept_beyond_its_run_is_refused() -> None:
    kept: list[Callable[..., Any]] = []
    CallableAdapter(lambda message, tools: kept.append(tools["weather"]), tools=[WEATHER]).sync_invoke("hi")
    with pytest.raises(SessionClosedError, match="'weather'"):
        kept[0](city="Oslo")


def test_runs_side_by_side_do_not_mix() -> None:
    async def agent(message: str, tools: Tools) -> str:
        await asyncio.sleep(0)
        return f"{message} {await tools['echo'](said=message)}"

    async def main() -> list[AgentResult]:
        adapter = CallableAdapter(agent, tools=[MockTool("echo", response=lambda args: args["said"])])
        return await asyncio.gather(*(adapter.invoke(letter) for letter in "abc"))

    results = asyncio.run(main())
    assert [result.response for result in results] == ["a a", "b b", "c c"]
    assert [result.tool_calls[0].args["said"] for result in results] == ["a", "b", "c"]


def test_the_tools_are_a_mapping_of_what_there_is() -> None:
    seen: list[Any] = []

    def agent(message: str, tools: Tools) -> None:
        seen.append((list(tools), len(tools), "weather" in tools, "pay" in tools))

    adapter = CallableAdapter(agent, tools=[WEATHER], real_tools={"weather": int, "news": int})
    assert adapter.sync_invoke("hi").response == ""
    assert seen == [(["weather", "news"], 2, True, False)]


def test_arguments_come_as_keywords_or_as_one_mapping() -> None:
    def agent(message: str, tools: Tools) -> None:
        tools["weather"]({"city": "Oslo"})
        tools["weather"]({"city": "Oslo"}, unit="C")
        with pytest.raises(TypeError, match="Call tool 'weather' with keyword arguments"):
            tools["weather"]("Oslo")

    result = CallableAdapter(agent, tools=[WEATHER]).sync_invoke("hi")
    assert [call.args for call in result.tool_calls] == [{"city": "Oslo"}, {"city": "Oslo", "unit": "C"}]


async def async_weather(city: str) -> dict[str, int]:
    await asyncio.sleep(0)
    return {"temp": len(city)}


@pytest.mark.parametrize("kind", ["function", "coroutine function"])
@pytest.mark.parametrize("real", [lambda city: {"temp": len(city)}, async_weather], ids=["sync", "async"])
@pytest.mark.parametrize("allowed", ["spy", "unmocked"])
def test_real_tools_run_where_the_test_lets_them(kind: str, real: Callable[..., Any], allowed: str) -> None:
    adapter = CallableAdapter(
        AGENTS[kind],
        tools=[MockTool.spy("weather")] if allowed == "spy" else [],
        unmocked="real" if allowed == "unmocked" else "error",
        real_tools={"weather": real},
    )
    result = adapter.sync_invoke("Oslo")
    assert result.response == "Oslo: 4"
    assert not result.tool_calls[0].mocked


@pytest.mark.parametrize("kind", ["function", "coroutine function"])
def test_a_spy_without_a_real_tool_is_a_mistake(kind: str) -> None:
    with pytest.raises(MockConfigError, match=r"no real tool 'weather' to run.*real_tools="):
        CallableAdapter(AGENTS[kind], tools=[MockTool.spy("weather")]).sync_invoke("hi")


def test_a_mock_that_stands_for_no_real_tool_is_a_mistake() -> None:
    adapter = CallableAdapter(plain, tools=[MockTool("wether")], real_tools={"weather": int})
    with pytest.raises(UnknownMockError, match="Did you mean 'weather'"):
        adapter.sync_invoke("hi")


def test_mocks_of_one_run_come_first_and_are_known() -> None:
    adapter = CallableAdapter(plain)
    result = adapter.sync_invoke("Oslo", tools=[MockTool("weather", response={"temp": 1})])
    assert result.response == "Oslo: 1"


def test_a_session_may_be_opened_by_hand() -> None:
    adapter = CallableAdapter(plain, tools=[WEATHER])
    with adapter.session() as session:
        assert session.tools.tool_names == ["weather"]
    assert session.result.tool_calls == []


def test_the_callables_own_exception_propagates() -> None:
    def failing(message: str, tools: Tools) -> None:
        tools["weather"]()
        raise LookupError("nothing")

    adapter = CallableAdapter(failing, tools=[WEATHER])
    for way in WAYS:
        with pytest.raises(LookupError, match="nothing"):
            invoke(adapter, way)
        assert adapter.last_result is not None
        assert adapter.last_result.error == "LookupError: nothing"
        assert adapter.last_result.tool_names == ["weather"]


@pytest.mark.parametrize(
    ("returned", "response", "output"),
    [
        (None, "", None),
        ({"price": 3}, '{"price": 3}', {"price": 3}),
        (7, "7", 7),
        (AgentResult("inner", output={"a": 1}), "inner", {"a": 1}),
    ],
)
@pytest.mark.parametrize("way", ["sync_invoke", "stream"])
def test_what_is_returned_is_the_answer(returned: Any, response: str, output: Any, way: str) -> None:
    result = invoke(CallableAdapter(lambda message, tools: returned), way)
    assert (result.response, result.output) == (response, output)
    assert result.native is returned


def test_a_function_that_returns_an_awaitable_is_awaited() -> None:
    async def inner() -> str:
        return "awaited"

    for way in WAYS:
        assert invoke(CallableAdapter(lambda message, tools: inner()), way).response == "awaited"


@pytest.mark.parametrize("way", ["sync_invoke", "stream"])
def test_the_last_of_yielded_values_is_the_output(way: str) -> None:
    def agent(message: str, tools: Tools) -> Iterator[Any]:
        yield {"thinking": 1}
        yield {"answer": 2}

    result = invoke(CallableAdapter(agent), way)
    assert (result.response, result.output) == ('{"answer": 2}', {"answer": 2})
    assert result.native == [{"thinking": 1}, {"answer": 2}]


def test_a_stream_gives_what_is_yielded_as_it_comes() -> None:
    async def main() -> list[Any]:
        return [item async for item in CallableAdapter(async_generating, tools=[WEATHER]).stream("Oslo")]

    assert asyncio.run(main()) == ["Oslo: ", "7"]

    async def one() -> list[Any]:
        return [item async for item in CallableAdapter(plain, tools=[WEATHER]).stream("Oslo")]

    assert asyncio.run(one()) == ["Oslo: 7"]


def test_threads_of_the_callable_belong_to_its_session() -> None:
    def agent(message: str, tools: Tools) -> str:
        answers: list[Any] = []
        thread = threading.Thread(target=lambda: answers.append(tools["weather"](city="Oslo")))
        thread.start()
        thread.join()
        return str(answers[0]["temp"])

    assert CallableAdapter(agent, tools=[WEATHER]).sync_invoke("hi").response == "7"


def test_further_arguments_and_the_history_reach_the_callable() -> None:
    seen: list[Any] = []

    def agent(message: str, tools: Tools, *, history: list[Any], mood: str = "none") -> str:
        seen.append(([entry["content"] for entry in history], mood))
        return message.upper()

    conversation = Conversation(CallableAdapter(agent))
    conversation.say_sync("a", mood="kind")
    asyncio.run(conversation.say("b"))
    conversation.say_sync("c")
    assert seen == [([], "kind"), (["a", "A"], "none"), (["a", "A", "b", "B"], "none")]
    result = CallableAdapter(agent).sync_invoke("x", history=[{"role": "user", "content": "before"}])
    assert result.response == "X"
    assert seen[-1] == (["before"], "none")


def test_a_callable_whose_parameters_nobody_knows_is_called_all_the_same() -> None:
    class Unknown:
        __signature__ = 5

        def __call__(self, message: str, tools: Tools) -> str:
            return message

    with pytest.raises(TypeError):
        CallableAdapter(Unknown()).sync_invoke("hi")
    assert CallableAdapter(max).sync_invoke({"b": 1}, key=len).output == {"b": 1}


def test_the_network_is_closed_on_request() -> None:
    import socket

    def agent(message: str, tools: Tools) -> str:
        return socket.gethostbyname("localhost")

    assert CallableAdapter(agent).sync_invoke("hi").response == "127.0.0.1"
    with pytest.raises(NetworkBlockedError):
        CallableAdapter(agent, offline=True).sync_invoke("hi")


def test_what_can_not_be_called_is_refused() -> None:
    with pytest.raises(MockConfigError, match=r"a callable fn\(message, tools\)"):
        CallableAdapter("agent")  # type: ignore[arg-type]


def test_it_is_an_adapter_like_the_others() -> None:
    adapter = CallableAdapter(plain)
    assert isinstance(adapter, FrameworkAdapter)
    assert adapter.framework_name == "callable"


def test_a_structured_answer_is_told_as_readable_json():
    result = CallableAdapter(lambda message, tools: {"city": "Tromsø"}).sync_invoke("Where?")
    assert result.response == '{"city": "Tromsø"}'
    assert result.output == {"city": "Tromsø"}
