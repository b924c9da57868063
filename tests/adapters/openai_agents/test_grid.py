"""Every kind of tool by every path: mocked it never runs, unmocked it is refused. Prints the grid."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from agents import Agent, Runner, RunState, SQLiteSession
from agents.run import AgentRunner, set_default_agent_runner

from callsheet import FakeModel, MockTool, Session, UnknownMockError, UnmockedToolError
from callsheet_openai_agents import OpenAIAgentsAdapter
from tests.adapters.openai_agents.kinds import KINDS, Canary, Kind

Path_ = Callable[[Agent[Any], dict[str, Any]], Awaitable[None]]
PATHS: dict[str, Path_] = {}
_cells: dict[tuple[str, str], int] = {}


def path(name: str) -> Callable[[Path_], Path_]:
    def register(drive: Path_) -> Path_:
        PATHS[name] = drive
        return drive

    return register


@path("run")
async def by_run(agent: Agent[Any], options: dict[str, Any]) -> None:
    await Runner.run(agent, "go", **options)


@path("run_sync")
async def by_run_sync(agent: Agent[Any], options: dict[str, Any]) -> None:
    errors: list[BaseException] = []

    def work() -> None:
        asyncio.set_event_loop(loop := asyncio.new_event_loop())
        try:
            Runner.run_sync(agent, "go", **options)
        except BaseException as error:
            errors.append(error)
        loop.close()

    thread = Thread(target=work)
    thread.start()
    await asyncio.to_thread(thread.join)
    if errors:
        raise errors[0]


@path("streamed")
async def by_stream(agent: Agent[Any], options: dict[str, Any]) -> None:
    async for _ in Runner.run_streamed(agent, "go", **options).stream_events():
        pass


@path("abandoned")
async def by_abandoned_stream(agent: Agent[Any], options: dict[str, Any]) -> None:
    streamed = Runner.run_streamed(agent, "go", **options)
    events = streamed.stream_events()
    await anext(events)
    del events
    gc.collect()
    await asyncio.wait({streamed.run_loop_task}, timeout=10)


@path("cancelled")
async def by_cancelled_stream(agent: Agent[Any], options: dict[str, Any]) -> None:
    streamed = Runner.run_streamed(agent, "go", **options)
    async for event in streamed.stream_events():
        if getattr(event, "name", None) == "tool_output":
            streamed.cancel(mode="after_turn")


@path("session")
async def by_session(agent: Agent[Any], options: dict[str, Any]) -> None:
    with closing(SQLiteSession("grid")) as memory:
        await Runner.run(agent, "go", session=memory, **options)


@path("response id")
async def by_response_id(agent: Agent[Any], options: dict[str, Any]) -> None:
    await Runner.run(agent, "go", auto_previous_response_id=True, **options)


@path("stop on tool")
async def by_stopping(agent: Agent[Any], options: dict[str, Any]) -> None:
    await Runner.run(agent.clone(tool_use_behavior="stop_on_first_tool"), "go", **options)


@path("custom runner")
async def by_custom_runner(agent: Agent[Any], options: dict[str, Any]) -> None:
    class Loud(AgentRunner):
        async def run(self, starting_agent: Agent[Any], input: Any, **kwargs: Any) -> Any:
            return await super().run(starting_agent, input, **kwargs)

    set_default_agent_runner(Loud())
    try:
        await Runner.run(agent, "go", **options)
    finally:
        set_default_agent_runner(None)


@path("approved")
async def by_approval(agent: Agent[Any], options: dict[str, Any]) -> None:
    result = await Runner.run(agent, "go", **options)
    state = result.to_state()
    assert result.interruptions
    for item in result.interruptions:
        state.approve(item)
    await Runner.run(agent, state, **options)


@path("approved, JSON")
async def by_saved_approval(agent: Agent[Any], options: dict[str, Any]) -> None:
    result = await Runner.run(agent, "go", **options)
    saved = json.dumps(result.to_state().to_json())
    state = await RunState.from_json(agent, json.loads(saved))
    assert state.get_interruptions()
    for item in state.get_interruptions():
        state.approve(item)
    await Runner.run(agent, state, **options)


def applies(kind: Kind, path: str) -> bool:
    return kind.can_need_approval or not path.startswith("approved")


CELLS = [(kind, name) for kind in KINDS for name in PATHS if applies(kind, name)]
IDS = [f"{kind.name}-{name}" for kind, name in CELLS]


@pytest.fixture(scope="module", autouse=True)
def grid(request: Any) -> Iterator[None]:
    yield
    # Captured output of a passing test is never shown.
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        out = request.config.get_terminal_writer()
        out.line("\n\nReal bodies that ran, mocked and unmocked, by kind of tool and path:\n")
        out.line("".ljust(24) + "".join(name.rjust(15) for name in PATHS))
        for kind in KINDS:
            cells = (_cells.get((kind.name, name), "" if applies(kind, name) else "-") for name in PATHS)
            out.line(kind.name.ljust(24) + "".join(str(cell).rjust(15) for cell in cells))


async def drive(kind: Kind, name: str, canary: Canary, *mocks: MockTool) -> Session:
    agent = kind.build(canary, name.startswith("approved"))
    model = FakeModel(agents=kind.script())
    session = OpenAIAgentsAdapter(agent, tools=mocks, model=model, strict=False).session()
    try:
        with session:
            await PATHS[name](agent, kind.run_options())
    finally:
        # A streamed run takes its sandbox down in a task of its own, whose processes hang a closing loop.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=10)
    return session


@pytest.mark.parametrize(("kind", "name"), CELLS, ids=IDS)
def test_mocked_tool_never_runs(kind: Kind, name: str, tmp_path: Path) -> None:
    canary = Canary(tmp_path)
    session = asyncio.run(drive(kind, name, canary, MockTool(kind.tool, response=kind.answer)))
    _cells[kind.name, name] = _cells.get((kind.name, name), 0) + canary.hits
    assert canary.hits == 0
    call = session.result.get_tool_call(kind.tool)
    # A stream that was left early may end before its tool is called.
    if name != "abandoned":
        assert call is not None
        assert call.mocked
        assert (call.response, call.outcome, call.agent) == (kind.answer, "success", kind.owner)


@pytest.mark.parametrize(("kind", "name"), CELLS, ids=IDS)
def test_unmocked_tool_is_refused(kind: Kind, name: str, tmp_path: Path) -> None:
    canary = Canary(tmp_path)
    other = MockTool(kind.tool, response=kind.answer, when={"never": "asked"})
    # A stream that was left early may end before its tool is called, or even known.
    left_early = suppress(UnmockedToolError, UnknownMockError)
    with left_early if name == "abandoned" else pytest.raises(UnmockedToolError, match=kind.tool):
        asyncio.run(drive(kind, name, canary, other))
    _cells[kind.name, name] = _cells.get((kind.name, name), 0) + canary.hits
    assert canary.hits == 0
