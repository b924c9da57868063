"""What the framework does that a testing tool can stumble over, one test each."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, RunContext, Tool, direct, models
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UnexpectedModelBehavior, UserError
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import WrapperToolset
from pydantic_ai.usage import RunUsage

from callsheet import FakeModel, MockTool, ScriptExhaustedError, UnmockedToolError
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.pydantic_ai.support import PATHS, agent, hits, own_loop, refund, toolset

REFUND = {"tool_calls": [{"name": "refund", "args": {"order": "A1"}}]}


@pytest.fixture(autouse=True)
def no_hits() -> None:
    hits.clear()


def wrapped(clerk: Any, *steps: Any, tools: Any = (), **options: Any) -> PydanticAIAdapter:
    return PydanticAIAdapter(clerk, tools=tools, model=FakeModel(list(steps)), **options)


def test_agents_whose_names_collide_keep_their_own_tools_and_runs() -> None:
    def build(tool: str) -> Agent[Any, Any]:
        return agent(name="helper", tools=[Tool(refund, name=tool)])

    one, two = build("refund_one"), build("refund_two")
    call = {"args": {"order": "A1"}}
    given = wrapped(
        one,
        {"tool_calls": [{"name": "refund_one", **call}]},
        "first",
        {"tool_calls": [{"name": "refund_two", **call}]},
        "second",
        tools=[MockTool("refund_one", response=1), MockTool("refund_two", response=2)],
    )
    with given.session() as session:
        asyncio.run(one.run("x"))
        asyncio.run(two.run("y"))
    assert [(call.name, call.response, call.run) for call in session.tool_calls] == [
        ("refund_one", 1, 0),
        ("refund_two", 2, 1),
    ]


def test_agent_without_a_name_is_left_without_one() -> None:
    class App:
        helper = agent(name=None)

    result = wrapped(App.helper, "done").sync_invoke("x")
    assert (result.agents, result.response, App.helper.name) == ([], "done", None)


def test_name_the_framework_infers_in_the_application_is_the_name_in_the_record() -> None:
    clerk_of_mine = agent(name=None)
    with wrapped(clerk_of_mine, "done").session() as session, own_loop():
        clerk_of_mine.run_sync("x")
    assert session.result.agents == ["clerk_of_mine"]


def test_missing_script_raises_and_asks_no_provider() -> None:
    given = PydanticAIAdapter(agent(), model=FakeModel(agents={"Clark": ["done"]}), strict=False)
    with pytest.raises(ScriptExhaustedError, match="Clerk"):
        given.sync_invoke("x")


def test_switch_for_model_requests_is_never_touched() -> None:
    before = models.ALLOW_MODEL_REQUESTS
    with wrapped(agent(), "done").session():
        assert models.ALLOW_MODEL_REQUESTS is before
        asyncio.run(agent(name="other").run("x"))
    assert models.ALLOW_MODEL_REQUESTS is before


def test_direct_model_requests_are_refused_while_a_session_is_open() -> None:
    ask = [ModelRequest.user_text_prompt("hello")]

    async def stream() -> None:
        async with direct.model_request_stream("openai:gpt-5.2", ask):
            raise AssertionError("a stream was opened")

    for request in (
        lambda: asyncio.run(direct.model_request("openai:gpt-5.2", ask)),
        lambda: asyncio.run(stream()),
    ):
        session = wrapped(agent(), strict=False).session()
        with pytest.raises(UnmockedToolError, match="direct request"), session:
            request()


def test_direct_requests_to_models_for_tests_go_through() -> None:
    answer = FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart("hi")]))
    ask = [ModelRequest.user_text_prompt("hello")]
    with pytest.raises(UnmockedToolError), wrapped(agent(), strict=False).session(), own_loop():
        direct.model_request_sync("openai:gpt-5.2", ask)
    with wrapped(agent(), strict=False).session(), own_loop():
        assert direct.model_request_sync(answer, ask).parts == [TextPart("hi")]


async def by_hand(clerk: Agent[Any, Any]) -> Any:
    ctx: Any = RunContext(deps=None, model=TestModel(), usage=RunUsage(), prompt="x", run_step=0)
    (tools,) = clerk.toolsets
    found = await tools.get_tools(ctx)
    return await tools.call_tool("refund", {"order": "A1"}, ctx, found["refund"])


def test_toolset_that_is_called_outside_every_run_is_refused() -> None:
    clerk = agent(tools=[refund])
    with pytest.raises(UnmockedToolError, match="outside every run"), wrapped(clerk, strict=False).session():
        asyncio.run(by_hand(clerk))
    assert not hits
    with wrapped(clerk, strict=False, unmocked="real").session():
        assert asyncio.run(by_hand(clerk)) == "REAL A1"
    assert asyncio.run(by_hand(clerk)) == "REAL A1"
    assert hits == {"refund": 2}


def test_hooks_that_call_the_runs_tools_themselves_are_answered_by_the_session() -> None:
    class Eager(AbstractCapability[Any]):
        async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
            manager = await ctx.tool_manager.for_run_step(ctx)
            await manager.handle_call(ToolCallPart("refund", {"order": "A1"}, tool_call_id="own"))
            return await handler()

    clerk = agent(tools=[refund], capabilities=[Eager()])
    with pytest.raises(UnmockedToolError, match="refund"):
        wrapped(clerk, "done").sync_invoke("x")
    assert not hits
    result = wrapped(clerk, "done", tools=[MockTool("refund", response="ok")]).sync_invoke("x")
    assert [(call.response, call.mocked) for call in result.tool_calls] == [("ok", True)]
    assert not hits


def test_tool_that_a_wrapping_capability_adds_is_judged() -> None:
    @dataclass
    class Adding(WrapperToolset[Any]):
        async def get_tools(self, ctx: Any) -> Any:
            return {**await super().get_tools(ctx), **await toolset().get_tools(ctx)}

        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            return await tool.toolset.call_tool(name, tool_args, ctx, tool)

    class Wrapping(AbstractCapability[Any]):
        def get_wrapper_toolset(self, toolset: Any) -> Any:
            return Adding(toolset)

    clerk = agent(capabilities=[Wrapping()])
    with pytest.raises(UnmockedToolError, match="refund"):
        wrapped(clerk, REFUND).sync_invoke("x")
    result = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="ok")]).sync_invoke("x")
    assert result.tool_calls[0].response == "ok"
    assert not hits


def test_realtime_sessions_are_refused_while_a_session_is_open() -> None:
    clerk = agent(tools=[refund])
    if not hasattr(clerk, "realtime"):
        assert "_resolve_realtime_session" not in vars(Agent)
        return

    async def talk() -> None:
        async with clerk.realtime("openai:gpt-realtime").session():
            raise AssertionError("a realtime session was opened")

    with pytest.raises(UnmockedToolError, match="realtime"), wrapped(clerk, strict=False).session():
        asyncio.run(talk())


def test_call_of_an_unknown_tool_fires_no_hook_and_is_recorded() -> None:
    given = wrapped(agent(tools=[refund]), {"tool_calls": [{"name": "refnd", "args": {}}]}, "done")
    assert given.sync_invoke("x").tool_calls[0].outcome == "unknown"


def test_call_told_as_a_success_that_nobody_ran_is_skipped() -> None:
    clerk = agent(tools=[refund], output_type=int, end_strategy="early")
    final = {"name": "final_result", "args": {"response": 1}}
    given = wrapped(clerk, {"tool_calls": [final, *REFUND["tool_calls"]]})
    assert given.sync_invoke("x").tool_calls[0].outcome == "skipped"


@pytest.mark.parametrize("path", PATHS)
def test_history_that_a_processor_shrinks_loses_no_record(path: str) -> None:
    class Forgetting(AbstractCapability[Any]):
        async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
            request_context.messages = request_context.messages[-1:]
            return request_context

    clerk = agent(tools=[refund], capabilities=[Forgetting()])
    given = wrapped(clerk, REFUND, REFUND, "done", tools=[MockTool("refund", responses=["one", "two"])])
    with given.session() as session:
        PATHS[path](clerk)
    assert [call.seen_by_model for call in session.tool_calls] == ["one", "two"]
    assert given.model is not None
    assert len(given.model.call_log[2]["messages"]) <= 1


def test_retries_are_told_by_every_version() -> None:
    def moody(order: str) -> str:
        raise ModelRetry("ask again")

    clerk = agent(tools=[Tool(moody, name="refund")], retries=2)
    result = wrapped(clerk, REFUND, "done", tools=[MockTool.spy("refund")]).sync_invoke("x")
    assert "ask again" in str(result.tool_calls[0].seen_by_model)
    assert result.tool_calls[0].error == "ask again"


def test_prepare_and_args_validator_run_for_real() -> None:
    ran = []

    async def prepare(ctx: RunContext[Any], definition: ToolDefinition) -> ToolDefinition:
        ran.append("prepare")
        return definition

    def validate(ctx: RunContext[Any], order: str) -> None:
        ran.append("validate")

    clerk = agent(tools=[Tool(refund, prepare=prepare, args_validator=validate)])
    wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="ok")]).sync_invoke("x")
    assert {"prepare", "validate"} == set(ran)
    assert not hits


def test_timeout_of_a_tool_is_emulated_without_waiting() -> None:
    clerk = agent(tools=[Tool(refund, timeout=60)])
    mock = MockTool("refund", response="late", delay=3600)
    result = wrapped(clerk, REFUND, "done", tools=[mock]).sync_invoke("x")
    assert "Timed out after 60 seconds." in str(result.tool_calls[0].seen_by_model)


@pytest.mark.parametrize("path", ["run", "run_stream_events"])
def test_repeated_call_ids_are_the_frameworks_own_error(path: str) -> None:
    twice = [{"name": "refund", "args": {"order": order}, "id": "same"} for order in "AB"]
    clerk = agent(tools=[refund])
    given = wrapped(
        clerk, {"tool_calls": twice}, "done", tools=[MockTool("refund", response="ok")], strict=False
    )
    try:
        with given.session():
            PATHS[path](clerk)
    except UnexpectedModelBehavior:
        pass
    assert not hits


def test_sync_run_inside_a_sync_tool_is_the_frameworks_own_error() -> None:
    inner = agent(name="inner")

    def delegate() -> str:
        with own_loop():
            return str(inner.run_sync("x").output)

    clerk = agent(tools=[delegate])
    given = wrapped(
        clerk,
        {"tool_calls": [{"name": "delegate", "args": {}}]},
        "inner said",
        "done",
        tools=[MockTool.spy("delegate")],
        strict=False,
    )
    try:
        assert given.sync_invoke("x").response == "done"
    except (UserError, RuntimeError):
        assert given.last_result is not None


def test_thread_that_a_tool_starts_belongs_to_the_session() -> None:
    inner = agent(name="inner", tools=[refund])
    said: list[str] = []

    def delegate() -> str:
        def work() -> None:
            said.append(asyncio.run(inner.run("x")).output)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return said[0]

    clerk = agent(tools=[delegate])
    given = wrapped(
        clerk,
        {"tool_calls": [{"name": "delegate", "args": {}}]},
        REFUND,
        "inner",
        "outer",
        tools=[MockTool.spy("delegate"), MockTool("refund", response="ok")],
    )
    result = given.sync_invoke("x")
    assert result.tool_names == ["delegate", "refund"]
    assert result.tool_calls[1].parent_id == result.tool_calls[0].id
    assert not hits


def test_code_outside_every_context_belongs_to_the_only_session() -> None:
    clerk = agent(tools=[refund])
    given = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="ok")])
    ready, go = threading.Event(), threading.Event()
    said: list[str] = []

    def work() -> None:
        ready.set()
        go.wait(10)
        said.append(asyncio.run(clerk.run("x")).output)

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait(10)
    with given.session() as session:
        go.set()
        thread.join(10)
    assert said == ["done"]
    assert session.result.tool_names == ["refund"]
    assert not hits


def test_output_hook_of_a_stream_also_sees_parts_and_finishes_once() -> None:
    clerk = agent(output_type=list[int])
    with wrapped(clerk, {"output": [1, 2, 3]}).session() as session:
        assert PATHS["stream_output"](clerk) == [1, 2, 3]
    assert session.result.output == [1, 2, 3]
    assert len([entry for entry in session.trace if entry.tool_call]) == 1


def test_stream_left_early_keeps_what_happened() -> None:
    clerk = agent(tools=[refund])
    given = wrapped(clerk, REFUND, "one two three", tools=[MockTool("refund", response="ok")], strict=False)

    async def main() -> None:
        async with clerk.run_stream("x") as result:
            async for _ in result.stream_text(debounce_by=None):
                break

    with given.session() as session:
        asyncio.run(main())
    assert session.result.tool_names == ["refund"]
    assert not hits


def test_hook_that_caches_is_no_mock() -> None:
    class Caching(AbstractCapability[Any]):
        async def wrap_tool_execute(
            self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any
        ) -> Any:
            return "cached"

    clerk = agent(tools=[refund], capabilities=[Caching()])
    result = wrapped(clerk, REFUND, "done").sync_invoke("x")
    assert (result.tool_calls[0].response, result.tool_calls[0].mocked) == ("cached", False)
    assert not hits


def test_failing_call_cancels_those_beside_it_and_all_are_recorded() -> None:
    begun = asyncio.Event()

    async def waits(args: Any) -> str:
        begun.set()
        await asyncio.sleep(3600)
        return "never"

    async def fails(args: Any) -> str:
        await begun.wait()
        raise ValueError("broken")

    def other(order: str) -> str:
        raise AssertionError

    clerk = agent(tools=[refund, other])
    calls = [{"name": name, "args": {"order": "A1"}} for name in ("refund", "other")]
    given = wrapped(
        clerk,
        {"tool_calls": calls},
        tools=[MockTool("refund", response=waits), MockTool("other", response=fails)],
    )
    with pytest.raises(ValueError, match="broken"):
        given.sync_invoke("x")
    assert [call.outcome for call in given.last_result.tool_calls] == ["failed", "failed"]
    assert given.last_result.tool_calls[1].error == "broken"


def test_overrides_of_the_users_own_tests_hold() -> None:
    def better(order: str) -> str:
        hits["better"] += 1
        return "REAL"

    clerk = agent(tools=[refund], deps_type=str)
    given = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="ok")])
    with given.session() as session, clerk.override(tools=[Tool(better, name="refund")], deps="other"):
        asyncio.run(clerk.run("x", deps="mine"))
    assert session.tool_calls[0].response == "ok"
    assert not hits
    override = clerk.override(tools=[Tool(better, name="refund")], model=TestModel())
    with pytest.raises(UnmockedToolError), wrapped(clerk, REFUND).session(), override:
        asyncio.run(clerk.run("x"))
    assert not hits


def test_history_may_be_openai_style_or_the_frameworks_own() -> None:
    given = wrapped(agent(tools=[refund]), "done", "done")
    spoken = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Refund A1"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "refunded"},
        {"role": "assistant", "content": "It is refunded."},
    ]
    turn = given.turn_session()
    given.run_in_sync(turn, "Thanks", history=spoken)
    assert given.model is not None
    assert given.model.call_log[0]["messages"] == [*spoken, {"role": "user", "content": "Thanks"}]
    native = [ModelRequest.user_text_prompt("earlier"), ModelResponse(parts=[TextPart("reply")])]
    given.run_in_sync(given.turn_session(), "now", history=native)
    said = [message["content"] for message in given.model.call_log[1]["messages"]]
    assert said == ["earlier", "reply", "now"]


def test_prompt_that_ends_the_history_opens_the_run() -> None:
    result = wrapped(agent(), "done").sync_invoke(None, history=[ModelRequest.user_text_prompt("earlier")])
    assert [(entry.role, entry.content) for entry in result.trace] == [
        ("user", "earlier"),
        ("assistant", "done"),
    ]


def test_prompt_of_several_parts_is_its_text() -> None:
    from pydantic_ai.messages import ImageUrl

    result = wrapped(agent(), "done").sync_invoke(["Look: ", ImageUrl("https://example.com/a.png")])
    assert result.trace[0].content == "Look: "
