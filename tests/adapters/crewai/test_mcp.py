"""MCP servers: one whose tools are mocked is not started."""

from __future__ import annotations

from callsheet import FakeModel, MockTool
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.scripts import calls


def test_mocked_mcp_server_is_not_started():
    from crewai.mcp import MCPServerStdio

    agent = crews.agent(tools=[], mcps=[MCPServerStdio(command="/no/such/server", args=[])])
    lookup = MockTool("lookup", parameters={"key": {"type": "string"}}, response="MOCK")
    model = FakeModel([calls("lookup", key="a"), "done"])
    result = CrewAIAdapter(agent, tools=[lookup], model=model).sync_invoke("go")
    assert [(call.name, call.kind, call.response) for call in result.tool_calls] == [
        ("lookup", "mcp", "MOCK")
    ]
    assert agent.tools == []
    assert [offered["name"] for offered in model.call_log[0]["tools"]] == ["lookup"]
