"""Agents that hand work to each other."""

from __future__ import annotations

from callsheet import FakeModel, MockTool
from tests.adapters.crewai import crews
from tests.adapters.crewai.scripts import BOTH, DELEGATE, SEARCH, run


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
