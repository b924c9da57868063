"""A session that mocks nothing changes nothing; without one the framework is as it was."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, RunContext, Tool, UnexpectedModelBehavior, capture_run_messages
from pydantic_ai.agent import AbstractAgent, WrapperAgent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from callsheet import FakeModel, MockTool
from callsheet.adapters import MockConfigError
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.pydantic_ai.support import PATHS, agent, hits, refund


def replying() -> FunctionModel:
    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if any(isinstance(message, ModelResponse) for message in messages):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("refund", {"order": "A1"}, tool_call_id="c1")])

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> Any:
        if any(isinstance(message, ModelResponse) for message in messages):
            yield "do"
            yield "ne"
        else:
            yield {0: DeltaToolCall("refund", '{"order": "A1"}', tool_call_id="c1")}

    return FunctionModel(reply, stream_function=stream)


def told(path: str) -> list[Any]:
    clerk = Agent(replying(), name="Clerk", tools=[refund])
    with capture_run_messages() as messages:
        output = PATHS[path](clerk)
    parts = [
        (part.part_kind, part.content if hasattr(part, "content") else (part.tool_name, part.args))
        for message in messages
        for part in message.parts
    ]
    return [output, parts, [type(message).__name__ for message in messages]]


@pytest.mark.parametrize("path", PATHS)
def test_idle_session_changes_no_message(path: str) -> None:
    alone = told(path)
    with PydanticAIAdapter(agent(name="other"), unmocked="real").session():
        assert told(path) == alone


def test_errors_are_the_frameworks_own_in_an_idle_session() -> None:
    def moody(order: str) -> str:
        raise ModelRetry("no")

    def run() -> str:
        def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            return ModelResponse(parts=[ToolCallPart("refund", {"order": "A1"})])

        clerk = Agent(FunctionModel(reply), tools=[Tool(moody, name="refund")])
        with pytest.raises(UnexpectedModelBehavior) as raised:
            asyncio.run(clerk.run("x"))
        return f"{raised.value!s} from {raised.value.__cause__!r}"

    alone = run()
    with PydanticAIAdapter(agent(name="other"), unmocked="real").session():
        assert run() == alone


def test_hooks_see_the_agent_as_it_is() -> None:
    seen: list[Any] = []

    class Looking(AbstractCapability[Any]):
        async def before_tool_execute(
            self, ctx: RunContext[Any], *, call: Any, tool_def: Any, args: Any
        ) -> Any:
            seen.append((ctx.agent is clerk, ctx.agent.model is own, ctx.prompt, dict(args)))
            return args

    own = replying()
    clerk = Agent(own, tools=[refund], capabilities=[Looking()])
    model = FakeModel([{"tool_calls": [{"name": "refund", "args": {"order": "A1"}}]}, "done"])
    PydanticAIAdapter(clerk, tools=[MockTool("refund", response="ok")], model=model).sync_invoke("hi")
    assert seen == [(True, True, "hi", {"order": "A1"})]


def test_application_sees_no_capability_and_no_toolset_of_the_session() -> None:
    seen: list[Any] = []

    class Looking(AbstractCapability[Any]):
        async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
            leaves: list[Any] = []
            root = getattr(ctx, "root_capability", None) or ctx.tool_manager.root_capability
            root.apply(leaves.append)
            kinds = [[type(each) for each in found] for found in (leaves, ctx.capabilities.values())]
            seen.append((kinds, type(root).__name__))
            return request_context

    def run() -> None:
        asyncio.run(Agent(replying(), tools=[refund], capabilities=[Looking()]).run("x"))

    run()
    alone = list(seen)
    seen.clear()
    with PydanticAIAdapter(agent(name="other"), unmocked="real").session():
        run()
    assert seen == alone
    assert len(seen) == 2


def test_without_a_session_the_patches_only_look() -> None:
    hits.clear()
    session = PydanticAIAdapter(agent(name="other"), model=FakeModel(), strict=False).session()
    with session:
        pass
    assert asyncio.run(Agent(replying(), tools=[refund]).run("x")).output == "done"
    assert hits == {"refund": 1}
    assert session.tool_calls == []


def test_wrapped_agent_is_an_agent_and_another_kind_is_not() -> None:
    clerk = WrapperAgent(agent(tools=[refund]))
    model = FakeModel([{"tool_calls": [{"name": "refund", "args": {"order": "A1"}}]}, "done"])
    given = PydanticAIAdapter(clerk, tools=[MockTool("refund", response="ok")], model=model)
    assert given.sync_invoke("x").tool_names == ["refund"]

    missing = dict.fromkeys(AbstractAgent.__abstractmethods__)
    foreign: Any = type("Foreign", (AbstractAgent,), missing)
    with pytest.raises(MockConfigError, match=r"wraps a pydantic_ai\.Agent"):
        PydanticAIAdapter(foreign())
