"""Tools of MCP servers: a mocked one starts no server."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
from mcp.types import Tool

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.styles import MODEL

SEARCH = {"tool_calls": [{"name": "search", "args": {"q": "Oslo"}}]}
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


@pytest.fixture
def desk(tmp_path):
    """Give an agent with a tool whose server would leave a file behind, and the file."""
    started = tmp_path / "started"
    server = {"transport": "stdio", "command": "touch", "args": [str(started)]}
    described = Tool(name="search", description="Search.", inputSchema=SCHEMA)
    found = convert_mcp_tool_to_langchain_tool(None, described, connection=server)
    return create_agent(MODEL, [found], name="Desk"), started


def test_mocked_tool_of_a_server_starts_none(desk):
    agent, started = desk
    adapter = LangGraphAdapter(
        agent, tools=[MockTool("search", response="found")], model=FakeModel([SEARCH, "done"])
    )
    (call,) = asyncio.run(adapter.invoke("?")).tool_calls
    assert (call.kind, call.response, call.seen_by_model) == ("mcp", "found", "found")
    assert not started.exists()


def test_unmocked_tool_of_a_server_is_refused_before_it_starts(desk):
    agent, started = desk
    with pytest.raises(UnmockedToolError, match="search"):
        asyncio.run(LangGraphAdapter(agent, model=FakeModel([SEARCH])).invoke("?"))
    assert not started.exists()


def test_arguments_are_checked_against_the_servers_schema(desk):
    agent, started = desk
    step = {"tool_calls": [{"name": "search", "args": {"q": 7}}]}
    adapter = LangGraphAdapter(agent, tools=[MockTool("search")], model=FakeModel([step, "done"]))
    (call,) = asyncio.run(adapter.invoke("?")).tool_calls
    assert call.outcome == "invalid"
    assert "7 is not of type" in call.seen_by_model
    assert not started.exists()
