"""What went wrong, or was about to, while the adapter was designed: one test per case."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from types import SimpleNamespace
from typing import Any

import agents
import pytest
from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelBehaviorError,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    RunHooks,
    Runner,
    Usage,
    UserError,
    function_tool,
)
from agents.run import AgentRunner
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic import BaseModel

from callsheet import (
    FakeModel,
    MockTool,
    ScriptExhaustedError,
    SessionClosedError,
    UnmockedToolError,
)
from callsheet_openai_agents import OpenAIAgentsAdapter, _patches
from tests.adapters.openai_agents.kinds import Canary, lookup, process_server
from tests.adapters.openai_agents.lookups import CALL, MOCK


def one_call(agent: Agent[Any], *mocks: MockTool, **options: Any) -> OpenAIAgentsAdapter:
    model = options.pop("model", None) or FakeModel([CALL, "done"])
    return OpenAIAgentsAdapter(agent, tools=mocks, model=model, **options)


def test_1_a_tools_invoker_is_the_same_object_within_a_session(canary: Canary) -> None:
    tool = lookup(canary)
    with one_call(Agent(name="Desk", tools=[tool]), MOCK, strict=False).session():
        assert tool.on_invoke_tool is tool.on_invoke_tool
    assert tool.on_invoke_tool is vars(tool)["on_invoke_tool"]


def test_2_the_stand_in_passes_for_the_tools_own_invoker(canary: Canary) -> None:
    tool = lookup(canary)
    own = tool.on_invoke_tool
    with one_call(Agent(name="Desk", tools=[tool]), MOCK, strict=False).session():
        assert isinstance(tool.on_invoke_tool, type(own))
        assert tool.on_invoke_tool._invoke_tool_impl is own._invoke_tool_impl
        copied = dataclasses.replace(tool, description="copied")
    assert not type(vars(copied)["on_invoke_tool"]).__module__.startswith("callsheet")


def test_3_what_a_mock_raises_goes_through_the_tools_own_error_function(canary: Canary) -> None:
    tool = lookup(canary, failure_error_function=lambda context, error: f"Sorry: {error}")
    adapter = one_call(Agent(name="Desk", tools=[tool]), MockTool("lookup", raises=ValueError("no")))
    call = adapter.sync_invoke("go").tool_calls[0]
    assert (call.error, call.outcome, call.seen_by_model) == ("no", "failed", "Sorry: no")


def test_3_without_an_error_function_what_a_mock_raises_ends_the_run(canary: Canary) -> None:
    agent = Agent(name="Desk", tools=[lookup(canary, failure_error_function=None)])
    with pytest.raises(UserError, match="no") as caught:
        one_call(agent, MockTool("lookup", raises=ValueError("no")), strict=False).sync_invoke("go")
    assert isinstance(caught.value.__cause__, ValueError)


def test_4_what_a_real_tool_raises_is_seen_although_the_sdk_makes_text_of_it() -> None:
    @function_tool
    def lookup(q: str) -> str:
        """Look something up."""
        raise ValueError("the database is gone")

    adapter = one_call(Agent(name="Desk", tools=[lookup]), MockTool.spy("lookup"))
    call = adapter.sync_invoke("go").tool_calls[0]
    assert (call.error, call.outcome) == ("the database is gone", "failed")
    assert call.seen_by_model is not None


@pytest.mark.parametrize("streamed", [False, True])
def test_5_refusals_inside_agents_used_as_tools_reach_the_test(canary: Canary, streamed: bool) -> None:
    inner = Agent(name="Inner", tools=[lookup(canary)])
    on_stream = (lambda event: None) if streamed else None
    agent = Agent(name="Desk", tools=[inner.as_tool("ask", "Ask", on_stream=on_stream)])
    ask = {"tool_calls": [{"name": "ask", "args": {"input": "x"}}]}
    with pytest.raises(UnmockedToolError, match="lookup"):
        one_call(agent, model=FakeModel(agents={"Desk": [ask, "done"], "Inner": [CALL, "x"]})).sync_invoke(
            "go"
        )
    with pytest.raises(ScriptExhaustedError, match="Inner"):
        one_call(agent, model=FakeModel(agents={"Desk": [ask, "done"], "Inner": []})).sync_invoke("go")
    assert not canary.hits


def test_6_mocks_are_called_with_arguments_the_tool_accepts(canary: Canary) -> None:
    mock = MockTool("lookup", response=1)
    wrong = {"tool_calls": [{"name": "lookup", "args": {"q": ["no", "text"]}}]}
    adapter = one_call(Agent(name="Desk", tools=[lookup(canary)]), mock, model=FakeModel([wrong, "done"]))
    call = adapter.sync_invoke("go").tool_calls[0]
    assert call.outcome == "invalid"
    assert "q" in str(call.error)
    assert mock.call_count == 0


class Options(BaseModel):
    limit: int = 10
    topic: str


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("args", "outcome"),
    [
        ({"options": {"topic": "a"}}, "success"),
        ({"options": {"topic": "a", "limit": 1}, "q": "x", "limits": []}, "success"),
        ({}, "invalid"),
        ({"options": {}}, "invalid"),
        ({"options": {"topic": "a"}, "limits": [{}]}, "invalid"),
        ({"options": {"topic": 1}}, "invalid"),
    ],
)
def test_6_what_the_function_has_a_default_for_may_be_left_out(
    args: dict[str, Any], outcome: str, strict: bool
) -> None:
    """A strict schema demands it, yet the SDK calls the function without it."""
    ran: list[str] = []

    @function_tool(strict_mode=strict)
    def lookup(options: Options, q: str = "all", limits: list[Options] | None = None) -> str:
        """Look something up."""
        ran.append(q)
        return q

    agent = Agent(name="Desk", tools=[lookup])
    step = {"tool_calls": [{"name": "lookup", "args": args}]}
    mocked = one_call(agent, MOCK, model=FakeModel([step, "done"])).sync_invoke("go")
    real = one_call(agent, MockTool.spy("lookup"), model=FakeModel([step, "done"])).sync_invoke("go")
    assert mocked.tool_calls[0].outcome == outcome
    assert (mocked.tool_calls[0].outcome == "success") == (real.tool_calls[0].outcome == "success")
    assert len(ran) == (outcome == "success")


def test_6_parameter_may_be_called_as_a_part_of_a_schema_is() -> None:
    @function_tool
    def lookup(properties: Options, type: str = "x", required: int = 1) -> str:
        """Look something up."""
        return type

    step = {"tool_calls": [{"name": "lookup", "args": {"properties": {"topic": "a"}}}]}
    adapter = one_call(Agent(name="Desk", tools=[lookup]), MOCK, model=FakeModel([step, "done"]))
    assert adapter.sync_invoke("go").tool_calls[0].outcome == "success"


def test_6_agent_used_as_a_tool_may_be_called_without_what_it_has_a_default_for() -> None:
    if "parameters" not in signature(Agent.as_tool).parameters:
        return
    agent = Agent(name="Desk", tools=[Agent(name="Inner").as_tool("ask", "Ask", parameters=Options)])
    for args, outcome in (({"topic": "x"}, "success"), ({"limit": 1}, "invalid")):
        model = FakeModel([{"tool_calls": [{"name": "ask", "args": args}]}, "done"])
        result = one_call(agent, MockTool("ask", response="mocked"), model=model).sync_invoke("go")
        assert result.tool_calls[0].outcome == outcome


def test_8_stream_left_to_itself_meets_a_closed_session(canary: Canary) -> None:
    agent = Agent(name="Desk", tools=[lookup(canary)])

    async def main() -> Any:
        with one_call(agent, MOCK, model=FakeModel([CALL, CALL]), strict=False).session():
            streamed = Runner.run_streamed(agent, "go")
        await asyncio.wait({streamed.run_loop_task}, timeout=10)
        return streamed.run_loop_task.exception()

    assert isinstance(asyncio.run(main()), SessionClosedError)
    assert not canary.hits


@pytest.mark.parametrize("detour", ["thread", "pool"])
def test_9_runs_in_threads_are_answered_too(canary: Canary, detour: str) -> None:
    agent = Agent(name="Desk", tools=[lookup(canary)])

    def work() -> None:
        asyncio.run(Runner.run(agent, "go"))

    with one_call(agent, MOCK).session() as session:
        if detour == "thread":
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        else:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(work).result()
    assert session.tool_calls[0].mocked
    assert not canary.hits


def test_10_runs_of_agents_used_as_tools_are_recorded_although_hooks_are_not_inherited(
    canary: Canary,
) -> None:
    inner = Agent(name="Inner", tools=[lookup(canary)])
    agent = Agent(name="Desk", tools=[inner.as_tool("ask", "Ask")])
    ask = {"tool_calls": [{"name": "ask", "args": {"input": "x"}}]}
    model = FakeModel(agents={"Desk": [ask, "done"], "Inner": [CALL, "inner done"]})
    result = one_call(agent, MOCK, model=model).sync_invoke("go")
    assert [(call.name, call.agent) for call in result.tool_calls] == [("ask", "Desk"), ("lookup", "Inner")]


def test_11_run_resumed_in_a_later_session_stays_mocked(canary: Canary) -> None:
    agent = Agent(name="Desk", tools=[lookup(canary, True)])
    with one_call(agent, MOCK, strict=False).session() as session:
        first = asyncio.run(Runner.run(agent, "go"))
    assert session.tool_calls[0].outcome == "interrupted"
    state = first.to_state()
    state.approve(first.interruptions[0])
    with one_call(agent, MOCK, model=FakeModel(["done"])).session() as second:
        asyncio.run(Runner.run(agent, state))
    assert second.tool_calls[0].mocked
    assert not canary.hits


def test_12_nested_approval_asks_again_with_the_same_call(canary: Canary) -> None:
    inner = Agent(name="Inner", tools=[lookup(canary, True)])
    agent = Agent(name="Desk", tools=[inner.as_tool("ask", "Ask")])
    ask = {"tool_calls": [{"name": "ask", "args": {"input": "x"}}]}
    model = FakeModel(agents={"Desk": [ask, "done"], "Inner": [CALL, "inner done"]})

    async def main() -> None:
        first = await Runner.run(agent, "go")
        state = first.to_state()
        state.approve(first.interruptions[0])
        await Runner.run(agent, state)

    with one_call(agent, MOCK, model=model).session() as session:
        asyncio.run(main())
    asked = session.result.get_all_tool_calls("ask")
    assert [(call.response, call.attempts) for call in asked] == [("inner done", 2)]
    assert session.result.get_all_tool_calls("lookup")[-1].mocked
    assert not canary.hits


def test_13_every_scripted_call_has_an_id_of_its_own(canary: Canary) -> None:
    model = FakeModel([CALL, CALL, {"tool_calls": [*CALL["tool_calls"], *CALL["tool_calls"]]}, "done"])
    result = one_call(Agent(name="Desk", tools=[lookup(canary)]), MOCK, model=model).sync_invoke("go")
    assert len({call.id for call in result.tool_calls}) == 4


def test_14_refusals_are_the_sdks_own_to_handle(canary: Canary) -> None:
    adapter = one_call(Agent(name="Desk"), model=FakeModel([{"refusal": "I will not"}]))
    if hasattr(agents, "ModelRefusalError"):
        with pytest.raises(agents.ModelRefusalError, match="I will not"):
            adapter.sync_invoke("go")
    else:
        adapter.sync_invoke("go")
    assert adapter.last_result is not None
    assert adapter.last_result.trace[-1 if adapter.last_result.error is None else -2].content == "I will not"


def test_15_server_that_was_not_connected_needs_no_process(canary: Canary) -> None:
    agent = Agent(name="Desk", mcp_servers=[process_server(canary)])
    result = one_call(agent, MOCK).sync_invoke("go")
    assert (result.tool_calls[0].kind, result.tool_calls[0].response) == ("mcp", "mocked")
    assert not canary.hits


def test_16_what_the_sdk_adds_to_agents_is_not_ours(canary: Canary) -> None:
    agent = Agent(name="Desk", tools=[lookup(canary)])
    before = {field.name: id(getattr(agent, field.name)) for field in dataclasses.fields(agent)}
    one_call(agent, MOCK).sync_invoke("go")
    assert {field.name: id(getattr(agent, field.name)) for field in dataclasses.fields(agent)} == before


def test_17_agents_of_one_name_have_scripts_and_mocks_of_their_own(canary: Canary) -> None:
    one, two = (Agent(name="Helper", tools=[lookup(canary)]) for _ in range(2))
    agent = Agent(name="Desk", tools=[one.as_tool("first", "1"), two.as_tool("second", "2")])
    asks = [{"name": name, "args": {"input": "x"}} for name in ("first", "second")]
    model = FakeModel(
        agents={"Desk": [{"tool_calls": asks}, "done"], "Helper": [CALL, "one"], "Helper#2": [CALL, "two"]}
    )
    mocks = [MockTool("Helper.lookup", response=1), MockTool("Helper#2.lookup", response=2)]
    result = one_call(agent, *mocks, model=model).sync_invoke("go")
    assert [(c.agent, c.response) for c in result.get_all_tool_calls("lookup")] == [
        ("Helper", 1),
        ("Helper#2", 2),
    ]
    assert [c.response for c in result.tool_calls if c.agent == "Desk"] == ["one", "two"]


def test_18_run_config_and_hooks_are_passed_on_as_they_were_given(canary: Canary) -> None:
    seen: list[Any] = []

    class Hooks(RunHooks[Any]):
        async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
            seen.append(tool)

    def provided(model: str | None) -> Any:
        raise AssertionError("a scripted run asks no provider")

    tool = lookup(canary)
    config = RunConfig(workflow_name="mine")
    config.model_provider = SimpleNamespace(get_model=provided)
    before = dict(vars(config))
    one_call(Agent(name="Desk", tools=[tool]), MOCK).sync_invoke("go", run_config=config, hooks=Hooks())
    assert vars(config) == before
    assert seen == [tool]
    assert seen[0] is tool


def test_18_run_that_was_given_no_config_is_given_none(monkeypatch: Any) -> None:
    """With one the SDK would not close the provider it makes itself."""
    gc.collect()
    assert not _patches.PATCHES.installed
    original = AgentRunner.run
    given: list[Any] = []

    async def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        given.append(kwargs.get("run_config"))
        return await original(self, *args, **kwargs)

    monkeypatch.setattr(AgentRunner, "run", run)
    one_call(Agent(name="Desk"), model=FakeModel(["done"])).sync_invoke("go")
    gc.collect()
    assert given == [None]


def test_19_calls_are_told_in_the_order_the_model_wrote_them(canary: Canary) -> None:
    async def answer(args: dict[str, Any]) -> str:
        await asyncio.sleep(0.02 if args["q"] == "slow" else 0)
        return str(args["q"])

    both = {"tool_calls": [{"name": "lookup", "args": {"q": q}} for q in ("slow", "fast")]}
    adapter = one_call(
        Agent(name="Desk", tools=[lookup(canary)]),
        MockTool("lookup", response=answer),
        model=FakeModel([both, "done"]),
    )
    assert [call.response for call in adapter.sync_invoke("go").tool_calls] == ["slow", "fast"]


def test_tool_that_declares_a_plain_context_is_given_what_the_sdk_gives_it() -> None:
    given: list[Any] = []

    class Invoke:
        async def __call__(self, context: RunContextWrapper[Any], arguments: str) -> str:
            given.append(type(context))
            return "real"

    tool = FunctionTool(name="lookup", description="", params_json_schema={}, on_invoke_tool=Invoke())
    agent = Agent(name="Desk", tools=[tool])
    one_call(agent, MockTool.spy("lookup")).sync_invoke("go")
    with one_call(Agent(name="Nobody")).session(strict=False) as closed:
        pass
    agent.model = TwoTurns()
    asyncio.run(Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True)))
    assert not closed.is_open
    assert len(set(given)) == 1


class TwoTurns(Model):
    """The call, then an answer, without callsheet."""

    def __init__(self) -> None:
        call = ResponseFunctionToolCall(
            call_id="c1", id="f1", type="function_call", name="lookup", arguments="{}"
        )
        text = ResponseOutputText(text="done", type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="m1", type="message", role="assistant", status="completed", content=[text]
        )
        self._outputs: list[Any] = [call, message]

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        return ModelResponse(output=[self._outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def test_unknown_tool_is_the_sdks_error_and_recorded(canary: Canary) -> None:
    adapter = one_call(
        Agent(name="Desk", tools=[lookup(canary)]), model=FakeModel([{"tool_calls": ["lokup"]}])
    )
    with pytest.raises(ModelBehaviorError, match="lokup"):
        adapter.sync_invoke("go")
    assert adapter.last_result is not None
    assert adapter.last_result.tool_calls[0].outcome == "unknown"
