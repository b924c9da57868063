"""Which names a mock may have: those of tools, known before a run or found in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from agents import Agent, FunctionTool, RunHooks, Runner, WebSearchTool, function_tool, handoff

from callsheet import FakeModel, MockConfigError, MockTool, UnknownMockError, UnmockedToolError
from callsheet_openai_agents import OpenAIAgentsAdapter
from tests.adapters.openai_agents.kinds import Canary, lookup
from tests.adapters.openai_agents.lookups import CALL, MOCK


class Adding(RunHooks[Any]):
    """Gives an agent's colleague a tool as the agent starts."""

    def __init__(self, tool: FunctionTool) -> None:
        self._tool = tool

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        for colleague in agent.handoffs:
            colleague.tools.append(self._tool)


def two() -> Agent[Any]:
    return Agent(name="Desk", handoffs=[Agent(name="Inner")])


def script(*steps: Any) -> FakeModel:
    return FakeModel(agents={"Desk": [{"handoff": "Inner"}], "Inner": list(steps)})


def invoked(adapter: OpenAIAgentsAdapter, hooks: RunHooks[Any]) -> Any:
    return adapter.sync_invoke("go", hooks=hooks)


def streamed(adapter: OpenAIAgentsAdapter, hooks: RunHooks[Any]) -> Any:
    async def main() -> None:
        async for _ in adapter.stream("go", hooks=hooks):
            pass

    asyncio.run(main())
    return adapter.last_result


def around(adapter: OpenAIAgentsAdapter, hooks: RunHooks[Any]) -> Any:
    with adapter.session() as session:
        asyncio.run(Runner.run(adapter.agent, "go", hooks=hooks))
    return session.result


@pytest.mark.parametrize("run", [invoked, streamed, around])
@pytest.mark.parametrize("name", ["lookup", "Inner.lookup"])
def test_tool_that_hooks_of_the_run_add_is_mocked(canary: Canary, run: Callable[..., Any], name: str) -> None:
    mocks = [MockTool(name, response="mocked")]
    adapter = OpenAIAgentsAdapter(two(), tools=mocks, model=script(CALL, "done"))
    result = run(adapter, Adding(lookup(canary)))
    assert [(call.response, call.mocked) for call in result.tool_calls[1:]] == [("mocked", True)]
    assert not canary.hits


@pytest.mark.parametrize("run", [invoked, streamed, around])
def test_tool_that_hooks_add_and_nobody_mocked_is_refused(canary: Canary, run: Callable[..., Any]) -> None:
    adapter = OpenAIAgentsAdapter(two(), model=script(CALL, "done"))
    with pytest.raises(UnmockedToolError, match="lookup"):
        run(adapter, Adding(lookup(canary)))
    assert not canary.hits


@pytest.mark.parametrize("run", [invoked, streamed, around])
def test_mock_of_a_tool_that_never_came_fails_at_the_end(canary: Canary, run: Callable[..., Any]) -> None:
    adapter = OpenAIAgentsAdapter(two(), tools=[MockTool("lokup", response=1)], model=script("done"))
    with pytest.raises(UnknownMockError, match=r"'lokup'.*Did you mean 'lookup'"):
        run(adapter, Adding(lookup(canary)))


def test_misspelt_mock_is_refused_before_anything_is_asked(canary: Canary) -> None:
    model = FakeModel([CALL, "done"])
    adapter = OpenAIAgentsAdapter(
        Agent(name="Desk", tools=[lookup(canary)]), tools=[MockTool("lokup", response=1)], model=model
    )
    with pytest.raises(UnknownMockError, match=r"'lokup'.*Did you mean 'lookup'"):
        adapter.sync_invoke("go")
    assert model.call_count == 0


@pytest.mark.parametrize("run", [invoked, streamed, around])
def test_misspelt_mock_lets_no_real_tool_run_where_others_may(
    canary: Canary, run: Callable[..., Any]
) -> None:
    adapter = OpenAIAgentsAdapter(
        Agent(name="Desk", tools=[lookup(canary)]),
        tools=[MockTool("lokup", response=1)],
        model=FakeModel([CALL, "done"]),
        unmocked="real",
    )
    with pytest.raises(UnknownMockError, match=r"'lokup'.*Did you mean 'lookup'"):
        run(adapter, RunHooks())
    assert not canary.hits


def test_agents_an_application_builds_itself_are_mocked_in_a_session(canary: Canary) -> None:
    """Only what the wrapped agent reaches is known before; an application may run others."""
    agent = Agent(name="Desk")

    async def application() -> str:
        await Runner.run(agent, "go")
        other = Agent(name="Other", tools=[lookup(canary)])
        return str((await Runner.run(other, "go")).final_output)

    model = FakeModel(agents={"Desk": ["hi"], "Other": [CALL, "done"]})
    with OpenAIAgentsAdapter(agent, tools=[MOCK], model=model).session() as session:
        assert asyncio.run(application()) == "done"
    assert session.tool_calls[0].mocked
    assert not canary.hits


def test_run_that_starts_at_another_agent_is_mocked(canary: Canary) -> None:
    other = Agent(name="Other", tools=[lookup(canary)])
    adapter = OpenAIAgentsAdapter(Agent(name="Desk"), tools=[MOCK], model=FakeModel([CALL, "done"]))
    assert adapter.sync_invoke("go", starting_agent=other).tool_calls[0].mocked
    assert not canary.hits


def test_agent_that_a_spied_tool_runs_has_a_script_and_mocks(canary: Canary) -> None:
    inner = Agent(name="Inner", tools=[lookup(canary)])

    @function_tool
    async def research(q: str) -> str:
        """Have another agent look something up."""
        return str((await Runner.run(inner, q)).final_output)

    ask = {"tool_calls": [{"name": "research", "args": {"q": "x"}}]}
    script = {"Desk": [ask, "done"], "Inner": [CALL, "found"]}
    agent = Agent(name="Desk", tools=[research])
    mocks = [MockTool.spy("research"), MOCK]
    result = OpenAIAgentsAdapter(agent, tools=mocks, model=FakeModel(agents=script)).sync_invoke("go")
    assert [(call.name, call.agent, call.response) for call in result.tool_calls] == [
        ("research", "Desk", "found"),
        ("lookup", "Inner", "mocked"),
    ]
    with pytest.raises(UnmockedToolError, match="lookup"):
        OpenAIAgentsAdapter(agent, tools=mocks[:1], model=FakeModel(agents=script)).sync_invoke("go")
    assert not canary.hits


def test_refusal_that_a_tool_swallows_reaches_the_test(canary: Canary) -> None:
    inner = Agent(name="Inner", tools=[lookup(canary)])

    @function_tool
    async def research(q: str) -> str:
        """Have another agent look something up."""
        try:
            return str((await Runner.run(inner, q)).final_output)
        except BaseException:
            return "nothing"

    ask = {"tool_calls": [{"name": "research", "args": {"q": "x"}}]}
    model = FakeModel(agents={"Desk": [ask, "done"], "Inner": [CALL, "found"]})
    adapter = OpenAIAgentsAdapter(
        Agent(name="Desk", tools=[research]), tools=[MockTool.spy("research")], model=model
    )
    with pytest.raises(UnmockedToolError, match="lookup"):
        adapter.sync_invoke("go")
    assert not canary.hits


@pytest.mark.parametrize("name", ["transfer_to_refunds", "Desk.transfer_to_refunds", "over"])
@pytest.mark.parametrize("stand_in", [MockTool, MockTool.spy])
def test_mock_of_a_handoff_is_refused(name: str, stand_in: Callable[[str], MockTool]) -> None:
    refunds = Agent(name="Refunds")
    desk = Agent(name="Desk", handoffs=[refunds, handoff(refunds, tool_name_override="over")])
    with pytest.raises(
        MockConfigError, match=rf"'{name}' hands over.*handoffs always run.*script that agent"
    ):
        OpenAIAgentsAdapter(desk, tools=[stand_in(name)])


def test_tool_named_as_another_agents_handoff_is_mocked(canary: Canary) -> None:
    tool = lookup(canary, name_override="transfer_to_refunds")
    refunds = Agent(name="Refunds")
    inner = Agent(name="Inner", handoffs=[refunds])
    desk = Agent(name="Desk", tools=[tool], handoffs=[inner])
    step = {"tool_calls": [{"name": "transfer_to_refunds", "args": {"q": "x"}}]}
    for name in ("transfer_to_refunds", "Desk.transfer_to_refunds"):
        adapter = OpenAIAgentsAdapter(
            desk, tools=[MockTool(name, response="mocked")], model=FakeModel([step, "done"])
        )
        assert adapter.sync_invoke("go").tool_calls[0].mocked
    with pytest.raises(MockConfigError, match="hands over"):
        OpenAIAgentsAdapter(desk, tools=[MockTool("Inner.transfer_to_refunds")])
    assert not canary.hits


def test_mocks_of_one_run_are_checked_too() -> None:
    desk = Agent(name="Desk", tools=[WebSearchTool()], handoffs=[Agent(name="Refunds")])
    adapter = OpenAIAgentsAdapter(desk, model=FakeModel(["done"]))
    with pytest.raises(MockConfigError, match="runs at the provider"):
        adapter.sync_invoke("go", tools=[MockTool("web_search", response=1)])
    with pytest.raises(MockConfigError, match="hands over"):
        adapter.session(tools=[MockTool("transfer_to_refunds", response=1)])
