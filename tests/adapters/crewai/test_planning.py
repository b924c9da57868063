"""Agents that plan and then carry their plan out step by step."""

from __future__ import annotations

import json

import pytest
from crewai import Crew
from crewai.agent.planning_config import PlanningConfig
from crewai.llms.base_llm import BaseLLM

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.scripts import BOTH, SEARCH, calls, run

STEPS = [{"step_number": 1, "description": "Look it up", "tool_to_use": "search", "depends_on": []}]
PLAN = {"plan": "Look it up", "steps": STEPS, "ready": True}
SEEN = {"step_completed_successfully": True, "key_information_learned": "2015"}


class PlanningLLM(BaseLLM):
    """Plans, searches and answers by itself; nothing of it is callsheet's."""

    def supports_function_calling(self):
        return True

    def call(self, messages, tools=None, *args, response_model=None, **kwargs):
        HITS["model"] += 1
        if tools and tools[0]["function"]["name"] == "create_reasoning_plan":
            return json.dumps(PLAN)
        if tools and not any(message["role"] == "tool" for message in messages):
            function = {"name": "search", "arguments": '{"q": "rust"}'}
            return [{"id": "c1", "type": "function", "function": function}]
        return "Found"


def planner(**options):
    effort = PlanningConfig(reasoning_effort="low")
    return crews.agent(planning_config=effort, **options)


def alone(who):
    return who


def in_a_crew(who):
    return Crew(agents=[who], tasks=[crews.task(who, "Research")])


@pytest.mark.parametrize("plan", [{"output": PLAN}, calls("create_reasoning_plan", **PLAN)])
@pytest.mark.parametrize("root", [alone, in_a_crew])
def test_plan_and_its_steps_are_scripted_by_the_agents_role(root, plan):
    model = FakeModel(agents={"Researcher": [plan, SEARCH, "Found", "Rust came in 2015."]})
    result = run(root(planner()), model, MockTool("search", response="MOCK"), message="Research")
    assert [(call.name, call.response, call.seen_by_model) for call in result.tool_calls] == [
        ("search", "MOCK", "MOCK")
    ]
    assert result.response == "Rust came in 2015."
    assert not HITS


def test_observer_of_the_steps_is_scripted_by_the_agents_role():
    who = crews.agent(planning_config=PlanningConfig(reasoning_effort="medium"))
    script = [{"output": PLAN}, SEARCH, "Found", {"output": SEEN}, "Rust came in 2015."]
    result = run(in_a_crew(who), FakeModel(agents={"Researcher": script}), MockTool("search", response=1))
    assert result.response == "Rust came in 2015."


@pytest.mark.parametrize("root", [alone, in_a_crew])
def test_unmocked_tool_of_a_step_never_runs(root):
    model = FakeModel(agents={"Researcher": [{"output": PLAN}, SEARCH, "never"]})
    with pytest.raises(UnmockedToolError, match="search"):
        run(root(planner()), model, message="Research")
    assert not HITS
    assert model.call_count == 2


@pytest.mark.parametrize("mocked_first", [True, False])
def test_executor_of_an_earlier_run_does_not_bring_the_real_tool_along(mocked_first):
    who = planner()
    who.llm = PlanningLLM(model="planning")
    crew = in_a_crew(who)

    def mocked():
        adapter = CrewAIAdapter(lambda: None, tools=[MockTool("search", response="MOCK")])
        with adapter.session() as session:
            crew.kickoff()
        assert [call.response for call in session.tool_calls] == ["MOCK"]

    if mocked_first:
        mocked()
        assert HITS["search"] == 0
    crew.kickoff()
    assert HITS["search"] == 1
    mocked()
    assert HITS["search"] == 1


@BOTH
def test_agent_without_function_calling_plans_in_text(native):
    """Its plan has no steps, so it goes on as an agent without a plan does."""
    script = ["Look it up. READY: I am ready to execute the task.", SEARCH, "Found"]
    result = run(planner(native=native), FakeModel(script), MockTool("search", response="M"), message="go")
    assert [call.response for call in result.tool_calls] == ["M"]
    assert result.response == "Found"
