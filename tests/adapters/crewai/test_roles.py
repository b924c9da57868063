"""Everyone who asks a model, or a person: planners, converters, guardrails, managers."""

from __future__ import annotations

import pytest
from crewai import Crew, Task
from crewai.flow.flow import Flow, start
from crewai.flow.human_feedback import human_feedback
from pydantic import BaseModel

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.scripts import BOTH, SEARCH, run


class Fact(BaseModel):
    title: str
    year: int


FACT = {"title": "Rust", "year": 2015}


@pytest.mark.parametrize("kind", ["output_pydantic", "output_json"])
@BOTH
def test_structured_task_output(native, kind):
    who = crews.agent(native=native, tools=[])
    task = Task(description="d", expected_output="e", agent=who, **{kind: Fact})
    model = FakeModel(default_response={"output": FACT})
    result = run(Crew(agents=[who], tasks=[task]), model)
    assert result.output == (Fact(**FACT) if kind == "output_pydantic" else FACT)


def test_structured_agent_answer():
    model = FakeModel(default_response={"output": FACT})
    result = CrewAIAdapter(crews.agent(tools=[]), model=model).sync_invoke("go", response_format=Fact)
    assert result.output == Fact(**FACT)


@BOTH
def test_guardrail_sends_the_task_back(native):
    who = crews.agent(native=native)
    task = crews.task(
        who,
        "Research",
        guardrail=lambda output: (output.raw == "good", "good" if output.raw == "good" else "bad"),
    )
    model = FakeModel(agents={"Researcher": [SEARCH, "poor", "good"]})
    result = run(Crew(agents=[who], tasks=[task]), model, MockTool("search", response=1))
    assert result.response == "good"
    assert [e.content for e in result.trace if e.role == "assistant"] == ["poor", "good"]


def test_planner_is_scripted_by_its_role():
    who = crews.agent(tools=[])
    plan = {"list_of_plans_per_task": [{"task_number": 1, "task": "Research", "plan": "Think"}]}
    crew = Crew(
        agents=[who], tasks=[crews.task(who, "Research")], planning=True, planning_llm=crews.native_llm()
    )
    model = FakeModel(agents={"Task Execution Planner": [{"output": plan}], "Researcher": ["Found"]})
    result = run(crew, model)
    assert result.response == "Found"
    assert crew.tasks[0].description == "Research"


@BOTH
def test_person_is_asked_as_a_tool_is(native):
    def crew():
        who = crews.agent(native=native, tools=[])
        return Crew(agents=[who], tasks=[crews.task(who, "Draft", human_input=True)])

    person = MockTool("human_input", responses=["shorter", ""])
    result = run(crew, FakeModel(["long", "short"]), person)
    assert result.response == "short"
    assert [call.response for call in result.tool_calls] == ["shorter", ""]
    with pytest.raises(UnmockedToolError, match="human_input"):
        run(crew, FakeModel(["long"]))


def test_person_asked_by_a_flow_is_asked_as_a_tool_is():
    class Draft(Flow):
        @start()
        @human_feedback(message="Good?")
        def draft(self):
            return "a draft"

        @start()
        def who(self):
            return self.ask("Your name?")

    result = run(Draft, FakeModel(), MockTool("human_input", response="fine"))
    assert [call.response for call in result.tool_calls] == ["fine", "fine"]
    with pytest.raises(UnmockedToolError, match="human_input"):
        run(Draft, FakeModel())
