"""Flows written as definitions: their actions build tools, agents and crews while they run."""

from __future__ import annotations

import asyncio
import json

import pytest
from crewai.flow.flow import Flow

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.scripts import SEARCH

SEARCH_TOOL = "tests.adapters.crewai.crews:Search"
TOOL = {"call": "tool", "ref": SEARCH_TOOL, "with": {"q": "rust"}}
RESEARCHER = {
    "role": "Researcher",
    "goal": "Find out",
    "backstory": "Curious",
    "llm": {"model": "gpt-4o", "provider": "openai", "api_key": "none"},
    "tools": [SEARCH_TOOL],
}
AGENT = {"call": "agent", "with": {**RESEARCHER, "input": "Research rust"}}
CREW = {
    "call": "crew",
    "with": {
        "agents": {"researcher": RESEARCHER},
        "tasks": [
            {"name": "research", "description": "Research", "expected_output": "f", "agent": "researcher"}
        ],
    },
}
EACH = {"call": "each", "in": "['rust', 'go']", "do": [{"name": "look", "action": TOOL}]}

# Name -> the action, and how many calls of `search` it makes.
ACTIONS = {"tool": (TOOL, 1), "each": (EACH, 2), "agent": (AGENT, 1), "crew": (CREW, 1)}
KICKOFFS = {
    "kickoff": lambda flow: flow.kickoff(),
    "kickoff_async": lambda flow: asyncio.run(flow.kickoff_async()),
}
EVERY = pytest.mark.parametrize("kickoff", KICKOFFS)


def build(action):
    methods = {"look": {"start": True, "do": ACTIONS[action][0]}}
    return Flow.from_declaration(contents=json.dumps({"name": "Library", "methods": methods}))


def script(action):
    return FakeModel([SEARCH, "done"] if action in ("agent", "crew") else [])


@EVERY
@pytest.mark.parametrize("built", ["inside", "before"])
@pytest.mark.parametrize("action", ACTIONS)
def test_tools_of_an_action_are_answered(action, built, kickoff):
    flow = build(action) if built == "before" else None
    mock = MockTool("search", response="MOCK")
    with CrewAIAdapter(lambda: None, tools=[mock], model=script(action)).session() as session:
        KICKOFFS[kickoff](flow or build(action))
    assert [call.response for call in session.tool_calls] == ["MOCK"] * ACTIONS[action][1]
    assert not HITS


@EVERY
@pytest.mark.parametrize("action", ACTIONS)
def test_tools_of_an_action_nobody_mocked_never_run(action, kickoff):
    adapter = CrewAIAdapter(build(action), model=script(action), strict=False)
    with pytest.raises(UnmockedToolError, match="search"), adapter.session():
        KICKOFFS[kickoff](adapter.agent)
    assert not HITS


@pytest.mark.parametrize("action", ACTIONS)
def test_definition_is_run_as_any_flow_is(action):
    adapter = CrewAIAdapter(
        lambda: build(action), tools=[MockTool("search", response="MOCK")], model=script(action)
    )
    result = adapter.sync_invoke(None)
    assert result.tool_names == ["search"] * ACTIONS[action][1]
    assert result.output == {"tool": "MOCK", "each": ["MOCK", "MOCK"]}.get(action, "done")
