"""What the test did not allow ends a run at once and never hangs it."""

from __future__ import annotations

from contextlib import suppress

import pytest

from callsheet import FakeModel, ScriptExhaustedError, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.paths import PATHS
from tests.adapters.crewai.scripts import BOTH, SEARCH, calls


@BOTH
@pytest.mark.parametrize("path", PATHS)
def test_script_error_ends_a_run_at_its_first_model_call(path, native):
    model = FakeModel(agents={"Nobody": ["x"]})
    adapter = CrewAIAdapter(crews.crew, model=model)
    # Whatever the application makes of it, the session has the last word.
    with pytest.raises(ScriptExhaustedError), adapter.session(), suppress(Exception):
        PATHS[path][0](native)
    # Tasks that run beside each other may each have asked before the first was refused.
    assert model.call_count <= (
        2 if path.startswith(("async_execution", "Crew.kickoff_for_each_async")) else 1
    ) or (path == "Crew.akickoff_for_each" and model.call_count <= 2)


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
