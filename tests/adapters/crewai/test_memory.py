"""Memory and knowledge: empty while the model is scripted, and nobody is asked for embeddings."""

from __future__ import annotations

from callsheet import FakeModel, MockTool
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.scripts import SEARCH
from tests.adapters.crewai.watch import watched


def test_memory_is_empty_and_asks_no_provider():
    model = FakeModel(agents={"Researcher": [SEARCH, "done"], "Writer": ["w"]})
    with watched() as (network, files):
        adapter = CrewAIAdapter(
            lambda: crews.crew(memory=True), tools=[MockTool("search", response=1)], model=model
        )
        assert adapter.sync_invoke({"topic": "x"}).response == "w"
    assert (network, files) == ([], [])
