"""Code a session reaches however it was started, and tools it could not stand before."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import os
import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    LocalShellTool,
    Model,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    Runner,
    Usage,
    function_tool,
)
from agents.mcp import MCPUtil
from agents.run import AgentRunner
from agents.tool_context import ToolContext
from openai.types.responses import ResponseFunctionToolCall

from callsheet import FakeModel, MockTool, SessionProcessError, UnmockedToolError
from callsheet_openai_agents import OpenAIAgentsAdapter
from tests.adapters.openai_agents.kinds import Canary, MemoryServer, lookup
from tests.adapters.openai_agents.lookups import CALL, MOCK


def wrapped(agent: Agent[Any], *mocks: MockTool, **options: Any) -> OpenAIAgentsAdapter:
    return OpenAIAgentsAdapter(agent, tools=mocks, **{"model": FakeModel([CALL, "done"]), **options})


def desk(canary: Canary) -> Agent[Any]:
    return Agent(name="Desk", tools=[lookup(canary)])


def in_an_old_thread(agent: Agent[Any]) -> Callable[[], Any]:
    asked: queue.Queue[Any] = queue.Queue()
    answers: queue.Queue[Any] = queue.Queue()

    def work() -> None:
        while asked.get() is not None:
            try:
                answers.put(asyncio.run(Runner.run(agent, "go")).final_output)
            except BaseException as error:
                answers.put(type(error).__name__)

    thread = threading.Thread(target=work)
    thread.start()

    def ask() -> Any:
        asked.put("go")
        answer = answers.get(timeout=10)
        asked.put(None)
        thread.join(10)
        return answer

    return ask


def in_a_loop_of_another_thread(agent: Agent[Any]) -> Callable[[], Any]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def ask() -> Any:
        try:
            return asyncio.run_coroutine_threadsafe(Runner.run(agent, "go"), loop).result(10).final_output
        except BaseException as error:
            return type(error).__name__
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    return ask


@pytest.mark.parametrize("prepare", [in_an_old_thread, in_a_loop_of_another_thread])
@pytest.mark.parametrize("is_mocked", [True, False])
def test_threads_from_before_the_session_are_reached(canary: Canary, prepare: Any, is_mocked: bool) -> None:
    agent = desk(canary)
    ask = prepare(agent)
    if is_mocked:
        with wrapped(agent, MOCK).session() as session:
            assert ask() == "done"
        assert session.tool_calls[0].mocked
    else:
        with pytest.raises(UnmockedToolError), wrapped(agent).session():
            assert ask() == "UnmockedToolError"
    assert not canary.hits


def test_task_from_before_the_session_is_reached(canary: Canary) -> None:
    agent = desk(canary)

    async def main() -> Any:
        begin = asyncio.Event()

        async def work() -> Any:
            await begin.wait()
            return (await Runner.run(agent, "go")).final_output

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        with wrapped(agent, MOCK).session() as session:
            begin.set()
            assert await task == "done"
        return session.tool_calls

    assert asyncio.run(main())[0].mocked
    assert not canary.hits


class Waiting(Model):
    """Asks for the tool once somebody opens the gate."""

    def __init__(self, gate: asyncio.Event) -> None:
        self._gate = gate

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        await self._gate.wait()
        call = ResponseFunctionToolCall(
            call_id="c1", id="f1", type="function_call", name="lookup", arguments='{"q": "x"}'
        )
        return ModelResponse(output=[call], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def test_run_that_began_before_the_session_is_refused_a_tool_nobody_mocked(canary: Canary) -> None:
    async def main() -> None:
        gate = asyncio.Event()
        agent = Agent(name="Desk", tools=[lookup(canary)], model=Waiting(gate))
        task = asyncio.create_task(Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True)))
        await asyncio.sleep(0.01)
        with pytest.raises(UnmockedToolError), OpenAIAgentsAdapter(agent).session():
            gate.set()
            await task

    asyncio.run(main())
    assert not canary.hits


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process")
@pytest.mark.parametrize("mocks", [(MOCK,), ()])
def test_forked_process_is_refused_and_the_test_hears_of_it(
    canary: Canary, mocks: tuple[MockTool, ...]
) -> None:
    @function_tool
    def lookup(q: str) -> str:
        """Look something up."""
        (canary.folder / "ran").touch()
        return q

    agent = Agent(name="Desk", tools=[lookup])
    said, told = os.pipe()
    with (
        pytest.raises(SessionProcessError, match=r"^A run of agent 'Desk' came in a child process"),
        wrapped(agent, *mocks).session(),
    ):
        child = os.fork()
        if not child:
            try:
                outcome = asyncio.run(Runner.run(agent, "go")).final_output
            except BaseException as error:
                outcome = type(error).__name__
            os.write(told, str(outcome).encode())
            os._exit(0)
        os.waitpid(child, 0)
    assert os.read(said, 100).decode() == "SessionError"
    os.close(said)
    os.close(told)
    assert not canary.hits


def test_run_method_that_was_kept_from_before_is_reached(canary: Canary) -> None:
    agent = desk(canary)
    kept = AgentRunner().run
    with wrapped(agent, MOCK).session() as session:
        assert asyncio.run(kept(agent, "go")).final_output == "done"
    assert session.tool_calls[0].mocked
    assert not canary.hits


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, dataclasses.replace])
def test_copy_of_a_tool_made_in_a_session_is_reached_in_the_next(canary: Canary, copied: Any) -> None:
    agent = Agent(name="Desk")
    with wrapped(agent, strict=False).session():
        agent.tools.append(copied(lookup(canary)))
    assert wrapped(agent, MOCK).sync_invoke("go").tool_calls[0].mocked
    with pytest.raises(UnmockedToolError):
        wrapped(agent).sync_invoke("go")
    assert not canary.hits


def test_tool_of_a_server_that_an_application_calls_itself_is_answered(canary: Canary) -> None:
    server = MemoryServer(canary, False)
    agent = Agent(name="Desk", mcp_servers=[server])

    async def application() -> Any:
        (tool,) = await MCPUtil.get_all_function_tools([server], False, RunContextWrapper(None), agent)
        context: Any = ToolContext(
            context=None, tool_name="lookup", tool_call_id="c9", tool_arguments='{"q": "x"}'
        )
        return await tool.on_invoke_tool(context, '{"q": "x"}')

    with wrapped(agent, MOCK, strict=False).session():
        assert asyncio.run(application()) == {"type": "text", "text": "mocked"}
    with pytest.raises(UnmockedToolError), wrapped(agent, strict=False).session():
        asyncio.run(application())
    assert not canary.hits


def built_by(owner: type[FunctionTool], real: Any) -> FunctionTool:
    return owner(
        name="lookup",
        description="",
        params_json_schema={"type": "object", "properties": {}},
        on_invoke_tool=real,
        strict_json_schema=False,
    )


def _property(real: Any) -> Any:
    class Property(FunctionTool):
        @property
        def on_invoke_tool(self) -> Any:
            return real

        @on_invoke_tool.setter
        def on_invoke_tool(self, value: Any) -> None: ...

    return built_by(Property, real)


def _redeclared(real: Any) -> Any:
    @dataclasses.dataclass
    class Redeclared(FunctionTool):
        on_invoke_tool: Any = None

    return built_by(Redeclared, real)


def _shell(real: Any) -> Any:
    @dataclasses.dataclass
    class Shell(LocalShellTool):
        executor: Any = None

    return Shell(executor=real)


@pytest.mark.parametrize("build", [_property, _redeclared, _shell])
@pytest.mark.parametrize("unmocked", ["error", "real"])
def test_tool_no_mock_could_stand_before_is_refused(canary: Canary, build: Any, unmocked: Any) -> None:
    """Such a class reads what runs it from where no stand-in is."""

    async def real(*given: Any) -> str:
        canary.hit("lookup")
        return "REAL"

    tool = build(real)
    step = {"tool_calls": [{"name": tool.name, "args": {"command": ["ls"]}}]}
    agent = Agent(name="Desk", tools=[tool])
    for mocks in ((MockTool(tool.name, response="mocked"),), ()):
        adapter = wrapped(agent, *mocks, model=FakeModel([step, "done"]), unmocked=unmocked)
        with pytest.raises(UnmockedToolError, match=f"{tool.name}.*defines anew"):
            adapter.sync_invoke("go")
    assert not canary.hits


def test_tool_of_a_class_that_keeps_the_sdks_field_is_mocked(canary: Canary) -> None:
    class Named(FunctionTool):
        """A tool of the application's own."""

    async def real(*given: Any) -> str:
        canary.hit("lookup")
        return "REAL"

    agent = Agent(name="Desk", tools=[built_by(Named, real)])
    assert wrapped(agent, MOCK).sync_invoke("go").tool_calls[0].mocked
    assert not canary.hits
