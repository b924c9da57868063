"""Memory and knowledge: empty while the model is scripted, and nobody is asked for embeddings."""

from __future__ import annotations

import pytest
from crewai import Crew
from crewai.knowledge.source.string_knowledge_source import StringKnowledgeSource
from crewai.memory.unified_memory import Memory

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.scripts import BOTH, SEARCH, calls, run
from tests.adapters.crewai.watch import watched

RECALL = calls("search_memory", queries=["rust"])
REMEMBER = calls("save_to_memory", contents=["Rust is ten"])
REMEMBER_TWO = calls("save_to_memory", contents=["Rust is ten", "Go is older"])


def remembering(native, **options):
    who = crews.agent(native=native, **options)
    return Crew(agents=[who], tasks=[crews.task(who, "Research")], memory=True)


@BOTH
@pytest.mark.parametrize("of", ["crew", "agent", "agent on its own"])
def test_memory_is_empty_and_asks_no_provider(of, native):
    def build():
        if of == "crew":
            return remembering(native)
        who = crews.agent(native=native, memory=True)
        return who if of != "agent" else Crew(agents=[who], tasks=[crews.task(who, "Research")])

    with watched() as (network, files):
        result = run(build, FakeModel([SEARCH, "done"]), MockTool("search", response=1), message="go")
    assert result.response == "done"
    assert (network, files) == ([], [])


@BOTH
def test_memory_tools_are_mocked_as_any_tool_is(native):
    model = FakeModel([RECALL, REMEMBER, "done"])
    mocks = [MockTool("search_memory", response="Rust is ten"), MockTool("save_to_memory", response="kept")]
    result = run(remembering(native), model, *mocks)
    assert [(call.name, call.response, call.mocked) for call in result.tool_calls] == [
        ("search_memory", "Rust is ten", True),
        ("save_to_memory", "kept", True),
    ]


@BOTH
def test_memory_tools_nobody_mocked_are_refused(native):
    with pytest.raises(UnmockedToolError, match="search_memory"):
        run(remembering(native), FakeModel([RECALL, "never"]))


@BOTH
def test_memory_tools_that_may_run_find_nothing_and_keep_nothing(native):
    model = FakeModel([RECALL, REMEMBER, REMEMBER_TWO, RECALL, "done"])
    spies = [MockTool.spy("search_memory"), MockTool.spy("save_to_memory")]
    with watched() as (network, files):
        result = run(lambda: remembering(native), model, *spies)
    assert [call.outcome for call in result.tool_calls] == ["success"] * 4
    assert {call.response for call in result.get_all_tool_calls("search_memory")} == {
        "No relevant memories found."
    }
    assert (network, files) == ([], [])


def test_memory_of_ones_own_storage_is_neither_read_nor_written():
    class Untouchable:
        def __getattr__(self, name):
            raise AssertionError(f"the storage was asked for {name}")

    memory = Memory(llm=crews.native_llm())
    memory._storage = Untouchable()
    adapter = CrewAIAdapter(lambda: None, model=FakeModel())
    with adapter.session():
        assert memory.remember("Rust is ten").content == "Rust is ten"
        assert memory.remember_many(["a", "b"]) == []
        assert memory.recall("rust") == []
        assert memory.extract_memories("A text") == []


def test_knowledge_is_empty_and_asks_no_provider():
    source = StringKnowledgeSource(content="Rust is ten.")
    who = crews.agent(knowledge_sources=[source])
    crew = Crew(agents=[who], tasks=[crews.task(who, "Research")])
    # An agent with knowledge first asks its model what to look for.
    model = FakeModel(agents={"Researcher": ["rust age", "done"]})
    with watched() as (network, files):
        assert run(crew, model).response == "done"
    assert (network, files) == ([], [])
    assert "Rust is ten" not in str(model.call_log)
