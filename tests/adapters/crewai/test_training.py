"""Training, testing and replay of a crew: CrewAI's own, with the session answering."""

from __future__ import annotations

import pickle

import pytest

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.scripts import BOTH, SEARCH
from tests.adapters.crewai.watch import watched

MOCK = MockTool("search", response="MOCK")
LESSON = {"suggestions": ["Be brief"], "quality": 8, "final_summary": "Brief is better"}


def session(model, *mocks):
    return CrewAIAdapter(crews.crew, tools=mocks, model=model).session()


def one_task(native):
    who = crews.agent(native=native)
    return crews.Crew(agents=[who], tasks=[crews.task(who, "Research")])


@BOTH
def test_training_writes_what_crewai_writes(native, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = FakeModel(agents={"Researcher": [SEARCH, "long", "short"]}, responses=[{"output": LESSON}])
    with session(model, MOCK, MockTool("human_input", response="shorter")) as open_one:
        one_task(native).train(n_iterations=1, filename="lessons.pkl")
    assert [call.response for call in open_one.tool_calls] == ["MOCK", "shorter"]
    assert pickle.loads((tmp_path / "lessons.pkl").read_bytes())["Researcher"]["suggestions"] == ["Be brief"]
    assert not HITS


@BOTH
def test_unmocked_tool_never_runs_in_training(native, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnmockedToolError, match="search"), session(FakeModel([SEARCH, "never"])):
        one_task(native).train(n_iterations=1, filename="lessons.pkl")
    assert not HITS


@BOTH
def test_evaluator_of_a_tested_crew_is_scripted_by_its_role(native):
    judge = "Task Execution Evaluator"
    model = FakeModel(agents={"Researcher": [SEARCH, "Found"], judge: [{"output": {"quality": 9}}]})
    with watched() as (network, files), session(model, MOCK) as open_one:
        one_task(native).test(n_iterations=1, eval_llm=crews.native_llm())
    assert open_one.result.agents == ["Researcher", judge]
    assert (network, files, dict(HITS)) == ([], [], {})


@BOTH
def test_replay_runs_from_the_task_asked_for(native):
    crew = crews.crew(native=native)
    script = {"Researcher": [SEARCH, "Found"], "Writer": ["first", "second"]}
    with session(FakeModel(agents=script), MOCK) as open_one:
        crew.kickoff(inputs={"topic": "rust"})
        told = crew.replay(task_id=str(crew.tasks[1].id))
    assert told.raw == "second"
    assert open_one.result.response == "second"
    assert [call.name for call in open_one.tool_calls] == ["search"]


@BOTH
def test_unmocked_tool_never_runs_in_a_replay(native):
    crew = crews.crew(native=native)
    script = {"Researcher": ["Found"], "Writer": ["first"]}
    with session(FakeModel(agents=script)):
        crew.kickoff(inputs={"topic": "rust"})
        first = str(crew.tasks[0].id)
    again = FakeModel(agents={"Researcher": [SEARCH]}, default_response="never")
    with pytest.raises(UnmockedToolError, match="search"), session(again):
        crew.replay(task_id=first)
    assert not HITS
