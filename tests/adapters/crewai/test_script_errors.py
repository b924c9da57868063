"""What the test did not allow ends a run at once and never hangs it."""

from __future__ import annotations

from contextlib import suppress

import pytest

from callsheet import FakeModel, ScriptError, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.paths import PATHS, Script
from tests.adapters.crewai.scripts import BOTH, SEARCH, calls

# What runs beside each other may each have asked before the first was refused.
SIDE_BY_SIDE = {
    "Crew.kickoff_for_each_async": 2,
    "Crew.akickoff_for_each": 2,
    "async_execution": 2,
    "async_execution akickoff": 2,
}


def wrong_shape(request):
    return {"handoff": "Writer"}


@BOTH
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cause", ["nothing scripted", "a step no agent can take"])
def test_script_error_ends_a_run_at_its_first_model_call(path, native, cause):
    step = {} if cause == "nothing scripted" else {"default_response": wrong_shape}
    model = FakeModel(agents={"Nobody": ["x"]}, **step)
    adapter = CrewAIAdapter(crews.crew, model=model, strict=False)
    # Whatever the application makes of it, the session has the last word.
    with pytest.raises(ScriptError), adapter.session() as session, suppress(Exception):
        PATHS[path][0](native)
    assert 1 <= model.call_count <= SIDE_BY_SIDE.get(path, 1)
    assert session.tool_calls == []
    assert not HITS


@BOTH
@pytest.mark.parametrize("path", PATHS)
def test_unmocked_tool_ends_a_run_at_the_model_call_that_wanted_it(path, native):
    model = Script().model
    with (
        pytest.raises(UnmockedToolError, match="search"),
        CrewAIAdapter(crews.crew, model=model).session(),
        suppress(Exception),
    ):
        PATHS[path][0](native)
    delegated = 1 if path.startswith("hierarchical") else 0
    assert 1 <= model.call_count - delegated <= SIDE_BY_SIDE.get(path, 1)
    assert not HITS


def test_script_that_runs_out_of_items_does_not_hang():
    items = iter(())
    adapter = CrewAIAdapter(
        crews.parallel_tasks(), model=FakeModel(default_response=lambda request: next(items))
    )
    with pytest.raises(RuntimeError, match="StopIteration"):
        adapter.sync_invoke(None)


@BOTH
def test_violation_of_a_delegated_agent_reaches_the_test(native):
    delegate = calls("delegate_work_to_coworker", coworker="Researcher", task="Find", context="none")
    model = FakeModel(agents={"Crew Manager": [delegate, "never"], "Researcher": [SEARCH, "never"]})
    with pytest.raises(UnmockedToolError, match="search"):
        CrewAIAdapter(crews.hierarchical(native=native), model=model).sync_invoke(None)
    assert model.call_count == 2
    assert not HITS
