"""Every style of agent, run in every way: what is mocked is answered by its mock, what is not is refused.

Prints the grid of real bodies that ran.
"""

from __future__ import annotations

import pytest

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.grids import Grid
from tests.adapters.langgraph.paths import PATHS, SYNC
from tests.adapters.langgraph.styles import BROKEN_UPSTREAM, HITS, ONLY_ASYNC, STYLES

GRID = [
    (style, path)
    for style in STYLES
    for path in PATHS
    if not (style in ONLY_ASYNC and path in SYNC) and (style, path) not in BROKEN_UPSTREAM
]
CELLS = Grid(
    "Real bodies that ran, mocked and unmocked, by style of agent and path",
    list(STYLES),
    list(PATHS),
    lambda style, path: (style, path) in GRID,
)
LOOKUP = {"tool_calls": [{"name": "lookup", "args": {"city": "Oslo"}}]}


def asked():
    return {"messages": [{"role": "user", "content": "Oslo?"}]}


@pytest.fixture(scope="module", autouse=True)
def _grid(request):
    yield
    CELLS.print_to(request.config)


@pytest.fixture(autouse=True)
def _no_hits(request):
    HITS.clear()
    yield
    style, path = request.node.callspec.params["style"], request.node.callspec.params["path"]
    CELLS.note(style, path, HITS.total())
    assert not HITS


@pytest.mark.parametrize(("style", "path"), GRID)
def test_mocked_tool_is_answered_by_its_mock(style, path):
    graph = STYLES[style]()
    model = FakeModel([LOOKUP, "It is cold"])
    adapter = LangGraphAdapter(
        graph, tools=[MockTool("lookup", response="cold")], model=model, strict=style != "return-direct"
    )
    with adapter.session() as session:
        PATHS[path](graph, asked())
    (call,) = session.tool_calls
    assert (call.name, call.args, call.response, call.mocked) == ("lookup", {"city": "Oslo"}, "cold", True)
    assert (call.turn, call.index, call.outcome) == (0, 0, "success")
    assert session.result.response == ("cold" if style == "return-direct" else "It is cold")
    assert [entry["role"] for entry in session.result.trajectory()][:2] == ["user", "tool"]


@pytest.mark.parametrize(("style", "path"), GRID)
def test_unmocked_tool_is_refused(style, path):
    graph = STYLES[style]()
    with (
        pytest.raises(UnmockedToolError, match="lookup"),
        LangGraphAdapter(graph, model=FakeModel([LOOKUP, "never"])).session(),
    ):
        PATHS[path](graph, asked())
