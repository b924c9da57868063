"""Agents that hand work to each other."""

from __future__ import annotations

import pytest
from crewai import Crew

from callsheet import FakeModel, MockTool, UnmockedToolError
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.scripts import BOTH, DELEGATE, SEARCH, calls, run


@BOTH
def test_delegation_is_parentage(native):
    model = FakeModel(agents={"Crew Manager": [DELEGATE, "Managed"], "Researcher": [SEARCH, "Found"]})
    result = run(crews.hierarchical(native=native), model, MockTool("search", response="MOCK"))
    delegation, search = result.tool_calls
    assert (delegation.kind, delegation.agent, delegation.response) == ("agent", "Crew Manager", "Found")
    assert (search.parent_id, search.agent) == (delegation.id, "Researcher")
    assert result.agents == ["Crew Manager", "Researcher"]
    assert [step["role"] for step in result.trajectory()] == [
        "user",
        "tool",
        "tool",
        "assistant",
        "assistant",
    ]


@BOTH
def test_delegation_can_be_mocked(native):
    model = FakeModel(agents={"Crew Manager": [DELEGATE, "Managed"]})
    delegation = MockTool("delegate_work_to_coworker", response="by hand")
    result = run(crews.hierarchical(native=native), model, delegation)
    assert [call.response for call in result.tool_calls] == ["by hand"]


def asking_crew(native):
    researcher = crews.agent(native=native)
    writer = crews.agent("Writer", native=native, tools=[], allow_delegation=True)
    return Crew(agents=[researcher, writer], tasks=[crews.task(writer, "Write about rust")])


@BOTH
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("delegate_work_to_coworker", {"task": "How old?", "context": "none"}),
        ("ask_question_to_coworker", {"question": "How old?", "context": "none"}),
    ],
    ids=["delegate", "ask"],
)
@pytest.mark.parametrize("coworker", ["Researcher", "  researcher ", '"RESEARCHER"', "[researcher, Writer]"])
def test_coworker_is_found_as_crewai_finds_it(tool, args, coworker, native):
    hand_over = calls(tool, coworker=coworker, **args)
    model = FakeModel(agents={"Writer": [hand_over, "Written"], "Researcher": [SEARCH, "Ten"]})
    result = run(asking_crew(native), model, MockTool("search", response="MOCK"))
    asked, search = result.tool_calls
    assert (asked.name, asked.kind, asked.response, asked.mocked) == (tool, "agent", "Ten", False)
    assert (search.parent_id, search.agent, search.response) == (asked.id, "Researcher", "MOCK")
    assert not HITS


@BOTH
def test_asking_a_coworker_can_be_mocked(native):
    ask = calls("ask_question_to_coworker", coworker="Researcher", question="How old?", context="none")
    model = FakeModel(agents={"Writer": [ask, "Written"]})
    result = run(asking_crew(native), model, MockTool("ask_question_to_coworker", response="Ten"))
    assert [(call.name, call.response, call.mocked) for call in result.tool_calls] == [
        ("ask_question_to_coworker", "Ten", True)
    ]


@BOTH
def test_unknown_coworker_is_told_to_the_model_and_runs_nobody(native):
    ask = calls("ask_question_to_coworker", coworker="Nobody", question="How old?", context="none")
    model = FakeModel(agents={"Writer": [ask, "Written"]})
    result = run(asking_crew(native), model)
    assert "coworker" in result.tool_calls[0].seen_by_model
    assert result.agents == ["Writer"]


@BOTH
def test_unmocked_tool_of_an_asked_coworker_fails_the_test(native):
    ask = calls("ask_question_to_coworker", coworker="Researcher", question="How old?", context="none")
    model = FakeModel(agents={"Writer": [ask, "never"], "Researcher": [SEARCH, "never"]})
    with pytest.raises(UnmockedToolError, match="search"):
        run(asking_crew(native), model)
    assert not HITS
