"""Every kind of tool by every way to run an agent: a mock answers, and without one nothing runs."""

from __future__ import annotations

from typing import Any

import pytest

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.pydantic_ai.support import KINDS, PATHS, hits

GRID = [(kind, path) for kind in KINDS for path in PATHS]


@pytest.fixture(autouse=True)
def no_hits() -> None:
    hits.clear()


def wrapped(kind: str, clerk: Any, *mocks: MockTool) -> PydanticAIAdapter:
    call = {"tool_calls": [{"name": KINDS[kind].tool, "args": KINDS[kind].args}]}
    steps = [call] if KINDS[kind].final else [call, "done"]
    return PydanticAIAdapter(clerk, tools=mocks, model=FakeModel(steps), strict=bool(mocks))


@pytest.mark.parametrize(("kind", "path"), GRID)
def test_mock_answers(kind: str, path: str) -> None:
    clerk = KINDS[kind].build()
    adapter = wrapped(kind, clerk, MockTool(KINDS[kind].tool, response="refunded"))
    with adapter.session() as session:
        output = PATHS[path](clerk, **KINDS[kind].run_options())
    assert not hits
    assert output == ("refunded" if KINDS[kind].final else "done")
    call = next(entry.tool_call for entry in session.trace if entry.tool_call is not None)
    assert (call.name, call.args, call.response) == (KINDS[kind].tool, {"order": "A1"}, "refunded")
    assert (call.mocked, call.outcome, call.agent) == (True, "success", "Clerk")
    # Version 2.0 leaves the run of run_stream_sync open, so that its last reply is never over.
    assert call.turn == 0 or (path == "run_stream_sync" and KINDS[kind].final)
    assert call.kind == ("output" if KINDS[kind].final else "function")
    assert session.result.output == output


@pytest.mark.parametrize(("kind", "path"), GRID)
def test_without_a_mock_nothing_runs(kind: str, path: str) -> None:
    clerk = KINDS[kind].build()
    with pytest.raises(UnmockedToolError, match=KINDS[kind].tool), wrapped(kind, clerk).session() as session:
        PATHS[path](clerk, **KINDS[kind].run_options())
    assert not hits
    assert [entry.tool_call.outcome for entry in session.trace if entry.tool_call] == ["denied"]


@pytest.mark.parametrize("kind", KINDS)
def test_canaries_can_be_hit(kind: str) -> None:
    clerk = KINDS[kind].build()
    call = {"tool_calls": [{"name": KINDS[kind].tool, "args": KINDS[kind].args}]}
    adapter = PydanticAIAdapter(clerk, model=FakeModel([call, "done"]), unmocked="real", strict=False)
    with adapter.session():
        PATHS["run"](clerk, **KINDS[kind].run_options())
    assert hits["refund"] == 1


@pytest.mark.parametrize("path", PATHS)
def test_tool_hidden_in_code_mode_is_judged_by_itself(path: str) -> None:
    kind = "hidden in code mode"
    clerk = KINDS[kind].build()
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
