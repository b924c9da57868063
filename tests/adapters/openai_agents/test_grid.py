"""Every kind of tool by every path: mocked it never runs, unmocked it is refused. Prints the grid."""

from __future__ import annotations

import asyncio
import pathlib
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from typing import Any

import pytest

from callsheet import FakeModel, MockTool, Session, UnknownMockError, UnmockedToolError
from callsheet_openai_agents import OpenAIAgentsAdapter
from tests.adapters.grids import Grid
from tests.adapters.openai_agents.kinds import KINDS, Canary, Kind
from tests.adapters.openai_agents.paths import PATHS, Path


def applies(kind: Kind, path: Path) -> bool:
    return path.needs is None or path.needs in kind.can_have


def ending(kind: Kind, path: Path) -> type[Exception] | None:
    """Give what a run raises; what ends the run of an agent used as a tool is that tool's failure."""
    inside = path.needs == "guardrails" and any("tool_calls" in step for _, step in kind.through)
    return None if inside else path.ends


CELLS = [(kind, path) for kind in KINDS for path in PATHS if applies(kind, path)]
IDS = [f"{kind.name}-{path.name}" for kind, path in CELLS]


KINDS_BY_NAME = {kind.name: kind for kind in KINDS}
PATHS_BY_NAME = {path.name: path for path in PATHS}
GRID = Grid(
    "Real bodies that ran, mocked and unmocked, by kind of tool and path",
    list(KINDS_BY_NAME),
    list(PATHS_BY_NAME),
    lambda kind, path: applies(KINDS_BY_NAME[kind], PATHS_BY_NAME[path]),
)


@pytest.fixture(scope="module", autouse=True)
def grid(request: Any) -> Iterator[None]:
    yield
    GRID.print_to(request.config)


def counted(kind: Kind, path: Path, canary: Canary) -> None:
    GRID.note(kind.name, path.name, canary.hits)
    assert canary.hits == 0


async def drive(kind: Kind, path: Path, canary: Canary, session: list[Session], *mocks: MockTool) -> None:
    agent = kind.build(canary, path.needs == "approval")
    script = kind.script()
    if path.fails_first:
        script["Desk"].insert(0, ConnectionResetError("down"))
    adapter = OpenAIAgentsAdapter(agent, tools=mocks, model=FakeModel(agents=script), strict=False)
    session.append(adapter.session())
    try:
        with session[0]:
            await path.drive(agent, kind.run_options())
    finally:
        # A streamed run takes its sandbox down in a task of its own, whose processes hang a closing loop.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=10)


@pytest.mark.parametrize(("kind", "path"), CELLS, ids=IDS)
def test_mocked_tool_never_runs(kind: Kind, path: Path, tmp_path: pathlib.Path) -> None:
    canary = Canary(tmp_path, path.tool_options)
    sessions: list[Session] = []
    mock = MockTool(kind.tool, response=kind.answer)
    # A run that ends early may end before its tool is even known.
    early = suppress(UnknownMockError) if path.call == "maybe" else nullcontext()
    ends = ending(kind, path)
    with early, pytest.raises(ends) if ends is not None else nullcontext():
        asyncio.run(drive(kind, path, canary, sessions, mock))
    counted(kind, path, canary)
    call = sessions[0].result.get_tool_call(kind.tool)
    if path.call == "answered":
        assert call is not None
        assert call.mocked
        assert (call.response, call.outcome, call.agent) == (kind.answer, "success", kind.owner)
    elif path.call == "denied":
        assert call is not None
        assert (call.outcome, call.mocked, mock.call_count) == ("denied", False, 0)


@pytest.mark.parametrize(("kind", "path"), CELLS, ids=IDS)
def test_unmocked_tool_is_refused(kind: Kind, path: Path, tmp_path: pathlib.Path) -> None:
    canary = Canary(tmp_path, path.tool_options)
    other = MockTool(kind.tool, response=kind.answer, when={"never": "asked"})
    refused: Any = pytest.raises(UnmockedToolError, match=kind.tool)
    ends = ending(kind, path)
    if path.call == "maybe":
        refused = suppress(UnmockedToolError, UnknownMockError, *[ends] if ends is not None else [])
    elif path.call == "denied":
        refused = pytest.raises(ends) if ends is not None else nullcontext()
    with refused:
        asyncio.run(drive(kind, path, canary, [], other))
    counted(kind, path, canary)
