"""One scripted call of the `lookup` tool, its mock, and an adapter with both."""

from __future__ import annotations

from typing import Any

from agents import Agent

from callsheet import FakeModel, MockTool
from callsheet_openai_agents import OpenAIAgentsAdapter

CALL = {"tool_calls": [{"name": "lookup", "args": {"q": "x"}}]}
MOCK = MockTool("lookup", response="mocked")


def adapter(agent: Agent[Any], *steps: Any, **options: Any) -> OpenAIAgentsAdapter:
    """Wrap an agent with the mock and, unless other steps are given, the call."""
    return OpenAIAgentsAdapter(
        agent, **{"tools": [MOCK], "model": FakeModel(list(steps) or [CALL, "done"]), **options}
    )
