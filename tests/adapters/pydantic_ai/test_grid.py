"""Every kind of tool by every way to run an agent: a mock answers, and without one nothing runs.

Prints the grid of real bodies that ran.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from pydantic_ai.exceptions import UserError

from callsheet import FakeModel, MockTool, Session, ToolCall, UnmockedToolError
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.grids import Grid
from tests.adapters.pydantic_ai.support import KINDS, PATHS, SYNC_STREAMS_STAY_OPEN, Kind, drive, hits

STREAMS = ("run_stream", "stream_output", "run_stream_sync")
EVERY = [(kind, path) for kind in KINDS for path in PATHS]
GRID = [(kind, path) for kind, path in EVERY if KINDS[kind].streams or path not in STREAMS]
CELLS = Grid(
    "Real bodies that ran, mocked and unmocked, by kind of tool and path",
    list(KINDS),
    list(PATHS),
    lambda kind, path: (kind, path) in GRID,
)


@pytest.fixture(autouse=True)
def no_hits() -> None:
    hits.clear()


@pytest.fixture(scope="module", autouse=True)
def grid(request: Any) -> Iterator[None]:
    yield
    CELLS.print_to(request.config)


def count(kind: str, path: str) -> int:
    """Note a try of a cell in the grid and give the bodies that ran."""
    CELLS.note(kind, path, hits.total())
    return hits.total()


def steps(kind: Kind) -> list[Any]:
    call = {"tool_calls": [{"name": kind.tool, "args": kind.args}]}
    if kind.final:
        return [call]
    delegate = {"tool_calls": [{"name": "delegate", "args": {"order": "A1"}}]}
    return [*[delegate] * kind.depth, call, *["done"] * (kind.depth + 1)]


def wrapped(kind: Kind, clerk: Any, *mocks: MockTool) -> PydanticAIAdapter:
    spies = [MockTool.spy("delegate")] if kind.depth else []
    return PydanticAIAdapter(clerk, tools=[*spies, *mocks], model=FakeModel(steps(kind)), strict=bool(mocks))


def calls_of(kind: Kind, session: Session) -> list[ToolCall]:
    calls = [entry.tool_call for entry in session.trace if entry.tool_call is not None]
    return [call for call in calls if call.name == kind.tool]


@pytest.mark.parametrize(("name", "path"), GRID)
def test_mock_answers(name: str, path: str) -> None:
    kind = KINDS[name]
    clerk = kind.build()
    with wrapped(kind, clerk, MockTool(kind.tool, response="refunded")).session() as session:
        output = drive(kind, clerk, path)
    assert count(name, path) == 0
    assert output == ("refunded" if kind.final else "done")
    (call,) = calls_of(kind, session)
    assert (call.args, call.response) == ({"order": "A1"}, "refunded")
    assert (call.mocked, call.outcome, call.kind) == (True, "success", kind.recorded_as)
    # The framework infers the name of a nested agent from a variable.
    assert call.agent == ("assistant" if kind.depth else "Clerk")
    left_open = path == "run_stream_sync" and kind.final and SYNC_STREAMS_STAY_OPEN
    assert call.turn == (None if left_open else 0)
    assert session.result.output == output


@pytest.mark.parametrize(("name", "path"), GRID)
def test_without_a_mock_nothing_runs(name: str, path: str) -> None:
    kind = KINDS[name]
    clerk = kind.build()
    # A server that stays closed offers no tool to refuse.
    refused = nullcontext() if kind.closed else pytest.raises(UnmockedToolError, match=kind.tool)
    with refused, wrapped(kind, clerk).session() as session:
        drive(kind, clerk, path)
    assert count(name, path) == 0
    assert [call.outcome for call in calls_of(kind, session)] == ["unknown" if kind.closed else "denied"]


@pytest.mark.parametrize(("name", "path"), [cell for cell in EVERY if cell not in GRID])
def test_stream_ends_before_a_deferred_call_is_resolved(name: str, path: str) -> None:
    kind = KINDS[name]
    clerk = kind.build()
    given = wrapped(kind, clerk, MockTool(kind.tool, response="refunded"))
    with pytest.raises(UserError, match="deferred tool call"), given.session():
        drive(kind, clerk, path)
    assert not hits


@pytest.mark.parametrize("name", KINDS)
def test_canaries_can_be_hit(name: str) -> None:
    kind = KINDS[name]
    clerk = kind.build()
    adapter = PydanticAIAdapter(
        clerk, model=FakeModel(steps(kind)), unmocked="real", strict=False, offline=False
    )
    with adapter.session():
        drive(kind, clerk, "run")
    assert hits["refund"] == 1


@pytest.mark.parametrize("path", PATHS)
def test_tool_hidden_in_code_mode_is_judged_by_itself(path: str) -> None:
    kind = KINDS["hidden in code mode"]
    clerk = kind.build()
    adapter = wrapped(kind, clerk, MockTool.spy("run_code"), MockTool("refund", response="refunded"))
    with adapter.session() as session:
        PATHS[path](clerk)
    assert hits == {"run_code": 1}
    assert session.result.tool_names == ["run_code", "refund"]
    hits.clear()
    with (
        pytest.raises(UnmockedToolError, match="'refund'"),
        wrapped(kind, clerk, MockTool.spy("run_code")).session(),
    ):
        PATHS[path](clerk)
    assert hits == {"run_code": 1}
