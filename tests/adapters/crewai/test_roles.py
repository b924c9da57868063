"""Everyone who asks a model, or a person: planners, converters, guardrails, managers."""

from __future__ import annotations

import pytest
from crewai import Crew, Process, Task
from crewai.flow.flow import Flow, listen, start
from crewai.flow.human_feedback import human_feedback
from pydantic import BaseModel

from callsheet import FakeModel, MockTool, ScriptExhaustedError, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.scripts import BOTH, DELEGATE, SEARCH, run


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


def is_good(output):
    return (output.raw == "good", "good" if output.raw == "good" else "bad")


GUARDRAIL = "It must be good."
REFUSED, PASSED = ({"output": {"valid": valid, "feedback": "bad"}} for valid in (False, True))


@pytest.mark.parametrize("of", ["task", "task, one of several", "agent"])
@BOTH
def test_guardrail_in_words_is_scripted_by_its_role(of, native):
    who = crews.agent(native=native, tools=[], **({"guardrail": GUARDRAIL} if of == "agent" else {}))
    given = {"task": {"guardrail": GUARDRAIL}, "task, one of several": {"guardrails": [is_good, GUARDRAIL]}}
    judged = FakeModel(
        agents={"Researcher": ["good", "good"], "Guardrail Agent": [REFUSED, PASSED]},
    )
    root = who if of == "agent" else Crew(agents=[who], tasks=[crews.task(who, "Research", **given[of])])
    result = run(root, judged, message="Research")
    assert (result.response, result.agents) == ("good", ["Researcher", "Guardrail Agent"])
    told = [call["messages"][-1]["content"] for call in judged.call_log if call["agent"] == "Guardrail Agent"]
    assert all(GUARDRAIL in text for text in told)


@BOTH
def test_guardrail_in_words_without_a_script_is_a_script_error(native):
    who = crews.agent(native=native, tools=[])
    crew = Crew(agents=[who], tasks=[crews.task(who, "Research", guardrail=GUARDRAIL)])
    with pytest.raises(ScriptExhaustedError, match="Guardrail Agent"):
        run(crew, FakeModel(agents={"Researcher": ["good"]}))


@pytest.mark.parametrize(
    ("native", "kind"), [(True, "output_pydantic"), (True, "output_json"), (False, "output_pydantic")]
)
def test_converter_is_scripted_as_the_agent_whose_task_it_is(native, kind):
    """It asks when an answer is not what the task wants, and CrewAI does not say for whom."""
    who = crews.agent(native=native)
    task = Task(description="d", expected_output="e", agent=who, **{kind: Fact})
    model = FakeModel(agents={"Researcher": ["Rust came in 2015.", {"output": FACT}]})
    result = run(Crew(agents=[who], tasks=[task]), model)
    assert result.output == (Fact(**FACT) if kind == "output_pydantic" else FACT)
    assert "Rust came in 2015." in str(model.call_log[1]["messages"])


def test_reply_that_is_not_what_was_asked_for_is_told_all_the_same():
    who = crews.agent(tools=[])
    task = Task(description="d", expected_output="e", agent=who, output_pydantic=Fact)
    result = run(Crew(agents=[who], tasks=[task]), FakeModel(["Rust came in 2015.", {"output": FACT}]))
    said = [entry.content for entry in result.trace if entry.role == "assistant"]
    assert said == ["Rust came in 2015.", '{"title":"Rust","year":2015}']


def test_function_calling_model_reads_what_an_agent_wrote():
    who = crews.agent(native=False, function_calling_llm=crews.native_llm("reader"))
    wrote = {"tool_calls": [{"name": "search", "args": "for rust, please"}]}
    read = {"output": {"tool_name": "search", "arguments": {"q": "rust"}}}
    model = FakeModel(agents={"Researcher": [wrote, read, "Found"]})
    result = run(Crew(agents=[who], tasks=[crews.task(who, "x")]), model, MockTool("search", response="MOCK"))
    assert [call["model"] for call in model.call_log] == ["text-model", "reader", "text-model"]
    assert [(call.args, call.response) for call in result.tool_calls] == [({"q": "rust"}, "MOCK")]
    assert not HITS


def test_manager_of_ones_own_is_scripted_by_its_role():
    researcher = crews.agent()
    boss = crews.agent("Boss", tools=[], allow_delegation=True)
    crew = Crew(
        agents=[researcher],
        tasks=[Task(description="Research", expected_output="A fact")],
        process=Process.hierarchical,
        manager_agent=boss,
    )
    model = FakeModel(agents={"Boss": [DELEGATE, "Managed"], "Researcher": ["Found"]})
    result = run(crew, model)
    assert (result.agents, result.response) == (["Boss", "Researcher"], "Managed")


def test_model_nobody_asks_as_an_agent_takes_what_is_scripted_for_all():
    class Review(Flow):
        @start()
        @human_feedback(message="Good?", emit=["yes", "no"], llm="gpt-4o", default_outcome="no")
        def draft(self):
            return "a draft"

        @listen("yes")
        def publish(self):
            return "published"

    model = FakeModel([{"output": {"outcome": "yes"}}])
    result = run(Review, model, MockTool("human_input", response="I like it"))
    assert result.response == "published"
    assert [call["agent"] for call in model.call_log] == [None]


def test_model_of_a_flow_method_takes_what_is_scripted_for_all():
    class Ask(Flow):
        @start()
        def ask(self):
            return crews.native_llm().call("How old is rust?")

    assert run(Ask, FakeModel(["Ten"])).response == "Ten"
    with pytest.raises(ScriptExhaustedError):
        run(Ask, FakeModel(agents={"Researcher": []}, responses=[]))
