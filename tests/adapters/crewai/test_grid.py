"""Every entry point, with native calls and with calls as text: nothing real, nothing sent, nothing left."""

from __future__ import annotations

import sys
from contextlib import suppress

import pytest

from callsheet import MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.paths import PATHS, Script
from tests.adapters.crewai.watch import watched


def session(model, *mocks):
    return CrewAIAdapter(crews.crew, tools=mocks, model=model).session()


@pytest.mark.parametrize("native", [True, False], ids=["native", "text"])
@pytest.mark.parametrize("path", PATHS)
def test_mocked_tool_answers(path, native, capfd):
    run, searches = PATHS[path]
    with (
        watched() as (network, files),
        session(Script().model, MockTool("search", response="MOCK")) as open_one,
    ):
        run(native)
    calls = [call for call in open_one.tool_calls if call.name == "search"]
    printed = capfd.readouterr()
    line = f"{path:32} {'native' if native else 'text':7}"
    with capfd.disabled():
        sys.stdout.write(f"\n{line} hits={HITS.total()} connections={len(network)} files={len(files)}")
    assert [call.response for call in calls] == ["MOCK"] * searches
    assert all(call.mocked and call.outcome == "success" for call in calls)
    assert (dict(HITS), network, files) == ({}, [], [])
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.parametrize("native", [True, False], ids=["native", "text"])
@pytest.mark.parametrize("path", PATHS)
def test_unmocked_tool_never_runs(path, native):
    model = Script().model
    # Whatever the application makes of it, the session has the last word.
    with (
        watched() as (network, _),
        pytest.raises(UnmockedToolError, match="search"),
        session(model),
        suppress(Exception),
    ):
        PATHS[path][0](native)
    assert (dict(HITS), network) == ({}, [])
